"""Offsets in a text, and the lines and columns that they are."""

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from app.documents.errors import DocumentError, TextError

_LINE_END: Final = re.compile("\n")


class Region(NamedTuple):
    """A part of a file as SARIF 2.1.0 has it (section 3.30): all four count from 1, the end is exclusive.

    Columns count Unicode code points (``columnKind: unicodeCodePoints``). Lines end at LF or CR LF.
    """

    line: int
    column: int
    end_line: int
    end_column: int


class Text:
    """The part of a file that holds one document: UTF-8 bytes, and the line of the file on which they start.

    The string and the table of lines are made when a position is asked for: most documents have no finding.
    """

    __slots__ = ("_decoded", "_starts", "data", "line", "name")

    def __init__(self, name: str, data: bytes, line: int) -> None:
        self.name = name
        self.data = data
        self.line = line
        self._decoded: str | None = None
        self._starts: list[int] | None = None

    @property
    def decoded(self) -> str:
        """The text; offsets count its code points. What isn't UTF-8 is U+FFFD."""
        if self._decoded is None:
            self._decoded = self.data.decode("utf-8", "replace")
        return self._decoded

    def position(self, index: int) -> tuple[int, int]:
        """The line and the column in the file of an offset."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.decoded))]
        row = bisect_right(self._starts, index) - 1
        return self.line + row, index - self._starts[row] + 1

    def region(self, start: int, end: int) -> Region:
        """The region between two offsets, the end exclusive."""
        return Region(*self.position(start), *self.position(end))

    def error(self, error: TextError) -> DocumentError:
        """The same error, at its place in the file."""
        line, column = self.position(error.index)
        first = line if error.start is None else self.position(error.start)[0]
        message = error.message if first == line else f"{error.message} (it starts on line {first})"
        return DocumentError(self.name, line, column, message)
