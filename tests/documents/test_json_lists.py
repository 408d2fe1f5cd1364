"""A List in JSON is cut where kubectl breaks its lines, and read as if it was not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.documents import Document, read, reader
from app.documents.json_list import cut_list
from app.documents.regions import Text

A: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"학습": "🚀\n        }"}}}
LIST = {"apiVersion": "v1", "items": [A, {"kind": "X", "n": [1e3]}, A], "kind": "List", "metadata": {}}
TEXT = json.dumps(LIST, indent=4, ensure_ascii=False)


def shown(data: str) -> list[Any]:
    """Documents as (index, item, line, value, the place of a name), errors as text."""
    return [
        (each.index, each.item, each.line, each.value, each.locate("/metadata/name"))
        if isinstance(each, Document)
        else str(each)
        for each in read(data.encode(), "f.json")
    ]


def whole(data: str) -> list[Any]:
    """The same, read in one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "cut_list", lambda _: None)
        return shown(data)


def cuts(data: str) -> bool:
    return cut_list(Text("f", data.encode(), 1)) is not None


@pytest.mark.parametrize("indent", [1, 2, 4, "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_kubectl_prints_is_cut(indent: int | str, line_end: str) -> None:
    text = json.dumps(LIST, indent=indent).replace("\n", line_end)
    assert cuts(text)
    assert [each[:2] for each in shown(text)] == [(1, 0), (1, 1), (1, 2)]
    assert shown(text) == whole(text)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (TEXT.replace('"List"', '"PodList"'), True),
        (TEXT.replace('"List"', '"Pod"'), False),
        (json.dumps({"kind": "List", "x": LIST}, indent=4), False),
        (json.dumps({"kind": "List", "items": [], "x": LIST}, indent=4), False),
        (json.dumps({"kind": "List", "x": {"items": [A, A]}, "items": [A]}, indent=4), False),
        (json.dumps({"kind": "List", "items": [LIST, A]}, indent=4), True),
        (json.dumps({"kind": "List", "items": [A], "x": [A]}, indent=4), True),
        (json.dumps({"kind": "List", "items": [A, 1, A]}, indent=4), True),
        (json.dumps({"kind": "List", "items": [1, A]}, indent=4), False),
        (json.dumps(LIST), False),
        (TEXT + "\n" + TEXT, True),
        (TEXT.replace('"kind": "X"', '"kind": "X", "kind": "Y"'), True),
        (TEXT.replace('"kind": "X"', '"kind": NaN'), True),
        (TEXT.replace('"kind": "X",', '"kind": "X"'), True),
        (TEXT.replace("        },\n", "        }\n", 1), True),
        (TEXT.replace("        },\n", "        },,\n", 1), True),
        (TEXT.replace("        }\n    ]", "        },\n    ]"), True),
        (TEXT.replace('"metadata": {}', '"metadata": {'), False),
        (TEXT.replace("}\n    ],", "}\n    ], # comment"), False),
    ],
)
def test_the_same_comes_of_it_as_of_the_whole(text: str, cut: bool) -> None:
    assert cuts(text) is cut
    expected = whole(text)
    found = shown(text)
    if cut and len(expected) == 1 and isinstance(expected[0], str):
        assert found[-1] == expected[0]  # after the items that could be read
    else:
        assert found == expected


values = st.recursive(
    st.none() | st.integers(-5, 5) | st.text('a}]{[,\n"\\ ', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["items", "a", "kind"]), inner),
    max_leaves=8,
)


@given(st.lists(values, max_size=4), st.sampled_from([1, 2, 4]))
def test_any_list(items: list[Any], indent: int) -> None:
    text = json.dumps({"kind": "List", "items": items}, indent=indent)
    assert shown(text) == whole(text)
