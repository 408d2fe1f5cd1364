"""Objects of a cluster, judged: the same verdicts as on manifests, without lines."""

from dataclasses import replace
from typing import Any, Final, NamedTuple

from app.admission.controllers import controller_findings
from app.admission.judge import Verdict, in_mode, judge
from app.documents import Region
from app.model.context import Context
from app.model.gpu import gpu_use
from app.model.pod import MalformedPod
from app.policy.compiled import Mode
from app.report.judging import Judging
from app.report.results import InputError, JudgedObject, JudgedPod, Placed
from app.report.source_text import SourceText
from app.workloads.kinds import Kinds
from app.workloads.templates import Template, templates

_NOWHERE: Final = Region(1, 1, 1, 1)

# What the API server adds and nobody applies; in most objects this is the larger half.
_SERVED: Final = ("managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink")


class Live(NamedTuple):
    """An object with its verdicts: ``judged`` by its namespace's mode, and for each pod what `enforce` would do.

    ``enforced`` tells of exempt pods whether they ask for GPUs, too.
    """

    judged: JudgedObject
    enforced: tuple[JudgedPod, ...]
    errors: tuple[InputError, ...]


def judged_live(obj: dict[str, Any], kinds: Kinds, judging: Judging, mode: Mode) -> Live:
    """The object, which is of one of the kinds, as the mode has it."""
    metadata = obj["metadata"]
    namespace, name, kind = str(metadata.get("namespace") or ""), str(metadata["name"]), str(obj["kind"])
    source = SourceText(place(obj), b"", live=True)
    pods, enforced, errors = [], [], []
    try:
        for template in templates(obj, kinds):
            try:
                verdict = _verdict(template, namespace, judging)
            except MalformedPod as error:
                errors.append(InputError(source.name, 1, 1, str(error), live=True))
                continue
            pods.append(_pod(template, in_mode(verdict, mode)))
            if verdict.exempt:
                verdict = verdict._replace(gpu=_asks(template, namespace, judging))
            enforced.append(_pod(template, verdict))
    except MalformedPod as error:
        errors.append(InputError(source.name, 1, 1, str(error), live=True))
    if pods:
        more = _of_controller(obj, namespace, judging, pods[0])
        pods[0] = replace(pods[0], findings=pods[0].findings + more)
        enforced[0] = replace(enforced[0], findings=enforced[0].findings + more)
    judged = JudgedObject(
        source=source,
        line=1,
        document=1,
        item=None,
        api_version=str(obj["apiVersion"]),
        kind=kind,
        namespace=namespace,
        name=name,
        generate_name=None,
        value=_applied(obj),
        pods=tuple(pods),
        incomplete=bool(errors),
    )
    return Live(judged, tuple(enforced), tuple(errors))


def _of_controller(obj: dict[str, Any], namespace: str, judging: Judging, pod: JudgedPod) -> tuple[Placed, ...]:
    """What is said of the object itself, beside its first pod."""
    if pod.exempt or pod.mode == "disabled":
        return ()
    context = Context(namespace, judging.today, judging.facts)
    found = [placed.finding for placed in pod.findings]
    return tuple(Placed(each, _NOWHERE) for each in controller_findings(judging.policy, obj, context, found))


def place(obj: dict[str, Any]) -> str:
    """Which object of the cluster: ``team-a/Deployment/web``."""
    metadata = obj["metadata"]
    parts = (metadata.get("namespace"), obj["kind"], metadata["name"])
    return "/".join(str(part) for part in parts if part)


def _verdict(template: Template, namespace: str, judging: Judging) -> Verdict:
    return judge(judging.policy, template.pod(), _context(template, namespace, judging), "enforce")


def _asks(template: Template, namespace: str, judging: Judging) -> bool:
    return gpu_use(template.pod(), judging.policy.gpus, _context(template, namespace, judging)).gpu


def _context(template: Template, namespace: str, judging: Judging) -> Context:
    return Context(namespace, judging.today, judging.facts, template.kind.validated)


def _pod(template: Template, verdict: Verdict) -> JudgedPod:
    return JudgedPod(
        template=template.spec_pointer,
        guessed=False,
        gpu=verdict.gpu,
        mode=verdict.mode,
        allowed=verdict.allowed,
        exempt=verdict.exempt,
        findings=tuple(Placed(finding, _NOWHERE) for finding in verdict.findings),
        patch=tuple(verdict.patch),
    )


def _applied(obj: dict[str, Any]) -> dict[str, Any]:
    """The object as somebody may have applied it."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVED}
    return {key: metadata if key == "metadata" else value for key, value in obj.items() if key != "status"}
