"""Which pods the API server sends: CEL conditions over pods, made from a policy.

The invariant: a pod for which the conditions of all entries of its namespace's mode are false is one that the engine
would find no fault with and would not change. The converse is not needed.

Sources: k8s.io/apiserver pkg/admission/plugin/webhook/matchconditions/matcher.go and pkg/admission/plugin/cel
(v0.37.2): all matchConditions of an entry are evaluated, whether or not one is false already, so there is one
expression, whose operators stop early; its cheapest and most selective part comes first.
k8s.io/kubernetes pkg/apis/core/v1/defaults.go SetDefaults_Pod (v1.37.2): a limit is made the request where there is
none, before any webhook and after each patch, so that requests tell all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.manifests.broad import broadest, every_vendor
from app.manifests.kyverno import reach
from app.model import cel
from app.model.gpu import DEVICE_CLASS_PREFIX, GpuSet, Names
from app.model.pod import MIRROR_ANNOTATION
from app.policy.compiled import BoundRule, Exempt, Policy
from app.rules.registry import RULES

_CLAIMS = ("has(object.spec.resourceClaims)",)
"""A claim says what device it is for in another object, which CEL cannot see."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """CEL expressions over ``object``, each over-approximating what it says.

    Of the tuples, one is true for each pod that is meant.

    ``gpu``: GPU pods. ``claims``: pods whose claims hide their device class. ``refused`` and ``noticed``: pods without
    GPUs that a rule with action deny, and with any other, can find fault with; and any pods with which Kyverno's
    policies can. ``changed`` and ``noted``: pods that these change, where an outage must not, and may, let them through
    unchanged; ``advised``: all that makes pods, where they are for kinds of it. ``update``: what an update must do to
    be judged. ``exempt``: pods that the policy exempts, and mirror pods.
    """

    gpu: tuple[str, ...]
    claims: tuple[str, ...]
    refused: tuple[str, ...]
    noticed: tuple[str, ...]
    update: str
    exempt: tuple[str, ...]
    changed: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    advised: tuple[str, ...] = ()


def tight(policy: Policy) -> Conditions:
    """The conditions of this policy and no other."""
    refusing = [bound for bound in policy.rules if bound.action == "deny"]
    noticing = [bound for bound in policy.rules if bound.action != "deny"]
    kyverno = reach(policy)
    names_images = any(exception.images for exception in policy.exceptions)
    return Conditions(
        gpu=_gpu_pods(policy.gpus.resources, policy.gpus.device_classes, policy.gpus.annotations),
        claims=_CLAIMS,
        refused=_in_order((*(each for bound in refusing for each in _others(bound, policy.gpus)), *kyverno.refused)),
        noticed=_in_order((*(each for bound in noticing for each in _others(bound, policy.gpus)), *kyverno.noticed)),
        update=_update(names_images, kyverno.updated),
        exempt=_exempt(policy.exempt),
        changed=_in_order(kyverno.changed),
        noted=_in_order(kyverno.noted),
        advised=kyverno.advised,
    )


def broad(policy: Policy) -> Conditions:
    """The conditions of any policy made of the built-in presets, and of the names that this one adds to them.

    No rule is known to refuse, and nobody is known to be exempt: the server knows.
    """
    gpus = GpuSet((*every_vendor(), *policy.gpus.vendors))
    noticed: list[str] = []
    for rule in RULES.values():
        if rule.pods != "gpu":
            given = (bound.parameters for bound in policy.rules if bound.rule is rule)
            noticed += rule.condition(broadest(rule, gpus, given), gpus)
    kyverno = reach(policy)
    return Conditions(
        gpu=_gpu_pods(gpus.resources, Names(["*"]), gpus.annotations),
        claims=_CLAIMS,
        refused=(),
        noticed=_in_order((*noticed, *kyverno.refused, *kyverno.noticed)),
        update=_update(names_images=True, more=kyverno.updated),
        exempt=_exempt(Exempt()),
        noted=_in_order((*kyverno.changed, *kyverno.noted)),
        advised=kyverno.advised,
    )


def either(first: Conditions, second: Conditions) -> Conditions:
    """The conditions of two policies together: true where one of them is, and exempt only who is exempt in both."""
    exempt = first.exempt
    if first.exempt != second.exempt:
        exempt = (cel.all_of(cel.any_of(first.exempt), cel.any_of(second.exempt)),)
    return Conditions(
        gpu=(*first.gpu, *second.gpu),
        claims=(*first.claims, *second.claims),
        refused=(*first.refused, *second.refused),
        noticed=(*first.noticed, *second.noticed),
        update=cel.any_of((first.update, second.update)),
        exempt=exempt,
        changed=(*first.changed, *second.changed),
        noted=(*first.noted, *second.noted),
        advised=(*first.advised, *second.advised),
    )


def gpu_templates(policy: Policy, scope: Literal["tight", "broad"]) -> tuple[str, ...]:
    """As ``gpu`` of the conditions, for templates: in them a limit has not been made the request yet."""
    gpus, classes = policy.gpus, policy.gpus.device_classes
    if scope == "broad":
        gpus, classes = GpuSet((*every_vendor(), *policy.gpus.vendors)), Names(["*"])
    asked = (_gpu_pods(gpus.resources, classes, gpus.annotations, field) for field in ("limits", "requests"))
    return tuple(dict.fromkeys(way for ways in asked for way in ways))


def _gpu_pods(resources: Names, device_classes: Names, annotations: Names, field: str = "requests") -> tuple[str, ...]:
    asked = Names(
        [
            *resources.exact,
            *(f"{prefix}*" for prefix in resources.prefixes),
            *(DEVICE_CLASS_PREFIX + name for name in device_classes.exact),
            *(f"{DEVICE_CLASS_PREFIX}{prefix}*" for prefix in device_classes.prefixes),
        ]
    )
    ways: list[str] = []
    if asked:
        # Ephemeral containers cannot ask for resources.
        asks = cel.has_key(f"resources.{field}", asked, "c")
        ways += cel.containers(asks, ("containers", "initContainers"))
    if annotations:
        ways.append(cel.has_key("metadata.annotations", annotations))
    return tuple(ways)


def _in_order(conditions: Iterable[str]) -> tuple[str, ...]:
    # Whatever the order of rules is; short ones take little time.
    return tuple(sorted(set(conditions), key=lambda condition: (len(condition), condition)))


def _others(bound: BoundRule, gpus: GpuSet) -> tuple[str, ...]:
    return tuple(bound.rule.condition(bound.parameters, gpus)) if bound.rule.pods != "gpu" else ()


def _update(names_images: bool, more: tuple[str, ...]) -> str:
    """Only what an update can make worse is judged, and never the update that ends a pod's deletion.

    Labels and scheduling gates are left out: they change which rules apply, not what the pod can reach.
    Node selector and affinity can change while the pod is gated.
    """
    changes = ["spec.tolerations", "metadata.annotations", "spec.nodeSelector", "spec.affinity"]
    conditions = ["has(request.subResource)", *map(cel.changed, changes)]
    if names_images:
        images = "object.spec.containers.map(c, c.image) != oldObject.spec.containers.map(c, c.image)"
        conditions += [images, _init_images_changed()]
    conditions += more
    return cel.all_of("!has(object.metadata.deletionTimestamp)", cel.any_of(conditions))


def _init_images_changed() -> str:
    # The list itself cannot grow or shrink after the pod's creation.
    images = "spec.initContainers.map(c, c.image)"
    return cel.all_of("has(object.spec.initContainers)", f"object.{images} != oldObject.{images}")


def _exempt(exempt: Exempt) -> tuple[str, ...]:
    ways = [cel.has_key("metadata.annotations", Names([MIRROR_ANNOTATION]))]
    if exempt.service_accounts:
        accounts = cel.texts("/".join(account) for account in exempt.service_accounts)
        name = "object.spec.serviceAccountName"
        ways.append(cel.all_of(f"has({name})", f'request.namespace + "/" + {name} in {accounts}'))
    for pod in exempt.pods:
        namespace = f"request.namespace == {cel.text(pod.namespace)}"
        labels = (_labelled(key, value) for key, value in pod.labels)
        ways.append(cel.all_of(namespace, "has(object.metadata.labels)", *labels))
    return tuple(ways)


def _labelled(key: str, value: str) -> str:
    labels, name = "object.metadata.labels", cel.text(key)
    return cel.all_of(f"{name} in {labels}", f"{labels}[{name}] == {cel.text(value)}")
