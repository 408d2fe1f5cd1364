"""What is said of an object that makes pods, such as a Deployment, when it is applied: what will become of its pods.

The pods come later, and so does their refusal, in some controller's log. So whoever applies the object is warned. Only
the creation of kinds that the policy wants to be whole or not at all is refused.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from app.admission.controllers import controller_findings
from app.admission.judge import judge
from app.admission.review import Request, answer, bounded, forbidden, printable, record
from app.admission.webhook import Answer, failure
from app.model.context import Context
from app.model.finding import Finding
from app.model.pod import MalformedPod
from app.policy.compiled import Mode, Policy
from app.policy.kinds import kinds_of, refused_kinds
from app.workloads.kinds import Kinds
from app.workloads.templates import Template, templates

_SPOKEN = ("deny", "warn")
_CHANGES = ("repair", "inject")


class _Said(NamedTuple):
    """A finding, and the pods that it is about, in words."""

    finding: Finding
    pods: str

    def text(self, mode: Mode) -> str:
        """As a warning in this mode."""
        if self.finding.outcome in _CHANGES:
            return f"{self.pods} would be changed: {self.finding.text}"
        refused = " would be refused" if mode == "enforce" and self.finding.outcome == "deny" else ""
        return f"{self.pods}{refused}: {self.finding.text}"


def advise(policy: Policy, mode: Mode, request: Request, context: Context) -> Answer:
    """Answer the request as the mode asks for; a namespace that the policy pins has its own mode.

    Nothing is said of objects that a controller made of another, and of updates that leave the templates as they are.
    """
    mode = policy.modes.namespaces.get(request.namespace, mode)
    obj = request.object
    silent = Answer(answer(request.uid), "allowed", mode, [])
    if mode == "disabled" or request.operation not in ("CREATE", "UPDATE") or obj is None or _controlled(obj):
        return silent
    kinds = kinds_of(policy)
    if (request.group, request.kind) not in kinds or (request.group, request.kind) == ("", "Pod"):
        kind = f"{request.kind}.{request.group}" if request.group else request.kind
        return failure(request.uid, "audit", f"/advise knows no pods of a {kind}; see the rules in the configuration")
    refusing = refuses(policy, request)
    try:
        if request.operation == "UPDATE" and _same_templates(obj, request.old_object, kinds):
            return silent
        said = list(_judged(policy, mode, request, context, kinds))
    except MalformedPod as error:
        return failure(request.uid, mode if refusing else "audit", str(error))
    return _answer(request.uid, mode, said, refusing=refusing and mode == "enforce")


def refuses(policy: Policy, request: Request) -> bool:
    """True if `enforce` refuses the object where its pods would be refused, rather than to advise."""
    return request.operation == "CREATE" and (request.group, request.kind) in refused_kinds(policy)


def _controlled(obj: dict[str, Any]) -> bool:
    metadata = obj.get("metadata")
    owners = metadata.get("ownerReferences") if type(metadata) is dict else None
    return type(owners) is list and any(type(owner) is dict and owner.get("controller") is True for owner in owners)


def _same_templates(obj: dict[str, Any], old: dict[str, Any] | None, kinds: Kinds) -> bool:
    if old is None:
        return False
    try:
        before = [(each.spec_pointer, each.spec, each.metadata) for each in templates(old, kinds)]
    except MalformedPod:
        return False
    return before == [(each.spec_pointer, each.spec, each.metadata) for each in templates(obj, kinds)]


def _judged(policy: Policy, mode: Mode, request: Request, context: Context, kinds: Kinds) -> Iterator[_Said]:
    """What is found in each template, and in the object itself, once."""
    assert request.object is not None
    found = list(templates(request.object, kinds))
    known = set()
    in_pods: list[Finding] = []
    for template in found:
        pods = _pods(request.kind, template, several=len(found) > 1)
        verdict = judge(policy, template.pod(), context._replace(template=template.kind.validated), mode)
        in_pods += verdict.findings
        for finding in verdict.findings:
            said = _Said(finding, pods)
            if said.text(mode) not in known:
                known.add(said.text(mode))
                yield said
    for finding in controller_findings(policy, request.object, context, in_pods):
        yield _Said(finding, f"this {request.kind}")


def _pods(kind: str, template: Template, *, several: bool) -> str:
    return f"pods of this {kind} ({template.spec_pointer})" if several else f"pods of this {kind}"


def _answer(uid: str, mode: Mode, said: list[_Said], *, refusing: bool) -> Answer:
    findings = [each.finding for each in said if each.finding.outcome not in _CHANGES]
    changes = [each.finding for each in said if each.finding.outcome in _CHANGES] if mode in ("audit", "warn") else []
    if not (findings or changes):
        return Answer(answer(uid), "allowed", mode, [])
    annotations: dict[str, str] = {"mode": mode}
    if findings:
        annotations["findings"] = record(findings)
    if changes:
        annotations["changes"] = record(changes)
    refused = [each for each in said if each.finding.outcome == "deny"] if refusing else []
    if refused:
        status = forbidden([each.text(mode) for each in refused])
        body = answer(uid, allowed=False, status=status, annotations=annotations)
        return Answer(body, "refused", mode, findings)
    spoken = (*_SPOKEN, *_CHANGES) if mode == "warn" else _SPOKEN
    texts = [each.text(mode) for each in said if each.finding.outcome in spoken] if mode != "audit" else []
    body = answer(uid, warnings=[printable(text) for text in bounded(texts)], annotations=annotations)
    return Answer(body, "allowed", mode, findings + changes)
