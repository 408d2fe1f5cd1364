"""Documents with ``{{ variables }}`` and ``$(references)`` in them, compiled once and filled in for each resource.

A text that is one variable and nothing else takes the variable's value with its type; in a longer text a value that is
no text is written as JSON. Variables may stand inside variables. ``\\{{`` is no variable. Unlike in Kyverno, what a
variable brings into a text is not searched for variables again: it comes from the resource, not from the policy.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from app.kyverno import anchors
from app.kyverno.expressions.errors import InvalidExpression
from app.kyverno.expressions.interpreter import Expression
from app.kyverno.gojson import marshal
from app.kyverno.references import resolved
from app.kyverno.types import Flaw, RuleError
from app.kyverno.variables import Variables
from app.model.patch import escape

MAX_DEPTH: Final = 64
"""Levels of a document: three times those of a pod."""

_SIMPLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Path = tuple[str, ...]


class Template(Protocol):
    """A compiled document."""

    @property
    def constant(self) -> bool:
        """True if there is no variable in it."""

    def render(self, variables: Variables) -> Any:
        """The document with its variables filled in; raises RuleError and EvaluationError."""


class Constant(NamedTuple):
    """A document without variables. What it renders is shared: it must not be changed."""

    value: Any

    @property
    def constant(self) -> bool:
        """See Template."""
        return True

    def render(self, variables: Variables) -> Any:  # noqa: ARG002 - see Template
        """See Template."""
        return self.value


class _Query(NamedTuple):
    expression: Expression
    constant: bool = False

    def render(self, variables: Variables) -> Any:
        return variables.query(self.expression)


class _Dynamic(NamedTuple):
    """A variable with variables inside."""

    text: "_Text"
    constant: bool = False

    def render(self, variables: Variables) -> Any:
        text = self.text.render(variables).strip()
        try:
            expression = cached_expression(text)
        except InvalidExpression as error:
            raise RuleError(f"{{{{ {text} }}}} is no expression: {error}") from error
        return variables.query(expression)


class _Text(NamedTuple):
    parts: tuple[Any, ...]
    constant: bool = False

    def render(self, variables: Variables) -> str:
        return "".join([part if type(part) is str else as_text(part.render(variables)) for part in self.parts])


class _Map(NamedTuple):
    entries: tuple[tuple[Template, Template], ...]
    constant: bool = False

    def render(self, variables: Variables) -> dict[str, Any]:
        return {as_text(key.render(variables)): value.render(variables) for key, value in self.entries}


class _List(NamedTuple):
    items: tuple[Template, ...]
    constant: bool = False

    def render(self, variables: Variables) -> list[Any]:
        return [item.render(variables) for item in self.items]


def as_text(value: Any) -> str:
    """The value as it stands in a text: JSON, unless it is text itself."""
    return value if type(value) is str else marshal(value)


@lru_cache(maxsize=1024)
def cached_expression(text: str) -> Expression:
    """The compiled expression; one for all places that it stands in. Raises InvalidExpression."""
    return Expression(text)


class Compiler:
    """Compiles the templates of one document, and gathers their flaws.

    ``known`` are the names that expressions may start from; None: any.
    """

    def __init__(self, flaws: list[Flaw], known: frozenset[str] | None = None) -> None:
        self.flaws = flaws
        self.known = known

    def document(self, value: Any, pointer: str) -> Template:
        """The template of any JSON value; ``pointer`` is its place. References are resolved inside it."""
        return self._document(resolved(value, pointer, self.flaws, MAX_DEPTH), pointer, ())

    def expression(self, text: str, pointer: str) -> Template:
        """The template of an expression that is written without braces, but may have variables in it."""
        parts = _parts(text)
        if len(parts) == 1 and type(parts[0]) is str:
            return self._query(text, pointer)
        return _Dynamic(self._mixed(parts, pointer, ()))

    def text(self, text: str, pointer: str, path: Path = ()) -> Template:
        """The template of one text."""
        if "{{" not in text:
            return Constant(text)
        parts = _parts(text)
        if len(parts) == 1 and type(parts[0]) is str:
            return Constant(parts[0])
        if len(parts) == 1:
            return self._variable(parts[0], pointer, path)
        return self._mixed(parts, pointer, path)

    def pieces(self, text: str, pointer: str) -> list[str | Template]:
        """The text cut at its variables: texts, and the templates of the variables between them."""
        return [part if type(part) is str else self._variable(part, pointer, ()) for part in _parts(text)]

    def _document(self, value: Any, pointer: str, path: Path) -> Template:
        if len(path) > MAX_DEPTH:
            self.flaws.append(Flaw(pointer, f"nested deeper than {MAX_DEPTH} levels"))
            return Constant(None)
        if type(value) is str:
            return self.text(value, pointer, path)
        if type(value) is list:
            items = tuple(
                self._document(item, f"{pointer}/{index}", (*path, str(index))) for index, item in enumerate(value)
            )
            return Constant(value) if all(item.constant for item in items) else _List(items)
        if type(value) is dict:
            entries = tuple(
                (
                    self.text(key, f"{pointer}/{escape(key)}", (*path, key)),
                    self._document(item, f"{pointer}/{escape(key)}", (*path, anchors.plain(key))),
                )
                for key, item in value.items()
            )
            if all(key.constant and item.constant for key, item in entries):
                return Constant(value)
            return _Map(entries)
        return Constant(value)

    def _mixed(self, parts: list[Any], pointer: str, path: Path) -> _Text:
        return _Text(tuple(part if type(part) is str else self._variable(part, pointer, path) for part in parts))

    def _variable(self, parts: list[Any], pointer: str, path: Path) -> Template:
        if len(parts) == 1 and type(parts[0]) is str:
            text = parts[0].strip()
            return self._query(_current(path) if text == "@" else text, pointer)
        return _Dynamic(self._mixed(parts, pointer, path))

    def _query(self, text: str, pointer: str) -> Template:
        try:
            expression = cached_expression(text.strip())
        except InvalidExpression as error:
            self.flaws.append(Flaw(pointer, f"{{{{ {text.strip()} }}}} is no JMESPath expression: {error}"))
            return Constant(None)
        self.check_names(expression, pointer)
        return _Query(expression)

    def check_names(self, expression: Expression, pointer: str) -> None:
        """A flaw if the expression starts from what is no variable.

        ``""`` is a field too in JMESPath, but meant as a text by who writes it; it is never found.
        """
        unknown = sorted(expression.fields - self.known - {""}) if self.known is not None else ()
        if unknown:
            said = f'{{{{ {expression.text} }}}} names "{unknown[0]}", which is no variable here'
            self.flaws.append(Flaw(pointer, said))

    def within(self, names: Iterable[str]) -> "Compiler":
        """The compiler for a part of the document where there are more variables."""
        return Compiler(self.flaws, None if self.known is None else self.known.union(names))


def names_in(value: Any) -> frozenset[str]:
    """The names that the variables in a document start from; what cannot be parsed names nothing."""
    if type(value) is str:
        return _names_in_parts(_parts(value), outermost=True) if "{{" in value else frozenset()
    if type(value) is dict:
        return frozenset().union(*(names_in(key) | names_in(item) for key, item in value.items()))
    return frozenset().union(*map(names_in, value)) if type(value) is list else frozenset()


def names_in_expression(text: str) -> frozenset[str]:
    """The names that an expression starts from, the variables inside it among them."""
    return _names_in_parts(_parts(text), outermost=False)


def _names_in_parts(parts: list[Any], *, outermost: bool) -> frozenset[str]:
    if not outermost and len(parts) == 1 and type(parts[0]) is str:
        try:
            return cached_expression(parts[0].strip()).fields
        except InvalidExpression:
            return frozenset()
    return frozenset().union(*(_names_in_parts(part, outermost=False) for part in parts if type(part) is list))


def _current(path: Path) -> str:
    """``{{@}}``: the expression of the field of the resource where the path is in the pattern."""
    text = "request.object"
    for token in path:
        text += f"[{token}]" if token.isdecimal() else f".{token}" if _SIMPLE.fullmatch(token) else f'."{token}"'
    return text


class _Frame:
    """A text that is being cut, up to the braces that close it."""

    __slots__ = ("braces", "literal", "parts")

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.literal: list[str] = []
        self.braces = 0

    def flush(self) -> list[Any]:
        if self.literal or not self.parts:
            self.parts.append("".join(self.literal))
            self.literal = []
        return self.parts


def _parts(text: str) -> list[Any]:
    """The text cut at its variables: texts, and for each variable the list of the parts inside it."""
    frames = [_Frame()]
    position = 0
    while position < len(text):
        frame = frames[-1]
        if text.startswith("\\{{", position) and len(frames) == 1:
            frame.literal.append("{{")
            position += 3
        elif text.startswith("{{", position):
            frames.append(_Frame())
            position += 2
        elif len(frames) > 1 and not frame.braces and text.startswith("}}", position):
            inner = frames.pop().flush()
            if frames[-1].literal:
                frames[-1].flush()
            frames[-1].parts.append(inner)
            position += 2
        else:
            character = text[position]
            frame.braces += (character == "{") - (character == "}" and frame.braces > 0)
            frame.literal.append(character)
            position += 1
    while len(frames) > 1:  # braces that nothing closes are text
        inner = frames.pop().flush()
        frames[-1].literal.append("{{")
        for part in inner:
            if type(part) is str:
                frames[-1].literal.append(part)
            else:
                frames[-1].flush()
                frames[-1].parts.append(part)
    outer = frames[0]
    return outer.flush() if outer.literal or not outer.parts else outer.parts
