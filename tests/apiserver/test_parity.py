"""`check` and the webhook give one verdict: every fixture of policies/tests, on the real API server.

For each fixture: whether it is admitted, every message of a refusal, every warning, and the object that the API server
would store, which must be that of check's patch sent to a namespace without gpugate.
"""

import copy
import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from app.admission.judge import Verdict, judge
from app.admission.review import refusal
from app.policy.load import load
from app.workloads.kinds import CORE_KINDS
from app.workloads.templates import Template, templates
from tests.contract.fixtures import EXPECTED, FOLDER, context_of, objects
from tests.controlplane import ControlPlane, Response, wait_for
from tests.support.cluster import MODE_LABEL, TEST_LABEL, Installed, cpu_pod, installed
from tests.support.server import Server

GOLDENS = {"policy.yaml", "messages.yaml", "pointers.yaml", "repairs.yaml"}
FIXTURES = [
    path for path in sorted(FOLDER.glob("*/**/*.yaml")) if path.name not in GOLDENS and not path.name.endswith(EXPECTED)
]
COLLECTIONS = {"Pod": "/api/v1/namespaces/{}/pods", "Deployment": "/apis/apps/v1/namespaces/{}/deployments"}
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


class Gates:
    """A server for each policy, and for each set of cluster facts beside it; one at a time."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane = plane
        self.folder = folder
        self._stack = ExitStack()
        self._key: tuple[Path, str] | None = None
        self._gate: Installed | None = None

    def of(self, policy: Path, known: list[dict[str, Any]]) -> Installed:
        key = policy, json.dumps(known)
        if key != self._key or self._gate is None:
            self.close()
            facts = self._facts(known)
            server = self._stack.enter_context(Server(policy, cluster_facts=facts, drains=False))
            self._gate = self._stack.enter_context(installed(self.plane, server, policy, uuid.uuid4().hex[:8]))
            self._key = key
        return self._gate

    def close(self) -> None:
        self._stack.close()
        self._key = None

    def _facts(self, known: list[dict[str, Any]]) -> Path | None:
        """What the fixture says of its cluster, as a file of cluster facts."""
        if not known:
            return None
        facts: dict[str, Any] = {"version": 1, "claimTemplates": []}
        for obj in known:
            if obj["kind"] == "RuntimeClass":
                entry = {"name": obj["metadata"]["name"], "handler": obj["handler"]}
                facts.setdefault("runtimeClasses", []).append(entry | {"scheduling": obj.get("scheduling")})
            else:
                requests = obj["spec"]["spec"]["devices"]["requests"]
                names = [each["exactly"]["deviceClassName"] for each in requests]
                where = obj["metadata"].get("namespace", "default")
                template = {"namespace": where, "name": obj["metadata"]["name"], "deviceClasses": names}
                facts["claimTemplates"].append(template)
        path = self.folder / f"{uuid.uuid4().hex}.json"
        path.write_text(json.dumps(facts))
        return path


@pytest.fixture(scope="module")
def gates(own_control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gates]:
    made = Gates(own_control_plane, tmp_path_factory.mktemp("facts"))
    yield made
    made.close()


def enforced(gate: Installed, name: str) -> str:
    """The namespace that the fixture names (policies match by it), under this gate, in enforce."""
    api = gate.plane.client()
    labels = {TEST_LABEL: gate.run, MODE_LABEL: "enforce"}
    path = f"/api/v1/namespaces/{name}"
    current = api.get(path)
    if current.status == 404:
        api.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}).expect(201)
    elif labels.items() <= current.body["metadata"].get("labels", {}).items():
        return name
    else:
        api.patch(path, {"metadata": {"labels": labels}}).expect(200)
    wait_for(lambda: api.get(f"{path}/serviceaccounts/default").status == 200, message=f"an account in {name}")
    gate.wait_until_known(name)
    return name


def ensure_class(plane: ControlPlane, name: str) -> None:
    """The RuntimeClass, plain: where it does not exist, the API server refuses the pod before any webhook."""
    api = plane.client()
    if name and api.get(f"{CLASSES}/{name}").status == 404:
        body = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "runc"}
        api.post(CLASSES, body).expect(201)
        # Where gpugate has no say: in the fixtures' namespaces it would refuse the pod for its class.
        pods = COLLECTIONS["Pod"].format(plain_namespace(plane))
        probe = cpu_pod("probe", runtimeClassName=name)
        known = f"RuntimeClass {name} known to the API server"
        wait_for(lambda: api.post(f"{pods}?dryRun=All", probe).status == 201, message=known)


def pod_of(template: Template, obj: dict[str, Any]) -> dict[str, Any]:
    """The pod that would be made of the object."""
    if obj["kind"] == "Pod":
        return copy.deepcopy(obj)
    metadata = {**(template.metadata or {}), "name": "made-of-template"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(template.spec)}


def send(plane: ControlPlane, namespace: str, obj: dict[str, Any]) -> Response:
    """Dry-run the creation; what has ephemeral containers is created without, and gets them as kubectl debug does."""
    obj = copy.deepcopy(obj)
    obj["metadata"]["namespace"] = namespace
    path = COLLECTIONS[obj["kind"]].format(namespace)
    ephemeral = obj["spec"].pop("ephemeralContainers", None) if obj["kind"] == "Pod" else None
    api = plane.client()
    if not ephemeral:
        return api.post(f"{path}?dryRun=All", obj)
    one = f"{path}/{obj['metadata']['name']}"
    api.post(path, obj).expect(201)
    try:
        added = {"spec": {"ephemeralContainers": ephemeral}}
        kind = "application/strategic-merge-patch+json"
        return api.patch(f"{one}/ephemeralcontainers?dryRun=All", added, kind)
    finally:
        api.delete(one, {"gracePeriodSeconds": 0})


def added_by_default(toleration: dict[str, Any]) -> bool:
    """What the plugin DefaultTolerationSeconds adds."""
    nodes = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    return toleration.get("key") in nodes and toleration.get("tolerationSeconds") == 300


def comparable(obj: dict[str, Any]) -> dict[str, Any]:
    """The spec without what differs from one creation to the next: the volume of the account's token, the order of
    tolerations, and those that the API server adds where there are none yet: it does so before gpugate is called."""
    spec: dict[str, Any] = copy.deepcopy(obj["spec"])
    listed = [each for each in spec.get("tolerations", []) if not added_by_default(each)]
    spec["tolerations"] = sorted(listed, key=json.dumps)
    spec["volumes"] = [each for each in spec.get("volumes", []) if not each["name"].startswith("kube-api-access")]
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key, []):
            mounts = container.get("volumeMounts", [])
            container["volumeMounts"] = [each for each in mounts if not each["name"].startswith("kube-api-access")]
    return spec


def verdict_of(policy_file: Path, obj: dict[str, Any], template: Template, known: list[dict[str, Any]]) -> Verdict:
    """What check says."""
    policy = load([(policy_file.name, policy_file.read_bytes())])
    context = context_of(obj, template, known)
    context = type(context)(context.namespace or "default", date.today(), context.facts, context.template)
    return judge(policy, template.pod(), context, "enforce")


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_check_and_webhook_agree(gates: Gates, fixture: Path) -> None:
    policy_file = FOLDER / fixture.relative_to(FOLDER).parts[0] / "policy.yaml"
    *known, obj = objects(fixture)
    (template,) = templates(obj, CORE_KINDS)
    verdict = verdict_of(policy_file, obj, template, known)
    gate = gates.of(policy_file, known)
    plane = gate.plane
    for name in {template.spec.get("runtimeClassName"), "nvidia", "gpu-runtime"} - {None, ""}:
        ensure_class(plane, str(name))
    namespace = enforced(gate, obj["metadata"].get("namespace", "default"))

    if template.kind.validated and send(plane, namespace, obj).status == 422:
        assert not verdict.allowed  # the API server refuses the template itself
        return
    pod = pod_of(template, obj)
    answer = send(plane, namespace, pod)
    by_webhook = answer.status == 403 and "admission webhook" in answer.body["message"]
    refused = [finding for finding in verdict.findings if finding.outcome == "deny"]
    if answer.status == 400:
        return  # the API server cannot even read it
    assert verdict.allowed == (answer.status in (200, 201)), answer.body
    if not verdict.allowed:
        if by_webhook:
            assert answer.body["message"].partition("denied the request: ")[2] == refusal(refused)["message"]
        else:  # refused by the API server too, in its own words
            assert refused
            assert answer.status in (422, 500), answer.body
        return

    warned = {finding.text for finding in verdict.findings if finding.outcome == "warn"}
    assert {text for text in warnings(answer) if text.startswith(verdict_prefix(policy_file))} == warned
    patched = jsonpatch.apply_patch(obj, verdict.patch)
    (after,) = templates(patched, CORE_KINDS)
    elsewhere = send(plane, plain_namespace(plane), pod_of(after, patched))
    assert elsewhere.status == answer.status, elsewhere.body
    assert comparable(answer.body) == comparable(elsewhere.body)


def verdict_prefix(policy_file: Path) -> str:
    return load([(policy_file.name, policy_file.read_bytes())]).documents[0].name + "/"


def warnings(answer: Response) -> list[str]:
    """The texts of the Warning headers: ``299 - "text"``, with quotes and backslashes escaped."""
    return [json.loads(each.partition(" - ")[2]) for each in answer.headers.get_all("Warning") or []]


def plain_namespace(plane: ControlPlane) -> str:
    """A namespace that gpugate is not asked about."""
    name = "parity-without-gpugate"
    api = plane.client()
    if api.get(f"/api/v1/namespaces/{name}").status == 404:
        api.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    wait_for(lambda: api.get(account).status == 200, message=f"an account in {name}")
    return name
