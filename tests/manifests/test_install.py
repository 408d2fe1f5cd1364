"""`gpugate manifests --install` and `--uninstall`: what is in an installation, and what is left out of one."""

import subprocess
import sys
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from app.cli.main import command as gpugate

WAYS: dict[str, list[str]] = {
    "keeper": [],
    "ha": ["--ha"],
    "cert-manager": ["--certificates", "cert-manager"],
    "cert-manager-alone": ["--certificates", "cert-manager", "--no-keeper"],
    "gitops": ["--gitops"],
    "secret-alone": ["--certificates", "secret", "--no-keeper"],
}


def run(*arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(gpugate, ["manifests", *arguments])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def installed(*arguments: str) -> list[dict[str, Any]]:
    return run("--policy", "shipped", "--install", *arguments)


def of(listed: list[dict[str, Any]], kind: str, name: str | None = None) -> list[dict[str, Any]]:
    return [each for each in listed if each["kind"] == kind and name in (None, each["metadata"]["name"])]


def pods(listed: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in of(listed, "Deployment")}


@pytest.mark.parametrize("way", WAYS)
def test_no_pod_has_a_right_on_its_node(way: str) -> None:
    for pod in pods(installed(*WAYS[way])).values():
        security = pod["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] == security["runAsGroup"] == security["fsGroup"] == 65532
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            }
            assert container["resources"]["requests"]["memory"] == container["resources"]["limits"]["memory"]
            assert "cpu" not in container["resources"]["limits"]


@pytest.mark.parametrize("way", WAYS)
def test_only_the_keeper_has_a_token_and_rights(way: str) -> None:
    listed = installed(*WAYS[way])
    assert pods(listed)["gpugate"]["automountServiceAccountToken"] is False
    subjects = [
        subject["name"] for each in listed if each["kind"].endswith("RoleBinding") for subject in each["subjects"]
    ]
    assert set(subjects) == (set() if "--no-keeper" in WAYS[way] else {"gpugate-keeper"})
    for role in of(listed, "Role") + of(listed, "ClusterRole", "gpugate-keeper"):
        for rule in role["rules"]:
            assert "*" not in (*rule["verbs"], *rule["resources"], *rule["apiGroups"])


def test_three_servers_of_which_none_is_missed_while_they_are_replaced() -> None:
    listed = installed()
    (deployment,) = of(listed, "Deployment", "gpugate")
    spec, pod = deployment["spec"], deployment["spec"]["template"]["spec"]
    assert spec["replicas"] == 3
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    (container,) = pod["containers"]
    sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    # Draining 5 s and 10 s for what is in flight: app/server/limits.py.
    assert sleep + 5 + 10 < pod["terminationGracePeriodSeconds"]
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {"webhook": 10250, "metrics": 8080}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "webhook", "scheme": "HTTPS"}
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert {each["topologyKey"] for each in pod["topologySpreadConstraints"]} == {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    }
    (budget,) = of(listed, "PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1
    (quota,) = of(listed, "ResourceQuota")
    assert quota["spec"]["scopeSelector"]["matchExpressions"][0]["values"] == [pod["priorityClassName"]]


def test_ha_leaves_the_number_of_servers_to_the_autoscaler() -> None:
    listed = installed("--ha")
    (server,), (keeper,) = of(listed, "Deployment", "gpugate"), of(listed, "Deployment", "gpugate-keeper")
    assert "replicas" not in server["spec"]
    assert keeper["spec"]["replicas"] == 2
    (autoscaler,) = of(listed, "HorizontalPodAutoscaler")
    assert autoscaler["spec"]["minReplicas"] == 3
    assert autoscaler["spec"]["scaleTargetRef"]["name"] == "gpugate"
    (quota,) = of(listed, "ResourceQuota")
    assert int(quota["spec"]["hard"]["pods"]) > autoscaler["spec"]["maxReplicas"] + keeper["spec"]["replicas"]


def test_every_reference_between_the_objects_is_to_one_of_them() -> None:
    for arguments in WAYS.values():
        listed = installed("--service", "gpu-system/gate", *arguments)
        assert {each["metadata"].get("namespace", "gpu-system") for each in listed} == {"gpu-system"}
        accounts = {each["metadata"]["name"] for each in of(listed, "ServiceAccount")}
        assert {pod["serviceAccountName"] for pod in pods(listed).values()} <= accounts
        services = [webhook["clientConfig"]["service"] for each in listed for webhook in each.get("webhooks", ())]
        assert {(each["namespace"], each["name"]) for each in services} <= {("gpu-system", "gate")}
        (service,) = of(listed, "Service", "gate")
        ports = {port["name"] for pod in pods(listed).values() for port in pod["containers"][0]["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def test_the_policy_is_where_its_reader_looks_for_it() -> None:
    (source,) = of(installed(), "ConfigMap")
    assert source["metadata"]["name"] == "gpugate-policy-source"
    assert yaml.safe_load(source["data"]["gpu-pods.yaml"])["kind"] == "GpuPolicy"
    (mounted,) = of(installed(*WAYS["secret-alone"]), "ConfigMap")
    assert mounted["metadata"]["name"] == "gpugate-policy"
    volumes = {volume["name"]: volume for volume in pods(installed())["gpugate"]["volumes"]}
    assert volumes["policy"]["configMap"] == {"name": "gpugate-policy"}
    assert volumes["certificates"]["secret"]["secretName"] == "gpugate-tls"


def test_the_keeper_fills_empty_configurations_and_may_make_none() -> None:
    listed = installed()
    configurations = [each for each in listed if each["kind"].endswith("WebhookConfiguration")]
    assert len(configurations) == 2
    assert not any("webhooks" in each for each in configurations)
    (role,) = of(listed, "ClusterRole", "gpugate-keeper")
    rules = [rule for rule in role["rules"] if rule["apiGroups"] == ["admissionregistration.k8s.io"]]
    assert [rule["verbs"] for rule in rules] == [["get", "update"]]


def test_without_a_keeper_they_are_written_out_and_broad() -> None:
    listed = installed(*WAYS["cert-manager-alone"])
    expected = run("--policy", "shipped", "--service", "gpugate/gpugate", "--scope", "broad")
    for each in of(listed, "ValidatingWebhookConfiguration") + of(listed, "MutatingWebhookConfiguration"):
        (same,) = of(expected, each["kind"])
        assert each["webhooks"] == same["webhooks"]
        assert each["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "gpugate/gpugate-tls"


def test_for_a_repository_they_are_written_out_and_the_keeper_leaves_them_alone() -> None:
    listed = installed("--gitops", "--scope", "tight")
    expected = run("--policy", "shipped", "--service", "gpugate/gpugate")
    for each in of(listed, "ValidatingWebhookConfiguration") + of(listed, "MutatingWebhookConfiguration"):
        assert each == of(expected, each["kind"])[0]
        assert not any("caBundle" in webhook["clientConfig"] for webhook in each["webhooks"])
    (keeper,) = of(listed, "Deployment", "gpugate-keeper")
    assert "--gitops" in keeper["spec"]["template"]["spec"]["containers"][0]["args"]


def test_gpugates_own_namespace_is_never_under_gpugate() -> None:
    for each in run("--policy", "shipped", "--service", "gpu-system/gate"):
        for webhook in each.get("webhooks", ()):
            own = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["gpu-system"]}
            assert own in webhook["namespaceSelector"]["matchExpressions"]


def test_cert_manager_writes_the_secret_that_is_mounted() -> None:
    listed = installed(*WAYS["cert-manager"])
    (certificate,) = of(listed, "Certificate", "gpugate-tls")
    assert certificate["spec"]["secretName"] == "gpugate-tls"
    assert certificate["spec"]["dnsNames"][0] == "gpugate.gpugate.svc"
    issuers = {each["metadata"]["name"] for each in of(listed, "Issuer")}
    assert {each["spec"]["issuerRef"]["name"] for each in of(listed, "Certificate")} == issuers
    (keeper,) = of(listed, "Deployment", "gpugate-keeper")
    assert "--no-certificates" in keeper["spec"]["template"]["spec"]["containers"][0]["args"]


def test_everything_that_is_cluster_wide_is_deleted_and_what_can_refuse_comes_first() -> None:
    deleted = run("--uninstall")
    assert [each["kind"] for each in deleted[:4]] == [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingAdmissionPolicy",
    ]
    assert deleted[-1]["kind"] == "Namespace"
    for arguments in WAYS.values():
        wide = {
            (each["kind"], each["metadata"]["name"])
            for each in installed(*arguments)
            if "namespace" not in each["metadata"]
        }
        assert wide <= {(each["kind"], each["metadata"]["name"]) for each in deleted}


def test_a_policy_folder_is_carried_as_it_is(tmp_path: Any) -> None:
    first = "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: %s}\nspec: {}\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(first % name)
    (source,) = of(run("--policy", str(tmp_path), "--install"), "ConfigMap")
    assert source["data"] == {"a.yaml": first % "a", "b.yaml": first % "b"}
    (tmp_path / "one").write_text(first % "one")
    (source,) = of(run("--policy", str(tmp_path / "one"), "--install"), "ConfigMap")
    assert list(source["data"]) == ["one.yaml"]


BAD = [
    (["--install", "--url", "https://x"], "--install makes a Service"),
    (["--install", "--scope", "broad"], "--scope is not needed: the keeper"),
    (["--install", "--ca-file", __file__], "--ca-file is not needed: the keeper"),
    (["--install", "--no-keeper"], "--no-keeper: say who makes the certificate"),
    (["--install", "--no-keeper", "--certificates", "cert-manager", "--ca-file", "x"], "cert-manager writes it into"),
    (["--install", "--service", "gate"], "NAMESPACE/NAME"),
    (
        ["--install", "--no-keeper", "--certificates", "secret", "--gitops"],
        "--gitops says what the keeper leaves alone",
    ),
    (["--gitops", "--service", "a/b"], "--gitops is about an installation"),
    (["--ha", "--service", "a/b"], "--ha is about an installation: add --install"),
    (["--image", "x", "--service", "a/b"], "--image is about an installation"),
    (
        ["--service", "a/b", "--context", "x"],
        "--context and --kubeconfig say which cluster to compare with: add --diff",
    ),
    (["--uninstall", "--diff"], "--uninstall takes no other option than --service"),
    (["--uninstall", "--install"], "--uninstall takes no other option than --service"),
    (["--uninstall", "--url", "https://x"], "--uninstall takes no other option than --service"),
    (["--uninstall", "--service", "gate"], "NAMESPACE/NAME"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(row[0]) for row in BAD])
def test_wrong_usage_is_one_clear_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    policy = [] if "--uninstall" in arguments else ["--policy", "shipped"]
    result = CliRunner().invoke(gpugate, ["manifests", *policy, *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr.splitlines()[-1]


def test_a_file_name_that_no_config_map_can_hold(tmp_path: Any) -> None:
    path = tmp_path / "my policy.yaml"
    path.write_text("apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: a}\nspec: {}\n")
    result = CliRunner().invoke(gpugate, ["manifests", "--policy", str(path), "--install"])
    assert result.exit_code != 0
    assert "my policy.yaml: a key of a ConfigMap" in result.stderr


def test_a_cluster_that_cannot_be_asked_is_an_error_and_no_difference() -> None:
    arguments = ["manifests", "--policy", "shipped", "--service", "a/b", "--diff", "--kubeconfig", "no-such-file"]
    result = subprocess.run([sys.executable, "-m", "app.cli", *arguments], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "Error: there is no kubeconfig no-such-file\n"
