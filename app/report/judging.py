"""From the bytes of an input to its judged objects."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, NamedTuple

from app.admission.controllers import controller_findings
from app.admission.judge import Verdict, judge, judge_update
from app.admission.review import API_VERSION, NotAReview, Request, read_request
from app.documents import Document, DocumentError, UnrenderedError, helm_action, read
from app.model.context import ClusterFacts, Context, RuntimeClassFact
from app.model.pod import MalformedPod
from app.policy.compiled import Mode, Policy
from app.report.results import InputError, JudgedObject, JudgedPod, Placed
from app.report.source_text import SourceText
from app.workloads import facts as stated
from app.workloads.defaulting import defaulted
from app.workloads.kinds import Kinds, group_kind
from app.workloads.templates import Template, guesses, templates

_BRACES: Final = (b"{{", b"{\0{")  # the second in UTF-16
_RENDER: Final = "; judge what Helm makes of it: check --chart DIR, or helm template DIR | gpugate check -"


@dataclass(frozen=True, slots=True)
class Judging:
    """By what, and as what, objects are judged.

    Without a ``mode`` each namespace has its own, as far as the policy tells: its labels are not known here.
    ``namespace`` is for objects that name none.
    """

    policy: Policy
    facts: ClusterFacts
    today: date
    mode: Mode | None = "enforce"
    namespace: str = "default"
    as_written: bool = False


def facts_among(inputs: Iterable[tuple[str, bytes]], judging: Judging) -> ClusterFacts:
    """What is known of the cluster, with what the objects of the inputs say of it."""
    classes: dict[str, RuntimeClassFact] = {}
    claims = dict(judging.facts.claims)
    for name, content in inputs:
        if not stated.may_say_something(content):
            continue
        for document in read(content, name):
            if isinstance(document, DocumentError):
                continue  # said when the input is judged
            found = stated.runtime_class(document.value)
            if found is not None:
                classes[found.name] = found
            claim = stated.claim_template(document.value)
            if claim is not None:
                claims[claim.namespace or judging.namespace, claim.name] = claim.device_classes
    known = judging.facts.runtime_classes
    if known is None:
        # To know the classes of the input is not to know that others are missing.
        return ClusterFacts(classes, complete=False, claims=claims)
    return replace(judging.facts, runtime_classes={**known, **classes}, claims=claims)


def judged_objects(
    source: SourceText, content: bytes, judging: Judging, kinds: Kinds
) -> Iterator[JudgedObject | InputError]:
    """The objects of one input with their verdicts, and what could not be judged, in the order of the input.

    An object of which a part could not be judged comes after the errors, with the pods that could. What Helm should
    have rendered is not judged; of several such errors in an input only the first is told.
    """
    templated = any(braces in content for braces in _BRACES)
    unrendered = False
    for document in read(content, source.name):
        if isinstance(document, DocumentError):
            unrendered = unrendered or isinstance(document, UnrenderedError)
            hint = _RENDER if isinstance(document, UnrenderedError) else ""
            yield InputError(source.name, document.line, document.column, document.message + hint)
            continue
        judged = list(_judged(source, document, judging, kinds))
        at = None
        if templated and any(isinstance(each, InputError) or each.pods for each in judged):
            at = helm_action(document.value)
        if at is None:
            yield from judged
        elif not unrendered:
            unrendered = True
            region = document.locate(at)
            yield InputError(source.name, region.line, region.column, f"a Helm template that was not rendered{_RENDER}")


def _judged(
    source: SourceText, document: Document, judging: Judging, kinds: Kinds
) -> Iterator[JudgedObject | InputError]:
    obj, base, namespace = document.value, "", ""
    request = None
    if obj.get("kind") == "AdmissionReview" and obj.get("apiVersion") == API_VERSION:
        try:
            request = read_request(obj)
        except NotAReview as error:
            yield InputError(source.name, document.line, 1, str(error))
            return
        obj, base, namespace = request.object or {}, "/request/object", request.namespace
    ids, pods, malformed = _Ids(), [], []
    known = group_kind(obj) in kinds
    try:
        if known:
            ids = _ids(obj)
        for template in templates(obj, kinds) if known else guesses(obj, kinds):
            ids = _ids(obj)
            namespace = namespace or ids.namespace or judging.namespace
            try:
                pods.append(_pod(template, document, base, namespace, judging, request))
            except MalformedPod as error:
                if known:  # else it only looked like a pod
                    malformed.append(error)
    except MalformedPod as error:
        malformed.append(error)
    if pods and request is None:
        pods[0] = _with_controller(pods[0], obj, document, namespace, judging)
    for each in malformed:
        region = document.locate(base + each.pointer)
        yield InputError(source.name, region.line, region.column, str(each))
    line = document.line if pods else 0  # to find it may cost reading the document again
    yield JudgedObject(
        source=source,
        line=line,
        document=document.index,
        item=document.item,
        api_version=str(obj.get("apiVersion") or ""),
        kind=str(obj.get("kind") or ""),
        namespace=namespace,
        name=ids.name,
        generate_name=ids.generate_name,
        value=obj,
        pods=tuple(pods),
        incomplete=bool(malformed),
        template_file=source.template(line) if line else None,
    )


def _pod(
    template: Template, document: Document, base: str, namespace: str, judging: Judging, request: Request | None
) -> JudgedPod:
    mode = judging.mode or judging.policy.modes.of(namespace)
    context = Context(namespace, judging.today, judging.facts, template.kind.validated)
    verdict = _verdict(template, context, mode, judging, request)
    return JudgedPod(
        template=template.spec_pointer,
        guessed=template.guessed,
        gpu=verdict.gpu,
        mode=mode,
        allowed=verdict.allowed,
        exempt=verdict.exempt,
        findings=tuple(Placed(finding, document.locate(base + finding.pointer)) for finding in verdict.findings),
        patch=tuple(verdict.patch),
    )


def _with_controller(
    pod: JudgedPod, obj: dict[str, Any], document: Document, namespace: str, judging: Judging
) -> JudgedPod:
    """The first pod of an object with what is said of the object itself."""
    if pod.exempt or pod.mode == "disabled":
        return pod
    context = Context(namespace, judging.today, judging.facts)
    found = [placed.finding for placed in pod.findings]
    more = controller_findings(judging.policy, obj, context, found)
    return replace(
        pod, findings=(*pod.findings, *(Placed(finding, document.locate(finding.pointer)) for finding in more))
    )


def _verdict(template: Template, context: Context, mode: Mode, judging: Judging, request: Request | None) -> Verdict:
    if request is not None and request.operation == "UPDATE" and request.kind == "Pod" and not request.group:
        old = request.old_object
        if old is not None and type(old.get("spec")) is dict:
            old = {**old, "spec": defaulted(old["spec"])}
        return judge_update(judging.policy, template.pod(), old, context, mode)
    return judge(judging.policy, template.pod(), context, mode, as_written=judging.as_written)


class _Ids(NamedTuple):
    """What an object calls itself."""

    namespace: str | None = None
    name: str | None = None
    generate_name: str | None = None


def _ids(obj: dict[str, Any]) -> _Ids:
    """Raises MalformedPod."""
    metadata = obj.get("metadata")
    if metadata is None:
        return _Ids()
    if type(metadata) is not dict:
        raise MalformedPod("/metadata", metadata, "a map")
    found = [metadata.get(key) for key in ("namespace", "name", "generateName")]
    for key, value in zip(("namespace", "name", "generateName"), found, strict=True):
        if value is not None and type(value) is not str:
            raise MalformedPod(f"/metadata/{key}", value, "text")
    return _Ids(*(value or None for value in found))
