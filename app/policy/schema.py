"""The GpuPolicy document, as pydantic models: what may be written, and the JSON Schema for editors.

Names of keys are the document's own (camelCase). Every model refuses keys that it does not know. The models of the
rules are made from the registry: a rule's parameters dataclass is what its ``with`` accepts.
"""

from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from app.policy.texts import (
    AnnotationPattern,
    ClassPattern,
    Day,
    Key,
    KindName,
    LabelValue,
    Line,
    Name,
    Namespace,
    Pattern,
    Plural,
    Pointer,
    ResourcePattern,
    ServiceAccount,
)
from app.rules.registry import RULES
from app.rules.rule import Rule

API_VERSION: Final = "gpugate.dev/v1alpha1"
Mode = Literal["disabled", "audit", "warn", "assist", "enforce"]
PresetName = Literal["nvidia", "amd", "intel", "gaudi", "neuron", "tpu", "hami", "kai", "volcano", "kata"]
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Model(BaseModel):
    """Strict: no unknown key, no guessed type. Only the model of the whole document is built, when it is used."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False, strict=True, defer_build=True)


class Metadata(Model):
    """The document's name, which findings carry."""

    name: Name = Field(description="The name that findings carry, and by which documents are ordered.")
    labels: dict[str, str] = Field({}, description="For other tools; gpugate does not read them.")
    annotations: dict[str, str] = Field({}, description="For other tools; gpugate does not read them.")


class Gpus(Model):
    """What counts as a GPU."""

    presets: list[PresetName] = Field([], description="Built-in vendor sets.")
    resources: list[ResourcePattern] = Field([], description="More extended resources; a trailing * is a prefix match.")
    deviceClasses: list[ClassPattern] = Field([], description="DeviceClasses that are GPUs (DRA).")
    runtimeClasses: list[ClassPattern] = Field([], description="Runtime classes that expose GPUs.")
    annotations: list[AnnotationPattern] = Field([], description="Annotations by which a scheduler hands out GPUs.")


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

    namespace: Namespace = Field(description="The namespace of the request.")
    labels: dict[Key, LabelValue] = Field(min_length=1, description="All of these labels, with these values.")


class Exempt(Model):
    """What is admitted untouched in every mode."""

    namespaces: list[Namespace] = Field([], description="Whole namespaces, by name.")
    serviceAccounts: list[ServiceAccount] = Field([], description="namespace/name of the pod's service account.")
    pods: list[ExemptPods] = Field([], description="Pods with certain labels in a namespace.")


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

    rule: str = Field(description="The rule's id.")
    name: Name | None = Field(None, description="The name in findings; default: the rule's id.")
    action: Literal["deny", "warn", "audit"] = Field("deny", description="What a violation means in enforce.")
    repair: bool = Field(False, description="Set what has one right answer, whatever the action.")
    match: MatchModel = Field(default_factory=MatchModel, description="The pods that it is for; default: every pod.")
    help: Line | None = Field(None, description="Appended to the message.")


class TaintModel(Model):
    """A taint of GPU nodes to tolerate."""

    key: Key = Field(description="The taint's key.")
    value: LabelValue = Field("", description="The taint's value; empty if it has none.")
    effect: Effect = Field(description="The taint's effect.")


class TolerationModel(Model):
    """A toleration to add as it is."""

    key: Key | None = Field(None, description="The taint's key; none with operator Exists tolerates every taint.")
    operator: Literal["Exists", "Equal"] | None = Field(None, description="Kubernetes takes Equal if it is left out.")
    value: LabelValue | None = Field(None, description="The taint's value, for operator Equal.")
    effect: Effect | None = Field(None, description="The taint's effect; every effect if it is left out.")
    tolerationSeconds: int | None = Field(None, description="How long a NoExecute taint is tolerated.")

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

    name: Name = Field(description="The name in findings.")
    match: MatchModel = Field(default_factory=MatchModel, description="The GPU pods it is for; default: every one.")
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

    namespaces: list[Pattern] = Field([], description="Namespaces; * and ? are wildcards.")
    notNamespaces: list[Pattern] = Field([], description="Not these namespaces.")
    podLabels: dict[Key, Pattern] = Field({}, description="Labels of the pod; values may have wildcards.")
    containers: list[Pattern] = Field([], description="Names of containers; * and ? are wildcards.")
    images: list[Pattern] = Field([], description="Images of the containers; * and ? are wildcards.")


