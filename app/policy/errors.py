"""What is wrong with a policy, at its place."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing wrong with a policy file; line and column count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class PolicyError(ValueError):
    """The policy cannot be used; ``problems`` lists everything found wrong, in order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))
