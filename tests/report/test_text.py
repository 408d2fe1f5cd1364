"""The report for people."""

import pytest

from app.report.results import JudgedObject, Style
from tests.report.conftest import Golden
from tests.report.samples import REPAIR, judged, pod, report


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("text.txt", Style()),
        ("text-quiet.txt", Style(quiet=True)),
        ("text-verbose.txt", Style(verbose=True)),
        ("text-color.txt", Style(color=True)),
    ],
)
def test_golden(golden: Golden, name: str, style: Style) -> None:
    golden(name, report("text", style))


def test_nothing_of_the_input_reaches_the_terminal_as_a_control_sequence() -> None:
    hostile = judged(pod(REPAIR), name="x\x1b[2J", namespace="n\r")
    assert "\x1b" not in report("text", Style(verbose=True), [hostile, judged(pod(REPAIR, allowed=False))])
    assert "\r" not in report("text", objects=[hostile])


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([], "No pods in 2 files; 2 errors: not everything was judged."),
        ([judged()], "No pods in 2 files (1 other object without a pod); 2 errors: not everything was judged."),
        (
            [judged(pod()), judged(), judged()],
            (
                "1 pod (1 with GPUs) in 2 files: all admitted as they are; 2 other objects without a pod; "
                "2 errors: not everything was judged."
            ),
        ),
    ],
)
def test_the_last_line(objects: list[JudgedObject], expected: str) -> None:
    assert report("text", objects=objects).splitlines()[-1] == expected
