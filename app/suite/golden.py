"""Goldens: the object as it is afterwards, in ``x.expected.yaml`` beside ``x.yaml``."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from app.documents import Document, read
from app.documents.dump import dump
from app.suite.case import Failure, Place
from app.suite.differences import differences


def golden_failures(path: str, after: dict[str, Any]) -> Iterator[Failure]:
    """Where the object afterwards differs from the golden."""
    golden = _read(path)
    if isinstance(golden, Failure):
        yield golden
        return
    for each in differences(after, golden.value, exact=True):
        region = golden.locate(each.pointer)
        said = f"{each.pointer}: found {each.found}, wanted {each.wanted}"
        yield Failure(Place(path, region.line, region.column), said)


def _read(path: str) -> Document | Failure:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        return Failure(Place(path), f"cannot be read: {error.strerror}")
    documents = []
    for each in read(content, path):
        if not isinstance(each, Document):
            return Failure(Place(path, each.line, each.column), each.message)
        documents.append(each)
    if len(documents) != 1:
        said = f"found {len(documents) or 'no'} objects, wanted the object as it is afterwards (--update writes it)"
        return Failure(Place(path), said)
    return documents[0]


def write_golden(path: str, after: dict[str, Any]) -> None:
    """Make the golden what the object is afterwards; raises OSError."""
    if path.endswith(".json"):
        text = orjson.dumps(after, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    else:
        text = dump(after)
    unfinished = Path(f"{path}.new")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    os.replace(unfinished, path)  # noqa: PTH105 - a golden is the old or the new one, never half of it
