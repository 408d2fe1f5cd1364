"""YAML inside a text: a JSON patch in a policy, a value in an annotation."""

from collections.abc import Iterator
from typing import Any

from app.documents import DocumentError, read


class InvalidYaml(ValueError):
    """The text is not YAML, or says what JSON cannot."""


def parse(text: str) -> Any:
    """The value of the first document, by the rules of the files that kubectl reads; raises InvalidYaml."""
    # Under a key, as a file holds objects only.
    held = "value:\n" + "\n".join(f"  {line}" for line in _first(text))
    found = next(iter(read(held.encode("utf-8", "replace"), "text")), None)
    if found is None or isinstance(found, DocumentError):
        raise InvalidYaml(found.message if found else "it is empty")
    if list(found.value) != ["value"]:
        raise InvalidYaml("it ends too early")
    return found.value["value"]


def _first(text: str) -> Iterator[str]:
    """The lines of the first document."""
    for number, line in enumerate(text.strip("\n").splitlines()):
        if line.startswith("---"):
            if number:
                return
            yield line[3:]
        else:
            yield line
