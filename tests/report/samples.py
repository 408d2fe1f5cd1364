"""A run with one of everything, made by hand: formats are tested without rules, messages and positions."""

from datetime import date
from typing import Any

from app.documents import Region
from app.model.finding import Finding, Outcome
from app.policy.compiled import Policy
from app.policy.load import load
from app.report.formats import new_report
from app.report.results import InputError, JudgedObject, JudgedPod, Placed, Style, Summary
from app.report.source_text import SourceText

POLICY = """\
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: p}
spec:
  gpus: {presets: [nvidia]}
  rules: [{rule: no-privileged, help: "Ask #gpus."}, {rule: runtime-class, with: {default: nvidia}, action: warn}]
  inject: [{name: gpu-nodes, nodeSelector: {a: b}}]
"""
SOURCE = b"""\
kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: a
          resources: {requests: {nvidia.com/gpu: 6}}
          securityContext:\t{privileged: true}  # \x1b[31mred
"""
TODAY = date(2026, 12, 2)


def policy() -> Policy:
    return load([("p.yaml", POLICY.encode())])


def placed(
    outcome: Outcome,
    message: str,
    *,
    at: Region,
    pointer: str = "/spec/x",
    rule: str = "no-privileged",
    known: bool = False,
    **fields: Any,
) -> Placed:
    kind, name = ("container", "a") if message.startswith("container") else (None, None)
    finding = Finding("p", rule, outcome, pointer, message, container_kind=kind, container=name, **fields)
    return Placed(finding, at, known)


def pod(*findings: Placed, **fields: object) -> JudgedPod:
    values: dict[str, object] = {
        "template": "/spec/template/spec",
        "guessed": False,
        "gpu": True,
        "mode": "enforce",
        "allowed": True,
        "exempt": None,
        "patch": (),
    }
    return JudgedPod(findings=findings, **(values | fields))  # type: ignore[arg-type]


def judged(*pods: JudgedPod, name: str | None = "trainer", **fields: object) -> JudgedObject:
    values: dict[str, object] = {
        "source": SourceText("k8s/a.yaml", SOURCE),
        "line": 1,
        "document": 1,
        "item": None,
        "api_version": "apps/v1",
        "kind": "Deployment",
        "namespace": "team-a",
        "generate_name": None,
        "value": {},
    }
    return JudgedObject(name=name, pods=pods, **(values | fields))  # type: ignore[arg-type]


PATCH = ({"op": "add", "path": "/spec/template/spec/runtimeClassName", "value": "nvidia"},)
REPAIR = placed("repair", 'runtimeClassName set to "nvidia"', at=Region(4, 5, 4, 9), rule="runtime-class")

OBJECTS = [
    judged(
        pod(
            placed(
                "deny",
                'container "a": request 6 is not its limit 8',
                at=Region(7, 50, 7, 51),
                pointer="/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu",
                help="see https://wiki.example.com",
            ),
            placed("warn", "a warning\x1b[0m", at=Region(8, 27, 8, 44)),
            placed("audit", "a record over lines", at=Region(5, 7, 8, 3)),
            placed("note", "a note", at=Region(1, 1, 1, 5)),
            REPAIR,
            allowed=False,
            patch=PATCH,
        )
    ),
    judged(pod(REPAIR, patch=PATCH), name=None, generate_name="run-", kind="Job", item=3, document=2, line=20),
    judged(pod(placed("warn", "only this", at=Region(2, 1, 2, 5)), template="/a/spec"), pod(template="/b/spec")),
    judged(pod(REPAIR, placed("deny", "not enforced", at=Region(99, 1, 99, 2)), mode="audit"), name="audited"),
    judged(pod(exempt="namespace", gpu=False), name=None, kind="Pod"),
    judged(pod(mode="disabled", gpu=False), name="unseen"),
    judged(pod(placed("deny", "known already", at=Region(6, 11, 6, 12), known=True), allowed=False), name="known"),
    judged(
        pod(placed("deny", "in a template", at=Region(2, 1, 2, 5)), allowed=False),
        name="rendered",
        source=SourceText("helm charts/a", SOURCE, rendered=True, file="charts/a/Chart.yaml", chart="charts/a"),
        template_file="charts/a/templates/x.yaml",
    ),
    judged(kind="ConfigMap", namespace=""),
]
ERRORS = [InputError("k8s/b.yaml", 3, 1, "not YAML"), InputError("k8s/c.yaml", 1, 1, "cannot be read")]


def report(format: str, style: Style = Style(), objects: list[JudgedObject] = OBJECTS) -> str:  # noqa: B008
    """What the format makes of the run."""
    written: list[str] = []
    summary = Summary(files=2)
    made = new_report(format, written.append, policy(), style)
    for each in objects:
        summary.count(each)
        made.object(each)
    for error in ERRORS:
        summary.errors += 1
        made.error(error)
    made.finish(summary)
    return "".join(written)
