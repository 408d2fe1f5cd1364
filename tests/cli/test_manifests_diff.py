"""`gpugate manifests --diff` on a real API server; the API server and kubectl agree with it."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.cluster.client import Cluster
from app.cluster.difference import changed
from app.sources.policies import shipped_policy
from tests.cli.conftest import Gpugate, Outcome
from tests.controlplane import ControlPlane
from tests.support.apiproxy import write_kubeconfig

INSTALL = ("--policy", "gpugate.yaml", "--install")
WRITTEN_OUT = (*INSTALL, "--gitops")
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gpugate"
DEPLOYMENT = "/apis/apps/v1/namespaces/gpugate/deployments/gpugate"


class Diff:
    """gpugate and kubectl in front of a cluster into which gpugate is installed under its real names."""

    def __init__(self, plane: ControlPlane, gpugate: Gpugate, folder: Path) -> None:
        self.plane = plane
        self.gpugate = gpugate
        self.policy = folder / "gpugate.yaml"
        self.policy.write_text(shipped_policy().read_text())

    def __call__(self, *arguments: str) -> Outcome:
        return self.gpugate("manifests", *arguments, "--diff", "--kubeconfig", str(self.plane.kubeconfig))

    def printed(self, *arguments: str) -> str:
        return self.gpugate("manifests", *arguments).out

    def apply(self, *arguments: str, server_side: bool = False) -> None:
        how = ["--server-side", "--force-conflicts"] if server_side else []
        self.plane.kubectl("apply", *how, "-f", "-", input=self.printed(*arguments))

    def uninstall(self) -> None:
        self.plane.kubectl("delete", "--ignore-not-found", "-f", "-", input=self.printed("--uninstall"))

    def as_kubectl_applies(self, *arguments: str) -> bool:
        """Whether kubectl, without --server-side, would make the same of everything."""
        printed = self.printed(*arguments)
        answer = self.plane.kubectl("apply", "--dry-run=server", "-o", "json", "-f", "-", input=printed).stdout
        cluster = Cluster.connect(kubeconfig=str(self.plane.kubeconfig))
        would = {identity(each): comparable(each) for each in json.loads(answer)["items"]}
        found = [each.applied for each in changed(cluster, yaml.safe_load_all(printed))]
        ours = {identity(each): comparable(each) for each in found}
        return bool(ours) and {key: would[key] for key in ours} == ours


def identity(each: dict[str, Any]) -> tuple[str, ...]:
    metadata = each["metadata"]
    return each["kind"], metadata.get("namespace", ""), metadata["name"]


def comparable(each: dict[str, Any]) -> dict[str, Any]:
    """The object without the bookkeeping of kubectl and the API server, and without the order of its entries."""
    kept = {key: value for key, value in each.items() if key not in ("metadata", "status")}
    annotations = dict(each["metadata"].get("annotations") or {})
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if "webhooks" in kept:
        kept["webhooks"] = sorted(kept["webhooks"], key=lambda webhook: str(webhook["name"]))
    return {**kept, "labels": each["metadata"].get("labels"), "annotations": annotations}


def lines(diff: str) -> list[str]:
    """The lines added and removed, without how far they are indented."""
    signed = [line for line in diff.splitlines() if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
    return sorted(line[0] + line[1:].strip() for line in signed)


@pytest.fixture
def diff(own_control_plane: ControlPlane, gpugate: Gpugate, folder: Path) -> Iterator[Diff]:
    """In a cluster that has no gpugate, and has none afterwards."""
    made = Diff(own_control_plane, gpugate, folder)
    yield made
    made.uninstall()


def test_in_an_empty_cluster_everything_is_new_and_nothing_is_made(diff: Diff) -> None:
    outcome = diff(*INSTALL)
    assert (outcome.code, outcome.err) == (1, "")
    objects = list(yaml.safe_load_all(diff.printed(*INSTALL)))
    assert outcome.out.count("--- cluster/") == len(objects)
    assert f"+++ manifests{DEPLOYMENT}\n" in outcome.out
    assert f"+++ manifests{VALIDATING}\n" in outcome.out
    assert not any(line.startswith("-") for line in lines(outcome.out))
    assert diff.plane.client().get("/api/v1/namespaces/gpugate").status == 404


@pytest.mark.parametrize("server_side", [False, True], ids=["kubectl apply", "kubectl apply --server-side"])
def test_after_applying_there_is_none_until_something_else_is_wanted(diff: Diff, server_side: bool) -> None:
    diff.apply(*INSTALL, "--ha", server_side=server_side)
    assert diff(*INSTALL, "--ha") == (0, "", "")

    image = ("--image", "registry.example.com/gpugate:2")
    before = diff.plane.client().get(DEPLOYMENT).expect(200)["metadata"]["resourceVersion"]
    upgraded = diff(*INSTALL, "--ha", *image)
    assert upgraded.code == 1
    assert f"--- cluster{DEPLOYMENT}\n" in upgraded.out
    assert lines(upgraded.out).count("+image: registry.example.com/gpugate:2") == 2, "of server and keeper"
    assert diff.plane.client().get(DEPLOYMENT).expect(200)["metadata"]["resourceVersion"] == before

    if not server_side:
        assert diff.as_kubectl_applies(*INSTALL), "other spreading, fewer keepers"

    more = diff.policy.with_name("more")
    more.mkdir()
    diff.policy.rename(more / "other.yaml")
    renamed = lines(diff("--policy", "more", "--install", "--ha").out)
    assert "+other.yaml: |" in renamed
    assert "-gpugate.yaml: |" in renamed, "the key that is not wanted any more"


def test_what_kubectl_would_change_in_the_configurations(diff: Diff) -> None:
    diff.apply(*WRITTEN_OUT)
    policy = yaml.safe_load(diff.policy.read_text())
    policy["spec"]["modes"] = {"default": "audit", "labels": ["audit", "warn"]}
    diff.policy.write_text(yaml.safe_dump(policy))
    outcome = diff(*WRITTEN_OUT)
    assert outcome.code == 1
    assert any(line.startswith("-") and line.endswith("enforce.gpugate.dev") for line in lines(outcome.out))
    assert diff.as_kubectl_applies(*WRITTEN_OUT)

    # With the keeper to write them, entries that were once applied go.
    assert "-webhooks:" in lines(diff(*INSTALL).out)
    assert diff.as_kubectl_applies(*INSTALL)


def test_what_others_write_is_no_difference(diff: Diff) -> None:
    diff.apply(*WRITTEN_OUT)
    api = diff.plane.client()
    bundle = b64encode(diff.plane.certificate_authority.read_bytes()).decode()

    def change(path: str, **fields: Any) -> None:
        stored = api.get(path).expect(200)
        for webhook in stored["webhooks"]:
            webhook["clientConfig"]["caBundle"] = bundle
        stored["webhooks"][0].update(fields)
        stored["metadata"]["annotations"]["example.com/note"] = "seen"
        api.put(path, stored).expect(200)

    change(VALIDATING)
    api.patch(DEPLOYMENT, {"metadata": {"labels": {"example.com/team": "a"}}}).expect(200)
    diff.plane.kubectl("rollout", "restart", "deployment/gpugate", "-n", "gpugate")
    assert diff(*WRITTEN_OUT) == (0, "", "")

    change(VALIDATING, timeoutSeconds=29)
    drifted = diff(*WRITTEN_OUT)
    assert drifted.code == 1
    assert drifted.out.startswith(f"--- cluster{VALIDATING}\n")
    (removed, added) = reversed(lines(drifted.out))
    assert removed == "-timeoutSeconds: 29"
    assert added.startswith("+timeoutSeconds: ")


def test_a_bundle_that_is_wanted_is_compared(diff: Diff) -> None:
    plain = ("--policy", "shipped", "--service", "gpugate/gpugate")
    given = (*plain, "--ca-file", str(diff.plane.certificate_authority))
    diff.apply(*given)
    assert diff(*given) == (0, "", "")
    assert diff(*plain) == (0, "", ""), "it is somebody else's to write"
    api = diff.plane.client()
    stored = api.get(VALIDATING).expect(200)
    for webhook in stored["webhooks"]:
        del webhook["clientConfig"]["caBundle"]
    api.put(VALIDATING, stored).expect(200)
    added = lines(diff(*given).out)
    assert len(added) == len(stored["webhooks"])
    assert all(line.startswith("+caBundle: ") for line in added)


def test_clusters_that_cannot_answer(diff: Diff, folder: Path) -> None:
    def failure(*arguments: str) -> str:
        outcome = diff.gpugate("manifests", *INSTALL, "--diff", *arguments)
        assert (outcome.code, outcome.out) == (2, "")
        (line,) = outcome.err.splitlines()
        return line

    nobody = write_kubeconfig(folder / "nobody", {"server": "https://127.0.0.1:1"}, {})
    assert "cannot be reached at https://127.0.0.1:1" in failure("--kubeconfig", str(nobody))
    assert "no-such-file" in failure("--kubeconfig", "no-such-file")
    missing = "has no kind Issuer of cert-manager.io/v1"
    outcome = diff(*INSTALL, "--certificates", "cert-manager")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert missing in outcome.err


def test_who_may_not_apply_is_told_which_right_is_missing(diff: Diff, folder: Path) -> None:
    plane = diff.plane
    diff.apply(*INSTALL)
    plane.kubectl("create", "serviceaccount", "reader", "-n", "default")
    plane.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=view", "--serviceaccount=default:reader")
    token = plane.kubectl("create", "token", "reader", "-n", "default").stdout.strip()
    server = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    reader = write_kubeconfig(folder / "reader", server, {"token": token})
    outcome = diff.gpugate("manifests", *INSTALL, "--diff", "--kubeconfig", str(reader))
    assert outcome.code == 2
    assert "ServiceAccount default/reader may not patch" in outcome.err
    assert outcome.err.count("\n") == 1
