"""Parsed documents -> Policy."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from app.inject.injection import Injection
from app.model.gpu import GpuSet, Vendor
from app.model.toleration import Taint
from app.policy.compiled import (
    BoundInjection,
    BoundRule,
    DocumentId,
    Exempt,
    ExemptPod,
    Modes,
    Policy,
    PolicyException,
    WorkloadKind,
)
from app.policy.glob import Globs
from app.policy.match import Match
from app.policy.presets import preset
from app.policy.schema import ExceptionModel, Gpus, InjectModel, MatchModel
from app.policy.schema import Exempt as ExemptModel
from app.policy.schema import Modes as ModesModel
from app.policy.schema import Workloads as WorkloadsModel
from app.policy.sources import Foreign, Parsed
from app.rules.registry import RULES


def compile_policy(parsed: list[Parsed], foreign: list[Foreign]) -> Policy:
    """The policy of documents that fit together, in the order of their names."""
    documents = tuple(DocumentId(each.name, each.digest) for each in parsed)
    documents += tuple(DocumentId(each.name, each.digest) for each in foreign)
    exempt = _only(parsed, "exempt") or ExemptModel.model_construct()
    modes = _only(parsed, "modes") or ModesModel.model_construct()
    workloads = _only(parsed, "workloads") or WorkloadsModel.model_construct()
    return Policy(
        documents=documents,
        digest="sha256:" + sha256("".join(each.digest for each in documents).encode()).hexdigest(),
        gpus=gpu_set(parsed),
        modes=Modes(modes.default, tuple(dict.fromkeys(modes.labels)), dict(modes.namespaces)),
        exempt=Exempt(
            frozenset(exempt.namespaces),
            frozenset(tuple(account.split("/", 1)) for account in exempt.serviceAccounts),
            tuple(ExemptPod(pod.namespace, tuple(sorted(pod.labels.items()))) for pod in exempt.pods),
        ),
        rules=tuple(_rule(each.name, model) for each in parsed for model in each.spec.rules),
        injections=tuple(_injection(each.name, model) for each in parsed for model in each.spec.inject),
        exceptions=tuple(_exception(each.name, model) for each in parsed for model in each.spec.exceptions),
        workload_kinds=tuple(
            WorkloadKind(kind.resource, kind.kind, tuple(kind.paths), kind.creates) for kind in workloads.kinds
        ),
        workloads_refused=frozenset(workloads.refuse),
        **_foreign(foreign),
    )


def _foreign(foreign: list[Foreign]) -> dict[str, Any]:
    """Kyverno's policies and exceptions, in the order of the documents."""
    if not foreign:
        return {}
    from app.kyverno.policy import ClusterPolicy  # see app.policy.compiled

    policies = tuple(each.compiled for each in foreign if isinstance(each.compiled, ClusterPolicy))
    exceptions = tuple(each.compiled for each in foreign if not isinstance(each.compiled, ClusterPolicy))
    return {"kyverno": policies, "kyverno_exceptions": exceptions}


def gpu_set(parsed: list[Parsed]) -> GpuSet:
    """What the documents count as a GPU."""
    return GpuSet(_vendors(_only(parsed, "gpus") or Gpus.model_construct()))


def _only(parsed: list[Parsed], section: str) -> Any:
    return next((found for each in parsed if (found := getattr(each.spec, section)) is not None), None)


def _vendors(gpus: Gpus) -> Iterable[Vendor]:
    for name in gpus.presets:
        yield preset(name)
    yield Vendor(
        "policy",
        resources=tuple(gpus.resources),
        whole=tuple(gpus.resources),
        device_classes=tuple(gpus.deviceClasses),
        runtime_classes=tuple(gpus.runtimeClasses),
        annotations=tuple(gpus.annotations),
    )


def _match(model: MatchModel) -> Match:
    return Match(
        namespaces=Globs(model.namespaces),
        not_namespaces=Globs(model.notNamespaces),
        pod_labels=tuple((key, Globs([value])) for key, value in model.podLabels.items()),
        resources=Globs(model.resources),
        device_classes=Globs(model.deviceClasses),
        runtime_classes=Globs(model.runtimeClasses),
    )


def _rule(policy: str, model: Any) -> BoundRule:
    return BoundRule(
        policy=policy,
        name=model.name or model.rule,
        rule=RULES[model.rule],
        parameters=model.with_,
        action=model.action,
        repair=model.repair,
        match=_match(model.match),
        help=model.help,
    )


def _injection(policy: str, model: InjectModel) -> BoundInjection:
    injection = Injection(
        taints=tuple(Taint(taint.key, taint.value, taint.effect) for taint in model.taints),
        tolerations=tuple(toleration.model_dump(exclude_none=True) for toleration in model.tolerations),
        node_selector=tuple(model.nodeSelector.items()),
        hide_gpus=model.hideGpus,
        on_conflict=model.onConflict,
    )
    return BoundInjection(policy, model.name, injection, _match(model.match))


def _exception(policy: str, model: ExceptionModel) -> PolicyException:
    match = model.match
    return PolicyException(
        policy=policy,
        name=model.name,
        rules=frozenset(model.rules),
        match=_match(
            MatchModel.model_construct(
                namespaces=match.namespaces, notNamespaces=match.notNamespaces, podLabels=match.podLabels
            )
        ),
        containers=Globs(match.containers),
        images=Globs(match.images),
        owner=model.owner,
        reason=model.reason,
        expires=model.expires,
    )
