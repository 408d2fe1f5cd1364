"""Lines, and the templates that Helm names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.report.source_text import SourceText

HELM = b"""\
---
# Source: app/templates/a.yaml
apiVersion: v1
kind: Pod
---
# Source: app/charts/db/templates/b.yaml

# a comment
apiVersion: v1
---
apiVersion: v1
"""


@given(st.lists(st.text("ab\r\x85\u2028", max_size=3)), st.lists(st.integers(-1, 12)))
def test_lines_in_any_order(lines: list[str], asked: list[int]) -> None:
    source = SourceText("x", "\n".join(lines).encode())
    for number in asked:
        expected = lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else ""
        assert source.line(number) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"
    source = SourceText("x", (mark + "학습: 1\r\n🚀: 2\r\n").encode(encoding))
    assert [source.line(number) for number in (2, 1, 3, 4)] == ["🚀: 2", "학습: 1", "", ""]


@pytest.mark.parametrize(
    ("chart", "line", "template"),
    [
        (None, 3, "app/templates/a.yaml"),
        (None, 9, "app/charts/db/templates/b.yaml"),
        (None, 11, None),
        ("charts/one/", 3, "charts/one/templates/a.yaml"),
        ("charts/one", 9, "charts/one/charts/db/templates/b.yaml"),
        ("charts/one", 4, None),
    ],
)
def test_templates(chart: str | None, line: int, template: str | None) -> None:
    assert SourceText("x", HELM, chart=chart).template(line) == template
