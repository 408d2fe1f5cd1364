"""The words and marks of the templates, and what reads them: Jinja with every value escaped."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app import __version__
from app.model.words import quoted
from app.policy.compiled import MODE_LABEL, Exemption
from app.report.board.fields import advice, change, container_in_words, field_path
from app.report.board.overview import BAR, OUTLOOKS, Counts, Outlook, Row, findings, outlook, rules_against
from app.report.board.query import ORDERS, within
from app.report.rollout import LADDER, Standing

_TEMPLATES: Final = Path(__file__).parent / "templates"
_LABELS: Final = {
    "refused": "would break",
    "warned": "warned",
    "changed": "changed",
    "ready": "ready",
    "exempt": "exempt",
}
_EXPLAINED: Final = {
    "refused": "enforce would refuse its pods",
    "warned": "enforce would admit its pods, with a warning",
    "changed": "enforce would repair its pods or inject what they lack",
    "ready": "enforce would admit its pods as they are",
    "exempt": "the policy leaves it alone in every mode",
}
_GLYPHS: Final = {"refused": "✕", "warned": "!", "changed": "±", "ready": "✓", "exempt": "○"}
_ADDS: Final = {
    "disabled": "gpugate is not called",
    "audit": "a record of what it finds",
    "warn": "warnings to users",
    "assist": "repairs and injections",
    "enforce": "refusals",
}
_OUTCOMES: Final = {
    "deny": "refuses",
    "warn": "warns",
    "audit": "records",
    "repair": "repairs",
    "inject": "injects",
    "note": "notes",
}
_EXEMPT: Final[dict[Exemption, str]] = {
    "namespace": "by its namespace",
    "serviceAccount": "by its service account",
    "pod": "by its labels",
}
_SOURCES: Final = {"pinned": "pinned by the policy", "label": "by its label", "default": "the policy's default"}
_NARROWEST: Final = 1.5
"""The least share of a bar, in percent, that one workload gets to be seen with."""
_NAMES_SEARCHED: Final = 300
"""Workloads of a namespace that the overview in files finds it by, the worst first: 20 KB of names at most."""


@cache
def environment() -> Environment:
    """The templates, ready to render."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "advice": advice,
        "among": lambda findings, *outcomes: [finding for finding in findings if finding.outcome in outcomes],
        "change": change,
        "exempt_by": _exempt_by,
        "container_kind": container_in_words,
        "day": lambda day: f"{day.day} {day:%b %Y}",
        "field": field_path,
        "flags": _flags,
        "gist": _gist,
        "is_link": _is_link,
        "moment": _moment,
        "number": lambda count: f"{count:,}",
        "plural": plural,
        "rules_against": rules_against,
        "search_text": _search_text,
        "segments": _segments,
        "outlook": outlook,
        "within": within,
        "present": lambda counts: [each for each in OUTLOOKS if counts.of[each]],
    }
    made.globals |= {
        "adds": _ADDS,
        "in_bar": BAR,
        "explained": _EXPLAINED,
        "glyphs": _GLYPHS,
        "labels": _LABELS,
        "legend": (*BAR, "exempt"),
        "ladder": LADDER,
        "orders": ORDERS,
        "outcomes": _OUTCOMES,
        "sources": _SOURCES,
        "outlooks": OUTLOOKS,
        "version": __version__,
    }
    return made


def plural(count: int, noun: str) -> str:
    """``1 pod``, ``2,000 pods``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _moment(moment: datetime) -> str:
    """``2 Dec 2026, 04:10 UTC``."""
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"


def _segments(counts: Counts) -> list[tuple[Outlook, str, str]]:
    """The parts of a bar, the good end first: (standing, where it starts, how wide it is), in percent."""
    present = [each for each in BAR if counts.of[each]]
    total = sum(counts.of[each] for each in present)
    shares = [max(_NARROWEST, 100 * counts.of[each] / total) for each in present]
    start, parts = 0.0, []
    for each, share in zip(present, shares, strict=True):
        width = 100 * share / sum(shares)
        parts.append((each, f"{start:.2f}%", f"{width:.2f}%"))
        start += width
    return parts


def _flags(row: Row) -> list[str]:
    """What is worth a look about a namespace beside its workloads."""
    flags, namespace = [], row.namespace
    if namespace.label is not None and not namespace.label_valid:
        flags.append(f"the label {MODE_LABEL}={quoted(namespace.label)} means nothing here")
    if namespace.exceptions:
        first = min(exception.until for exception in namespace.exceptions)
        flags.append(f"{plural(len(namespace.exceptions), 'exception')}, until {first.day} {first:%b %Y}")
    return flags


def _gist(workload: Standing) -> str:
    """What a workload is about, in one line."""
    if workload.exempt:
        return _exempt_by(workload)
    refusing = {finding.rule for finding in findings(workload) if finding.outcome == "deny"}
    rules = refusing or rules_against(workload)
    if rules or workload.state != "changed":
        return ", ".join(sorted(rules))
    return plural(sum(finding.outcome != "note" for finding in findings(workload)), "change")


def _exempt_by(workload: Standing) -> str:
    return ", ".join(sorted({_EXEMPT[each.exempt] for each in workload.templates if each.exempt}))


def _search_text(row: Row) -> str:
    names = (f"{workload.kind}/{workload.name}" for workload in row.workloads[:_NAMES_SEARCHED])
    return " ".join([row.name, *names]).lower()


def _is_link(word: str) -> bool:
    """True for an address of the web, which a policy's help may hold."""
    try:
        parts = urlsplit(word)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
