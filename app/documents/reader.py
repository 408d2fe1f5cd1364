"""A file to its documents."""

import codecs
import re
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Final

from app.documents.document import Document, documents
from app.documents.errors import DocumentError, TextError, UnrenderedError
from app.documents.json_list import cut_list, read_items
from app.documents.json_reader import NotJsonError, looks_like_json, read_json
from app.documents.regions import Text
from app.documents.unrendered import explained
from app.documents.yaml_reader import read_yaml

_SEPARATOR: Final = b"---"
_NUL: Final = b"\0"
_BINARY: Final = 8000  # bytes that git too looks at, for a NUL, to know that a file is no text
_CONTENT: Final = re.compile(rb"(?:\A|[\r\n])[ \t\v\f]*[^\s#]")


def read(data: bytes, name: str) -> Iterator[Document | DocumentError]:
    """The documents of a file, one at a time; a DocumentError in place of each that can't be read.

    ``data`` is YAML or JSON as kubectl takes it (apimachinery, pkg/util/yaml/decoder.go): it is cut at lines that
    start with ``---``, and each part is one YAML document, or one JSON value after another. So what is broken in one
    document hides no other. UTF-8, or UTF-16 with a byte order mark (what PowerShell writes). The items of a List are
    documents of their own.

    Stricter than kubectl, where that would go on with less than the file says: duplicate keys, tags that YAML's
    schema lacks, and a second YAML document after ``...`` are errors.

    A file that is binary, or not UTF-16 where it says so, is one error; and of a Helm template only the first is told:
    what is wrong after it is no fault of whoever wrote it.
    """
    try:
        data = _utf8(data)
    except UnicodeDecodeError as error:
        yield DocumentError(name, 1, 1, f"not UTF-16: {error.reason} at byte {error.start + 2}")
        return
    if _NUL in data[:_BINARY]:
        text = Text(name, data, 1)
        what = "not text: found a NUL byte, as in a binary file, or in UTF-16 without a byte order mark"
        yield text.error(TextError(what, text.decoded.index("\0")))
        return
    unrendered = False
    for found in _read(data, name):
        if isinstance(found, Document):
            yield found
        elif not unrendered:
            problem = explained(found, data)
            unrendered = isinstance(problem, UnrenderedError)
            yield problem


def _read(data: bytes, name: str) -> Iterator[Document | DocumentError]:
    index = 0
    for text, problem in _parts(data, name):
        if problem is not None:
            index += 1
            yield problem
            continue
        numbers = yield from _documents(text, index + 1)
        # Comments before the first separator make no document of it.
        if index > 0 or text.line > 1 or not _is_blank(text.data):
            index += numbers


def _utf8(data: bytes) -> bytes:
    if data.startswith(codecs.BOM_UTF16_LE):
        data = data[2:].decode("utf-16-le").encode()
    elif data.startswith(codecs.BOM_UTF16_BE):
        data = data[2:].decode("utf-16-be").encode()
    data = data.removeprefix(codecs.BOM_UTF8)
    # kubectl ends the last line too, which tells in a block scalar.
    return data if data.endswith(b"\n") else data + b"\n"


def _parts(data: bytes, name: str) -> Iterator[tuple[Text, DocumentError | None]]:
    """The texts between the separators, or the error in a separator that spoils the text after it."""
    start, line = 0, 1
    error: DocumentError | None = None
    while (at := _next_separator(data, start)) >= 0:
        yield Text(name, data[start:at], line), error
        line += data.count(b"\n", start, at)
        end = data.find(b"\n", at) + 1
        error = _separator_error(data[at:end], name, line)
        start, line = end, line + 1
    yield Text(name, data[start:], line), error


def _next_separator(data: bytes, start: int) -> int:
    """The offset of the next separator, where ``start`` is that of a line; -1 if there is none."""
    if data.startswith(_SEPARATOR, start):
        return start
    found = data.find(b"\n" + _SEPARATOR, start)
    return found + 1 if found >= 0 else -1


def _is_blank(data: bytes) -> bool:
    # To look for the first line with something else takes no list of all lines.
    return _CONTENT.search(data) is None


def _separator_error(separator: bytes, name: str, line: int) -> DocumentError | None:
    rest = separator[len(_SEPARATOR) :].lstrip()
    if not rest or rest.startswith(b"#"):
        return None
    return DocumentError(name, line, len(separator) - len(rest) + 1, "only a comment may follow '---' on its line")


def _documents(text: Text, index: int) -> Generator[Document | DocumentError, None, int]:
    """The documents in a text, the first of them number ``index``; returns how many numbers they take."""
    if looks_like_json(text.data):
        done = 0
        cut = cut_list(text)
        if cut is not None:
            for found in read_items(cut, index):
                if found is None:
                    break  # the cut was wrong, or the JSON is: what comes of the whole is right
                done += 1
                yield found
            else:
                return 1
        try:
            values = read_json(text)
        except NotJsonError as error:
            if text.name.endswith(".json"):
                yield text.error(error)
                return 1
        except TextError as error:
            yield text.error(error)
            return 1
        else:
            for number, (source, value) in enumerate(values, index):
                yield from islice(documents(source, value, number), done if number == index else 0, None)
            return len(values)
    yield from read_yaml(text, index)
    return 1
