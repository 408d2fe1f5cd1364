"""The guard of the mode label, on the real API server: who edits a namespace does not choose its mode."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from app.manifests.guard import guard
from app.policy.compiled import MODE_LABEL
from tests.controlplane import ControlPlane, Response, wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
APPLY = "application/apply-patch+yaml"


class Guarded:
    """A guard of its own, and a user who may do anything to namespaces and nothing else."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.run = uuid.uuid4().hex[:8]
        self.user = f"editor-{self.run}"
        self.client = plane.client(self.user)
        self._made: list[str] = []
        setter, policy, binding = guard()
        self.setter = setter["metadata"]["name"] = f"{setter['metadata']['name']}-{self.run}"
        policy["metadata"]["name"] = binding["metadata"]["name"] = binding["spec"]["policyName"] = f"guard-{self.run}"
        self.make(f"{RBAC}/clusterroles", setter)
        resources = ["namespaces", "namespaces/status", "namespaces/finalize"]
        rule = {"apiGroups": [""], "resources": resources, "verbs": ["*"]}
        self.make(f"{RBAC}/clusterroles", {"metadata": {"name": self.user}, "rules": [rule]})
        self.bind(self.user, self.user)
        self.make(f"{ADMISSION}/validatingadmissionpolicies", policy)
        self.make(f"{ADMISSION}/validatingadmissionpolicybindings", binding)

    def make(self, collection: str, obj: dict[str, Any]) -> None:
        """Create an object, until the end."""
        self.plane.client().post(collection, obj).expect(201)
        self._made.append(f"{collection}/{obj['metadata']['name']}")

    def bind(self, role: str, user: str) -> None:
        """Give the user a ClusterRole."""
        name = f"{role}-{uuid.uuid4().hex[:8]}"
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        self.make(
            f"{RBAC}/clusterrolebindings", {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        )

    def namespace(self, mode: str | None = None) -> str:
        """A namespace, with the label if a mode is given."""
        return self.plane.namespace("guard", {"team": "a", **({MODE_LABEL: mode} if mode else {})})

    def label(self, namespace: str, mode: str | None, subresource: str = "") -> Response:
        """Change the label by a merge patch, as the user."""
        patch = {"metadata": {"labels": {MODE_LABEL: mode}}}
        return self.client.patch(f"/api/v1/namespaces/{namespace}{subresource}", patch)

    def stop(self) -> None:
        for path in reversed(self._made):
            self.plane.client().delete(path)


@pytest.fixture(scope="module")
def guarded(control_plane: ControlPlane) -> Iterator[Guarded]:
    made = Guarded(control_plane)
    try:
        probe = made.namespace()
        path = f"/api/v1/namespaces/{probe}"

        def active() -> bool:
            edited = made.client.patch(path, {"metadata": {"labels": {"team": "b"}}})
            return edited.status == 200 and made.label(probe, uuid.uuid4().hex).status == 403

        wait_for(active, message="the user's rights and the guard known to the API server")
        yield made
    finally:
        made.stop()


def refused(response: Response) -> str:
    message = response.expect(403)["message"]
    assert MODE_LABEL in message
    return str(message)


@pytest.mark.parametrize("subresource", ["", "/status"])
@pytest.mark.parametrize(
    ("before", "after"), [(None, "enforce"), ("enforce", "audit"), ("enforce", None), ("enforce", "")]
)
def test_patches_need_the_verb(guarded: Guarded, subresource: str, before: str | None, after: str | None) -> None:
    namespace = guarded.namespace(before)
    message = refused(guarded.label(namespace, after, subresource))
    shown = f"namespace {namespace} (from {before or 'none'} to {'none' if after is None else after})"
    assert shown in message
    assert "the verb set on modes.gpugate.dev" in message
    assert message.endswith(f"--clusterrole=gpugate-mode-setter --user={guarded.user}")


@pytest.mark.parametrize("subresource", ["", "/status", "/finalize"])
def test_replacing_needs_the_verb(guarded: Guarded, subresource: str) -> None:
    namespace = guarded.namespace("enforce")
    obj = guarded.client.get(f"/api/v1/namespaces/{namespace}").expect(200)
    path = f"/api/v1/namespaces/{namespace}{subresource}"
    for labels in ({}, {MODE_LABEL: "audit"}, None):
        refused(guarded.client.put(path, {**obj, "metadata": {**obj["metadata"], "labels": labels}}))
    labels = {**obj["metadata"]["labels"], "team": "b"}
    guarded.client.put(path, {**obj, "metadata": {**obj["metadata"], "labels": labels}}).expect(200)


def test_server_side_apply_needs_the_verb(guarded: Guarded) -> None:
    for name in (guarded.namespace(), f"guard-new-{uuid.uuid4().hex[:8]}"):
        metadata = {"name": name, "labels": {MODE_LABEL: "enforce"}}
        obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        query = {"fieldManager": "test", "force": "true"}
        refused(guarded.client.patch(f"/api/v1/namespaces/{name}", obj, APPLY, query))


@pytest.mark.parametrize("name", ["0", "9" * 20, "x" * 63, "a--b"])
def test_a_namespace_cannot_be_made_with_the_label(guarded: Guarded, name: str) -> None:
    name = f"{name[:54]}{guarded.run}"
    labels = {MODE_LABEL: "audit"}
    refused(guarded.client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}))
    refused(guarded.client.post("/api/v1/namespaces", {"metadata": {"generateName": name[:40], "labels": labels}}))
    guarded.client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": {"team": "a"}}}).expect(201)


