"""Exceptions of a policy: violations let through, with an owner and an end."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from app.model.context import Context
from app.model.finding import Finding
from app.model.gpu import GpuUse
from app.model.pod import Pod
from app.policy.compiled import Policy, PolicyException

NOTICE: Final = timedelta(days=14)
"""How long before its end an exception is warned about."""

_VIOLATIONS: Final = ("deny", "warn", "audit")


def excepted(policy: Policy, findings: list[Finding], pod: Pod, use: GpuUse, context: Context) -> list[Finding]:
    """The findings, with a violation that an exception covers turned into a note that names the exception.

    Where the day is not known, no exception holds.
    """
    if not policy.exceptions or context.today is None or not findings:
        return findings
    held = [
        exception
        for exception in policy.exceptions
        if context.today <= exception.expires and exception.match.selects(pod, use, context, pod.runtime_class)
    ]
    return [result for finding in findings for result in _apply(held, finding, context.today)] if held else findings


def _apply(held: list[PolicyException], finding: Finding, today: date) -> Iterator[Finding]:
    exception = next((exception for exception in held if _covers(exception, finding)), None)
    if exception is None:
        yield finding
        return
    named = f'exception "{exception.name}" ({exception.reason}, {exception.owner})'
    yield finding._replace(
        outcome="note", final=False, message=f"{finding.message} - let through by {named}", help=None
    )
    if exception.expires - today <= NOTICE:
        yield finding._replace(
            outcome="audit" if finding.outcome == "audit" else "warn",
            final=False,
            message=f"{named} lets this through only until {exception.expires}: {finding.message}",
        )


def _covers(exception: PolicyException, finding: Finding) -> bool:
    return (
        finding.rule in exception.rules
        and finding.outcome in _VIOLATIONS
        and not finding.early
        and (not exception.containers or (finding.container or "") in exception.containers)
        and (not exception.images or (finding.image or "") in exception.images)
    )
