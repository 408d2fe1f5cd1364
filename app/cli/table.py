"""Columns of text."""

from collections.abc import Sequence

from app.admission.review import printable

_GAP = "  "


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their heading, each column as wide as its widest cell; numbers stand to the right."""
    shown = [list(heading), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(heading))]
    right = [bool(rows) and all(row[column].isdigit() for row in rows) for column in range(len(heading))]
    return "".join(
        _GAP.join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        + "\n"
        for row in shown
    )
