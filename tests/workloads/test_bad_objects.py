"""Objects with anything anywhere: an error with line and column, or a verdict; never a crash."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from typing import Any, Final

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.model.context import UNKNOWN_CLUSTER
from app.report.judging import Judging, judged_objects
from app.report.results import InputError, JudgedObject
from app.report.source_text import SourceText
from tests.workloads.judging import KINDS, ONE, at, obj, policy, samples

SPEC = {"containers": [{"name": "a", "image": "a:1", "resources": ONE}], "volumes": [{"name": "a"}]}
WORKFLOW = obj(
    "argoproj.io/v1alpha1",
    "Workflow",
    {
        "templateDefaults": {"nodeSelector": {"a": "b"}},
        "podMetadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "volumes": [{"name": "a", "hostPath": {"path": "/dev"}}],
        "templates": [
            {
                "container": {"volumeMounts": [{"name": "a", "mountPath": "/a"}], "resources": ONE},
                "podSpecPatch": "containers: [{name: main, env: [{name: A, value: b}]}]",
                "metadata": {"labels": {"a": "b"}},
                "volumes": [{"name": "b"}],
            }
        ],
    },
)
DYNAMO = obj(
    "nvidia.com/v1alpha1",
    "DynamoGraphDeployment",
    {
        "services": {
            "a": {
                "resources": {"limits": {"gpu": "1", "custom": {"a": "1"}}, "claims": [{"name": "x"}]},
                "extraPodMetadata": {"labels": {"a": "b"}},
                "annotations": {"a": "b"},
                "extraPodSpec": {"mainContainer": {"resources": ONE}, "volumes": [], "resourceClaims": [{"name": "x"}]},
            }
        }
    },
)
OBJECTS: Final = [
    *samples(),
    WORKFLOW,
    DYNAMO,
    obj("example.com/v1", "Rocket", {"template": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}}),
    obj("apps.nvidia.com/v1alpha1", "NIMService", {"draResources": [{"resourceClaimName": "a"}], "resources": ONE}),
]
JUNK: Final[list[Any]] = [
    *[None, "text", "{{x}}", 3, -1.5, True, [], {}],
    *[[None], [3], ["text"], {"a": None}, [{}], [[]], {"name": 3}, [{"name": []}]],
]


def pointers(value: Any, pointer: str = "") -> Iterator[str]:
    """Every value below the top of an object but what names its kind."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in entries:
        inner = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        if inner not in ("/apiVersion", "/kind"):
            yield inner
            yield from pointers(child, inner)


def judged(value: Any, *, as_written: bool = False) -> list[JudgedObject | InputError]:
    judging = Judging(policy(), UNKNOWN_CLUSTER, date(2026, 12, 1), as_written=as_written)
    content = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    return list(judged_objects(SourceText("x.json", content), content, judging, KINDS))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated(data: st.DataObject) -> None:
    value = deepcopy(data.draw(st.sampled_from(OBJECTS)))
    for _ in range(data.draw(st.integers(1, 2))):
        pointer = data.draw(st.sampled_from(list(pointers(value))))
        parent, _, last = pointer.rpartition("/")
        holder = at(value, parent)
        key = int(last) if isinstance(holder, list) else last.replace("~1", "/").replace("~0", "~")
        holder[key] = deepcopy(data.draw(st.sampled_from(JUNK)))
    before = deepcopy(value)
    for as_written in (False, True):
        *errors, whole = judged(value, as_written=as_written)
        assert isinstance(whole, JudgedObject)
        assert whole.incomplete is bool(errors)
        for error in errors:
            assert isinstance(error, InputError)
            assert (error.line, error.column) > (1, 0)
            assert " must be " in error.message
    assert value == before


@pytest.mark.parametrize(
    ("path", "value", "line", "message"),
    [
        ("/spec/templates", {"a": {}}, 8, "spec.templates must be a list, found a map"),
        ("/spec/templates/0", "x", 9, "spec.templates.0 must be a map, found text"),
        ("/spec/templates/0/container", [], 10, "spec.templates.0.container must be a map, found a list"),
        ("/spec/templates/0/steps", {}, 11, "spec.templates.0.steps must be a list, found a map"),
        ("/spec/templates/0/tolerations", 3, 11, "spec.templates.0.tolerations must be a list, found a number"),
    ],
)
def test_a_wrong_type_on_the_way_is_an_error_where_it_stands(path: str, value: Any, line: int, message: str) -> None:
    whole = obj("argoproj.io/v1alpha1", "Workflow", {"templates": [{"container": {}}]})
    parent, _, last = path.rpartition("/")
    holder = at(whole, parent)
    holder[int(last) if isinstance(holder, list) else last] = value
    error, found = judged(whole)
    assert isinstance(error, InputError)
    assert (error.line, error.message) == (line, message)
    assert isinstance(found, JudgedObject)
    assert found.incomplete


def test_what_only_looked_like_a_pod_is_none() -> None:
    (found,) = judged(obj("example.com/v1", "Rocket", {"containers": [{"name": "a", "image": "b", "env": "text"}]}))
    assert isinstance(found, JudgedObject)
    assert found.pods == ()
    assert not found.incomplete


def test_a_guess_is_marked() -> None:
    (found,) = judged(obj("example.com/v1", "Rocket", SPEC))
    assert isinstance(found, JudgedObject)
    assert [pod.guessed for pod in found.pods] == [True]
    (known,) = judged(obj("v1", "Pod", SPEC))
    assert isinstance(known, JudgedObject)
    assert [pod.guessed for pod in known.pods] == [False]
