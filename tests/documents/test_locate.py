"""JSON Pointers to regions."""

import pytest

from app.documents import Document, Region, read

POD = """\
# a pod
apiVersion: v1
kind: Pod
metadata:
  name: "é😀"   # not in the BMP
  labels: {app: a, "b/c~d": 'x'}
  annotations:
spec:
  containers:
  - name: one
    command: [sh, -c]
    args:
    - |
      run

      more

    # the second
  - name: two
    resources:
      limits:
        nvidia.com/gpu: 1
  -
"""
JSON = """\
{
  "metadata": {"name": "\\ud83d\\ude00é", "labels": {"b/c~d": "x", "\\u0061": 1e3}},
  "spec": {"containers": [{"name": "one"}, {}, [], "t\\"x", null], "n": -1.5e3 , "e": {}}
}
"""


def document(text: str, name: str = "x.yaml") -> Document:
    (found,) = read(text.encode(), name)
    assert isinstance(found, Document), found
    return found


YAML_CASES = [
    ("/kind", False, (3, 7, 3, 10)),
    ("/kind", True, (3, 1, 3, 5)),
    ("/metadata/name", False, (5, 9, 5, 13)),
    ("/metadata/labels", False, (6, 11, 6, 33)),
    ("/metadata/labels/app", False, (6, 17, 6, 18)),
    ("/metadata/labels/b~1c~0d", False, (6, 29, 6, 32)),
    ("/metadata/labels/b~1c~0d", True, (6, 20, 6, 27)),
    ("/metadata", False, (5, 3, 7, 14)),
    ("/spec/containers/0/args/0", False, (13, 7, 16, 11)),
    ("/spec/containers/0/command/1", False, (11, 19, 11, 21)),
    ("/spec/containers/1/resources", False, (21, 7, 22, 26)),
    ("/spec/containers/1/resources", True, (20, 5, 20, 14)),
    ("/spec/containers/1/resources/limits/nvidia.com~1gpu", False, (22, 25, 22, 26)),
    ("/spec/containers/1", False, (19, 5, 22, 26)),
    # An empty value is shown by its key, an empty element where it would be.
    ("/metadata/annotations", False, (7, 3, 7, 14)),
    ("/spec/containers/2", False, (23, 4, 23, 4)),
    # The document, and elements of lists, have no key: the first inside.
    ("", False, (2, 1, 2, 11)),
    ("", True, (2, 1, 2, 11)),
    ("/spec/containers/1", True, (19, 5, 19, 9)),
    ("/spec/containers/0/command/1", True, (11, 19, 11, 21)),
    # What does not exist: the key of the nearest ancestor.
    ("/spec/containers/1/resources/requests/cpu", False, (20, 5, 20, 14)),
    ("/spec/containers/1/image", False, (19, 5, 19, 9)),
    ("/spec/containers/7/image", False, (9, 3, 9, 13)),
    ("/spec/containers/01", False, (9, 3, 9, 13)),
    ("/spec/containers/-", False, (9, 3, 9, 13)),
    ("/kind/of", False, (3, 1, 3, 5)),
    ("/status/phase", False, (2, 1, 2, 11)),
    ("/", False, (2, 1, 2, 11)),
]
JSON_CASES = [
    ("/metadata/name", False, (2, 24, 2, 39)),
    ("/metadata/name", True, (2, 16, 2, 22)),
    ("/metadata/labels/b~1c~0d", False, (2, 61, 2, 64)),
    ("/metadata/labels/a", True, (2, 66, 2, 74)),
    ("/metadata/labels/a", False, (2, 76, 2, 79)),
    ("/spec/containers", False, (3, 26, 3, 65)),
    ("/spec/containers/0", False, (3, 27, 3, 42)),
    ("/spec/containers/0", True, (3, 28, 3, 34)),
    ("/spec/containers/1", True, (3, 44, 3, 46)),
    ("/spec/containers/3", False, (3, 52, 3, 58)),
    ("/spec/containers/4", False, (3, 60, 3, 64)),
    ("/spec/n", False, (3, 72, 3, 78)),
    ("/spec/e/x", False, (3, 81, 3, 84)),
    ("", False, (2, 3, 2, 13)),
    ("/x", False, (2, 3, 2, 13)),
]


