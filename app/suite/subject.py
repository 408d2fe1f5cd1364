"""The object of a case, and what is known around it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any, Final, NamedTuple

import orjson

from app.admission.review import API_VERSION, NotAReview, read_request
from app.documents import Document, read
from app.model.context import UNKNOWN_CLUSTER, ClusterFacts, Context
from app.model.pod import MalformedPod
from app.policy.compiled import MODE_LABEL, Mode, Policy
from app.suite.case import CaseError, Place, Question, Reference, Sources
from app.suite.judged import Judged, Unanswered, judged_object, judged_update, templates_in
from app.workloads.facts import claim_template, runtime_class
from app.workloads.kinds import Kinds, group_kind

DEFAULT_NAMESPACE: Final = "default"


class _Found(NamedTuple):
    """An object, where it stands, and the other objects of its file."""

    value: dict[str, Any]
    place: Place
    beside: list[dict[str, Any]]


class _Sent(NamedTuple):
    """What the API server would be sent: the object, in which namespace, and for an UPDATE the pod before it."""

    object: dict[str, Any]
    namespace: str
    update: bool = False
    old: dict[str, Any] | None = None


def answer(policy: Policy, question: Question, sources: Sources, today: date) -> Judged:
    """The verdict on the object of a question; raises CaseError."""
    kinds = sources.kinds_of(policy)
    found = _find(question.object, kinds)
    try:
        sent = _review(question, found) if _is_review(found.value) else _sent(question, found, kinds)
        mode = _mode(policy, question, sent.namespace)
        facts = _facts(question, found.beside, sent.namespace, sources)
        context = Context(sent.namespace, question.today or today, facts)
        if sent.update:
            return judged_update(policy, sent.object, sent.old, mode, context, kinds)
        return judged_object(policy, sent.object, mode, context, kinds)
    except (MalformedPod, NotAReview, Unanswered) as error:
        raise CaseError(found.place, str(error)) from error


def _sent(question: Question, found: _Found, kinds: Kinds) -> _Sent:
    namespace = _namespace(question, found.value)
    if question.old is None:
        return _Sent(found.value, namespace)
    old = _find(question.old, kinds)
    for each in (found, old):
        if group_kind(each.value) != ("", "Pod"):
            raise CaseError(each.place, f"{_label(each.value)}: the policy judges an UPDATE of pods only")
    return _Sent(found.value, namespace, update=True, old=old.value)


def _review(question: Question, found: _Found) -> _Sent:
    """What an AdmissionReview says; the case must not say it again."""
    request = read_request(found.value)
    said = {"operation": question.operation, "namespace": question.namespace, "userInfo": question.user}
    for key, given in said.items():
        if given is not None:
            raise CaseError(question.object.place, f"{key}: the AdmissionReview says it; leave it out")
    update = request.operation == "UPDATE"
    if request.object is None or not (update or request.operation == "CREATE"):
        raise CaseError(found.place, f"request.operation is {request.operation}: the policy is not asked about it")
    if update and (request.group, request.kind) != ("", "Pod"):
        raise CaseError(found.place, f"{_label(request.object)}: the policy judges an UPDATE of pods only")
    return _Sent(request.object, request.namespace or DEFAULT_NAMESPACE, update, request.old_object)


def _mode(policy: Policy, question: Question, namespace: str) -> Mode:
    if question.labels is not None:
        return policy.modes.of(namespace, question.labels.get(MODE_LABEL))
    return question.mode or "enforce"


def _namespace(question: Question, obj: dict[str, Any]) -> str:
    """The object's own, else that of the case; kubectl refuses an object that names another one."""
    own, given = _metadata(obj).get("namespace"), question.namespace
    if not (own is None or isinstance(own, str)):
        raise MalformedPod("/metadata/namespace", own, "text")
    if own and given and own != given:
        raise CaseError(question.object.place, f'namespace: found "{own}" in the object, wanted "{given}"')
    return own or given or DEFAULT_NAMESPACE


def _facts(question: Question, beside: list[dict[str, Any]], namespace: str, sources: Sources) -> ClusterFacts:
    """What is known of the cluster: the facts of the case, and the objects beside its own."""
    facts = UNKNOWN_CLUSTER
    if question.facts is not None:
        place = question.object.place
        content = _read(question.facts, place) if isinstance(question.facts, str) else orjson.dumps(question.facts)
        try:
            facts = sources.parse_facts(content)
        except ValueError as error:
            raise CaseError(place, f"clusterFacts: {error}") from error
    classes = {fact.name: fact for each in beside if (fact := runtime_class(each))}
    claims = {
        (claim.namespace or namespace, claim.name): claim.device_classes
        for each in beside
        if (claim := claim_template(each))
    }
    known = {**(facts.runtime_classes or {}), **classes} if classes else facts.runtime_classes
    return replace(facts, runtime_classes=known, claims={**facts.claims, **claims})


def _find(reference: Reference, kinds: Kinds) -> _Found:
    if reference.value is not None:
        if not _may_hold_pods(reference.value, kinds):
            raise CaseError(reference.place, f"{_label(reference.value)} holds no pod")
        return _Found(reference.value, reference.place, [])
    file = reference.file or ""
    documents = _documents(file, reference.place)
    chosen = [each for each in documents if _is_chosen(reference, each.value)]
    candidates = [each for each in chosen if _may_hold_pods(each.value, kinds)]
    if len(candidates) == 1:
        (found,) = candidates
        beside = [each.value for each in documents if each is not found]
        return _Found(found.value, Place(file, found.line), beside)
    there = ", ".join(_label(each.value) for each in (candidates or documents)) or "nothing"
    if not documents:
        said = "found nothing in it, wanted an object"
    elif not chosen:
        said = f"found {there}, wanted one with {_wanted(reference)}"
    elif not candidates:
        said = f"found {there}, wanted an object that holds pods"
    else:
        said = f"found {there}, wanted one; choose it with object: {{file: ..., kind: ..., name: ...}}"
    raise CaseError(reference.place, f"{file}: {said}")


def _documents(file: str, place: Place) -> list[Document]:
    documents = []
    for each in read(_read(file, place), file):
        if not isinstance(each, Document):
            raise CaseError(Place(file, each.line, each.column), each.message)
        documents.append(each)
    return documents


def _read(file: str, place: Place) -> bytes:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - a path as it is shown
            return opened.read()
    except (OSError, ValueError) as error:  # the latter for a NUL in the name
        raise CaseError(place, f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _is_chosen(reference: Reference, value: dict[str, Any]) -> bool:
    metadata = _metadata(value)
    return (
        reference.kind in (None, value.get("kind"))
        and reference.namespace in (None, metadata.get("namespace"))
        and reference.name in (None, metadata.get("name"))
    )


def _may_hold_pods(value: dict[str, Any], kinds: Kinds) -> bool:
    if _is_review(value):
        return True
    try:
        return next(templates_in(value, kinds), None) is not None
    except MalformedPod:
        return True  # it is said of which field when it is judged


def _is_review(value: dict[str, Any]) -> bool:
    return value.get("kind") == "AdmissionReview" and value.get("apiVersion") == API_VERSION


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    metadata = value.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _label(value: dict[str, Any]) -> str:
    return " ".join(str(part) for part in (value.get("kind"), _metadata(value).get("name")) if part) or "an object"


def _wanted(reference: Reference) -> str:
    return ", ".join(_chosen_by(reference))


def _chosen_by(reference: Reference) -> Iterator[str]:
    for key in ("kind", "namespace", "name"):
        if getattr(reference, key) is not None:
            yield f"{key} {getattr(reference, key)}"
