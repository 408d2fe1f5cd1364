"""Helm templates that were not rendered: text with actions like ``{{ .Values.image }}`` in it."""

import re
from typing import Any, Final

from app.documents.errors import DocumentError, UnrenderedError
from app.model.patch import escape

_ACTION: Final = b"{{"
# What only Helm has in its actions: its built-in objects (https://helm.sh/docs/chart_template_guide/builtin_objects/)
# and its way to use a named template. Argo's {{inputs.parameters.x}} and Prometheus' {{ $labels.x }} are values.
_OF_HELM: Final = re.compile(
    r'\{\{-?(?:\s*include\s+"|(?:[^{}]*[\s($])?\.(?:Values|Release|Chart|Capabilities|Template)\b)'
)
_FREE_TEXT: Final = frozenset({"annotations", "args", "command", "env"})
"""Keys below which another program's templates may stand, Helm's too."""


def explained(error: DocumentError, data: bytes) -> DocumentError:
    """The error as an UnrenderedError if an action is what is no YAML there; ``data`` is the file, in UTF-8."""
    if _ACTION not in data:
        return error
    *above, line = data.split(b"\n")[: error.line]
    # Actions that stand alone on a line spoil what follows them.
    last = next((each for each in reversed(above) if each.strip()), b"")
    if _ACTION not in line and not last.lstrip().startswith(_ACTION):
        return error
    said = f"a Helm template that was not rendered, it seems (as YAML: {error.message})"
    return UnrenderedError(error.name, error.line, error.column, said)


def helm_action(value: Any, pointer: str = "") -> str | None:
    """The JSON Pointer of the first text in a value that Helm should have rendered, None if there is none."""
    if type(value) is str:
        return pointer if _OF_HELM.search(value) else None
    pairs: Any = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, inner in pairs:
        at = f"{pointer}/{escape(str(key))}"
        if type(key) is str and _OF_HELM.search(key):
            return at
        if key not in _FREE_TEXT and (found := helm_action(inner, at)) is not None:
            return found
    return None