@pytest.mark.parametrize(("pointer", "key", "region"), YAML_CASES)
def test_yaml(pointer: str, key: bool, region: tuple[int, int, int, int]) -> None:
    assert document(POD).locate(pointer, key=key) == Region(*region)


@pytest.mark.parametrize(("pointer", "key", "region"), JSON_CASES)
def test_json(pointer: str, key: bool, region: tuple[int, int, int, int]) -> None:
    assert document(JSON, "x.json").locate(pointer, key=key) == Region(*region)


@pytest.mark.parametrize("text", ["{}", "{} # YAML", "\n{}\n"])
def test_empty_object(text: str) -> None:
    line = text.count("\n", 0, text.index("{")) + 1
    assert document(text).locate("/a/b") == Region(line, 1, line, 3)


ALIASES = """\
base: &base {limits: {cpu: 1}, image: x}
used: *base
merged:
  <<: *base
  image: y
several:
  <<: [*base, {written: here}]
list: [*base]
tagged: &t !!str 12
"""
ALIAS_CASES = [
    ("/base", False, (1, 7, 1, 41)),
    ("/base/limits/cpu", False, (1, 28, 1, 29)),
    ("/used", False, (2, 7, 2, 12)),
    ("/used", True, (2, 1, 2, 5)),
    ("/used/limits/cpu", False, (2, 7, 2, 12)),
    ("/used/limits/cpu", True, (2, 7, 2, 12)),
    ("/used/nothing", False, (2, 7, 2, 12)),
    ("/merged/limits", False, (4, 7, 4, 12)),
    ("/merged/limits", True, (4, 3, 4, 5)),
    ("/merged/limits/cpu", False, (4, 7, 4, 12)),
    ("/merged/image", False, (5, 10, 5, 11)),
    ("/merged/nothing", False, (3, 1, 3, 7)),
    ("/merged", False, (4, 3, 5, 11)),
    ("/several/written", False, (7, 25, 7, 29)),
    ("/several/written", True, (7, 16, 7, 23)),
    ("/several/image", False, (7, 8, 7, 13)),
    ("/list/0/image", False, (8, 8, 8, 13)),
    ("/tagged", False, (9, 9, 9, 20)),
]


@pytest.mark.parametrize(("pointer", "key", "region"), ALIAS_CASES)
def test_aliases_are_shown_where_they_are_used(pointer: str, key: bool, region: tuple[int, int, int, int]) -> None:
    assert document(ALIASES).locate(pointer, key=key) == Region(*region)


def test_lines_are_those_of_the_file() -> None:
    first, second = read(b"# c\r\na: 1\r\n--- # d\r\n# e\r\n\r\nb:\r\n  c: 2\r\n", "x")
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert first.locate("/a") == Region(2, 4, 2, 5)
    assert (second.line, second.locate("/b/c")) == (6, Region(7, 6, 7, 7))


def test_other_line_breaks_are_characters() -> None:
    assert document('a: "x\u2028y\u0085z"\nb: 1\n').locate("/b") == Region(2, 4, 2, 5)


def test_byte_order_mark_is_no_column() -> None:
    (found,) = read(b"\xef\xbb\xbfa: 1", "x")
    assert isinstance(found, Document)
    assert found.locate("/a") == Region(1, 4, 1, 5)


@pytest.mark.parametrize("pointer", ["a", "a/b", "#/a"])
def test_no_pointer(pointer: str) -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        document("a: 1").locate(pointer)


def test_repr() -> None:
    assert repr(document("a: 1")) == "<Document 1 of x.yaml>"
    (item,) = read(b"kind: List\nitems: [{kind: Pod}]", "x.yaml")
    assert repr(item) == "<Document 1 of x.yaml, item 0>"
