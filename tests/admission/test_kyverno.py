"""Kyverno's policies in the webhook and in check: modes, actions, changes, updates, and what is said."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

from app.admission.controllers import controller_findings
from app.admission.judge import judge, judge_update
from app.model.context import Context
from app.model.difference import difference
from app.model.pod import Pod
from app.policy.compiled import Mode, Policy
from app.policy.load import load
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS
from app.workloads.templates import templates
from tests.admission.asking import Reply, ask
from tests.kyverno.judging import policy, rule

SEED = Path(__file__).resolve().parents[1] / "kyverno" / "gpu-resource-policy.yaml"
HOST: dict[str, Any] = {"validate": {"message": "no host network", "pattern": {"spec": {"=(hostNetwork)": False}}}}
OWN = """\
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: gpu-pods}
spec:
  gpus: {presets: [nvidia]}
  exempt: {namespaces: [kube-system]}
  rules:
    - {rule: runtime-class, repair: true, with: {default: nvidia, allowed: [nvidia]}}
  exceptions:
    - name: mesh
      rules: [host]
      match: {namespaces: [mesh], containers: []}
      owner: mesh@example.com
      reason: INC-1
      expires: 2099-01-31
"""


def loaded(*documents: dict[str, Any], own: bool = False) -> Policy:
    """The policy of Kyverno documents, beside a GpuPolicy if asked for."""
    files = [(f"{index}.yaml", yaml.safe_dump(each).encode()) for index, each in enumerate(documents)]
    return load([*files, *([("own.yaml", OWN.encode())] if own else [])])


def host(**spec: Any) -> Policy:
    """A policy against the host's network."""
    return loaded(policy({"name": "host", **HOST}, **spec))


def pod(spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "a:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team", **metadata},
        "spec": {"containers": [container], **(spec or {})},
    }


ON_HOST = pod({"hostNetwork": True})
MODES: tuple[Mode, ...] = ("audit", "warn", "assist", "enforce")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("action", ["Enforce", "Audit"])
@pytest.mark.parametrize("warns", [False, True])
def test_the_weaker_of_action_and_mode_counts(mode: Mode, action: str, warns: bool) -> None:
    reply = ask(host(validationFailureAction=action, emitWarning=warns), "validate", mode, ON_HOST)
    assert reply.allowed is not (mode == "enforce" and action == "Enforce")
    assert "checked/host: no host network" in reply.annotations["findings"]
    said = mode in ("warn", "assist") and (action == "Enforce" or warns)
    assert bool(reply.warnings) is (said or (mode == "enforce" and action == "Audit" and warns))


def test_overrides_by_namespace() -> None:
    made = host(validationFailureAction="Audit", validationFailureActionOverrides=[
        {"action": "Enforce", "namespaces": ["ml-*"]}
    ])  # fmt: skip
    assert ask(made, "validate", "enforce", ON_HOST, namespace="team").allowed
    assert not ask(made, "validate", "enforce", ON_HOST, namespace="ml-a").allowed


def test_the_message_names_policy_rule_place_and_value() -> None:
    assert ask(host(), "validate", "enforce", ON_HOST).message == (
        "checked/host: no host network (spec.hostNetwork is true; false is wanted)"
    )


def test_a_finding_in_a_container_names_it() -> None:
    found = judge(load([("a.yaml", SEED.read_bytes())]), Pod.of(_sidecar()), Context("team"), "enforce").findings
    (finding,) = [each for each in found if each.rule == "require-gpu-limits"]
    assert (finding.container_kind, finding.container, finding.pointer, finding.image) == (
        "container", "logs", "/spec/containers/1/resources", "b:1",
    )  # fmt: skip
    assert finding.message.startswith('container "logs": GPU')


def _sidecar() -> dict[str, Any]:
    made = pod({"runtimeClassName": "nvidia"})
    gpus = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
    made["spec"]["containers"][0]["resources"] = gpus
    made["spec"]["containers"].append({"name": "logs", "image": "b:1"})
    return made


@pytest.mark.parametrize(("failure_policy", "allowed"), [("Fail", False), ("Ignore", True)])
def test_a_rule_that_cannot_be_evaluated_refuses_by_failure_policy(failure_policy: str, allowed: bool) -> None:
    unknown = {"preconditions": {"all": [{"key": "{{ request.object.no.field }}", "operator": "Equals", "value": 1}]}}
    made = loaded(policy({**HOST, **unknown}, failurePolicy=failure_policy))
    reply = ask(made, "validate", "enforce", pod())
    assert reply.allowed is allowed
    assert 'cannot be evaluated: {{ request.object.no.field }} Equals 1: there is no field "no"' in (
        reply.message or reply.annotations["findings"]
    )


LABEL = {"mutate": {"patchStrategicMerge": {"metadata": {"labels": {"+(team)": "{{ request.namespace }}"}}}}}
CLASS = {"mutate": {"patchStrategicMerge": {"spec": {"runtimeClassName": "nvidia"}}}}
CHECK = {"name": "check", "validate": {"pattern": {"metadata": {"labels": {"team": "?*"}}}}}


