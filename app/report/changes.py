"""What becomes of objects: the changes that a cluster makes, and the objects after them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from app.model.patch import Operation
from app.report.results import JudgedObject


class Change(NamedTuple):
    """A change that the cluster makes, and the rule or injection that it is made for."""

    rule: str
    message: str
    operations: tuple[Operation, ...]


def changes(judged: JudgedObject) -> Iterator[Change]:
    """What is applied to the object, in that order."""
    for pod in judged.pods:
        if pod.patch:
            for placed in pod.findings:
                finding = placed.finding
                if finding.operations:
                    yield Change(f"{finding.policy}/{finding.rule}", finding.message, finding.operations)


def applied(value: dict[str, Any], operations: tuple[Operation, ...]) -> dict[str, Any]:
    """A copy of the object after the operations."""
    import jsonpatch  # most runs need none

    result: dict[str, Any] = jsonpatch.apply_patch(value, list(operations))
    return result
