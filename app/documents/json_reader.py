"""JSON text to values, and their places in it."""

import json
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Never

from app.documents.collector import collector_off
from app.documents.errors import TextError
from app.documents.locate import Path, Place, Span
from app.documents.regions import Text
from app.documents.yaml_nodes import MAX_DEPTH, too_deep

_OPENING: Final = re.compile(rb"[ \t\r\n]*[{\[]")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SCALAR: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^ \t\r\n,\]}]+')
_BRACKET: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|([{\[])|([}\]])')
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HALF: Final = re.compile(
    r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]",
)


class NotJsonError(TextError):
    """A text is not JSON; it may be YAML."""


class _NumberError(Exception):
    """A number is out of the range of a float64; where, the decoder does not tell."""


class _ConstantError(Exception):
    """``NaN`` or ``Infinity``, which Python reads."""


class JsonPlace(NamedTuple):
    """Where a JSON value is, and all that is inside it."""

    start: int
    end: int
    key: Span | None
    children: dict[str, "JsonPlace"]
    opaque: bool = False


class JsonSource:
    """A JSON value that was read without error: its text, and the offset in it at which the value starts.

    Places are found by scanning; that of an item of a List without those of the others.
    """

    def __init__(self, text: Text, start: int) -> None:
        self.text = text
        self._start = start
        self._offsets: dict[Path, dict[str, int]] = {}

    def place(self, path: Path) -> Place:
        """The place of the value at a path that exists."""
        return _place(self.text, self._offset(path), None)

    def _offset(self, path: Path) -> int:
        if not path:
            return self._start
        holder, step = path[:-1], path[-1]
        if holder not in self._offsets:
            offsets: dict[str, int] = {}

            def visit(name: str, _: object, at: int) -> int:
                offsets[name] = at
                return _end(self.text.decoded, at)

            _walk(self.text.decoded, self._offset(holder), visit)
            self._offsets[holder] = offsets
        return self._offsets[holder][str(step)]


def looks_like_json(data: bytes) -> bool:
    """Whether a text starts as a JSON object or list does."""
    return _OPENING.match(data) is not None


def read_json(text: Text) -> list[tuple[JsonSource, Any]]:
    """The values in a text of one JSON value, or of several one after another (JSON lines).

    Numbers are read as by kubectl: what has neither point nor exponent and fits is an int64, else a float64.
    NotJsonError: the text is something else. TextError: it is JSON with duplicate keys, or that is nested too deeply,
    or with numbers or strings that are none.
    """
    try:
        decoded = text.data.decode()
    except UnicodeDecodeError:
        raise NotJsonError("not UTF-8", 0) from None
    duplicates = False

    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates
        made = dict(pairs)
        if len(made) != len(pairs):
            duplicates = True
        return made

    decoder = json.JSONDecoder(
        object_pairs_hook=make, parse_int=_integer, parse_float=_float, parse_constant=_no_constant
    )
    values = []
    end = _space(decoded, 0)
    while end < len(decoded):
        start = end
        with collector_off():
            value, end = _decode(decoder, decoded, start)
        if _deeper_than(value, MAX_DEPTH):
            raise TextError(too_deep(), start)
        source = JsonSource(text, start)
        if duplicates:
            source.place(())  # says where
        values.append((source, value))
        end = _space(decoded, end)
    if _SURROGATE.search(decoded):
        _check_surrogates(decoded, values)
    return values


def _decode(decoder: json.JSONDecoder, decoded: str, start: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(decoded, start)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", error.pos) from None
    except RecursionError:
        raise TextError(too_deep(), start) from None
    except _ConstantError as error:
        raise NotJsonError(f"not JSON: {error}", decoded.find(str(error), start)) from None
    except _NumberError as error:
        raise TextError(f"the number {error} is too large", decoded.find(str(error), start)) from None


def _integer(text: str) -> int | float:
    if len(text) < len(str(2**63)):
        return int(text)
    number = _float(text)  # Python refuses to read thousands of digits as an int
    return int(text) if -(2.0**63) <= number <= 2.0**63 and -(2**63) <= int(text) < 2**63 else number


def _float(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise _NumberError(text)
    return number


def _no_constant(text: str) -> Never:
    raise _ConstantError(text)


def _deeper_than(value: object, limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        held = []
        for each in level:
            inside = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            held.extend([child for child in inside if child.__class__ is dict or child.__class__ is list])
        if not held:
            return False
        level = held
    return True


def _check_surrogates(decoded: str, values: list[tuple[JsonSource, Any]]) -> None:
    """Go makes U+FFFD of half a pair; a string with one can't be written again, so here it is an error."""
    try:
        json.dumps([value for _, value in values], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        half = _HALF.search(decoded)
        raise TextError("an escape is half of a surrogate pair", half.start() if half else 0) from None


def _place(text: Text, start: int, key: Span | None) -> JsonPlace:
    """The place of the value at an offset; TextError if an object in it has a key twice."""
    decoded = text.decoded
    children: dict[str, JsonPlace] = {}
    if decoded[start] not in "{[":
        return JsonPlace(start, _end(decoded, start), key, children)

    def visit(name: str, span: Span | None, at: int) -> int:
        if name in children:
            assert span is not None, "indexes differ"
            line = text.position((children[name].key or span)[0])[0]
            raise TextError(f'duplicate key "{name}", first on line {line}', span[0])
        children[name] = _place(text, at, span)
        return children[name].end

    return JsonPlace(start, _walk(decoded, start, visit), key, children)


def _walk(decoded: str, at: int, visit: Callable[[str, tuple[int, int] | None, int], int]) -> int:
    """Visit the values in the collection at an offset; returns the offset after it.

    ``visit`` takes the key or index, the span of the key, and the offset of the value; it returns the offset after it.
    """
    keyed = decoded[at] == "{"
    at = _space(decoded, at + 1)
    number = 0
    while decoded[at] not in "}]":
        name, span = str(number), None
        if keyed:
            match = _STRING.match(decoded, at)
            assert match is not None, "the text was read without error"
            span, at = match.span(), match.end()
            name = json.loads(match[0]) if "\\" in match[0] else match[0][1:-1]
            at = _space(decoded, _space(decoded, at) + 1)
        at = _space(decoded, visit(name, span, at))
        if decoded[at] == ",":
            at = _space(decoded, at + 1)
        number += 1
    return at + 1


def _end(decoded: str, at: int) -> int:
    """The offset after the value at an offset."""
    depth = 0
    if decoded[at] in "{[":
        for match in _BRACKET.finditer(decoded, at):
            if match.lastindex is not None:
                depth += 1 if match.lastindex == 1 else -1
                if depth == 0:
                    return match.end()
    scalar = _SCALAR.match(decoded, at)
    assert scalar is not None, "the text was read without error"
    return scalar.end()


def _space(decoded: str, at: int) -> int:
    match = _SPACE.match(decoded, at)
    assert match is not None, "it matches nothing too"
    return match.end()
