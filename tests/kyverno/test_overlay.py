"""Anchors of patches: what is left of a patch for a resource."""

from typing import Any

import pytest

from app.kyverno.mutation.overlay import resolved

WEB, DB = {"name": "web", "image": "nginx:latest", "tty": True}, {"name": "db", "image": "reg.io/db:1"}


@pytest.mark.parametrize(
    ("patch", "resource", "left"),
    [
        ({"a": 1}, {}, {"a": 1}),
        ({"a": None}, {"a": 1}, {"a": None}),
        # Add what is not there, at any depth.
        ({"+(a)": 1}, {}, {"a": 1}),
        ({"+(a)": 1}, {"a": 2}, {}),
        ({"+(a)": 1}, {"a": None}, {}),
        ({"m": {"+(a)": 1, "+(b)": 2}}, {"m": {"a": 0}}, {"m": {"b": 2}}),
        ({"m": {"+(a)": 1}, "x": 1}, {"m": {"a": 0}}, {"x": 1}),
        ({"+(m)": {"+(a)": {"+(b)": 1}}}, {}, {"m": {"a": {"b": 1}}}),
        ({"+(m)": {"+(a)": 1}}, {"m": {}}, {}),
        # A condition holds or the whole patch is off; its own value is no part of the patch.
        ({"(a)": "x*", "b": 1}, {"a": "xy"}, {"b": 1}),
        ({"(a)": "x*", "b": 1}, {"a": "y"}, {}),
        ({"(a)": "x*", "b": 1}, {}, {}),
        ({"m": {"(a)": "true"}, "b": 1}, {"m": {"a": True}}, {"b": 1}),
        ({"m": {"(a)": True}, "b": 1}, {"m": {"a": "true"}}, {"b": 1}),
        ({"m": {"(a)": ">5"}, "b": 1}, {"m": {"a": 7}}, {"b": 1}),
        ({"m": {"(a)": "x"}, "b": 1}, {"m": {"a": "y"}}, {}),
        ({"(m)": {"a": "?*"}, "b": 1}, {"m": {"a": "y"}}, {"b": 1}),
        ({"(m)": {"a": "?*"}, "b": 1}, {"m": {}}, {}),
        ({"<(a)": "x", "b": 1}, {"a": "y"}, {}),
        ({"<(a)": "x", "b": 1}, {"a": "x"}, {"b": 1}),
        # A condition on a map that is to be added to: the map must be there.
        ({"(m)": {"+(a)": 1}}, {"m": {}}, {"m": {"a": 1}}),
        ({"(m)": {"+(a)": 1, "b": 2}}, {"m": {"a": 0}}, {"m": {"b": 2}}),
        ({"(m)": {"+(a)": 1}}, {}, {}),
        # Elements of lists, by name.
        ({"c": [{"(name)": "*", "x": 1}]}, {"c": [WEB, DB]}, {"c": [{"x": 1, "name": "web"}, {"x": 1, "name": "db"}]}),
        ({"c": [{"(image)": "*:latest", "x": 1}]}, {"c": [WEB, DB]}, {"c": [{"x": 1, "name": "web"}]}),
        ({"c": [{"(image)": "none", "x": 1}]}, {"c": [WEB, DB]}, {}),
        ({"c": [{"(image)": "*:latest"}], "y": 1}, {"c": [WEB, DB]}, {"y": 1}),
        ({"c": [{"(name)": "*", "x": 1}]}, {"c": [{"image": "unnamed"}]}, {}),
        ({"c": [{"(name)": "*", "x": 1}]}, {}, {}),
        ({"c": [{"(name)": "*", "+(tty)": False}]}, {"c": [WEB, DB]}, {"c": [{"tty": False, "name": "db"}]}),
        ({"c": [{"(name)": "*", "+(tty)": False}]}, {"c": [DB, WEB]}, {"c": [{"tty": False, "name": "db"}]}),
        (
            {"c": [{"(name)": "web", "x": 1}, {"(name)": "db", "x": 2}]},
            {"c": [WEB, DB]},
            {"c": [{"x": 1, "name": "web"}, {"x": 2, "name": "db"}]},
        ),
        (
            {"c": [{"(name)": "*", "m": {"(a)": "1", "b": 2}}]},
            {"c": [{"name": "p", "m": {"a": "1"}}, {"name": "q", "m": {"a": "2"}}]},
            {"c": [{"m": {"b": 2}, "name": "p"}]},
        ),
        (
            {"c": [{"name": "new"}, {"(name)": "db", "x": 1}]},
            {"c": [DB]},
            {"c": [{"name": "new"}, {"x": 1, "name": "db"}]},
        ),
        # A global anchor in a list only asks: one element has to be so.
        ({"x": 1, "c": [{"<(image)": "reg.io/*"}]}, {"c": [WEB, DB]}, {"x": 1}),
        ({"x": 1, "c": [{"<(image)": "corp/*"}]}, {"c": [WEB, DB]}, {}),
        ({"x": 1, "v": [{"<(emptyDir)": {}}]}, {"v": [{"name": "a", "emptyDir": {}}]}, {"x": 1}),
        ({"x": 1, "v": [{"<(emptyDir)": {}}]}, {"v": [{"name": "a", "secret": {}}]}, {}),
        ({"x": 1, "v": [{"hostPath": {"<(path)": "*"}}]}, {"v": [{"name": "a", "hostPath": {"path": "/d"}}]}, {"x": 1}),
        ({"x": 1, "v": [{"<(hostPath)": {"path": "*"}}]}, {}, {}),
        # What is empty as it is written stays; what becomes empty goes.
        ({"v": [{"name": "a", "emptyDir": {}}]}, {}, {"v": [{"name": "a", "emptyDir": {}}]}),
        ({"l": []}, {"l": [1]}, {"l": []}),
        ({"l": ["a", "b"]}, {}, {"l": ["a", "b"]}),
    ],
)
def test_what_is_left(patch: dict[str, Any], resource: dict[str, Any], left: dict[str, Any]) -> None:
    before = repr(patch), repr(resource)
    found = resolved(patch, resource)
    assert found == left
    assert (repr(patch), repr(resource)) == before
