"""The variables of a rule: what ``{{ ... }}`` may name, looked up when it is asked for."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.interpreter import Expression, Scope
from app.kyverno.images import images
from app.kyverno.types import Request, RuleError

BUILT_IN: Final = frozenset(("request", "images", "serviceAccountName", "serviceAccountNamespace"))
"""The names that there are for every resource."""

_ACCOUNT: Final = "system:serviceaccount:"
_DEEPEST: Final = 64
"""Variables that need each other: a chain, as cycles are refused when the policy is loaded."""


class Entry(Protocol):
    """A variable that the context of a rule defines."""

    @property
    def name(self) -> str:
        """Its name."""

    def load(self, variables: "Variables") -> Any:
        """Its value; raises RuleError and EvaluationError."""


class Variables:
    """Values by name. Those of a context are loaded when an expression first names them, as Kyverno does.

    Of two entries with one name the later counts; in its own expression the name means the earlier.
    """

    __slots__ = ("_depth", "_found", "_given", "_names", "_pending", "_scope")

    def __init__(self, names: dict[str, Any], scope: Scope) -> None:
        self._names = names
        self._scope = scope
        self._pending: dict[str, list[Entry]] = {}
        self._found: dict[Expression, Any] = {}
        self._given: frozenset[str] = frozenset()
        self._depth = 0

    def define(self, entries: tuple[Entry, ...]) -> None:
        """Add the entries of a context; values that were given for a name stand."""
        for entry in entries:
            if entry.name not in self._given:
                self._pending.setdefault(entry.name, []).append(entry)
        if entries:
            self._found = {}

    def give(self, values: Mapping[str, Any]) -> None:
        """Set variables by their dotted names, in place of what they would be."""
        for name, value in values.items():
            path = name.split(".")
            self._names = _with(self._names, path, value)
            self._pending.pop(path[0], None)
            self._given |= {path[0]}
        if values:
            self._found = {}

    def inner(self, names: Mapping[str, Any]) -> "Variables":
        """These variables and more; what the inner ones load stays theirs."""
        child = Variables({**self._names, **names}, self._scope)
        child._pending = {name: list(entries) for name, entries in self._pending.items() if name not in names}
        child._given = self._given
        child._depth = self._depth
        return child

    def query(self, expression: Expression) -> Any:
        """The value of the expression; raises RuleError and EvaluationError (NotFound)."""
        found = self._found
        if expression in found:
            return found[expression]
        if self._pending:
            for name in sorted(expression.fields & self._pending.keys()):
                self._load(name)
        value = expression.search(self._names, self._scope)
        if "(" not in expression.text:  # of the functions, some never give the same twice
            self._found[expression] = value
        return value

    def query_in(self, expression: Expression, value: Any) -> Any:
        """The value of the expression in another value than these variables; raises EvaluationError."""
        return expression.search(value, self._scope)

    def _load(self, name: str) -> None:
        entries = self._pending.pop(name, None)
        if not entries:
            return
        entry = entries.pop()
        if entries:
            self._pending[name] = entries
        if self._depth >= _DEEPEST:
            raise RuleError(f"more than {_DEEPEST} variables need each other")
        self._depth += 1
        try:
            value = entry.load(self)
        except EvaluationError as error:
            raise RuleError(f"the variable {name} cannot be found: {error}") from error
        finally:
            self._depth -= 1
        self._pending.pop(name, None)
        self._names = {**self._names, name: value}
        self._found = {}


def of_request(request: Request, rule: str, scope: Scope) -> Variables:
    """The variables that every rule has for a request; ``rule`` is the name under which values may be given."""
    resource, old = request.resource, request.old
    fields: dict[str, Any] = {
        **request.attributes,
        "operation": request.operation,
        "object": old if request.operation == "DELETE" else resource,
    }
    if old is not None:
        fields["oldObject"] = old
    if request.namespace:
        fields.setdefault("namespace", request.namespace)
    metadata = request.subject.get("metadata")
    if "name" not in fields and type(metadata) is dict:
        fields["name"] = metadata.get("name") or metadata.get("generateName") or ""
    variables = Variables({"request": fields, **_account(fields)}, scope)
    variables.define((_IMAGES,))
    if request.values:
        from_outside = {**request.values.get("", {}), **request.values.get(rule, {})}
        variables.give(from_outside)
    return variables


class _Images:
    """The images of the resource, taken apart; most rules never ask."""

    name = "images"

    def load(self, variables: Variables) -> Any:
        return images(variables._names["request"]["object"] or {})


_IMAGES: Final = _Images()


def _account(fields: dict[str, Any]) -> dict[str, str]:
    """``serviceAccountName`` and ``serviceAccountNamespace`` of the user; empty for one that is no service account."""
    user = fields.get("userInfo")
    name = user.get("username") if type(user) is dict else None
    if type(name) is str and name.startswith(_ACCOUNT):
        namespace, _, account = name.removeprefix(_ACCOUNT).partition(":")
        return {"serviceAccountName": account, "serviceAccountNamespace": namespace}
    return {"serviceAccountName": "", "serviceAccountNamespace": ""}


def _with(names: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """A copy of the map with the value at the path."""
    first, *rest = path
    if not rest:
        return {**names, first: value}
    inner = names.get(first)
    return {**names, first: _with(inner if type(inner) is dict else {}, rest, value)}
