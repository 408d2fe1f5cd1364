"""Pods in the audit log of an API server (audit.k8s.io/v1), at level Request or above.

The log holds what was sent, before any admission, what came of it, and what webhooks said: gpugate's annotations
``<webhook>/mode``, ``/findings``, ``/changes``, and the API server's own for each mutating call
(k8s.io/apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go).
"""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, get_args
from urllib.parse import parse_qs, urlsplit

import orjson

from app.admission.recorded import Answered, Record, Said
from app.admission.review import Request
from app.model.finding import Outcome
from app.model.patch import Operation
from app.policy.compiled import Mode
from app.workloads.defaulting import defaulted

_OURS: Final = ".gpugate.dev"
_PATCH: Final = "patch.webhook.admission.k8s.io/"
_MUTATION: Final = "mutation.webhook.admission.k8s.io/"
_VERBS: Final = {"create": "CREATE", "update": "UPDATE", "patch": "UPDATE"}
_OUTCOMES: Final = get_args(Outcome)
_MODES: Final = get_args(Mode)
_NAMESPACES: Final = 100_000


class Unusable(Exception):
    """Something that is recorded and cannot be judged; the text says what, in the plural."""


def is_event(value: Any) -> bool:
    """True for an audit event."""
    if type(value) is not dict or value.get("kind", "Event") != "Event":
        return False
    version = value.get("apiVersion", "")
    return "auditID" in value or (type(version) is str and version.startswith("audit.k8s.io/"))


class AuditLog:
    """Reads the events of one log, in their order.

    That gpugate let a pod in without a word leaves no trace of its mode, so that of the namespace is remembered.
    """

    def __init__(self) -> None:
        self._modes: OrderedDict[str, Mode] = OrderedDict()

    def record(self, place: str, event: dict[str, Any]) -> Record | None:
        """The pod that the event is about; None if it is about something else. Raises Unusable."""
        target = _map(event, "objectRef")
        if target.get("resource") != "pods" or target.get("apiGroup"):
            return None
        operation = _VERBS.get(str(event.get("verb")))
        subresource = target.get("subresource") or ""
        if operation is None or subresource not in ("", "ephemeralcontainers"):
            return None
        if event.get("stage") != "ResponseComplete":
            return None
        said = dict(_annotations(event))
        namespace = str(target.get("namespace") or "")
        mode = self._mode(namespace, said)
        if "All" in parse_qs(urlsplit(str(event.get("requestURI", ""))).query).get("dryRun", ()):
            raise Unusable("dry runs")
        pod = _pod(event)
        answered = _answered(event, said)
        request = Request(
            uid=str(event.get("auditID") or ""),
            operation=operation,
            group="",
            kind="Pod",
            subresource=subresource,
            namespace=namespace,
            name=str(target.get("name") or ""),
            user=str(_map(event, "user").get("username") or ""),
            dry_run=False,
            object=pod,
            old_object=None,
            raw={"operation": operation, "subResource": subresource, "userInfo": _map(event, "user")},
        )
        return Record(place, request, None, mode, time_of(event.get("requestReceivedTimestamp")), answered)

    def _mode(self, namespace: str, said: dict[str, str]) -> Mode | None:
        for key, value in said.items():
            webhook, _, what = key.partition("/")
            called = value if what == "mode" else webhook.split("-")[1] if "-" in webhook else ""
            mode: Mode | None = next((each for each in _MODES if each == called), None)
            if mode is not None:
                self._modes[namespace] = mode
                self._modes.move_to_end(namespace)
                if len(self._modes) > _NAMESPACES:
                    self._modes.popitem(last=False)
                return mode
        return self._modes.get(namespace)


def _pod(event: dict[str, Any]) -> dict[str, Any]:
    patch = event.get("verb") == "patch"
    pod = event.get("responseObject" if patch else "requestObject")
    if type(pod) is not dict or (patch and pod.get("kind") != "Pod"):
        if patch:
            raise Unusable("patches, of which the log holds no whole pod (level RequestResponse does)")
        raise Unusable("requests without their pod (the audit level of pods must be Request or RequestResponse)")
    spec = pod.get("spec")
    return {**pod, "spec": defaulted(spec)} if type(spec) is dict else pod


def _answered(event: dict[str, Any], said: dict[str, str]) -> Answered:
    status = _map(event, "responseStatus")
    code = status.get("code")
    refused = type(code) is int and code >= 400
    message = str(status.get("message") or "")
    if refused and not (f'{_OURS}"' in message and "denied the request" in message):
        raise Unusable("requests that something else than gpugate refused")
    findings = tuple(_findings(said))
    if refused:
        return Answered(True, findings)
    return Answered(False, findings, _patch(said))


def _annotations(event: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """gpugate's annotations, and those about its calls under ``<webhook>/patch`` and ``<webhook>/mutated``."""
    for key, value in _map(event, "annotations").items():
        if type(value) is not str:
            continue
        if key.partition("/")[0].endswith(_OURS):
            yield key, value
        elif key.startswith((_PATCH, _MUTATION)):
            try:
                called = orjson.loads(value)
            except orjson.JSONDecodeError:
                continue
            webhook = called.get("webhook") if type(called) is dict else None
            if type(webhook) is str and webhook.endswith(_OURS):
                what = "patch" if key.startswith(_PATCH) else "mutated"
                yield f"{webhook}/{what}", orjson.dumps(called.get(what)).decode()


def _findings(said: dict[str, str]) -> Iterator[Said]:
    """The lines of the annotations: ``deny gpu-pods/no-privileged: container "a": ...``."""
    for key, value in said.items():
        if key.rpartition("/")[2] in ("findings", "changes"):
            for line in value.split("\n"):
                outcome, _, text = line.partition(" ")
                rule, _, message = text.partition(": ")
                known: Outcome | None = next((each for each in _OUTCOMES if each == outcome), None)
                if known is not None and "/" in rule:
                    yield Said(rule, known, message)


def _patch(said: dict[str, str]) -> list[Operation] | None:
    """What gpugate changed; None if it did, and the log does not hold how."""
    patches = [orjson.loads(value) for key, value in said.items() if key.endswith("/patch")]
    if patches:
        operations = [each for patch in patches if type(patch) is list for each in patch]
        return [each for each in operations if is_addition(each)]
    return None if any(value == "true" for key, value in said.items() if key.endswith("/mutated")) else []


def is_addition(value: Any) -> bool:
    """True for an operation as gpugate makes them: it only adds."""
    return type(value) is dict and value.get("op") == "add" and type(value.get("path")) is str and "value" in value


def _map(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if type(value) is dict else {}


def time_of(text: Any) -> datetime | None:
    """The time that a text in RFC 3339 says, None if it says none."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
