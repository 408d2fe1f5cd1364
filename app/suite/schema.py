"""The PolicyTest document, as pydantic models: what may be written, and the JSON Schema for editors.

An optional key may be left out, but not be null: a key that was emptied by mistake would expect nothing.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.json_schema import SkipJsonSchema, WithJsonSchema

from app.model.finding import Outcome
from app.model.patch import escape
from app.model.pod import ContainerKind
from app.policy.compiled import Exemption
from app.policy.schema import Metadata, Mode, Model
from app.policy.texts import Key, LabelValue, Namespace

KIND: Final = "PolicyTest"

Absent = SkipJsonSchema[None]
Text = Annotated[str, Field(min_length=1)]


def _without_defaults(schema: dict[str, Any]) -> None:
    """Editors write a default out; the null that stands for a key that is left out must not be written."""
    for entry in schema.get("properties", {}).values():
        if entry.get("default", ...) is None:
            del entry["default"]


class StrictModel(Model):
    """Strict, like a policy."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


class Selection(StrictModel):
    """One object of a file that holds several with pods."""

    file: Text = Field(description="The file, relative to this one.")
    kind: Text | Absent = Field(None, description="The object's kind.")
    namespace: Text | Absent = Field(None, description="The namespace that the object names.")
    name: Text | Absent = Field(None, description="The object's name.")


class Inline(StrictModel):
    """The object itself, as kubectl would apply it."""

    model_config = ConfigDict(extra="allow")

    api_version: Text = Field(alias="apiVersion", description="The object's apiVersion.")
    kind: Text = Field(description="The object's kind.")


def _form(value: Any) -> str:
    return (
        "path" if isinstance(value, str) else "selection" if isinstance(value, dict) and "file" in value else "inline"
    )


Object = Annotated[
    Annotated[Text, Tag("path")] | Annotated[Selection, Tag("selection")] | Annotated[Inline, Tag("inline")],
    Discriminator(_form),
]


def _to_day(value: Any) -> date:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("write a day (2027-01-31) or a time (2027-01-31T10:00:00Z)") from None
    return (time.astimezone(UTC) if time.tzinfo else time).date()


Moment = Annotated[date, BeforeValidator(_to_day), WithJsonSchema({"type": "string"})]


class UserInfo(StrictModel):
    """Who sends the request, as an AdmissionReview says it."""

    username: Text = Field(description="The user's name; a service account's is system:serviceaccount:NAMESPACE:NAME.")
    uid: str | Absent = Field(None, description="The user's uid.")
    groups: list[str] = Field([], description="The user's groups.")
    extra: dict[str, list[str]] = Field({}, description="What the authenticator adds.")


class ExpectedFinding(StrictModel):
    """A finding; what is left out may be anything."""

    rule: Text = Field(description="The name of the rule or injection in the policy.")
    outcome: Outcome = Field(description="What the finding is.")
    container: Text | Absent = Field(None, description="The container's name.")
    container_kind: ContainerKind | Absent = Field(None, alias="containerKind", description="The container's kind.")
    pointer: Text | Absent = Field(None, description="JSON Pointer of the field, relative to the object.")
    message: Text | Absent = Field(None, description="A part of the message.")


def _says_something(schema: dict[str, Any]) -> None:
    _without_defaults(schema)
    schema["minProperties"] = 1


class Expect(StrictModel):
    """What is expected; at least one key."""

    model_config = ConfigDict(json_schema_extra=_says_something)

    allowed: bool | Absent = Field(None, description="Whether the mode admits the object.")
    changed: bool | Absent = Field(None, description="Whether the object is admitted, and not as it was sent.")
    gpu: bool | Absent = Field(None, description="Whether the object asks for GPUs, as the policy counts them.")
    exempt: Exemption | Absent = Field(None, description="Why the object is admitted untouched.")
    findings: list[ExpectedFinding] | Absent = Field(None, description="Exactly these findings, in any order.")
    findings_include: list[ExpectedFinding] | Absent = Field(
        None, min_length=1, alias="findingsInclude", description="These findings, and maybe others."
    )
    object: dict[str, Any] | Absent = Field(
        None, min_length=1, description="A part of the object as it is afterwards; null: the field is not there."
    )

    @model_validator(mode="after")
    def _once(self) -> "Expect":
        if not self.model_fields_set:
            raise ValueError("expects nothing: write allowed, findings, object or another key")
        if self.findings is not None and self.findings_include is not None:
            raise ValueError("findings are all findings, findingsInclude some: write one of them")
        return self


class CaseModel(StrictModel):
    """An object, how it is sent, and what the policy is expected to say."""

    name: Text = Field(description="What the case shows, in a few words; unique in the document.")
    object: Object = Field(description="The object: its file, {file, kind, name} of it, or the object itself.")
    mode: Mode | Absent = Field(None, description="The mode that answers; default: enforce.")
    namespace: Namespace | Absent = Field(None, description="The namespace, for an object that names none.")
    namespace_labels: dict[Key, LabelValue] | Absent = Field(
        None, alias="namespaceLabels", description="The namespace's labels: the mode is that of the policy for them."
    )
    operation: Literal["CREATE", "UPDATE"] | Absent = Field(None, description="Default: CREATE.")
    old_object: Object | Absent = Field(None, alias="oldObject", description="The pod before the UPDATE.")
    user_info: UserInfo | Absent = Field(None, alias="userInfo", description="Who sends the request.")
    now: Moment | Absent = Field(None, description="The day or time (UTC) of the request; default: today.")
    cluster_facts: Annotated[Text | dict[str, Any], Field(union_mode="left_to_right")] | Absent = Field(
        None, alias="clusterFacts", description="What is known of the cluster: a file, or its content."
    )
    expect: Expect = Field(description="What is expected.")

    @model_validator(mode="after")
    def _fits(self) -> "CaseModel":
        if self.mode is not None and self.namespace_labels is not None:
            raise ValueError("mode and namespaceLabels both say which mode answers: write one of them")
        if (self.operation == "UPDATE") is not (self.old_object is not None):
            raise ValueError("operation UPDATE and oldObject go together")
        return self


class PolicyTest(StrictModel):
    """Cases that a policy must judge as they say."""

    api_version: Literal["gpugate.dev/v1alpha1"] = Field(alias="apiVersion", description="The version of this format.")
    kind: Literal["PolicyTest"] = Field(description="The kind of this document.")
    metadata: Metadata = Field(description="The name of the tests.")
    policies: list[Text] = Field(
        min_length=1, description='Files and folders, relative to this file, that make the policy; or "shipped".'
    )
    cases: list[CaseModel] = Field(min_length=1, description="The cases.")


_RAW: Final = ("object", "oldObject", "clusterFacts")


def nulls(value: Any, pointer: str = "") -> Iterator[str]:
    """The pointers of the nulls outside of objects and facts, in which null is a value like others."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner is None or key not in _RAW:
                yield from nulls(inner, f"{pointer}/{escape(key)}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from nulls(inner, f"{pointer}/{index}")
    elif value is None:
        yield pointer
