"""What a ``kyverno-test.yaml`` refers to: policies, resources and exceptions, in files and folders."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.documents import Document, read
from app.kyverno import exceptions
from app.kyverno.exceptions import PolicyException, compile_exception
from app.kyverno.policy import KINDS, VERSIONS, ClusterPolicy, compile_policy
from app.kyverno.types import InvalidPolicy
from app.suite.case import Failure, Place
from app.suite.kyverno_case import KyvernoSuite
from app.suite.kyverno_load import failure

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_SCORED: Final = "policies.kyverno.io/scored"
_DEFAULT_NAMESPACE: Final = "default"
_CLUSTER_KINDS: Final = frozenset(
    (
        "APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition",
        "CSIDriver", "CSINode", "DeviceClass", "FlowSchema", "IngressClass", "MutatingWebhookConfiguration",
        "Namespace", "Node", "PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "ResourceSlice",
        "RuntimeClass", "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration", "VolumeAttachment",
    )
)  # fmt: skip
_POLICY_GROUPS: Final = ("kyverno.io/", "policies.kyverno.io/", "admissionregistration.k8s.io/")


class Inputs(NamedTuple):
    """What was read; ``refused`` are policies that cannot be used, by name, each with the reason.

    ``unscored`` are policies whose failures count as warnings. ``errors`` are files that cannot be read: then nothing
    is run.
    """

    policies: list[ClusterPolicy]
    refused: dict[str, str]
    resources: list[dict[str, Any]]
    exceptions: list[PolicyException]
    errors: list[Failure]
    unscored: set[str]


def read_inputs(suite: KyvernoSuite) -> Inputs:
    """Everything that the suite refers to."""
    inputs = Inputs([], {}, [], [], [], set())
    for document in _documents(suite.policies, suite.place, inputs.errors):
        _policy(document, inputs)
    inputs.resources.extend(read_resources(suite.resources, suite.place, inputs.errors))
    for document in _documents(suite.exceptions, suite.place, inputs.errors):
        try:
            inputs.exceptions.append(compile_exception(document.value))
        except InvalidPolicy as error:
            inputs.errors.extend(failure(document, flaw) for flaw in error.flaws)
    return inputs


def read_resources(paths: Iterable[str], place: Place, errors: list[Failure]) -> list[dict[str, Any]]:
    """The objects of files and folders; those that live in a namespace and name none are in ``default``."""
    return [_placed(document.value) for document in _documents(paths, place, errors)]


def metadata_of(resource: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a resource; empty if there is none."""
    metadata = resource.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _policy(document: Document, inputs: Inputs) -> None:
    value = document.value
    version, kind, metadata = str(value.get("apiVersion", "")), value.get("kind"), metadata_of(value)
    name, namespace = str(metadata.get("name", "")), metadata.get("namespace")
    if kind in KINDS and version in VERSIONS:
        try:
            policy = compile_policy(value, values_given=True)
            inputs.policies.append(policy)
            annotations = metadata.get("annotations")
            if isinstance(annotations, dict) and annotations.get(_SCORED) == "false":
                inputs.unscored.add(policy.key)
        except InvalidPolicy as error:
            where = [failure(document, flaw) for flaw in error.flaws]
            said = "; ".join(f"{each.place}: {each.message}" for each in where)
            inputs.refused[f"{namespace}/{name}" if kind == "Policy" and namespace else name] = said
    elif kind == exceptions.KIND and version in exceptions.VERSIONS:
        try:
            inputs.exceptions.append(compile_exception(value))
        except InvalidPolicy as error:
            inputs.errors.extend(failure(document, flaw) for flaw in error.flaws)
    elif version.startswith(_POLICY_GROUPS):
        inputs.refused[name] = f"{document.name}:{document.line}: {kind} ({version}) is not supported"


def _documents(paths: Iterable[str], place: Place, errors: list[Failure]) -> Iterator[Document]:
    for path in paths:
        for file in _files(Path(path), place, errors):
            try:
                content = file.read_bytes()
            except OSError as error:
                errors.append(Failure(place, f"{file} cannot be read: {error.strerror}"))
                continue
            for each in read(content, str(file)):
                if isinstance(each, Document):
                    yield each
                else:
                    errors.append(Failure(Place(each.name, each.line, each.column), each.message))


def _files(path: Path, place: Place, errors: list[Failure]) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES and each.is_file())
    if not found:
        errors.append(Failure(place, f"the folder {path} holds no {', '.join(_SUFFIXES)} file"))
    return found


def _placed(resource: dict[str, Any]) -> dict[str, Any]:
    if resource.get("kind") in _CLUSTER_KINDS or metadata_of(resource).get("namespace"):
        return resource
    return {**resource, "metadata": {**metadata_of(resource), "namespace": _DEFAULT_NAMESPACE}}
