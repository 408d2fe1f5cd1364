"""Functions with regular expressions, in the syntax of Go, which is that of RE2: time is linear in the text."""

from functools import lru_cache
from typing import Any, Final

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.expressions.texts import text_of

_MAX_MEMORY: Final = 1 << 20
_NAME: Final = frozenset("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@lru_cache(maxsize=256)
def compiled(expression: str) -> Any:
    """The expression, ready to search; raises EvaluationError for one that is none, or too large."""
    import re2  # a shared library: most policies need none

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
        raise EvaluationError(f'"{expression}" is no regular expression: {reason}') from None


@declared("string", "string|number", prepare=compiled)
def regex_match(expression: str, value: Any) -> bool:
    """Whether the value holds a match anywhere."""
    return compiled(expression).search(text_of(value)) is not None


@declared("string", "string|number", "string|number", prepare=compiled)
def regex_replace_all(expression: str, value: Any, replacement: Any) -> str:
    """The value with every match replaced; ``$1`` and ``${name}`` stand for what groups matched."""
    template = text_of(replacement)
    return _replaced(expression, text_of(value), lambda match: _expanded(template, match))


@declared("string", "string|number", "string|number", prepare=compiled)
def regex_replace_all_literal(expression: str, value: Any, replacement: Any) -> str:
    """The value with every match replaced by the text as it stands."""
    literal = text_of(replacement)
    return _replaced(expression, text_of(value), lambda _: literal)


def _replaced(expression: str, text: str, replacement: Any) -> str:
    """As Go does it: an empty match right after another match is none."""
    pattern = compiled(expression)
    parts: list[str] = []
    copied = 0
    for match in pattern.finditer(text):  # one by one, a search encodes the whole text each time
        start, end = match.span()
        parts.append(text[copied:start])
        if end > copied or start == 0:
            parts.append(replacement(match))
        copied = end
    return "".join(parts) + text[copied:]


def _expanded(template: str, match: Any) -> str:
    """The template with its ``$name``, ``${name}`` and ``$$`` filled in; a group that there is not is empty."""
    said, rest = "", template
    while "$" in rest:
        before, _, rest = rest.partition("$")
        said += before
        if rest.startswith("$"):
            said, rest = said + "$", rest[1:]
            continue
        braced = rest.startswith("{")
        inner = rest[1:] if braced else rest
        length = next((at for at, letter in enumerate(inner) if letter not in _NAME), len(inner))
        name, after = inner[:length], inner[length:]
        if not name or (braced and not after.startswith("}")):
            said += "$"
            continue
        said += _group(match, name)
        rest = after[1:] if braced else after
    return said + rest


def _group(match: Any, name: str) -> str:
    try:
        return match.group(int(name) if name.isdigit() else name) or ""
    except (IndexError, KeyError):
        return ""
