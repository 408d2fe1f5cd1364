"""Cases without a PolicyTest: folders that say by their name what is expected, and goldens beside objects."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from app.suite.case import Failure, Place
from app.suite.golden import golden_failures
from app.suite.judged import Judged, shown

EXPECTED: Final = ".expected"
_VIOLATIONS: Final = ("deny", "warn", "audit")


class _Meaning(NamedTuple):
    """What the name of a folder expects, in words, and whether it is so. What is found is told by the findings."""

    wanted: str
    holds: Callable[[Judged], bool]
    written: bool


def _violated(judged: Judged) -> bool:
    return any(finding.outcome in _VIOLATIONS and not finding.early for finding in judged.as_written)


FOLDERS: Final = {
    "pass": _Meaning(
        "nothing to find fault with as it is written",
        lambda judged: all(finding.outcome == "note" for finding in judged.as_written),
        written=True,
    ),
    "fail": _Meaning("a violation (deny, warn or audit) as it is written", _violated, written=True),
    "note": _Meaning(
        "a note or a warning, and no violation, as it is written",
        lambda judged: bool(judged.as_written) and not _violated(judged),
        written=True,
    ),
    "unchanged": _Meaning(
        "an object that is admitted as it is, with no finding",
        lambda judged: judged.allowed and not judged.findings,
        written=False,
    ),
    "conflict": _Meaning("a refusal", lambda judged: not judged.allowed, written=False),
}
"""What folders of these names expect of the objects in them."""


@dataclass(frozen=True, slots=True)
class Shorthand:
    """What a fixture's folder expects of it (None: that it is admitted), and its golden, if there is one."""

    place: Place
    folder: str | None
    golden: str | None

    def failures(self, judged: Judged) -> Iterator[Failure]:
        """Everything that is not as expected."""
        if judged.exempt is not None:
            said = f'exempt: found "{judged.exempt}": nothing is asked of the policy here; wanted none'
            yield Failure(self.place, said)
        elif self.folder is None and not judged.allowed:
            yield Failure(self.place, f"allowed: found false ({shown(judged.findings, 'deny')}), wanted true")
        elif self.folder is not None:
            meaning = FOLDERS[self.folder]
            if not meaning.holds(judged):
                found = judged.as_written if meaning.written else judged.findings
                yield Failure(self.place, f"{self.folder}/: found {shown(found)}; wanted {meaning.wanted}")
        if self.golden is not None:
            yield from golden_failures(self.golden, judged.after)
