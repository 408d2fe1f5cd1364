"""The GpuPolicy document, as pydantic models: what may be written, and the JSON Schema for editors.

Names of keys are the document's own (camelCase). Every model refuses keys that it does not know. The models of the
rules are made from the registry: a rule's parameters dataclass is what its ``with`` accepts.
"""

import re
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from app.rules.registry import RULES
from app.rules.rule import Rule

API_VERSION: Literal["gpugate.dev/v1alpha1"] = "gpugate.dev/v1alpha1"
Mode = Literal["disabled", "audit", "warn", "assist", "enforce"]
PresetName = Literal["nvidia", "amd", "intel", "gaudi", "neuron", "tpu", "hami", "kai", "volcano", "kata"]
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def _fits(pattern: re.Pattern[str], what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(f"{value!r} is not {what}")
        return value

    return AfterValidator(check)


def _to_date(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError("write the day as YYYY-MM-DD")
    return value


Name = Annotated[str, _fits(_DNS_LABEL, "a name of lower-case letters, digits and dashes")]
Namespace = Annotated[str, _fits(_DNS_LABEL, "a namespace name")]
Key = Annotated[str, _fits(_QUALIFIED, "a label or taint key")]
LabelValue = Annotated[str, _fits(_LABEL_VALUE, "a label value")]
Pattern = Annotated[str, Field(min_length=1)]
ResourcePattern = Annotated[
    str, _fits(re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/]*\*?"), "a resource name (only a trailing * is allowed)")
]
Day = Annotated[date, BeforeValidator(_to_date)]


class Model(BaseModel):
    """Strict: no unknown key, no guessed type."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False, strict=True)


class Metadata(Model):
    """The document's name, which findings carry."""

    name: Name
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Gpus(Model):
    """What counts as a GPU."""

    presets: list[PresetName] = Field([], description="Built-in vendor sets.")
    resources: list[ResourcePattern] = Field([], description="More extended resources; a trailing * is a prefix match.")
    deviceClasses: list[Pattern] = Field([], description="DeviceClasses that are GPUs (DRA).")
    runtimeClasses: list[Pattern] = Field([], description="Runtime classes that expose GPUs.")
    annotations: list[Pattern] = Field([], description="Annotations by which a scheduler hands out GPUs.")


class Modes(Model):
    """Which namespace is in which mode."""

    default: Mode = Field("audit", description="For namespaces that are not pinned and have no valid label.")
    labels: list[Mode] = Field(
        ["audit", "warn", "assist", "enforce"],
        description="What the namespace label gpugate.dev/mode may choose; another value counts as none.",
    )
    namespaces: dict[Namespace, Mode] = Field({}, description="Pinned namespaces: wins over the label.")


class ExemptPods(Model):
    """Pods with all of these labels, in this namespace."""

    namespace: Namespace
    labels: dict[Key, LabelValue] = Field(min_length=1)


class Exempt(Model):
    """What is admitted untouched in every mode."""

    namespaces: list[Namespace] = []
    serviceAccounts: list[
        Annotated[str, _fits(re.compile(r"[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*"), "namespace/serviceaccount")]
    ] = Field([], description="namespace/name of the pod's service account.")
    pods: list[ExemptPods] = []


class MatchModel(Model):
    """Which pods; every condition that is given must hold, within one any of its entries."""

    namespaces: list[Pattern] = Field([], description="Namespaces; * and ? are wildcards.")
    notNamespaces: list[Pattern] = Field([], description="Not these namespaces.")
    podLabels: dict[Key, Pattern] = Field({}, description="Labels of the pod; values may have wildcards.")
    resources: list[Pattern] = Field([], description="GPU resources that the pod asks for.")
    deviceClasses: list[Pattern] = Field([], description="Device classes that the pod asks for.")
    runtimeClasses: list[Pattern] = Field([], description="The runtime class that the pod has or gets.")


class RuleModel(Model):
    """A rule of the policy."""

    rule: str
    name: Name | None = Field(None, description="The name in findings; default: the rule's id.")
    action: Literal["deny", "warn", "audit"] = Field("deny", description="What a violation means in enforce.")
    repair: bool = Field(False, description="Set what has one right answer, whatever the action.")
    match: MatchModel = MatchModel()
    help: str | None = Field(None, min_length=1, description="Appended to the message.")


class TaintModel(Model):
    """A taint of GPU nodes to tolerate."""

    key: Key
    value: LabelValue = ""
    effect: Effect


class TolerationModel(Model):
    """A toleration to add as it is."""

    key: Key | None = None
    operator: Literal["Exists", "Equal"] | None = None
    value: LabelValue | None = None
    effect: Effect | None = None
    tolerationSeconds: int | None = None

    @model_validator(mode="after")
    def _acceptable(self) -> "TolerationModel":
        if self.key is None and self.operator != "Exists":
            raise ValueError("without a key, operator must be Exists")
        if self.operator == "Exists" and self.value:
            raise ValueError("operator Exists takes no value")
        if self.tolerationSeconds is not None and self.effect != "NoExecute":
            raise ValueError("tolerationSeconds needs effect NoExecute")
        return self


class InjectModel(Model):
    """What is added to GPU pods."""

    name: Name
    match: MatchModel = MatchModel()
    taints: list[TaintModel] = Field([], description="Tolerate these taints of GPU nodes.")
    tolerations: list[TolerationModel] = Field([], description="Added as they are.")
    nodeSelector: dict[Key, LabelValue] = Field({}, description="Keys added when absent.")
    onConflict: Literal["refuse", "keep"] = Field(
        "refuse", description="What the same nodeSelector key with another value means."
    )
    hideGpus: bool = Field(
        False, description="NVIDIA_VISIBLE_DEVICES=void in containers of GPU pods that ask for none."
    )

    @model_validator(mode="after")
    def _adds_something(self) -> "InjectModel":
        if not (self.taints or self.tolerations or self.nodeSelector or self.hideGpus):
            raise ValueError("adds nothing: give taints, tolerations, nodeSelector or hideGpus")
        return self


class ExceptionMatch(Model):
    """Which findings of which pods."""

    namespaces: list[Pattern] = []
    notNamespaces: list[Pattern] = []
    podLabels: dict[Key, Pattern] = {}
    containers: list[Pattern] = Field([], description="Names of containers; * and ? are wildcards.")
    images: list[Pattern] = Field([], description="Images of the containers; * and ? are wildcards.")


class ExceptionModel(Model):
    """A violation that is let through, with an owner and an end."""

    name: Name
    rules: list[Name] = Field(min_length=1, description="Names of the rules.")
    match: ExceptionMatch
    owner: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    expires: Day = Field(description="The last day on which it holds.")

    @model_validator(mode="after")
    def _narrow(self) -> "ExceptionModel":
        if not any(getattr(self.match, field) for field in ExceptionMatch.model_fields):
            raise ValueError("match is empty: name namespaces, podLabels, containers or images")
        return self


class WorkloadKind(Model):
    """A kind that holds pod templates."""

    resource: str = Field(description="Plural name and group: rayclusters.ray.io.")
    kind: str
    paths: list[Annotated[str, _fits(re.compile(r"(/[^/]+)+"), "a JSON Pointer")]] = Field(
        min_length=1, description="JSON Pointers of the pod specs; * stands for any key or index."
    )
    creates: Literal["pods", "workloads"] = "pods"


class Workloads(Model):
    """Objects that make pods."""

    kinds: list[WorkloadKind] = []
    refuse: list[str] = Field([], description="Resources (pytorchjobs.kubeflow.org) refused on CREATE in enforce.")


@lru_cache(maxsize=1)
def document_model() -> type[BaseModel]:
    """The model of a whole GpuPolicy document."""
    rules = Annotated[Union[tuple(_rule_model(rule) for rule in RULES.values())], Field(discriminator="rule")]  # noqa: UP007
    spec = create_model(
        "GpuPolicySpec",
        __base__=Model,
        gpus=(Gpus | None, None),
        modes=(Modes | None, None),
        exempt=(Exempt | None, None),
        rules=(list[rules], []),  # type: ignore[valid-type]
        exceptions=(list[ExceptionModel], []),
        inject=(list[InjectModel], []),
        workloads=(Workloads | None, None),
    )
    return create_model(
        "GpuPolicy",
        __base__=Model,
        apiVersion=(Literal[API_VERSION], ...),
        kind=(Literal["GpuPolicy"], ...),
        metadata=(Metadata, ...),
        spec=(spec, ...),
    )


def _rule_model(rule: Rule) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "rule": (Literal[rule.id], Field(description=f"{rule.summary}. {rule.why}")),
        "with_": (rule.parameters, Field(default_factory=rule.parameters, alias="with")),
    }
    if _needs_parameters(rule):
        fields["with_"] = (rule.parameters, Field(alias="with"))
    if not rule.repairs:
        fields["repair"] = (Literal[False], Field(False, description="This rule repairs nothing."))
    title = "".join(part.capitalize() for part in rule.id.split("-"))
    return create_model(f"Rule{title}", __base__=RuleModel, __doc__=rule.comply, **fields)


def _needs_parameters(rule: Rule) -> bool:
    try:
        rule.parameters()
    except (TypeError, ValueError):
        return True
    return False
