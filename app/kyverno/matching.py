"""``match`` and ``exclude``: which resources, and whose requests, a rule is for.

Source: kyverno pkg/engine/utils/match.go, pkg/utils/match. Inside a filter all that is given must hold, and of a list
any. Who makes the request is not known outside admission; then a ``match`` does not ask for it.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.kyverno import kinds
from app.kyverno.kinds import Kind, KindSelector
from app.kyverno.selectors import LabelSelector, compile_selector
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion, text_map, texts
from app.kyverno.types import Flaw, Request
from app.kyverno.values import wildcard

_RESOURCES: Final = (
    "kinds", "name", "names", "namespaces", "annotations", "selector", "namespaceSelector", "operations",
)  # fmt: skip
_WHO: Final = ("subjects", "roles", "clusterRoles")
_OPERATIONS: Final = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_SUBJECTS: Final = ("User", "Group", "ServiceAccount")
_ACCOUNT: Final = "system:serviceaccount"
_NO_LABELS: Final[dict[str, str]] = {}


class Subject(NamedTuple):
    """What a request is matched by; ``user`` is None where nobody knows who makes it."""

    kind: Kind
    subresource: str
    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    namespace_labels: Mapping[str, str]
    operation: str
    user: Mapping[str, Any] | None
    roles: tuple[str, ...]
    cluster_roles: tuple[str, ...]


class Who(NamedTuple):
    """A subject of ``subjects``."""

    kind: str
    name: str
    namespace: str

    def is_user(self, user: Mapping[str, Any]) -> bool:
        """Whether the user of the request is this one, or of this group."""
        if self.kind == "Group":
            groups = user.get("groups")
            return any(wildcard(self.name, str(group)) for group in (groups if type(groups) is list else ()))
        name = f"{_ACCOUNT}:{self.namespace}:{self.name}" if self.kind == "ServiceAccount" else self.name
        return wildcard(name, str(user.get("username", "")))


class Filter(NamedTuple):
    """One filter; what is empty or None asks for nothing."""

    kinds: tuple[KindSelector, ...] = ()
    names: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    operations: tuple[str, ...] = ()
    subjects: tuple[Who, ...] = ()
    roles: tuple[str, ...] = ()
    cluster_roles: tuple[str, ...] = ()

    def selects(self, subject: Subject, *, excluding: bool = False) -> bool:
        """Whether the subject is as the filter has it. An empty one selects nothing."""
        return (
            (not self.kinds or any(kind.selects(subject.kind, subject.subresource) for kind in self.kinds))
            and (not self.names or any(wildcard(name, subject.name) for name in self.names))
            and (not self.namespaces or any(wildcard(name, subject.namespace) for name in self.namespaces))
            and all(_annotated(key, value, subject.annotations) for key, value in self.annotations)
            and (self.selector is None or self.selector.selects(subject.labels))
            and (self.namespace_selector is None or self._namespace_selected(subject))
            and (not self.operations or subject.operation in self.operations)
            and self._whose(subject, excluding=excluding)
            and self != _EMPTY
        )

    def _namespace_selected(self, subject: Subject) -> bool:
        assert self.namespace_selector is not None
        return subject.kind.kind == "Namespace" or self.namespace_selector.selects(subject.namespace_labels)

    def _whose(self, subject: Subject, *, excluding: bool) -> bool:
        if not (self.subjects or self.roles or self.cluster_roles):
            return True
        user = subject.user
        if user is None and not subject.roles and not subject.cluster_roles:
            return not excluding
        return (
            (not self.roles or any(wildcard(role, each) for role in self.roles for each in subject.roles))
            and (
                not self.cluster_roles
                or any(wildcard(role, each) for role in self.cluster_roles for each in subject.cluster_roles)
            )
            and (not self.subjects or (user is not None and any(who.is_user(user) for who in self.subjects)))
        )


_EMPTY: Final = Filter()


class Match(NamedTuple):
    """The filters of ``match`` or ``exclude``: of ``any`` one must select, of ``all`` each."""

    any: tuple[Filter, ...] = ()
    all: tuple[Filter, ...] = ()

    @property
    def filters(self) -> tuple[Filter, ...]:
        """All filters."""
        return self.any + self.all

    def can_select(self, kind: Kind, subresource: str) -> bool:
        """Whether resources of a kind can be meant."""
        of_kind = [
            not each.kinds or any(selector.selects(kind, subresource) for selector in each.kinds)
            for each in self.filters
        ]
        return any(of_kind) if self.any else all(of_kind)

    def selects(self, subject: Subject, *, excluding: bool = False) -> bool:
        """Whether the subject is meant."""
        if self.any:
            return any(each.selects(subject, excluding=excluding) for each in self.any)
        return bool(self.all) and all(each.selects(subject, excluding=excluding) for each in self.all)


NOTHING: Final = Match()


def subject_of(request: Request) -> Subject:
    """What the request is matched by."""
    resource = request.subject
    metadata = resource.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    kind = kinds.of(resource)
    name = str(metadata.get("name") or metadata.get("generateName") or "")
    user = request.attributes.get("userInfo")
    return Subject(
        kind,
        request.subresource,
        name,
        name if kind.kind == "Namespace" else request.namespace or str(metadata.get("namespace") or ""),
        _texts_of(metadata.get("labels")),
        _texts_of(metadata.get("annotations")),
        request.namespace_labels if request.namespace_labels is not None else _NO_LABELS,
        request.operation,
        user if type(user) is dict and user else None,
        tuple(request.attributes.get("roles") or ()),
        tuple(request.attributes.get("clusterRoles") or ()),
    )


def compile_match(value: Any, pointer: str, flaws: list[Flaw], what: str) -> Match:
    """The match of a rule, or its exclude (``what``)."""
    if value is None or not a_map(value, pointer, flaws, what):
        return NOTHING
    only_keys(value, ("any", "all", "resources", *_WHO), pointer, flaws, what)
    if "any" in value and "all" in value:
        flaws.append(Flaw(pointer, f'{what} cannot have both "any" and "all"', key=True))
    found = {}
    for name in ("any", "all"):
        listed = value.get(name)
        at = f"{pointer}/{name}"
        found[name] = tuple(
            _filter(item, f"{at}/{index}", flaws)
            for index, item in enumerate([] if listed is None else a_list(listed, at, flaws, f"{what}.{name}"))
        )
    if "any" in value or "all" in value:
        if any(key in value for key in ("resources", *_WHO)):
            flaws.append(Flaw(pointer, f'{what} cannot have filters of its own beside "any" and "all"', key=True))
        return Match(found["any"], found["all"])
    return Match((_filter(value, pointer, flaws),)) if value else NOTHING


def _filter(value: Any, pointer: str, flaws: list[Flaw]) -> Filter:
    if not a_map(value, pointer, flaws, "a filter"):
        return _EMPTY
    only_keys(value, ("resources", *_WHO), pointer, flaws, "a filter")
    resources = value.get("resources")
    at = f"{pointer}/resources"
    if resources is None or not a_map(resources, at, flaws, "resources"):
        resources = {}
    only_keys(resources, _RESOURCES, at, flaws, "resources")
    name = resources.get("name")
    if name is not None and type(name) is not str:
        flaws.append(Flaw(f"{at}/name", "name must be text"))
        name = None
    operations = texts(resources.get("operations"), f"{at}/operations", flaws, "operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            said = f'"{operation}" is no operation; {suggestion(operation, _OPERATIONS)}'
            flaws.append(Flaw(f"{at}/operations/{index}", said))
    return Filter(
        _kinds(resources.get("kinds"), f"{at}/kinds", flaws),
        (*((name,) if name else ()), *texts(resources.get("names"), f"{at}/names", flaws, "names")),
        texts(resources.get("namespaces"), f"{at}/namespaces", flaws, "namespaces"),
        tuple(text_map(resources.get("annotations"), f"{at}/annotations", flaws, "annotations").items()),
        compile_selector(resources.get("selector"), f"{at}/selector", flaws),
        compile_selector(resources.get("namespaceSelector"), f"{at}/namespaceSelector", flaws),
        operations,
        _subjects(value.get("subjects"), f"{pointer}/subjects", flaws),
        texts(value.get("roles"), f"{pointer}/roles", flaws, "roles"),
        texts(value.get("clusterRoles"), f"{pointer}/clusterRoles", flaws, "clusterRoles"),
    )


def _kinds(value: Any, pointer: str, flaws: list[Flaw]) -> tuple[KindSelector, ...]:
    found = []
    for index, text in enumerate(texts(value, pointer, flaws, "kinds")):
        selector = kinds.parse(text)
        if selector is None:
            flaws.append(Flaw(f"{pointer}/{index}", f'"{text}" is no kind; write it as Kind or group/version/Kind'))
        else:
            found.append(selector)
    return tuple(found)


def _subjects(value: Any, pointer: str, flaws: list[Flaw]) -> tuple[Who, ...]:
    found = []
    for index, item in enumerate([] if value is None else a_list(value, pointer, flaws, "subjects")):
        at = f"{pointer}/{index}"
        if not a_map(item, at, flaws, "a subject"):
            continue
        only_keys(item, ("kind", "name", "namespace", "apiGroup"), at, flaws, "a subject")
        kind = item.get("kind")
        if kind not in _SUBJECTS:
            flaws.append(Flaw(f"{at}/kind", f'"{kind}" is no kind of subject; {suggestion(kind, _SUBJECTS)}'))
            continue
        found.append(Who(kind, str(item.get("name", "")), str(item.get("namespace", ""))))
    return tuple(found)


def _annotated(key: str, value: str, annotations: Mapping[str, str]) -> bool:
    return any(wildcard(key, name) and wildcard(value, found) for name, found in annotations.items())


def _texts_of(value: Any) -> Mapping[str, str]:
    if type(value) is not dict:
        return _NO_LABELS
    if all(type(item) is str for item in value.values()):
        return value
    return {key: item for key, item in value.items() if type(item) is str}
