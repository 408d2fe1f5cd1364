"""AdmissionReview v1: what a request holds, and the answers to it.

Source: k8s.io/api admission/v1 and k8s.io/apiserver pkg/admission/plugin/webhook/request/admissionreview.go
VerifyAdmissionResponse (v0.37.2).
"""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson

from app.model.finding import Finding
from app.model.patch import Operation

API_VERSION: Final = "admission.k8s.io/v1"

# The API server cuts every warning to 256 characters once all of a request exceed 4,096 together
# (k8s.io/apiserver pkg/endpoints/filters/warning.go). The mutating and the validating call share them.
_WARNINGS_TOTAL: Final = 2000
_TEXT_LENGTH: Final = 1000
_REFUSALS: Final = 20
_ANNOTATION_LENGTH: Final = 10_000


class NotAReview(ValueError):
    """The body is no AdmissionReview v1 request; the text says why."""


class Request(NamedTuple):
    """The part of an AdmissionReview request that gpugate reads; objects are raw.

    ``raw`` is the whole request, of which Kyverno's policies may read every field.
    """

    uid: str
    operation: str
    group: str
    kind: str
    subresource: str
    namespace: str
    name: str
    user: str
    dry_run: bool
    object: dict[str, Any] | None
    old_object: dict[str, Any] | None
    raw: dict[str, Any] | None = None


def read_request(body: object) -> Request:
    """The request of a parsed body; raises NotAReview."""
    if type(body) is not dict:
        raise NotAReview("the body is not a JSON object")
    if body.get("kind") != "AdmissionReview" or body.get("apiVersion") != API_VERSION:
        found = f"{body.get('kind')!r} of {body.get('apiVersion')!r}"
        raise NotAReview(f"expected an AdmissionReview of {API_VERSION}, found {found}")
    request = body.get("request")
    if type(request) is not dict:
        raise NotAReview("the AdmissionReview has no request")
    get = request.get
    uid, kind, user, obj, old = get("uid"), get("kind"), get("userInfo"), get("object"), get("oldObject")
    if type(uid) is not str or not uid:
        raise NotAReview("request.uid is missing")
    if type(kind) is not dict:
        raise NotAReview("request.kind is missing")
    operation = get("operation")
    if operation not in ("CREATE", "UPDATE", "DELETE", "CONNECT"):
        raise NotAReview(f"request.operation is {operation!r}, not CREATE, UPDATE, DELETE or CONNECT")
    if obj is not None and type(obj) is not dict:
        raise NotAReview("request.object is not an object")
    if obj is None and operation in ("CREATE", "UPDATE"):
        raise NotAReview(f"request.object is missing; a {operation} has one")
    if old is not None and type(old) is not dict:
        raise NotAReview("request.oldObject is not an object")
    # By position: this is done for every review.
    return Request(
        uid,
        operation,
        _text(kind, "group"),
        _text(kind, "kind"),
        _text(request, "subResource"),
        _text(request, "namespace"),
        _text(request, "name"),
        _text(user, "username") if type(user) is dict else "",
        get("dryRun") is True,
        obj,
        old,
        request,
    )


def _text(parent: dict[str, Any], key: str) -> str:
    value = parent.get(key, "")
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise NotAReview(f"request.{key} is not text")


def answer(
    uid: str,
    *,
    allowed: bool = True,
    status: dict[str, Any] | None = None,
    patch: list[Operation] | None = None,
    warnings: list[str] | None = None,
    annotations: dict[str, str] | None = None,
) -> bytes:
    """The AdmissionReview response, as JSON."""
    response: dict[str, Any] = {"uid": uid, "allowed": allowed}
    if status is not None:
        response["status"] = status
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(orjson.dumps(patch)).decode("ascii")
    if warnings:
        response["warnings"] = warnings
    if annotations:
        response["auditAnnotations"] = annotations
    return orjson.dumps({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})


def refusal(findings: list[Finding]) -> dict[str, Any]:
    """The status of a refusal: 403 Forbidden, as some controllers swallow 422; every violation in one message."""
    return forbidden([finding.text for finding in findings])


def forbidden(texts: list[str]) -> dict[str, Any]:
    """The status of a refusal for these reasons."""
    shown = [_line(text) for text in texts[:_REFUSALS]]
    if len(shown) > 1:
        shown = [f"({number}) {text}" for number, text in enumerate(shown, 1)]
    if len(texts) > _REFUSALS:
        shown.append(f"and {len(texts) - _REFUSALS} more")
    return {"code": 403, "reason": "Forbidden", "message": " ".join(shown)}


def warnings(findings: Iterable[Finding], would_change: Iterable[Finding] = ()) -> list[str]:
    """The findings, and the changes that another mode would make, as warnings for the user's terminal, within the
    API server's limits."""
    wanted = [finding.text for finding in findings]
    if not (wanted or would_change):
        return []
    wanted += [f"would be changed: {finding.text}" for finding in would_change]
    return bounded(wanted)


def bounded(wanted: list[str]) -> list[str]:
    """The texts as warnings, as many as the API server would show in full, and how many more there are."""
    texts: list[str] = []
    total = 0
    for text in map(_line, wanted):
        total += len(text)
        if total > _WARNINGS_TOTAL:
            texts.append(f"gpugate: and {len(wanted) - len(texts)} more")
            break
        texts.append(text)
    return texts


def _line(text: str) -> str:
    text = text[:_TEXT_LENGTH]
    return text if text.isprintable() else printable(text)


def printable(text: str) -> str:
    """The text without control characters: the API server drops a warning that holds one."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


def record(findings: list[Finding]) -> str:
    """The findings as the value of an audit annotation, one a line: ``deny gpu-pods/no-privileged: ...``."""
    return "\n".join([f"{finding.outcome} {_line(finding.text)}" for finding in findings])[:_ANNOTATION_LENGTH]
