"""Expressions compiled to functions, with the meaning that Kyverno gives them.

Source: kyverno pkg/engine/jmespath and its go-jmespath. Where that differs from the JMESPath specification and the
Python library: a field that is missing is an error (``NotFound``), which ``||``, ``&&``, ``!``, comparisons,
projections, pipes and arguments of functions take for null; strings have no order; ``true`` is not ``1``.
"""

import operator
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.kyverno.expressions.errors import EvaluationError, InvalidExpression, NotFound
from app.kyverno.expressions.functions import function
from app.kyverno.expressions.kinds import equal, is_false, is_number
from app.kyverno.expressions.parser import Node, parse


class Scope(NamedTuple):
    """What an expression may ask for beside its data: the time, which is None where it is not known."""

    now: datetime | None = None


Evaluate = Callable[[Any, Scope], Any]


class Expression:
    """A compiled expression."""

    __slots__ = ("_evaluate", "fields", "text")

    def __init__(self, text: str) -> None:
        """Raises InvalidExpression."""
        self.text = text
        tree = parse(text)
        self.fields = frozenset(_roots(tree))
        """The names that it starts from, such as ``request`` and ``element``."""
        self._evaluate = _compile(tree)

    def search(self, data: Any, scope: Scope = Scope()) -> Any:  # noqa: B008 - immutable
        """The value for the data, which is not changed; raises NotFound and EvaluationError."""
        try:
            return self._evaluate(data, scope)
        except RecursionError:
            raise EvaluationError("the value is nested too deep") from None


def _roots(node: Node) -> set[str]:
    """The fields that are looked up in the data itself, rather than in what another part of the expression gives."""
    kind, children = node["type"], node["children"]
    if kind == "field":
        return {node["value"]}
    if kind == "expref":
        return set()
    if kind in ("subexpression", "index_expression", "pipe", "projection", "value_projection", "filter_projection"):
        return _roots(children[0])
    return set[str]().union(*(_roots(child) for child in children if isinstance(child, dict)))


def _compile(node: Node) -> Evaluate:
    return _COMPILERS[node["type"]](node)


def _quiet(node: Node) -> Evaluate:
    """The evaluation with null in place of a field that is missing."""
    return _catching(node, NotFound)


def _lenient(node: Node) -> Evaluate:
    """The evaluation with null in place of every error, as the left sides of ``[]``, ``[?...]`` and ``*`` have it."""
    return _catching(node, EvaluationError)


def _catching(node: Node, error: type[EvaluationError]) -> Evaluate:
    evaluate = _compile(node)
    if node["type"] in ("literal", "current", "identity"):
        return evaluate

    def caught(value: Any, scope: Scope) -> Any:
        try:
            return evaluate(value, scope)
        except error:
            return None

    return caught


def _field(node: Node) -> Evaluate:
    name: str = node["value"]

    def field(value: Any, _scope: Scope) -> Any:
        if type(value) is dict:
            if name in value:
                return value[name]
            raise NotFound(name)
        return None

    return field


def _subexpression(node: Node) -> Evaluate:
    first, *rest = map(_compile, node["children"])
    if len(rest) == 1:
        (only,) = rest

        def step(value: Any, scope: Scope) -> Any:
            found = first(value, scope)
            return None if found is None else only(found, scope)

        return step

    def steps(value: Any, scope: Scope) -> Any:
        found = first(value, scope)
        for each in rest:
            if found is None:
                return None
            found = each(found, scope)
        return found

    return steps


def _index(node: Node) -> Evaluate:
    index: int = node["value"]

    def at(value: Any, _scope: Scope) -> Any:
        return value[index] if type(value) is list and -len(value) <= index < len(value) else None

    return at


def _slice(node: Node) -> Evaluate:
    if node["children"][2] == 0:
        raise InvalidExpression("a slice cannot have the step 0")
    part = slice(*node["children"])
    return lambda value, _scope: value[part] if type(value) is list else None


def _projected(right: Evaluate, elements: Iterable[Any], scope: Scope) -> list[Any]:
    return [found for each in elements if (found := right(each, scope)) is not None]


