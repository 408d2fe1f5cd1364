"""What can't be read, at file, line and column."""


class DocumentError(Exception):
    """One document, or one item of a List, that could not be read.

    ``line`` and ``column`` count from 1; columns count Unicode code points. As text it is
    ``name:line:column: message``, which editors and CI systems turn into links.
    """

    def __init__(self, name: str, line: int, column: int, message: str) -> None:
        super().__init__(name, line, column, message)
        self.name = name
        self.line = line
        self.column = column
        self.message = message

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}: {self.message}"


class UnrenderedError(DocumentError):
    """The document is a template of Helm's, as far as one can tell: what it will hold is not known yet."""


class TextError(Exception):
    """An error in a text of which the reader knows neither the file nor the first line.

    ``index`` is its offset in the text, in code points; ``start`` that of the value that was being read, if it helps
    to know. It never leaves this package.
    """

    def __init__(self, message: str, index: int, start: int | None = None) -> None:
        super().__init__(message, index, start)
        self.message = message
        self.index = index
        self.start = start
