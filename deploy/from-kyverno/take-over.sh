#!/bin/sh
# Takes Kyverno's place for GPU pods, one step at a time; docs/from-kyverno.md says what to look at between them.
#
#   take-over.sh read                  the policies of the cluster into kyverno.yaml, what they become into gpugate.yaml
#   take-over.sh compare RECORDED...   what gpugate.yaml would have answered otherwise than kyverno.yaml to the same pods
#   take-over.sh switch NAMESPACE...   gpugate enforces in these namespaces
#   take-over.sh back NAMESPACE...     and is back in audit
#   take-over.sh retire                the policies in kyverno.yaml are deleted from the cluster
#   take-over.sh remove-webhooks       Kyverno's webhook configurations are deleted, for when Kyverno itself is gone
#
# GPUGATE and KUBECTL name other programs; files are those of the working folder.
set -eu

gpugate=${GPUGATE:-gpugate}
kubectl=${KUBECTL:-kubectl}
# The label that Kyverno puts on every webhook configuration that it makes.
owned=${KYVERNO_SELECTOR:-webhook.kyverno.io/managed-by=kyverno}

usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}

mode() {
    wanted=$1
    shift
    [ $# -gt 0 ] || usage
    for namespace; do
        $kubectl label namespace "$namespace" "gpugate.dev/mode=$wanted" --overwrite
    done
}

[ $# -gt 0 ] || usage
step=$1
shift
case $step in
read)
    status=0
    # 1: some rule is different or not taken, which the table says.
    $gpugate migrate --from-cluster --mode audit -o text -o yaml=gpugate.yaml --originals kyverno.yaml || status=$?
    [ "$status" -le 1 ] || exit "$status"
    ;;
compare)
    [ $# -gt 0 ] || usage
    $gpugate replay --mode enforce --old-policy kyverno.yaml --policy gpugate.yaml "$@"
    ;;
switch) mode enforce "$@" ;;
back) mode audit "$@" ;;
retire) $kubectl delete --ignore-not-found -f kyverno.yaml ;;
remove-webhooks)
    $kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --selector "$owned" --ignore-not-found
    ;;
*) usage ;;
esac
