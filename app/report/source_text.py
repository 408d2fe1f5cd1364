"""The text of an input: its lines, and the files that it was rendered from."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final

_SOURCE: Final = re.compile(r"# Source: (\S.*)")
_COMMENTS: Final = 50
"""How far above an object its comment is looked for."""


class SourceText:
    """The text of one input, for formats that show the line of a finding.

    ``rendered`` tells that the text is no file of the repository, so that its lines mean nothing there; ``file`` is
    then the file that stands for it, if there is one, and ``chart`` the folder of the Helm chart that it comes from.
    ``live`` tells that there is no text at all: what was judged is an object of a cluster.
    """

    __slots__ = ("_at", "_by_helm", "_content", "_line", "_utf8", "chart", "file", "live", "name", "rendered")

    def __init__(
        self,
        name: str,
        content: bytes,
        *,
        rendered: bool = False,
        live: bool = False,
        file: str | None = None,
        chart: str | None = None,
    ) -> None:
        self.name = name
        self.rendered = rendered or live
        self.live = live
        self.file = file
        self.chart = chart
        self._content = content
        self._by_helm = b"# Source: " in content
        self._utf8: bytes | None = None
        self._line, self._at = 1, 0

    def line(self, number: int) -> str:
        """The line with this number, from 1; "" if there is none."""
        if number < 1 or not self._seek(number):
            return ""
        content = self._text()
        end = content.find(b"\n", self._at)
        line = content[self._at : end if end >= 0 else len(content)]
        return line.removeprefix(BOM_UTF8).decode("utf-8", "replace").removesuffix("\r")

    def template(self, line: int) -> str | None:
        """The file that Helm says, in a comment above the object that starts on this line, that it was rendered from.

        In the output for a chart in a folder, a path to it; else as Helm has it, starting with the chart's name.
        """
        if not self._by_helm:
            return None
        for number in range(line - 1, max(0, line - _COMMENTS), -1):
            text = self.line(number).strip()
            if text and not text.startswith("#"):
                return None
            if found := _SOURCE.fullmatch(text):
                _, slash, inner = found[1].partition("/")
                return f"{self.chart.rstrip('/')}/{inner}" if self.chart and slash else found[1]
        return None

    def _seek(self, number: int) -> bool:
        """Go to the line. Lines are counted from where the last one was found: a table of all could be larger than
        the text."""
        content = self._text()
        while self._line < number:
            end = content.find(b"\n", self._at)
            if end < 0:
                return False
            self._line, self._at = self._line + 1, end + 1
        while self._line > number:
            self._line, self._at = self._line - 1, content.rfind(b"\n", 0, self._at - 1) + 1
        return True

    def _text(self) -> bytes:
        if self._utf8 is None:
            # PowerShell writes UTF-16, with a byte order mark.
            utf16 = self._content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
            self._utf8 = self._content.decode("utf-16", "replace").encode() if utf16 else self._content
        return self._utf8