def _projection(node: Node) -> Evaluate:
    left, right = map(_quiet, node["children"])

    def project(value: Any, scope: Scope) -> Any:
        found = left(value, scope)
        return _projected(right, found, scope) if type(found) is list else None

    return project


def _value_projection(node: Node) -> Evaluate:
    left, right = _lenient(node["children"][0]), _quiet(node["children"][1])

    def project(value: Any, scope: Scope) -> Any:
        found = left(value, scope)
        return _projected(right, found.values(), scope) if type(found) is dict else None

    return project


def _filter_projection(node: Node) -> Evaluate:
    left, right, condition = _lenient(node["children"][0]), *map(_quiet, node["children"][1:])

    def select(value: Any, scope: Scope) -> Any:
        found = left(value, scope)
        if type(found) is not list:
            return None
        return _projected(right, (each for each in found if not is_false(condition(each, scope))), scope)

    return select


def _flatten(node: Node) -> Evaluate:
    inner = _lenient(node["children"][0])

    def flatten(value: Any, scope: Scope) -> Any:
        found = inner(value, scope)
        if type(found) is not list:
            return None
        flat: list[Any] = []
        for each in found:
            flat.extend(each) if type(each) is list else flat.append(each)
        return flat

    return flatten


def _comparator(node: Node) -> Evaluate:
    left, right = map(_quiet, node["children"])
    match node["value"]:
        case "eq":
            return lambda value, scope: equal(left(value, scope), right(value, scope))
        case "ne":
            return lambda value, scope: not equal(left(value, scope), right(value, scope))
        case name:
            compare = _ORDER[name]

    def order(value: Any, scope: Scope) -> Any:
        one, other = left(value, scope), right(value, scope)
        return compare(one, other) if is_number(one) and is_number(other) else None

    return order


def _or(node: Node) -> Evaluate:
    left, right = map(_quiet, node["children"])

    def either(value: Any, scope: Scope) -> Any:
        found = left(value, scope)
        return right(value, scope) if is_false(found) else found

    return either


def _and(node: Node) -> Evaluate:
    left, right = _quiet(node["children"][0]), _compile(node["children"][1])

    def both(value: Any, scope: Scope) -> Any:
        found = left(value, scope)
        return found if is_false(found) else right(value, scope)

    return both


def _not(node: Node) -> Evaluate:
    inner = _quiet(node["children"][0])
    return lambda value, scope: is_false(inner(value, scope))


def _pipe(node: Node) -> Evaluate:
    left, right = map(_quiet, node["children"])
    return lambda value, scope: right(left(value, scope), scope)


def _literal(node: Node) -> Evaluate:
    found = node["value"]
    return lambda _value, _scope: found


def _current(_node: Node) -> Evaluate:
    return lambda value, _scope: value


def _multi_select_list(node: Node) -> Evaluate:
    items = [_quiet(child) for child in node["children"]]
    return lambda value, scope: None if value is None else [each(value, scope) for each in items]


def _multi_select_dict(node: Node) -> Evaluate:
    items = [(pair["value"], _quiet(pair["children"][0])) for pair in node["children"]]
    return lambda value, scope: None if value is None else {key: each(value, scope) for key, each in items}


def _expression_reference(node: Node) -> Evaluate:
    inner = _quiet(node["children"][0])
    return lambda _value, scope: lambda element: inner(element, scope)


def _function(node: Node) -> Evaluate:
    called = function(node["value"], node["children"])
    arguments = [_quiet(child) for child in node["children"]]
    return lambda value, scope: called([each(value, scope) for each in arguments], scope.now)


_ORDER: Final = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}
_COMPILERS: Final[dict[str, Callable[[Node], Evaluate]]] = {
    "and_expression": _and,
    "comparator": _comparator,
    "current": _current,
    "expref": _expression_reference,
    "field": _field,
    "filter_projection": _filter_projection,
    "flatten": _flatten,
    "function_expression": _function,
    "identity": _current,
    "index": _index,
    "index_expression": _subexpression,
    "literal": _literal,
    "multi_select_dict": _multi_select_dict,
    "multi_select_list": _multi_select_list,
    "not_expression": _not,
    "or_expression": _or,
    "pipe": _pipe,
    "projection": _projection,
    "slice": _slice,
    "subexpression": _subexpression,
    "value_projection": _value_projection,
}
