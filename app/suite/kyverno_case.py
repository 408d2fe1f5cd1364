"""A test of Kyverno's command line, and its assertions: what one row of ``results`` says of one resource."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.suite.case import Failure, Place

RESULTS = ("pass", "fail", "skip", "warn", "error")


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of ``results``.

    ``names`` are those of resources, as ``name`` or ``namespace/name``; without any the row is about all of its kind.
    ``patched`` is the file of the resource as it is after the policy, ``refused`` why the row cannot be run here.
    """

    place: Place
    policy: str
    rule: str
    kind: str
    result: str
    names: tuple[str, ...]
    namespace: str = ""
    operation: str | None = None
    patched: str | None = None
    patched_must_be_there: bool = False
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    """A row, and one of its resources; "" for all of the kind."""

    name: str
    place: Place
    row: Row
    resource: str


@dataclass(frozen=True, slots=True)
class Values:
    """Variables that are given rather than found.

    ``resources`` are by (policy, resource), ``rules`` and ``foreach`` by (policy, rule); each is dotted names to
    values. ``labels`` are those of namespaces.
    """

    everywhere: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    rules: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    foreach: Mapping[tuple[str, str], Mapping[str, list[Any]]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KyvernoSuite:
    """A ``kyverno-test.yaml``. Paths are as they are shown; those of ``resources`` and ``policies`` may be folders.

    ``flaws`` are what is wrong with the test itself: then nothing of it is run.
    """

    name: str
    file: str
    policies: tuple[str, ...]
    cases: tuple[Assertion, ...]
    place: Place
    resources: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    values: Values = field(default_factory=Values)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    flaws: tuple[Failure, ...] = ()
