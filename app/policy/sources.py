"""One policy document, parsed and checked by itself, with where it came from."""

from typing import TYPE_CHECKING, Any, NamedTuple

from app.documents import Document
from app.policy.errors import Problem

if TYPE_CHECKING:  # see app.policy.compiled
    from app.kyverno.exceptions import PolicyException
    from app.kyverno.policy import ClusterPolicy


class Parsed(NamedTuple):
    """``spec`` is the pydantic model of the document's spec, ``digest`` stands for its content."""

    name: str
    digest: str
    spec: Any
    document: Document


class Foreign(NamedTuple):
    """A document of Kyverno, compiled; ``digest`` stands for its content."""

    name: str
    digest: str
    compiled: "ClusterPolicy | PolicyException"
    document: Document


def at(document: Document, pointer: str, message: str, *, key: bool = False) -> Problem:
    """A problem at a place of a document; ``key`` points at the key rather than its value."""
    region = document.locate(pointer, key=key)
    return Problem(document.name, region.line, region.column, message)
