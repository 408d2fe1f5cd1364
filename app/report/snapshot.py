"""A snapshot: what a scan saw in a cluster, as one JSON file. The board and `gpugate modes` are made from it.

::

    {"version": 1, "takenAt": "2026-12-02T10:00:00Z",
     "cluster": {"context": "prod", "server": "https://10.0.0.1:6443"},
     "policies": [{"name": "gpu-pods", "digest": "sha256:..."}],
     "namespaces": [
       {"name": "team-a", "mode": "audit", "source": "pinned | label | default", "label": null, "labelValid": true,
        "next": "warn", "exempt": false,
        "workloads": [
          {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "template": "/spec/template/spec", "pods": 3,
           "gpu": true, "exempt": null, "state": "ready | changed | warned | refused",
           "findings": [{"policy": "gpu-pods", "rule": "no-privileged", "outcome": "deny", "containerKind": "container",
                         "container": "main", "pointer": "/spec/...", "message": "...", "help": null}],
           "patch": [{"op": "add", "path": "/spec/template/spec/runtimeClassName", "value": "nvidia"}]}],
        "exceptions": [{"name": "mesh-init", "rule": "no-privileged", "until": "2027-01-31",
                        "owner": "mesh@example.com", "reason": "INC-1"}]}],
     "errors": [{"where": "team-a/RayCluster/x", "message": "..."}]}

``version`` grows when a key changes its meaning or goes. Namespaces are sorted by name, their workloads by kind, name
and template.
"""

from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, Final, Literal

from pydantic import AwareDatetime, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from app.model.finding import Outcome
from app.policy.compiled import Exemption, Mode

VERSION: Final = 1

Source = Literal["pinned", "label", "default"]
"""Where the mode of a namespace comes from: its name in the policy, its label, or the policy's default."""

State = Literal["ready", "changed", "warned", "refused"]
"""What `enforce` would do to the pods: admit them as they are, repair or inject, admit with a warning, refuse.

What is changed and warned about as well is ``changed``.
"""

STATES: Final[tuple[State, ...]] = ("refused", "changed", "warned", "ready")
"""Every state, that which asks for most first."""


class InvalidSnapshot(ValueError):
    """The file is no snapshot; the text says where and why, in one line."""


_STRICT: Final = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class SnapshotFinding:
    """A finding, as `check -o json` has it; ``pointer`` is relative to the workload's object."""

    __pydantic_config__ = _STRICT

    policy: str
    rule: str
    outcome: Outcome
    container_kind: str | None
    container: str | None
    pointer: str
    message: str
    help: str | None


@dataclass(frozen=True, slots=True)
class Workload:
    """A pod template that is there, or a pod that nothing known has made.

    What neither asks for GPUs nor has a finding is left out. ``pods`` counts the running and waiting pods of the
    object, however many owners are between; of several templates in one object the first has the count, the others 0.
    Of an exempt one there are no findings.
    """

    __pydantic_config__ = _STRICT

    api_version: str
    kind: str
    name: str
    template: str
    pods: int
    gpu: bool
    exempt: Exemption | None
    state: State
    findings: tuple[SnapshotFinding, ...]
    patch: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ExceptionInForce:
    """An exception of the policy that can let something through in the namespace: one entry a rule."""

    __pydantic_config__ = _STRICT

    name: str
    rule: str
    until: date
    owner: str
    reason: str


@dataclass(frozen=True, slots=True)
class NamespaceState:
    """A namespace and its mode.

    ``label`` is the value of its label `gpugate.dev/mode`; ``label_valid`` is false for one that means nothing by the
    policy. ``next`` is the next stricter mode that its label may choose: None at the top, and where the policy pins the
    namespace. ``exempt`` tells that the policy exempts all of it.
    """

    __pydantic_config__ = _STRICT

    name: str
    mode: Mode
    source: Source
    label: str | None
    label_valid: bool
    next: Mode | None
    exempt: bool
    workloads: tuple[Workload, ...]
    exceptions: tuple[ExceptionInForce, ...]


@dataclass(frozen=True, slots=True)
class ClusterId:
    """Which cluster: the context of the kubeconfig (None: seen from inside), and the API server's address."""

    __pydantic_config__ = _STRICT

    context: str | None
    server: str


@dataclass(frozen=True, slots=True)
class PolicyId:
    """A document of the policy; ``digest`` is ``sha256:...`` of its content."""

    __pydantic_config__ = _STRICT

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class ScanError:
    """Something that could not be read or judged; the rest is in the snapshot all the same."""

    __pydantic_config__ = _STRICT

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All of it; ``taken_at`` has a time zone."""

    __pydantic_config__ = _STRICT

    version: Literal[1] = field(default=VERSION, kw_only=True)
    taken_at: AwareDatetime
    cluster: ClusterId
    policies: tuple[PolicyId, ...]
    namespaces: tuple[NamespaceState, ...]
    errors: tuple[ScanError, ...]

    def to_json(self) -> bytes:
        """The file's content."""
        return _adapter().dump_json(self, by_alias=True) + b"\n"

    @staticmethod
    def from_json(content: bytes) -> "Snapshot":
        """The snapshot of a file's content; raises InvalidSnapshot."""
        try:
            return _adapter().validate_json(content, by_alias=True, by_name=False)
        except ValidationError as error:
            raise InvalidSnapshot(_line(error)) from None


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)


def _line(error: ValidationError) -> str:
    """The first thing that is wrong; of a file of another version only that."""
    problems = error.errors(include_url=False, include_context=False)
    first = next((each for each in problems if each["loc"] == ("version",)), problems[0])
    if first["loc"] == ("version",):
        return f"/version: this gpugate reads version {VERSION}, found {first['input']!r:.60}"
    place = "".join(f"/{step}" for step in first["loc"])
    found = "" if first["type"] in ("missing", "json_invalid") else f", found {first['input']!r:.60}"
    return f"{place + ': ' if place else ''}{first['msg']}{found}"
