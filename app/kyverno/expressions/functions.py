"""The functions of expressions: those of JMESPath and those that Kyverno adds, with the types of their arguments.

Source: kyverno pkg/engine/jmespath/functions.go. Numbers in data are ints and floats, as JSON gives them.
"""

from collections.abc import Callable
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from app.kyverno.expressions.errors import EvaluationError, InvalidExpression
from app.kyverno.expressions.kinds import TESTS, kind_of
from app.kyverno.expressions.parser import Node
from app.model.words import quoted

Function = Callable[[list[Any], datetime | None], Any]
"""A function called with its arguments, and the time."""


class Declared(NamedTuple):
    """A function and its arguments, each with the types it may have.

    ``timed`` wants the time as its first argument; with ``repeats`` the last argument may be given again. ``prepare``
    looks at a first argument that is written as text, and raises EvaluationError for one that can never be right.
    """

    name: str
    arguments: tuple[tuple[str, ...], ...]
    call: Callable[..., Any]
    timed: bool = False
    repeats: bool = False
    prepare: Callable[[str], object] | None = None


REFUSED: Final = {
    "random": "its answer differs each time, so no verdict could be repeated",
    "x509_decode": "certificates are not looked into",
}
"""Functions of Kyverno that are not taken, and why."""


def declared(
    *arguments: str, timed: bool = False, repeats: bool = False, prepare: Callable[[str], object] | None = None
) -> Callable[[Callable[..., Any]], Declared]:
    """Declare a function under its own name (a last ``_`` is cut off); types are joined by ``|``."""

    def declare(call: Callable[..., Any]) -> Declared:
        types = tuple(tuple(each.split("|")) for each in arguments)
        return Declared(call.__name__.rstrip("_"), types, call, timed, repeats, prepare)

    return declare


def function(name: str, arguments: list[Node]) -> Function:
    """The function for a call with these arguments, which are not evaluated.

    Raises InvalidExpression for one that there is not, or that does not take such arguments.
    """
    found = _table().get(name)
    if found is None:
        raise InvalidExpression(_unknown(name))
    wanted = len(found.arguments)
    if len(arguments) < wanted or (len(arguments) > wanted and not found.repeats):
        more = " or more" if found.repeats else ""
        plural = "" if wanted == 1 and not more else "s"
        raise InvalidExpression(f"{name}() takes {wanted}{more} argument{plural}, found {len(arguments)}")
    for number, (node, types) in enumerate(zip(arguments, found.arguments, strict=False), 1):
        reference = "expression" in types
        if (node["type"] == "expref") != reference:
            said = "must be an expression (&...)" if reference else "cannot be an expression"
            raise InvalidExpression(f"{name}(): argument {number} {said}")
    called = _checked(found)
    if found.prepare and arguments[0]["type"] == "literal" and isinstance(arguments[0]["value"], str):
        try:
            found.prepare(arguments[0]["value"])
        except EvaluationError as error:
            raise InvalidExpression(f"{name}(): {error}") from None
    return called


def _checked(declaration: Declared) -> Function:
    """The function with a check of what it is given."""
    name, arguments, call, timed, repeats, _ = declaration
    tests = [[TESTS[each] for each in types] for types in arguments]

    def checked(given: list[Any], now: datetime | None) -> Any:
        every = tests + tests[-1:] * (len(given) - len(tests)) if repeats else tests
        for number, (value, accepted) in enumerate(zip(given, every, strict=True)):
            if not any(test(value) for test in accepted):
                wanted = " or ".join(arguments[min(number, len(arguments) - 1)])
                raise EvaluationError(f"{name}(): argument {number + 1} is {kind_of(value)}, not {wanted}")
        try:
            return call(now, *given) if timed else call(*given)
        except EvaluationError as error:
            raise EvaluationError(f"{name}(): {error}") from None
        except (ArithmeticError, ValueError, RecursionError, MemoryError) as error:
            raise EvaluationError(f"{name}(): {error or type(error).__name__}") from None

    return checked


def _unknown(name: str) -> str:
    if name in REFUSED:
        return f"the function {name}() is not supported: {REFUSED[name]}"
    close = get_close_matches(name, _table(), n=1)
    return f"there is no function {quoted(name)}" + (f'; did you mean "{close[0]}"?' if close else "")


_TABLE: Final[dict[str, Declared]] = {}


def _table() -> dict[str, Declared]:
    if not _TABLE:
        from app.kyverno.expressions import builtin, computing, encodings, regular, structures, texts, times

        modules = (builtin, texts, regular, computing, structures, times, encodings)
        _TABLE.update(
            (each.name, each) for module in modules for each in vars(module).values() if type(each) is Declared
        )
    return _TABLE