@pytest.mark.parametrize("mode", MODES)
def test_changes_are_made_where_the_mode_makes_changes(mode: Mode) -> None:
    made = loaded(policy({"name": "label", **LABEL}, CHECK))
    reply = ask(made, "mutate", mode, pod())
    if mode in ("assist", "enforce"):
        assert reply.applied_to(pod())["metadata"]["labels"] == {"team": "team"}
    else:
        assert reply.patch == []
    assert reply.annotations["changes"] == "inject checked/label: changes metadata.labels"
    assert bool(reply.warnings) is (mode == "warn")
    # Where it is not made, the pod is judged as if it were.
    assert ask(made, "validate", mode, pod()).annotations == ({} if mode in ("audit", "warn") else {
        "mode": mode, "findings": ask(made, "validate", mode, pod()).annotations["findings"],
    })  # fmt: skip


def test_a_change_that_is_there_already_is_none() -> None:
    made = loaded(policy({"name": "label", **LABEL}))
    assert ask(made, "mutate", "enforce", pod(labels={"team": "x"})).patch == []


def test_a_change_that_cannot_be_made_refuses_early_and_lists_everything() -> None:
    broken = {"name": "broken", "mutate": {"patchStrategicMerge": {"metadata": {"labels": {"a": "{{ request.x }}"}}}}}
    reply = ask(loaded(policy(broken, {"name": "host", **HOST})), "mutate", "enforce", ON_HOST)
    assert not reply.allowed
    assert 'checked/broken: cannot be evaluated: there is no field "x"' in reply.message
    assert "checked/host: no host network" in reply.message


def test_gpugates_own_rules_see_what_kyvernos_changed() -> None:
    """So the two never contradict each other in one answer: the class is there, and nothing has to be repaired."""
    gpu = _sidecar()
    del gpu["spec"]["runtimeClassName"]
    both = loaded(policy({"name": "host", **CLASS}), own=True)
    reply = ask(both, "mutate", "enforce", gpu)
    assert [each["path"] for each in reply.patch] == ["/spec/runtimeClassName"]
    assert "repair" not in reply.annotations["changes"]


def test_exempt_namespaces_are_exempt_from_kyvernos_rules_too() -> None:
    both = loaded(policy({"name": "host", **HOST}), own=True)
    assert ask(both, "validate", "enforce", ON_HOST, namespace="kube-system").answer.verdict == "exempt"
    assert not ask(both, "validate", "enforce", ON_HOST).allowed


def test_an_exception_of_ours_can_be_from_kyvernos_rules() -> None:
    reply = ask(loaded(policy({"name": "host", **HOST}), own=True), "validate", "enforce", ON_HOST, namespace="mesh")
    assert reply.allowed
    assert "let through by exception" in reply.annotations["findings"]


def test_an_exception_of_kyvernos() -> None:
    exception = {
        "apiVersion": "kyverno.io/v2",
        "kind": "PolicyException",
        "metadata": {"name": "e"},
        "spec": {
            "match": {"any": [{"resources": {"kinds": ["Pod"], "namespaces": ["team"]}}]},
            "exceptions": [{"policyName": "checked", "ruleNames": ["host", "autogen-*"]}],
        },
    }
    made = loaded(policy({"name": "host", **HOST}), exception)
    assert ask(made, "validate", "enforce", ON_HOST).allowed
    assert not ask(made, "validate", "enforce", ON_HOST, namespace="other").allowed


def update(made: Policy, new: dict[str, Any], old: dict[str, Any]) -> Reply:
    return ask(made, "validate", "enforce", new, operation="UPDATE", old=old)


def test_an_update_is_refused_for_what_it_makes_worse() -> None:
    assert update(host(), ON_HOST, ON_HOST).allowed
    assert not update(host(), ON_HOST, pod()).allowed
    assert ask(host(), "mutate", "enforce", ON_HOST, operation="UPDATE", old=pod()).patch == []
    strict = loaded(policy({"name": "host", "validate": {**HOST["validate"], "allowExistingViolations": False}}))
    assert not update(strict, ON_HOST, ON_HOST).allowed
    verdict = judge_update(host(), Pod.of(ON_HOST), pod(), Context("team"), "enforce")
    assert [each.outcome for each in verdict.findings] == ["deny"]


def test_who_asks_is_known_in_a_review() -> None:
    only_jane: dict[str, Any] = {
        "match": {"any": [{"resources": {"kinds": ["Pod"]}, "subjects": [{"kind": "User", "name": "jane"}]}]}
    }
    made = loaded(policy(rule(name="host", **{**HOST, **only_jane})))
    assert not ask(made, "validate", "enforce", ON_HOST, userInfo={"username": "jane"}).allowed
    assert ask(made, "validate", "enforce", ON_HOST, userInfo={"username": "joe"}).allowed


def deployment(spec: dict[str, Any], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    template: dict[str, Any] = {"spec": pod(spec)["spec"]}
    if metadata is not None:
        template["metadata"] = metadata
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "team"},
        "spec": {"template": template},
    }


