"""Kustomize, Helm and `gpugate manifests --install` make the same objects, and the real API server takes them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner

from app.cli.main import command as gpugate
from tests.controlplane import ControlPlane
from tests.controlplane.build import KUBERNETES_VERSION as KUBERNETES
from tests.deploy.objects import (
    CHART,
    CRDS,
    KUSTOMIZE,
    Objects,
    comparable,
    helm,
    kustomize,
    loaded,
    manifests,
    run,
    tool,
)

CERT_MANAGER = "certificates.provider=cert-manager"


class Way(NamedTuple):
    """One way to install, by each means; ``folder`` is None where there is no overlay of it."""

    manifests: tuple[str, ...] = ()
    helm: tuple[str, ...] = ()
    folder: str | None = None


WAYS = {
    "base": Way(folder="base"),
    "ha": Way(("--ha",), ("--values", str(CHART / "values-ha.yaml")), "overlays/ha"),
    "cert-manager": Way(("--certificates=cert-manager",), ("--set", CERT_MANAGER), "overlays/cert-manager"),
    "without-keeper": Way(
        ("--certificates=cert-manager", "--no-keeper"), ("--set", f"{CERT_MANAGER},keeper.enabled=false")
    ),
    "reports": Way(("--reports",), ("--set", "reports.enabled=true"), "overlays/reports"),
    "gitops": Way(("--gitops",), ("--set", "keeper.gitops=true")),
    "own-secret": Way(
        ("--certificates=secret", "--no-keeper"), ("--set", "certificates.provider=secret,keeper.enabled=false")
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_helm_and_kustomize_make_the_objects_of_gpugate_manifests(name: str) -> None:
    way = WAYS[name]
    expected = comparable(manifests(*way.manifests))
    # Helm keeps its own record in the namespace, so it has to be there before: helm install --create-namespace.
    assert comparable(helm(*way.helm)) == {key: obj for key, obj in expected.items() if obj["kind"] != "Namespace"}
    if way.folder:
        assert comparable(kustomize(KUSTOMIZE / way.folder)) == expected


@pytest.mark.parametrize("overlay", ["audit", "enforce"])
def test_overlays_of_another_policy(overlay: str) -> None:
    policy = KUSTOMIZE / "overlays" / overlay / "gpu-pods.yaml"
    assert comparable(kustomize(policy.parent)) == comparable(manifests(policy=policy))
    spec = yaml.safe_load(policy.read_text())["spec"]
    assert spec["modes"]["default"] == overlay
    if overlay == "audit":
        assert not {"assist", "enforce"} & set(spec["modes"]["labels"])


def test_kubectl_reads_the_kustomizations_as_kustomize_does(control_plane: ControlPlane) -> None:
    for folder in ("base", "overlays/ha", "overlays/cert-manager", "overlays/audit", "overlays/enforce"):
        shown = control_plane.kubectl("kustomize", str(KUSTOMIZE / folder)).stdout
        assert loaded(shown) == kustomize(KUSTOMIZE / folder)


def test_another_namespace_is_everywhere(tmp_path: Path) -> None:
    for way in (WAYS["base"], WAYS["without-keeper"]):
        expected = comparable(manifests("--service", "gpu-system/gpugate", *way.manifests))
        del expected["Namespace//gpu-system"]
        assert comparable(helm(*way.helm, namespace="gpu-system")) == expected


def test_the_image_is_a_value() -> None:
    digest = f"sha256:{'0' * 64}"
    for values, image in (
        (
            ["--set", "image.repository=registry.example.org/gpugate,image.tag=1.9.0"],
            "registry.example.org/gpugate:1.9.0",
        ),
        (["--set", f"image.digest={digest}"], f"registry.example.com/gpugate@{digest}"),
    ):
        assert comparable(helm(*values)) == without_namespace(manifests("--image", image))


def without_namespace(objects: Objects) -> dict[str, Any]:
    return comparable([obj for obj in objects if obj["kind"] != "Namespace"])


MORE = {
    "apiVersion": "gpugate.dev/v1alpha1",
    "kind": "GpuPolicy",
    "metadata": {"name": "sizes"},
    "spec": {
        "gpus": {"presets": ["amd"]},
        "modes": {"namespaces": {"serving": "enforce"}},
        "rules": [{"rule": "no-privileged"}],
    },
}


def test_the_policy_is_a_value_as_document_or_text(tmp_path: Path) -> None:
    file = tmp_path / "sizes.yaml"
    file.write_text(yaml.safe_dump(MORE))
    expected = without_namespace(manifests(policy=file))
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({"policies": {"sizes.yaml": MORE}}))
    assert comparable(helm("--values", str(values))) == expected
    assert comparable(helm("--set-file", f"policies.sizes\\.yaml={file}")) == expected


def test_without_keeper_the_configurations_of_a_policy_of_ones_own_are_given(tmp_path: Path) -> None:
    file, webhooks = tmp_path / "sizes.yaml", tmp_path / "webhooks.yaml"
    file.write_text(yaml.safe_dump(MORE))
    service = ["--service", "gpugate/gpugate", "--scope", "broad"]
    webhooks.write_text(CliRunner().invoke(gpugate, ["manifests", "--policy", str(file), *service]).stdout)
    way = WAYS["without-keeper"]
    given = ["--set-file", f"policies.sizes\\.yaml={file}", "--set-file", f"webhookConfigurations={webhooks}"]
    assert comparable(helm(*way.helm, *given)) == without_namespace(manifests(*way.manifests, policy=file))


UNKNOWN_MODE = {**MORE, "spec": {"modes": {"default": "strict"}}}
MONITORING = ("serviceMonitors", "rules", "gpuRules", "dashboard")


def test_helm_and_kustomize_make_the_same_for_prometheus(cluster: ControlPlane) -> None:
    expected = kustomize(KUSTOMIZE.parent / "monitoring")
    everything = ",".join(f"monitoring.{each}=true" for each in MONITORING)
    found = comparable(helm("--set", everything))
    assert {key: found[key] for key in comparable(expected)} == comparable(expected)
    assert found.keys() - comparable(helm()).keys() == comparable(expected).keys()
    labelled = comparable(helm("--set", f"{everything},monitoring.labels.release=prometheus"))
    assert labelled["PrometheusRule/gpugate/gpugate"]["metadata"]["labels"]["release"] == "prometheus"
    dry_run(cluster, expected)
    assert "ServiceMonitor/gpugate/gpugate-keeper" not in comparable(
        helm(*WAYS["own-secret"].helm, "--set", everything)
    )


BAD_VALUES = {
    "nobody makes certificates": (["--set", "keeper.enabled=false"], "certificates.provider is cert-manager or secret"),
    "configurations of another policy": (
        ["--set", f"keeper.enabled=false,{CERT_MANAGER}", "--set", "policies.a\\.yaml=x"],
        "gpugate manifests --policy FILE --service gpugate/gpugate --scope broad >webhooks.yaml",
    ),
    "unknown provider": (["--set", "certificates.provider=none"], "'/certificates/provider'"),
    "misspelt": (["--set", "sever.replicas=3"], "'sever' not allowed"),
    "no server": (["--set", "server.replicas=0"], "'/server/replicas'"),
    "digest": (["--set", "image.digest=abc"], "'/image/digest'"),
    "file that is not read": (["--set", "policies.policy=x"], "'policy'"),
    "half a policy": (["--set", "policies.a\\.yaml.kind=GpuPolicy"], "missing properties 'apiVersion'"),
    "unknown mode": (
        ["--set-json", f"policies={json.dumps({'a.yaml': UNKNOWN_MODE})}"],
        "'/policies/a.yaml/spec/modes/default': value must be one of 'disabled', 'audit'",
    ),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_bad_values_are_refused_at_install(name: str) -> None:
    values, said = BAD_VALUES[name]
    result = tool("helm", "template", "gpugate", str(CHART), "-n", "gpugate", "--kube-version", KUBERNETES, *values)
    assert result.returncode != 0
    assert said in result.stderr


def test_helm_lint_finds_nothing() -> None:
    for way in WAYS.values():
        assert "0 chart(s) failed" in run(
            "helm", "lint", "--strict", str(CHART), "--kube-version", KUBERNETES, *way.helm
        )


def test_the_chart_has_the_version_of_the_package() -> None:
    from app import __version__

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> ControlPlane:
    """With the kinds of cert-manager and of the Prometheus Operator."""
    for file in ("cert-manager.io_*.yaml", "monitoring.coreos.com_*.yaml"):
        for path in CRDS.glob(file):
            control_plane.kubectl("apply", "--server-side", "-f", str(path))
    names = ["certificates.cert-manager.io", "issuers.cert-manager.io", "servicemonitors.monitoring.coreos.com"]
    for name in names:
        control_plane.kubectl("wait", "--for=condition=Established", f"crd/{name}", "--timeout=60s")
    if control_plane.client().get("/api/v1/namespaces/gpugate").status == 404:
        control_plane.client().post("/api/v1/namespaces", {"metadata": {"name": "gpugate"}}).expect(201, 409)
    return control_plane


def dry_run(plane: ControlPlane, objects: Objects) -> None:
    applied = plane.kubectl("apply", "--dry-run=server", "-f", "-", input=yaml.safe_dump_all(objects))
    assert applied.stdout.count("(server dry run)") == len(objects)
    # Such as a field that the API server does not know, or a pod that the namespace's level would refuse.
    assert "unknown field" not in applied.stderr
    assert "would violate PodSecurity" not in applied.stderr


@pytest.mark.parametrize("name", WAYS)
def test_the_api_server_takes_all_of_it(cluster: ControlPlane, name: str) -> None:
    way = WAYS[name]
    dry_run(cluster, helm(*way.helm))
    if way.folder:
        dry_run(cluster, kustomize(KUSTOMIZE / way.folder))
    dry_run(cluster, manifests(*way.manifests))
