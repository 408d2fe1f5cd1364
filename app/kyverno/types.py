"""What goes into the judgement by a Kyverno policy, and what comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
Status = Literal["pass", "fail", "warn", "skip", "error"]
RuleType = Literal["mutate", "validate"]

EVERY_RULE: Final = ""
"""Stands for the name of a rule in ``Request.values``: for all of them."""


class Flaw(NamedTuple):
    """One thing wrong with a document; ``pointer`` is an RFC 6901 JSON Pointer into it.

    ``key`` tells that the key at the pointer is meant rather than its value. ``limit`` marks what is a right policy
    for Kyverno that is not taken here.
    """

    pointer: str
    message: str
    key: bool = False
    limit: bool = False


class InvalidPolicy(ValueError):
    """The document cannot be used; ``flaws`` lists everything found wrong."""

    def __init__(self, flaws: list[Flaw]) -> None:
        self.flaws = flaws
        super().__init__("; ".join(flaw.message for flaw in flaws))


class RuleError(Exception):
    """A rule cannot be evaluated on this resource: what Kyverno calls the status ``error``. Its text says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """A resource, and the request that brings it.

    ``resource`` is the object after the request (None: it is deleted), ``old`` the one before. What is None or absent
    from ``attributes`` is unknown, and a variable that names it is not found. ``attributes`` are the other fields of
    an AdmissionReview's request: ``userInfo``, ``name``, ``dryRun``, ``roles``, ``clusterRoles`` ...
    ``values`` are variables that are given rather than found, by the name of the rule: dotted names to values.
    ``foreach_values`` are the same for the elements of a foreach: dotted names to one value an element.
    """

    resource: dict[str, Any] | None
    old: dict[str, Any] | None = None
    operation: Operation = "CREATE"
    namespace: str = ""
    subresource: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    namespace_labels: Mapping[str, str] | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    foreach_values: Mapping[str, Mapping[str, list[Any]]] = field(default_factory=dict)

    @property
    def subject(self) -> dict[str, Any]:
        """The resource that rules are matched against: the object, or what is deleted."""
        return self.resource if self.resource is not None else self.old or {}


class RuleResult(NamedTuple):
    """What one rule says of a resource.

    ``rule`` is its name, which for a generated one is ``autogen-...``. ``pointer`` is the field that the message is
    about (JSON Pointer, "" for the whole object). ``resource`` is what a mutation makes of the resource.
    """

    policy: str
    rule: str
    type: RuleType
    status: Status
    message: str = ""
    pointer: str = ""
    resource: dict[str, Any] | None = None


class Response(NamedTuple):
    """The results of a policy's rules, in their order, and the resource after its mutations."""

    results: list[RuleResult]
    resource: dict[str, Any] | None


class Mutated(NamedTuple):
    """What a mutation did: ``pass`` with the new resource, or ``skip`` where it has nothing to do."""

    status: Status
    message: str
    resource: dict[str, Any] | None
