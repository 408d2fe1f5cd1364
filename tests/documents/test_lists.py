"""Lists: their items are documents of their own."""

import json
from typing import Any

import pytest

from app.documents import Document, DocumentError, Region, read
from app.documents.regions import Text
from app.documents.yaml_nodes import compose


def shown(data: str, name: str = "f") -> list[Any]:
    """Documents as (index, item, line, value), errors as text."""
    found = read(data.encode(), name)
    return [(d.index, d.item, d.line, d.value) if isinstance(d, Document) else str(d) for d in found]


KUBECTL = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
- apiVersion: v1
  kind: Pod
  metadata:
    name: b
kind: List
metadata:
  resourceVersion: ""
"""
A = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
B = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}
POD_LIST = """\
kind: PodList
apiVersion: v1
items: # none
# of these

  - metadata: {name: a}
  # the other
  -
    metadata:
      name: b
"""
LISTS: list[tuple[str, list[Any]]] = [
    (KUBECTL, [(1, 0, 3, A), (1, 1, 7, B)]),
    (KUBECTL.replace("\n", "\r\n"), [(1, 0, 3, A), (1, 1, 7, B)]),
    (f"x: 1\n---\n{KUBECTL}---\nz: 2\n", [(1, None, 1, {"x": 1}), (2, 0, 5, A), (2, 1, 9, B), (3, None, 17, {"z": 2})]),
    (POD_LIST, [(1, 0, 6, A), (1, 1, 9, B)]),
    (json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [A, {"metadata": {"name": "b"}}]}, indent=1),
     [(1, 0, 5, A), (1, 1, 12, B)]),
    ("{kind: PodList, apiVersion: v1, items: [{metadata: {name: a}},\n {metadata: {name: b}}]}",
     [(1, 0, 1, A), (1, 1, 2, B)]),
    # What an item says stays.
    ("kind: PodList\napiVersion: v1\nitems:\n- kind: X\n- apiVersion: y/v1\n", [
        (1, 0, 4, {"kind": "X"}), (1, 1, 5, {"apiVersion": "y/v1"})]),
    ("kind: List\nitems:\n- a: 1\n", [(1, 0, 3, {"a": 1})]),
    ("kind: PodList\nitems:\n- a: 1\n", [(1, 0, 3, {"a": 1, "kind": "Pod"})]),
    ("kind: List\nitems:\n", []),
    ("kind: List\nitems: []\n---\na: 1\n", [(2, None, 4, {"a": 1})]),
    ('{"kind": "List", "items": null}', []),
    # No Lists.
    ("kind: AllowList\nspec: 1\n", [(1, None, 1, {"kind": "AllowList", "spec": 1})]),
    ("kind: Box\nitems:\n- a\n", [(1, None, 1, {"kind": "Box", "items": ["a"]})]),
    ("items:\n- a\n", [(1, None, 1, {"items": ["a"]})]),
    ("kind: 3\nitems:\n- a\n", [(1, None, 1, {"kind": 3, "items": ["a"]})]),
    # Lists in Lists; their items count through.
    ("kind: List\nitems:\n- kind: PodList\n  apiVersion: v1\n  items:\n  - metadata: {name: a}\n- kind: X\n",
     [(1, 0, 6, A), (1, 1, 7, {"kind": "X"})]),
    ("kind: List\nitems:\n- kind: List\n  items: []\n- kind: X\n", [(1, 0, 5, {"kind": "X"})]),
    # Anchors reach from item to item, and around them.
    ("kind: List\nitems:\n- a: &x 1\n- b: *x\n", [(1, 0, 3, {"a": 1}), (1, 1, 4, {"b": 1})]),
    ("x: &x [{a: 1}]\nkind: List\nitems: *x\n", [(1, 0, 3, {"a": 1})]),
    # Lines that look like items and are none.
    ('kind: List\nitems:\n- a: "x\n- y"\n- b: 1\n', [(1, 0, 3, {"a": "x - y"}), (1, 1, 5, {"b": 1})]),
    ("kind: List\nitems:\n- a: 'x\nkind: y'\n- b: 1\n", [(1, 0, 3, {"a": "x kind: y"}), (1, 1, 5, {"b": 1})]),
    ("kind: List\nitems:\n- a: |\n    - x\n    items:\n- b: 1\n",
     [(1, 0, 3, {"a": "- x\nitems:\n"}), (1, 1, 6, {"b": 1})]),
    ('a: "\nitems:\n- x\n"\nkind: List\n', [(1, None, 1, {"a": " items: - x ", "kind": "List"})]),
    ('{a: "\nitems:\n- x\n", kind: List, items: [{b: 1}]}\n', [(1, 0, 4, {"b": 1})]),
    # Errors: those of an item leave the others.
    ("kind: List\nitems: 3\n", ["f:2:8: items must be a list, found a number"]),
    ('{"kind": "List", "items": {}}', ["f:1:27: items must be a list, found an object"]),
    ("kind: List\nitems:\n- 3\n-\n- kind: A\n- {b: 1, b: 2}\n- kind: D\n", [
        "f:3:3: an object was expected, found a number", "f:4:2: an object was expected, found null",
        (1, 2, 5, {"kind": "A"}), 'f:6:10: duplicate key "b", first on line 6', (1, 4, 7, {"kind": "D"})]),
    ("kind: List\nitems: [3, {kind: A}, {b: 1, b: 2}, 4]\n", [
        "f:2:9: an object was expected, found a number", (1, 1, 2, {"kind": "A"}),
        'f:2:30: duplicate key "b", first on line 2', "f:2:37: an object was expected, found a number"]),
    ('{"kind": "List", "items": [3, {}]}', ["f:1:28: an object was expected, found a number", (1, 1, 1, {})]),
    ("kind: List\nitems:\n- a: 1\nitems:\n- b: 1\n", ['f:4:1: duplicate key "items", first on line 2']),
    ("kind: List\nitems:\n- a: 1\n- b: [\nx: 1\n", [
        (1, 0, 3, {"a": 1}),
        "f:6:1: while parsing a flow sequence: did not find expected ',' or ']' (it starts on line 4)"]),
    ("kind: List\nitems:\n- a: 1\n- b: *x\n", [(1, 0, 3, {"a": 1}), "f:4:6: no anchor &x stands before its alias *x"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), LISTS, ids=lambda part: repr(part)[:60])
def test_lists(data: str, expected: list[Any]) -> None:
    assert shown(data) == expected


LOCATED = [
    (KUBECTL, "/metadata/name", [Region(6, 11, 6, 12), Region(10, 11, 10, 12)]),
    (KUBECTL, "/spec", [Region(3, 3, 3, 13), Region(7, 3, 7, 13)]),
    (POD_LIST, "/metadata/name", [Region(6, 22, 6, 23), Region(10, 13, 10, 14)]),
    (POD_LIST, "/kind", [Region(6, 5, 6, 13), Region(9, 5, 9, 13)]),
    ('{"kind": "List", "items": [{"a": 1},\n {"a": 2}]}', "/a", [Region(1, 34, 1, 35), Region(2, 8, 2, 9)]),
    ("kind: List\nitems: [{a: 1},\n {a: 2}]", "/a", [Region(2, 13, 2, 14), Region(3, 6, 3, 7)]),
    ("kind: List\nitems:\n- a: &x 1\n- a: *x\n", "/a", [Region(3, 6, 3, 10), Region(4, 6, 4, 8)]),
    ("x: &x [{a: 1}]\nkind: List\nitems: *x\n", "/a", [Region(3, 8, 3, 10)]),
    ("kind: List\nitems:\n- kind: List\n  items:\n  - a: 1\n- a: 2\n", "/a", [Region(5, 8, 5, 9), Region(6, 6, 6, 7)]),
    # A key of another item that is an error.
    ("kind: List\nitems: [{[1]: 1}, {a: 1}]", "/a", [None, Region(2, 23, 2, 24)]),
]


@pytest.mark.parametrize(("data", "pointer", "expected"), LOCATED)
def test_locate(data: str, pointer: str, expected: list[Region | None]) -> None:
    found = [d.locate(pointer) if isinstance(d, Document) else None for d in read(data.encode(), "f")]
    assert found == expected


def test_aliases_are_bounded_over_all_items() -> None:
    items = "".join(f"- a: {n}\n  b: *x\n" for n in range(20))
    data = f"x: &x [{'y, ' * 9_999}y]\nkind: List\nitems:\n{items}"
    found = list(read(data.encode(), "f"))
    assert sum(isinstance(d, Document) for d in found) < 20
    assert isinstance(found[-1], DocumentError)
    assert found[-1].message == "aliases add more than 100000 values"


def test_merges_are_bounded_when_places_are_asked_for() -> None:
    chain = "".join(f"  - &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 40))
    first, second = read(f"kind: List\nitems:\n- b: 2\n- x:\n  - &m0 {{a: 1}}\n{chain}".encode(), "f")
    assert isinstance(first, Document)
    assert first.locate("/b") == Region(3, 6, 3, 7)
    assert isinstance(second, DocumentError)


def test_a_list_is_read_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[int] = []

    def counting(data: bytes) -> Any:
        composed.append(len(data))
        return compose(data)

    monkeypatch.setattr("app.documents.yaml_reader.compose", counting)
    item = "- metadata:\n    name: a\n"
    data = f"apiVersion: v1\nitems:\n{item * 100}kind: PodList\n"
    documents = read(data.encode(), "f")
    first = next(documents)
    assert isinstance(first, Document)
    assert first.locate("/metadata/name") == Region(4, 11, 4, 12)
    assert len(list(documents)) == 99
    # The List without its items, and each item once, places included.
    assert len(composed) == 101
    assert max(composed) < 100


def test_text_is_decoded_once() -> None:
    text = Text("f", "é\nb".encode(), 5)
    assert text.position(2) == (6, 1)
    assert text.decoded is text.decoded