class ExceptionModel(Model):
    """A violation that is let through, with an owner and an end."""

    name: Name = Field(description="The name in messages.")
    rules: list[Name] = Field(
        min_length=1, description="Names of the rules and injections whose findings it lets through."
    )
    match: ExceptionMatch = Field(description="Which findings of which pods; at least one of namespaces, podLabels ...")
    owner: Line = Field(description="Who answers for it.")
    reason: Line = Field(description="Why, or where that is written.")
    expires: Day = Field(description="The last day on which it holds.")

    @model_validator(mode="after")
    def _narrow(self) -> "ExceptionModel":
        match = self.match
        if not (match.namespaces or match.podLabels or match.containers or match.images):
            raise ValueError("match is for everything: name namespaces, podLabels, containers or images")
        return self


class WorkloadKind(Model):
    """A kind that holds pod templates."""

    resource: Plural = Field(description="Plural name and group: rayclusters.ray.io.")
    kind: KindName = Field(description="RayCluster.")
    paths: list[Pointer] = Field(
        min_length=1, description="JSON Pointers of the pod specs; * stands for any key or index."
    )
    creates: Literal["pods", "workloads"] = Field(
        "pods",
        description="workloads: it makes Jobs, StatefulSets or the like, whose templates the API server validates.",
    )


class Workloads(Model):
    """Objects that make pods."""

    kinds: list[WorkloadKind] = Field([], description="More kinds with pod templates than the built-in ones.")
    refuse: list[Plural] = Field([], description="Resources (pytorchjobs.kubeflow.org) refused on CREATE in enforce.")


@lru_cache(maxsize=1)
def document_model() -> type[BaseModel]:
    """The model of a whole GpuPolicy document."""
    rules: Any = Annotated[Union[tuple(_rule_model(rule) for rule in RULES.values())], Field(discriminator="rule")]  # noqa: UP007
    # A section that is left out is None; one that is there and empty is an error, like every other null.
    sections: dict[str, Any] = {
        "gpus": (Gpus, Field(None, description="What counts as a GPU.")),
        "modes": (Modes, Field(None, description="Which namespace is in which mode.")),
        "exempt": (Exempt, Field(None, description="What is admitted untouched in every mode.")),
        "rules": (list[rules], Field([], description="What pods must hold to.")),
        "exceptions": (
            list[ExceptionModel],
            Field([], description="Violations let through, with an owner and an end."),
        ),
        "inject": (list[InjectModel], Field([], description="What is added to GPU pods.")),
        "workloads": (Workloads, Field(None, description="Objects that make pods.")),
    }
    document: dict[str, Any] = {
        "apiVersion": (Literal[API_VERSION], Field(description="The version of this format.")),
        "kind": (Literal["GpuPolicy"], Field(description="The kind of this document.")),
        "metadata": (Metadata, Field(description="The document's name.")),
        "spec": (_spec(sections), Field(description="The policy, or a part of it.")),
    }
    return create_model("GpuPolicy", __base__=Model, __doc__="A policy for the GPU pods of a cluster.", **document)


def _spec(sections: dict[str, Any]) -> type[BaseModel]:
    about = "gpus, modes, exempt and workloads may stand in one document only; the lists of all documents add up."
    return create_model("GpuPolicySpec", __base__=Model, __doc__=about, **sections)


_WITH: Final = "The rule's parameters."


def _rule_model(rule: Rule) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "rule": (Literal[rule.id], Field(description=f"{rule.summary}. {rule.why}")),
        "with_": (rule.parameters, Field(default_factory=rule.parameters, alias="with", description=_WITH)),
    }
    if _needs_parameters(rule):
        fields["with_"] = (rule.parameters, Field(alias="with", description=_WITH))
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
