"""Fields, messages and changes, as people read them."""

from dataclasses import replace
from typing import Any

import pytest

from app.report.board.fields import advice, change, field_path
from tests.board.samples import BYPASS, PRIVILEGED, SELECTOR, SET_CLASS


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", ""),
        (
            "/spec/containers/0/resources/limits/nvidia.com~1gpu",
            'spec.containers[0].resources.limits["nvidia.com/gpu"]',
        ),
        ("/metadata/annotations/a~0b", 'metadata.annotations["a~b"]'),
        ("/spec/tolerations/-", "spec.tolerations[+]"),
        ("/spec/x-y/_z", "spec.x-y._z"),
        ('/metadata/labels/say "hi"', 'metadata.labels["say \\"hi\\""]'),
        ("/metadata/labels/", 'metadata.labels[""]'),
    ],
)
def test_fields(pointer: str, path: str) -> None:
    assert field_path(pointer) == path


def test_messages_in_their_halves() -> None:
    assert advice(PRIVILEGED) == (
        "privileged is true, which lets it use every GPU of the node", "set securityContext.privileged to false",
    )  # fmt: skip
    assert advice(BYPASS).found == 'NVIDIA_VISIBLE_DEVICES is "all", which hands it GPUs that it does not ask for'
    assert advice(SELECTOR).wanted == "remove the selector"
    assert advice(SET_CLASS) == ('runtimeClassName set to "nvidia"', "")
    # What is not said as rules say it is left as it is.
    assert advice(replace(PRIVILEGED, message="validation error: no")) == ("validation error: no", "")
    assert advice(replace(PRIVILEGED, container=None)).found.startswith('container "trainer": privileged')
    assert advice(replace(PRIVILEGED, outcome="note", message="a; b")) == ("a; b", "")


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ({"op": "add", "path": "/spec/runtimeClassName", "value": "nvidia"}, "+ spec.runtimeClassName: nvidia"),
        ({"op": "add", "path": "/spec/limits/a~1b", "value": "2"}, '+ spec.limits["a/b"]: "2"'),
        ({"op": "replace", "path": "/spec/a", "value": False}, "~ spec.a: false"),
        ({"op": "remove", "path": "/spec/a"}, "- spec.a"),
        ({"op": "add", "path": "/spec/a", "value": {}}, "+ spec.a: {}"),
        ({"op": "add", "path": "/spec/a", "value": None}, "+ spec.a: null"),
        (
            {"op": "add", "path": "/spec/t/-", "value": {"key": "k", "sizes": [1]}},
            "+ spec.t[+]:\n    key: k\n    sizes:\n    - 1",
        ),
        ({"op": "add", "path": "/spec/a", "value": "two\nlines"}, "+ spec.a: |-\n    two\n    lines"),
    ],
)
def test_changes(operation: dict[str, Any], text: str) -> None:
    assert change(operation) == text


def test_a_long_value_is_cut() -> None:
    assert len(change({"op": "add", "path": "/spec/a", "value": "x" * 10_000})) < 700
