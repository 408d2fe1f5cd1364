"""What of a right policy cannot be kept at admission here: each a flaw, so that no policy is kept by halves.

Pods are judged when they are created and updated, by a server that knows nothing of the cluster: no labels of
namespaces, no roles of users, no other kinds, no deletions.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.kyverno import kinds
from app.kyverno.kinds import POD_CONTROLLERS
from app.kyverno.types import Flaw
from app.kyverno.values import has_wildcard
from app.model.patch import escape

_JUDGED: Final = ("CREATE", "UPDATE")
_UNKNOWN: Final = {
    "roles": "the roles of users",
    "clusterRoles": "the cluster roles of users",
}
_UNKNOWN_LABELS: Final = "the labels of namespaces are not known where pods are judged; name the namespaces"
_VARIABLES: Final = ("request.roles", "request.clusterRoles")


def limits(document: dict[str, Any]) -> Iterator[Flaw]:
    """What a ClusterPolicy or Policy that compiles asks for in vain."""
    spec = document["spec"]
    yield from _overrides(spec, "validationFailureActionOverrides", "/spec")
    if not any(_for_pods(rule) for rule in spec["rules"]):
        yield Flaw("/spec/rules", "no rule of the policy matches pods, which are what is judged", True, True)
    for index, rule in enumerate(spec["rules"]):
        pointer, name = f"/spec/rules/{index}", rule.get("name")
        yield from _overrides(rule.get("validate") or {}, "failureActionOverrides", f"{pointer}/validate")
        for key in ("match", "exclude"):
            for at, found in _filters(rule.get(key), f"{pointer}/{key}"):
                yield from _filter(found, at, str(name), matching=key == "match")
        if rule.get("mutate") and not _for_pods(rule):
            said = f'rule "{name}" changes {", ".join(_matched(rule))} and no pods; only pods are changed'
            yield Flaw(f"{pointer}/match", said, True, True)
        yield from _variables(rule, pointer, str(name))


def _matched(rule: dict[str, Any]) -> list[str]:
    return [kind for _, found in _filters(rule.get("match"), "") for kind in _kinds(found)]


def _for_pods(rule: dict[str, Any]) -> bool:
    matched = _matched(rule)
    return not matched or any(_selects_pods(kind) for kind in matched)


def _filters(match: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The filters of a match or exclude with their places."""
    if type(match) is not dict:
        return
    listed = [(f"{pointer}/{key}/{index}", each) for key in ("any", "all") for index, each in _each(match.get(key))]
    yield from listed or [(pointer, match)]


def _each(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, item in enumerate(value if type(value) is list else ()):
        if type(item) is dict:
            yield index, item


def _kinds(found: dict[str, Any]) -> list[str]:
    resources = found.get("resources")
    return list(resources.get("kinds") or ()) if type(resources) is dict else []


def _selects_pods(text: str) -> bool:
    selector = kinds.parse(text)
    return selector is not None and selector.pods and selector.subresource in ("", "*", "ephemeralcontainers")


def _filter(found: dict[str, Any], pointer: str, rule: str, *, matching: bool) -> Iterator[Flaw]:
    resources = found.get("resources") or {}
    for key, what in _UNKNOWN.items():
        if found.get(key):
            yield Flaw(f"{pointer}/{key}", f'rule "{rule}": {what} are not known where pods are judged', True, True)
    if resources.get("namespaceSelector"):
        yield Flaw(f"{pointer}/resources/namespaceSelector", f'rule "{rule}": {_UNKNOWN_LABELS}', True, True)
    if not matching:
        return
    for index, kind in enumerate(resources.get("kinds") or ()):
        if _selects_pods(kind) and not _is_wide(kind):
            continue
        selector = kinds.parse(kind)
        if selector is None or selector.kind not in POD_CONTROLLERS or selector.subresource:
            said = f'rule "{rule}" matches {kind}; only pods are judged, and the controllers of pods beside them'
            yield Flaw(f"{pointer}/resources/kinds/{index}", said, False, True)
    operations = resources.get("operations")
    for index, operation in enumerate(operations or ()):
        if operation not in _JUDGED:
            said = f'rule "{rule}" is for {operation}; pods are judged on {" and ".join(_JUDGED)}'
            yield Flaw(f"{pointer}/resources/operations/{index}", said, False, True)


def _is_wide(kind: str) -> bool:
    """Whether a selector of kinds means more than pods."""
    selector = kinds.parse(kind)
    return selector is None or has_wildcard(selector.kind)


def _overrides(parent: dict[str, Any], key: str, pointer: str) -> Iterator[Flaw]:
    for index, item in _each(parent.get(key)):
        if item.get("namespaceSelector"):
            yield Flaw(f"{pointer}/{key}/{index}/namespaceSelector", _UNKNOWN_LABELS, True, True)


def _variables(value: Any, pointer: str, rule: str) -> Iterator[Flaw]:
    """The variables that nobody knows, at the texts that name them."""
    if type(value) is str:
        for variable in _VARIABLES:
            if variable in value:
                yield Flaw(pointer, f'rule "{rule}": {variable} is not known where pods are judged', False, True)
    elif type(value) is dict:
        for key, item in value.items():
            yield from _variables(item, f"{pointer}/{escape(key)}", rule)
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _variables(item, f"{pointer}/{index}", rule)
