"""The texts of a policy document: names, keys, patterns and days, each with the grammar that Kubernetes gives it."""

import re
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from app.model.words import quoted

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def _fits(pattern: re.Pattern[str], what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(f"{quoted(value)} is not {what}")
        return value

    return AfterValidator(check)


def _to_date(value: object) -> date:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value} is no day of the calendar") from None
    raise ValueError("write the day as YYYY-MM-DD")


def _to_line(value: str) -> str:
    """The text on one line, however YAML folded it: it becomes a part of messages."""
    line = " ".join(value.split())
    if not line:
        raise ValueError("should not be empty")
    if not line.isprintable():
        raise ValueError("holds a character that cannot be printed")
    return line


Name = Annotated[str, _fits(_DNS_LABEL, "a name of lower-case letters, digits and dashes")]
Namespace = Annotated[str, _fits(_DNS_LABEL, "a namespace name")]
Key = Annotated[str, _fits(_QUALIFIED, "a label or taint key")]
LabelValue = Annotated[str, _fits(_LABEL_VALUE, "a label value")]
Pattern = Annotated[str, Field(min_length=1)]
Line = Annotated[str, AfterValidator(_to_line)]
ResourcePattern = Annotated[
    str, _fits(re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/]*\*?"), "a resource name (only a trailing * is allowed)")
]
AnnotationPattern = Annotated[
    str, _fits(re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/]*\*?"), "an annotation key (only a trailing * is allowed)")
]
ClassPattern = Annotated[
    str,
    _fits(
        re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?|[a-z0-9][-a-z0-9.]*\*"),
        "the name of a class (only a trailing * is allowed)",
    ),
]
Plural = Annotated[
    str, _fits(re.compile(r"[a-z0-9][-a-z0-9]*(\.[a-z0-9][-a-z0-9.]*)?"), "a resource, like pytorchjobs.kubeflow.org")
]
ServiceAccount = Annotated[
    str, _fits(re.compile(r"[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*"), "namespace/serviceaccount")
]
KindName = Annotated[str, _fits(re.compile(r"[A-Z][A-Za-z0-9]*"), "a kind")]
Pointer = Annotated[str, _fits(re.compile(r"(/[^/]+)+"), "a JSON Pointer")]
Day = Annotated[date, BeforeValidator(_to_date)]
