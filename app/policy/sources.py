"""One policy document, parsed and checked by itself, with where it came from."""

from typing import Any, NamedTuple

from app.documents import Document


class Parsed(NamedTuple):
    """``spec`` is the pydantic model of the document's spec, ``digest`` stands for its content."""

    name: str
    digest: str
    spec: Any
    document: Document
