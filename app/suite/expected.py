"""What a case of a PolicyTest expects, held against the verdict."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from app.documents import Document
from app.model.finding import Finding
from app.model.words import quoted
from app.suite.case import Failure, Place
from app.suite.differences import differences
from app.suite.judged import Judged, shown
from app.suite.schema import Expect, ExpectedFinding


class Expected:
    """The ``expect`` of a case, which stands at a pointer of a document."""

    golden: str | None = None

    def __init__(self, model: Expect, document: Document, pointer: str) -> None:
        self._model = model
        self._document = document
        self._pointer = pointer

    def failures(self, judged: Judged) -> Iterator[Failure]:
        """Everything that is not as expected."""
        expect = self._model
        yield from self._exempt(judged)
        yield from self._answer("allowed", expect.allowed, judged.allowed, shown(judged.findings, "deny"))
        changed = judged.allowed and bool(judged.patch)
        yield from self._answer("changed", expect.changed, changed, shown(judged.findings, "repair", "inject"))
        yield from self._answer("gpu", expect.gpu, judged.gpu, None)
        if expect.findings is not None:
            yield from self._findings("findings", expect.findings, judged, exact=True)
        if expect.findings_include is not None:
            yield from self._findings("findingsInclude", expect.findings_include, judged, exact=False)
        if expect.object is not None:
            yield from self._object(judged)

    def _answer(self, key: str, wanted: bool | None, found: bool, why: str | None) -> Iterator[Failure]:
        if wanted is not None and wanted is not found:
            reason = f" ({why})" if why and why != "none" else ""
            yield self._failure(key, f"found {_json(found)}{reason}, wanted {_json(wanted)}")

    def _exempt(self, judged: Judged) -> Iterator[Failure]:
        wanted, found = self._model.exempt, judged.exempt
        if wanted == found:
            return
        if wanted is None:
            # Whatever else is expected would hold for any pod at all.
            said = f'found "{found}": nothing is asked of the policy here; wanted none (or say exempt: {found})'
            yield self._failure("exempt", said)
        else:
            yield self._failure("exempt", f"found {quoted(found) if found else 'none'}, wanted {quoted(wanted)}")

    def _findings(
        self, key: str, wanted: Sequence[ExpectedFinding], judged: Judged, *, exact: bool
    ) -> Iterator[Failure]:
        found, policy = judged.findings, judged.policy
        pairs = _pairs(wanted, found)
        left = [each for number, each in enumerate(found) if number not in pairs.values()]
        told: list[Finding] = []
        names = policy.names
        for index, expected in enumerate(wanted):
            at = f"{key}/{index}"
            if expected.rule not in names:
                said = f'found no rule or injection of that name in the policy, wanted "{expected.rule}"'
                yield self._failure(f"{at}/rule", f"{said}; {_nearest(expected.rule, names)}")
            elif expected.container is not None and expected.container not in judged.containers:
                said = f'found no container of that name in the object, wanted "{expected.container}"'
                yield self._failure(f"{at}/container", f"{said}; {_nearest(expected.container, judged.containers)}")
            elif index not in pairs:
                like = [each for each in left if each.rule == expected.rule]
                told += like
                yield self._failure(at, f"found {shown(like)}; wanted {_said(expected)}")
        if exact:
            for finding in (each for each in left if each not in told):
                yield self._failure(key, f"found {shown([finding])}; wanted no such finding")

    def _object(self, judged: Judged) -> Iterator[Failure]:
        if not judged.allowed:
            said = f"found none, as it is refused ({shown(judged.findings, 'deny')}), wanted an object"
            yield self._failure("object", said)
            return
        for each in differences(judged.after, self._model.object, exact=False):
            yield self._failure(f"object{each.pointer}", f"found {each.found}, wanted {each.wanted}")

    def _failure(self, at: str, message: str) -> Failure:
        region = self._document.locate(f"{self._pointer}/{at}", key=True)
        place = Place(self._document.name, region.line, region.column)
        return Failure(place, f"{at}: {message}")


def _pairs(wanted: Sequence[ExpectedFinding], found: Sequence[Finding]) -> dict[int, int]:
    """Which expectation is met by which finding: each by one of its own, and as many as can be (Kuhn's algorithm)."""
    taken: dict[int, int] = {}

    def place(expected: int, tried: set[int]) -> bool:
        for number, finding in enumerate(found):
            if number not in tried and _meets(wanted[expected], finding):
                tried.add(number)
                if number not in taken or place(taken[number], tried):
                    taken[number] = expected
                    return True
        return False

    for index in range(len(wanted)):
        place(index, set())
    return {expected: number for number, expected in taken.items()}


def _meets(expected: ExpectedFinding, finding: Finding) -> bool:
    return (
        expected.rule == finding.rule
        and expected.outcome == finding.outcome
        and expected.container in (None, finding.container)
        and expected.container_kind in (None, finding.container_kind)
        and expected.pointer in (None, finding.pointer)
        and (expected.message is None or expected.message in finding.text)
    )


def _said(expected: ExpectedFinding) -> str:
    kind, container = expected.container_kind, expected.container
    label = f' {kind or "container"} "{container}"' if container else f" (containerKind {kind})" if kind else ""
    pointer = f" at {expected.pointer}" if expected.pointer else ""
    message = f": …{expected.message}…" if expected.message else ""
    return f"{expected.outcome} {expected.rule}{label}{pointer}{message}"


def _nearest(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"there is {', '.join(known) or 'none'}"


def _json(value: Any) -> str:
    return "true" if value else "false"
