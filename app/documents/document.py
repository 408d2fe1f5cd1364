"""A document: an object, and where its parts are in the file."""

from collections.abc import Iterator
from typing import Any

from app.documents.errors import DocumentError
from app.documents.locate import Path, Place, Source, locate
from app.documents.regions import Region


class Document:
    """One object of a file, as kubectl reads it.

    ``name`` is the file's name as given; ``index`` the number of the document in the file, from 1, where empty
    documents count; ``item`` the number inside a List, from 0, else None (items of a List inside a List count
    through). ``value`` is a dict of str, int, float, bool, None, list and dict, keys being strings; it shares nothing
    with the value of another document.
    """

    __slots__ = ("_line", "_path", "_place", "_source", "index", "item", "name", "value")

    def __init__(
        self, source: Source, path: Path, index: int, item: int | None, value: dict[str, Any], line: int | None = None
    ) -> None:
        self.name = source.text.name
        self.index = index
        self.item = item
        self.value: Any = value
        self._source = source
        self._path = path
        self._line = line
        self._place: Place | None = None

    def __repr__(self) -> str:
        item = "" if self.item is None else f", item {self.item}"
        return f"<Document {self.index} of {self.name}{item}>"

    @property
    def line(self) -> int:
        """The line of the file, from 1, on which the content starts."""
        if self._line is None:
            self._line = self._source.text.position(self._root.start)[0]
        return self._line

    def locate(self, pointer: str, *, key: bool = False) -> Region:
        """The region of the value at an RFC 6901 JSON Pointer relative to ``value``; with ``key``, of its key.

        A pointer to nothing gives the key of its nearest ancestor that exists. What has no key (the document, an
        element of a list) is shown by the first key inside it, if there is one, and so is the pointer "". An empty
        value (``limits:``) is shown by its key. A value that an alias or a merge brings is shown at that alias: what
        is at the anchor may be right for its other uses. ValueError: neither empty nor starting with "/".
        """
        return locate(self._source.text, self._root, pointer, key=key)

    @property
    def _root(self) -> Place:
        if self._place is None:
            self._place = self._source.place(self._path)
        return self._place


def documents(source: Source, value: object, index: int, line: int | None = None) -> Iterator[Document | DocumentError]:
    """What stands in the one value of a source: itself (starting on ``line``, if that is known) or a List's items."""
    if not isinstance(value, dict):
        yield not_an_object(source, (), value)
    elif not is_list(value):
        yield Document(source, (), index, None, value, line)
    else:
        for number, found in enumerate(items(source, (), value)):
            yield found if isinstance(found, DocumentError) else Document(source, found[0], index, number, found[1])


def is_list(value: dict[str, Any]) -> bool:
    """Whether an object is a List: its kind ends in List, and it has ``items``.

    For kubectl every object with ``items`` is one (apimachinery, unstructured/helpers.go). Here the kind counts too:
    folders hold other YAML that has such a field.
    """
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and "items" in value


def items(source: Source, path: Path, value: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]] | DocumentError]:
    """The objects in a List and their paths."""
    found = value["items"]
    path = (*path, "items")
    if isinstance(found, list):
        for number, item in enumerate(found):
            yield from members(source, (*path, number), item, value)
    elif found is not None:
        yield _error(source, path, f"items must be a list, found {describe(found)}")


def members(
    source: Source, path: Path, item: object, holder: dict[str, Any]
) -> Iterator[tuple[Path, dict[str, Any]] | DocumentError]:
    """What one item of the List ``holder`` is: an object, or more if it is a List itself, which kubectl opens too."""
    if not isinstance(item, dict):
        yield not_an_object(source, path, item)
    elif is_list(item):
        yield from items(source, path, item)
    else:
        _inherit_kind(holder, item)
        yield path, item


def _inherit_kind(holder: dict[str, Any], item: dict[str, Any]) -> None:
    """Give an item of a typed List (``PodList``) the kind that the API server leaves out there, as kubectl does."""
    kind = holder["kind"].removesuffix("List")
    if kind and not item.get("kind") and not item.get("apiVersion"):
        item["kind"] = kind
        if holder.get("apiVersion"):
            item["apiVersion"] = holder["apiVersion"]


def not_an_object(source: Source, path: Path, value: object) -> DocumentError:
    """The error for a document, or an item, that is no mapping."""
    return _error(source, path, f"an object was expected, found {describe(value)}")


def _error(source: Source, path: Path, message: str) -> DocumentError:
    return DocumentError(source.text.name, *source.text.position(source.place(path).start), message)


def describe(value: object) -> str:
    """The type of a value in the words of JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