def test_everything_else_goes_on(guarded: Guarded) -> None:
    namespace = guarded.namespace("enforce")
    path = f"/api/v1/namespaces/{namespace}"
    guarded.client.patch(path, {"metadata": {"labels": {"team": None, "other": "x"}}}).expect(200)
    guarded.client.patch(path, {"metadata": {"labels": {MODE_LABEL: "enforce"}, "annotations": {"a": "b"}}}).expect(200)
    guarded.client.delete(path).expect(200)
    # The namespace controller finalizes it, as one more user without the verb.
    wait_for(lambda: guarded.client.get(path).status == 404, message="the namespace gone")


def test_who_has_the_verb_is_let_through(guarded: Guarded) -> None:
    namespace, other = guarded.namespace("enforce"), guarded.namespace("enforce")
    user = f"setter-{uuid.uuid4().hex[:8]}"
    client = guarded.plane.client(user)
    guarded.bind(guarded.user, user)
    only = {"apiGroups": ["gpugate.dev"], "resources": ["modes"], "verbs": ["set"], "resourceNames": [namespace]}
    guarded.make(f"{RBAC}/clusterroles", {"metadata": {"name": user}, "rules": [only]})
    guarded.bind(user, user)

    def label(name: str, mode: str) -> Response:
        return client.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": {MODE_LABEL: mode}}})

    wait_for(lambda: label(namespace, "warn").status == 200, message="the right of one namespace known")
    refused(label(other, "warn"))
    guarded.bind(guarded.setter, user)
    wait_for(lambda: label(other, "warn").status == 200, message="the ready ClusterRole granted")


def test_a_namespaces_own_administrator_does_not_have_the_verb(guarded: Guarded) -> None:
    namespace = guarded.namespace("enforce")
    user = f"owner-{uuid.uuid4().hex[:8]}"
    guarded.bind(guarded.user, user)
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": user}, "roleRef": reference, "subjects": [subject]}
    api = guarded.plane.client()
    api.post(f"{RBAC}/namespaces/{namespace}/rolebindings", binding).expect(201)
    client = guarded.plane.client(user)
    wait_for(lambda: client.get(f"/api/v1/namespaces/{namespace}/secrets").status == 200, message="the role known")
    refused(client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {MODE_LABEL: "audit"}}}))
