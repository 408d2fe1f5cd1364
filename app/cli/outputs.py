"""The option `-o FORMAT[=FILE]`: where results go, and in which format."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from app.policy.compiled import Policy
from app.report.formats import Report, new_report
from app.report.results import Style

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Output(NamedTuple):
    """A format, and the file that it goes to; None is standard output."""

    format: str
    file: str | None


class OutputType(click.ParamType[Output]):
    """``FORMAT[=FILE]`` on the command line, of the formats that a command has."""

    name = "FORMAT[=FILE]"

    def __init__(self, formats: Sequence[str]) -> None:
        self._formats = formats

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """The output that a text stands for."""
        if isinstance(value, Output):
            return value
        name, equals, file = str(value).partition("=")
        if name not in self._formats:
            self.fail(f"there is no format {name!r}; the formats are {', '.join(self._formats)}", param, ctx)
        if equals and not file:
            self.fail(f"{value!r} names no file after the =", param, ctx)
        return Output(name, file or None)


def output_option(formats: Sequence[str]) -> Callable[[_Command], _Command]:
    """The option `-o`, of the formats that a command has, the first of which is its default."""
    return click.option(
        "-o",
        "--output",
        "outputs",
        type=OutputType(formats),
        multiple=True,
        help=f"Format of the result, and where it goes: {', '.join(formats)}. May be given again. "
        f"Default: {formats[0]}.",
    )


def check_outputs(outputs: Iterable[Output]) -> None:
    """Raise click.UsageError if two results would go to one place."""
    files = [output.file for output in outputs]
    for file in files:
        if files.count(file) > 1:
            where = "standard output; add =FILE to all but one" if file is None else file
            raise click.UsageError(f"two results would go to {where}")


@contextmanager
def open_report(output: Output, policy: Policy, style: Style) -> Iterator[Report]:
    """The report of an output, written as UTF-8 whatever the locale says."""
    try:
        if output.file is None:
            stream = sys.stdout.buffer
            yield new_report(output.format, lambda text: stream.write(text.encode("utf-8", "replace")), policy, style)
            stream.flush()
        else:
            with Path(output.file).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                yield new_report(output.format, file.write, policy, style)
    except OSError as error:
        where = output.file or "standard output"
        raise click.ClickException(f"{where} cannot be written: {error.strerror or error}") from error


def wants_color(choice: str) -> bool:
    """By default only a terminal gets colours, and only without NO_COLOR (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
