"""The ``context`` of a rule: variables that it defines.

Those that would ask the network (``apiCall``, ``configMap``, ``imageRegistry``, ``globalReference``) are a limit,
unless their values are given: as a test does.
"""

from typing import Any, Final, NamedTuple

from app.kyverno.expressions.errors import EvaluationError, InvalidExpression
from app.kyverno.shapes import a_list, a_map, only_keys
from app.kyverno.templates import Compiler, Template, cached_expression, names_in, names_in_expression
from app.kyverno.types import Flaw, RuleError
from app.kyverno.variables import Entry, Variables

EXTERNAL: Final = ("configMap", "apiCall", "imageRegistry", "globalReference")
_VARIABLE: Final = ("value", "jmesPath", "default")


class _Variable(NamedTuple):
    """``jmesPath`` of the ``value`` (or of all variables); ``default`` where that is null or cannot be found."""

    name: str
    value: Template | None
    path: Template | None
    default: Template | None

    def load(self, variables: Variables) -> Any:
        default = None if self.default is None else self.default.render(variables)
        found = default
        if self.value is not None:
            found = self.value.render(variables)
            if self.path is not None:
                found = self._selected(found, variables, default)
        elif self.path is not None:
            try:
                queried = variables.query(_expression(self.path.render(variables)))
                found = default if queried is None else queried
            except EvaluationError:
                if default is None:
                    raise
        if found is None:
            raise RuleError(f"the variable {self.name} is null")
        return found

    def _selected(self, value: Any, variables: Variables, default: Any) -> Any:
        assert self.path is not None
        try:
            return variables.query_in(_expression(self.path.render(variables)), value)
        except EvaluationError:
            if default is None:
                raise
            return default


class _External(NamedTuple):
    name: str
    source: str

    def load(self, variables: Variables) -> Any:  # noqa: ARG002 - see Entry
        raise RuleError(f"the variable {self.name} comes from a {self.source}, and is not given")


def _expression(text: Any) -> Any:
    if type(text) is not str:
        raise RuleError("a jmesPath must be text")
    try:
        return cached_expression(text.strip())
    except InvalidExpression as error:
        raise RuleError(f"{text} is no JMESPath expression: {error}") from error


def names_of(value: Any) -> frozenset[str]:
    """The names that a context defines."""
    listed = value if type(value) is list else ()
    return frozenset(item["name"] for item in listed if type(item) is dict and type(item.get("name")) is str)


def compile_context(value: Any, pointer: str, compiler: Compiler) -> tuple[Entry, ...]:
    """The entries of a context, whose names the compiler knows already."""
    flaws = compiler.flaws
    entries: list[Entry] = []
    for index, item in enumerate([] if value is None else a_list(value, pointer, flaws, "context")):
        at = f"{pointer}/{index}"
        if not a_map(item, at, flaws, "a context entry"):
            continue
        only_keys(item, ("name", "variable", *EXTERNAL), at, flaws, "a context entry")
        name = item.get("name")
        if type(name) is not str or not name:
            flaws.append(Flaw(f"{at}/name", "a context entry needs a name"))
            continue
        sources = [key for key in ("variable", *EXTERNAL) if item.get(key) is not None]
        if len(sources) != 1:
            said = "has none" if not sources else f"has {' and '.join(sources)}"
            flaws.append(Flaw(at, f'the context entry "{name}" needs one source, and {said}'))
        elif sources[0] == "variable":
            entries += _variable(name, item["variable"], f"{at}/variable", compiler)
        else:
            said = f'the context entry "{name}" is a {sources[0]}: policies are judged without asking the network'
            flaws.append(Flaw(f"{at}/{sources[0]}", said, key=True, limit=True))
            entries.append(_External(name, sources[0]))
    _refuse_cycles(value, pointer, flaws)
    return tuple(entries)


def _variable(name: str, value: Any, pointer: str, compiler: Compiler) -> list[Entry]:
    if not a_map(value, pointer, compiler.flaws, "variable"):
        return []
    only_keys(value, _VARIABLE, pointer, compiler.flaws, "variable")
    path = value.get("jmesPath")
    if path is not None and type(path) is not str:
        compiler.flaws.append(Flaw(f"{pointer}/jmesPath", "a jmesPath must be text"))
        path = None
    given = value.get("value") is not None
    if path and "{{" not in path:
        try:
            expression = cached_expression(path.strip())
        except InvalidExpression as error:
            compiler.flaws.append(Flaw(f"{pointer}/jmesPath", f"{path.strip()} is no JMESPath expression: {error}"))
        else:
            if not given:
                compiler.check_names(expression, f"{pointer}/jmesPath")
    return [
        _Variable(
            name,
            compiler.document(value["value"], f"{pointer}/value") if given else None,
            compiler.text(path, f"{pointer}/jmesPath") if path else None,
            compiler.document(value["default"], f"{pointer}/default") if value.get("default") is not None else None,
        )
    ]


def _names_in_entry(variable: Any) -> frozenset[str]:
    if type(variable) is not dict:
        return frozenset()
    path = variable.get("jmesPath")
    names = names_in(variable.get("value")) | names_in(variable.get("default"))
    if type(path) is not str:
        return names
    return names | (names_in_expression(path) if variable.get("value") is None else names_in(path))


def _refuse_cycles(value: Any, pointer: str, flaws: list[Flaw]) -> None:
    """A flaw for each variable that needs itself, by whatever way. One of the same name before it is another."""
    needs: dict[str, set[str]] = {}
    places: dict[str, str] = {}
    for index, item in enumerate(value if type(value) is list else ()):
        if type(item) is not dict or type(item.get("name")) is not str:
            continue
        name = item["name"]
        found = set(_names_in_entry(item.get("variable")))
        if name in needs:
            found.discard(name)
        needs[name] = needs.get(name, set()) | found
        places[name] = f"{pointer}/{index}"
    for name in needs:
        way = _way_back(name, needs)
        if way:
            flaws.append(Flaw(places[name], f'the variable "{name}" needs itself: {" -> ".join(way)}'))
            return


def _way_back(name: str, needs: dict[str, set[str]]) -> list[str]:
    """The way from the name back to itself; empty if there is none."""
    waiting, seen = [[name]], set[str]()
    while waiting:
        way = waiting.pop()
        for following in sorted(needs.get(way[-1], ())):
            if following == name:
                return [*way, name]
            if following not in seen:
                seen.add(following)
                waiting.append([*way, following])
    return []