def test_pods_of_a_template_are_judged_at_their_places_and_changed_there() -> None:
    made = loaded(policy({"name": "host", **HOST}, {"name": "label", **LABEL}))
    for metadata in ({}, {"labels": {"a": "b"}}, None):
        obj = deployment({"hostNetwork": True}, metadata)
        (template,) = templates(obj, CORE_KINDS)
        verdict = judge(made, template.pod(), Context("team"), "enforce")
        assert [each.pointer for each in verdict.findings if each.outcome == "deny"] == [
            "/spec/template/spec/hostNetwork"
        ]
        changed = jsonpatch.apply_patch(deepcopy(obj), verdict.patch)
        assert changed["spec"]["template"]["metadata"]["labels"]["team"] == "team"


def test_labels_of_several_rules_in_a_template_without_metadata_stay_together() -> None:
    labelling = (
        rule(name=name, mutate={"patchStrategicMerge": {"metadata": {"labels": {name: "x"}}}})
        for name in ("one", "two")
    )
    obj = deployment({"containers": [{"name": "web", "image": "nginx:1"}]})
    (template,) = templates(obj, CORE_KINDS)
    verdict = judge(loaded(policy(*labelling)), template.pod(), Context("team"), "enforce")
    changed = jsonpatch.apply_patch(obj, verdict.patch)
    assert changed["spec"]["template"]["metadata"] == {"labels": {"one": "x", "two": "x"}}


def test_a_change_that_a_kind_has_no_field_for_is_made_at_the_pod_and_says_why() -> None:
    container = {"image": "a:1", "name": "main"}
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"},
                "spec": {"templates": [{"name": "t", "container": container}]}}  # fmt: skip
    made = loaded(policy({"name": "label", "mutate": {"patchStrategicMerge": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"runtimeClassName": "nvidia"},
    }}}))  # fmt: skip
    (template,) = templates(workflow, {**CUSTOM_KINDS, **CORE_KINDS})
    (change,) = judge(made, template.pod(), Context("team"), "enforce").findings
    assert change.operations == ()
    assert change.message.startswith("changes metadata.labels.a, spec.runtimeClassName, at the pod: ")
    assert "None" not in change.message


def test_pods_of_a_template_have_an_owner() -> None:
    bare = {"validate": {"deny": {"conditions": {"any": [
        {"key": "{{ request.object.metadata.ownerReferences[].kind || `[]` }}", "operator": "Equals", "value": []}
    ]}}}}  # fmt: skip
    made = loaded(policy(bare))
    assert not judge(made, Pod.of(pod()), Context("team"), "enforce").allowed
    (template,) = templates(deployment({}), CORE_KINDS)
    assert judge(made, template.pod(), Context("team"), "enforce").allowed


def test_a_rule_for_controllers_alone_is_a_warning_about_the_object() -> None:
    replicas: dict[str, Any] = {
        "name": "replicas",
        "match": {
            "any": [{"resources": {"kinds": ["Pod"], "names": ["never"]}}, {"resources": {"kinds": ["Deployment"]}}]
        },
        "validate": {"message": "two at least", "pattern": {"=(spec)": {"=(replicas)": ">1"}}},
    }
    made = loaded(policy(rule(**replicas)))
    obj = {**deployment({}), "spec": {**deployment({})["spec"], "replicas": 1}}
    (finding,) = controller_findings(made, obj, Context("team"), [])
    assert (finding.rule, finding.outcome, finding.pointer) == ("replicas", "warn", "/spec/replicas")
    assert controller_findings(made, {**obj, "apiVersion": "example.com/v1"}, Context("team"), []) == []


def test_what_is_found_in_its_pods_is_not_said_of_the_controller_again() -> None:
    made, obj = host(), deployment({"hostNetwork": True})
    assert [each.rule for each in controller_findings(made, obj, Context("team"), [])] == ["autogen-host"]
    (template,) = templates(obj, CORE_KINDS)
    found = judge(made, template.pod(), Context("team"), "enforce").findings
    assert controller_findings(made, obj, Context("team"), found) == []


@pytest.mark.parametrize(
    ("before", "after", "operations"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("replace", "/a", 2)]),
        ({"a": 1}, {"b/c": 1}, [("remove", "/a", None), ("add", "/b~1c", 1)]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, [("add", "/a/c", 2)]),
        ([1], [1, 2], [("add", "/-", 2)]),
        ([1, 2], [1, 3], [("replace", "/1", 3)]),
        ([1], [0, 1], [("replace", "", [0, 1])]),
        ([1, 2], [1], [("replace", "", [1])]),
        ({"a": 1}, {"a": True}, [("replace", "/a", True)]),
    ],
)
def test_differences(before: Any, after: Any, operations: list[tuple[str, str, Any]]) -> None:
    found = list(difference(before, after))
    assert [(each["op"], each["path"], each.get("value")) for each in found] == operations
    assert jsonpatch.apply_patch(deepcopy(before), found) == after
