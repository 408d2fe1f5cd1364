"""The API server takes the objects as they are, and adds nothing to them."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import command as gpugate
from app.manifests.client import Service
from app.manifests.objects import objects, text
from app.manifests.parts import Scope
from app.policy.compiled import Policy
from app.sources.policies import read_policy
from tests.controlplane import ControlPlane
from tests.manifests.policies import BYPASS, FENCE, GPU_RULE, SELECT, policy

NOBODY = {"key": "gpugate.test/nobody", "operator": "Exists"}
REFUSING = policy(
    gpus={"presets": ["nvidia", "amd", "kai"], "annotations": ["a.example/gpu"]},
    modes={"default": "enforce", "namespaces": {"a": "enforce", "b": "warn"}},
    exempt={"serviceAccounts": ["a/b"], "pods": [{"namespace": "c", "labels": {"app": "x", "k": ""}}]},
    rules=[GPU_RULE, FENCE, BYPASS],
    inject=[SELECT],
)


@pytest.mark.parametrize("scope", ["tight", "broad"])
def test_the_api_server_would_take_what_is_printed(control_plane: ControlPlane, scope: Scope) -> None:
    arguments = ["manifests", "--policy", "shipped", "--url", "https://127.0.0.1:9443", "--scope", scope]
    result = CliRunner().invoke(gpugate, [*arguments, "--ca-file", str(control_plane.certificate_authority)])
    applied = control_plane.kubectl("apply", "--dry-run=server", "-f", "-", input=result.stdout)
    assert applied.stdout.count("(server dry run)") == 5
    assert "Warning" not in applied.stderr


class Applied:
    """A policy's objects under names of their own, for the namespaces of nobody."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.suffix = f"-{uuid.uuid4().hex[:8]}"

    def objects(self, made: Policy, scope: Scope) -> list[dict[str, Any]]:
        listed = objects(made, Service("gpu", "gate", ca_bundle=self.plane.certificate_authority.read_bytes()), scope)
        for obj in listed:
            obj["metadata"]["name"] += self.suffix
            if "policyName" in obj.get("spec", {}):
                obj["spec"]["policyName"] += self.suffix
            for webhook in obj.get("webhooks", ()):
                expressions = webhook["namespaceSelector"].get("matchExpressions", ())
                webhook["namespaceSelector"] = {"matchExpressions": [*expressions, NOBODY]}
        return listed

    def kubectl(self, command: str, made: Policy, scope: Scope = "tight") -> str:
        """Its output; `diff` fails if there is a difference."""
        return self.plane.kubectl(command, "-f", "-", input=text(self.objects(made, scope))).stdout

    def webhooks(self) -> list[dict[str, Any]]:
        """The validating configuration's entries, as they are stored."""
        collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        found = self.plane.client().get(f"{collection}/gpugate{self.suffix}").expect(200).get("webhooks", [])
        assert isinstance(found, list)
        return found


@pytest.fixture
def applied(control_plane: ControlPlane) -> Iterator[Applied]:
    made = Applied(control_plane)
    yield made
    made.kubectl("delete", policy())


@pytest.mark.parametrize("scope", ["tight", "broad"])
@pytest.mark.parametrize("made", [read_policy("shipped"), REFUSING, policy()], ids=["shipped", "refusing", "empty"])
def test_applying_them_again_changes_nothing(applied: Applied, made: Policy, scope: Scope) -> None:
    assert applied.kubectl("apply", made, scope).count(" created\n") == 5
    assert applied.kubectl("diff", made, scope) == ""
    # Every default is written out, so that no other tool that compares finds a difference either.
    assert applied.webhooks() == applied.objects(made, scope)[-1].get("webhooks", [])


def test_applying_a_policy_takes_away_the_entries_of_another(applied: Applied) -> None:
    for made in (REFUSING, read_policy("shipped"), policy()):
        applied.kubectl("apply", made)
        assert applied.webhooks() == applied.objects(made, "tight")[-1].get("webhooks", [])
