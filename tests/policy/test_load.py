"""Documents to one policy: what adds up, what clashes, and the digest."""

from datetime import date
from pathlib import Path

import pytest

from app.model.toleration import Taint
from app.policy.compiled import Exempt, ExemptPod, Modes, Policy, WorkloadKind
from app.policy.errors import PolicyError
from app.policy.load import load
from app.rules import gpu_nodes_reserved, max_gpus, no_gpu_bypass, runtime_class
from tests.policy.documents import document, policy

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "gpu-pods.yaml"


def problems(*files: tuple[str, str]) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load([(name, text.encode()) for name, text in files])
    return [str(problem) for problem in caught.value.problems]


def test_an_empty_spec_is_a_policy_of_defaults() -> None:
    made = policy("")
    assert made.modes == Modes()
    assert made.exempt == Exempt()
    assert (made.rules, made.injections, made.exceptions, made.workload_kinds) == ((), (), (), ())
    assert made.workloads_refused == frozenset()
    assert made.gpus.resource("nvidia.com/gpu") is None


def test_the_shipped_policy() -> None:
    made = load([("gpu-pods.yaml", SHIPPED.read_bytes())])
    assert [(bound.name, bound.action, bound.repair) for bound in made.rules] == [
        ("limits-equal-requests", "deny", True),
        ("no-privileged", "deny", False),
        ("runtime-class", "deny", True),
        ("no-gpu-bypass", "warn", False),
        ("gpu-nodes-reserved", "warn", False),
    ]
    assert made.modes == Modes("audit", ("audit", "warn", "assist", "enforce"), {})
    assert made.exempt.namespaces == {"kube-system", "gpu-operator", "nvidia-device-plugin"}
    (injection,) = made.injections
    assert injection.injection.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)
    assert injection.injection.node_selector == (("accelerator", "nvidia-gpu"),)
    assert made.rules[2].parameters == runtime_class.Parameters("nvidia")
    assert made.rules[4].parameters == gpu_nodes_reserved.Parameters(("accelerator",), ("nvidia.com/gpu",))


def test_the_shipped_examples_are_right() -> None:
    """What stands in comments loads once the comment marks are gone."""
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("apiVersion"))
    text = "\n".join(line.replace("# ", "", 1) if line.lstrip().startswith("# ") else line for line in lines[first:])
    made = load([("gpu-pods.yaml", text.encode())])
    assert {bound.name for bound in made.rules} >= {"notebooks-one-slice"}
    assert [exception.name for exception in made.exceptions] == ["mesh-init"]
    assert [bound.name for bound in made.injections] == ["gpu-nodes", "hide-gpus"]
    assert made.modes.namespaces == {"ml-serving": "enforce"}
    assert made.exempt.service_accounts == {("monitoring", "dcgm-exporter")}


def test_everything_that_can_be_written() -> None:
    made = policy("""
gpus:
  presets: [amd]
  resources: [example.com/gpu, "example.com/slice-*"]
  deviceClasses: [gpu.example.com]
  runtimeClasses: ["example-*"]
  annotations: [example.com/gpu-share]
modes:
  default: warn
  labels: [warn, enforce]
  namespaces: {ml-serving: enforce}
exempt:
  namespaces: [kube-system]
  serviceAccounts: [monitoring/dcgm.exporter]
  pods: [{namespace: monitoring, labels: {app: exporter, tier: node}}]
rules:
  - rule: no-gpu-bypass
    name: bypass
    action: audit
    match:
      namespaces: ["team-*"]
      notNamespaces: [team-infra]
      podLabels: {team: "*"}
      resources: [example.com/gpu]
      deviceClasses: ["gpu.*"]
      runtimeClasses: [example-a]
    with: {envFrom: true}
    help: >
      Ask in
      #gpu-help
  - rule: max-gpus
    with:
      perPod: {example.com/gpu: 0}
      perContainer: {"example.com/slice-*": 1}
      sizes: {example.com/gpu: [1, 2]}
exceptions:
  - name: mesh
    rules: [bypass]
    match: {containers: [istio-init], images: ["registry.example.com/proxyv2:*"]}
    owner: mesh@example.com
    reason: INC-1
    expires: 2028-02-29
inject:
  - name: gpu-nodes
    taints: [{key: example.com/gpu, effect: NoExecute}]
    tolerations: [{key: reserved, operator: Equal, value: research}, {operator: Exists}]
    nodeSelector: {accelerator: ""}
    onConflict: keep
    hideGpus: true
workloads:
  kinds: [{resource: rockets.example.com, kind: Rocket, paths: [/spec/stages/*/template/spec], creates: workloads}]
  refuse: [pytorchjobs.kubeflow.org]
""")
    assert made.gpus.resource("example.com/slice-3") is not None
    assert made.gpus.resource("amd.com/gpu") is not None
    assert made.modes == Modes("warn", ("warn", "enforce"), {"ml-serving": "enforce"})
    assert made.exempt == Exempt(
        frozenset({"kube-system"}),
        frozenset({("monitoring", "dcgm.exporter")}),
        (ExemptPod("monitoring", (("app", "exporter"), ("tier", "node"))),),
    )
    bypass, numbers = made.rules
    assert (bypass.name, bypass.action, bypass.help) == ("bypass", "audit", "Ask in #gpu-help")
    assert bypass.parameters == no_gpu_bypass.Parameters(envFrom=True)
    assert bypass.match.namespaces.written == ("team-*",)
    assert bypass.match.not_namespaces.written == ("team-infra",)
    assert bypass.match.resources.written == ("example.com/gpu",)
    assert bypass.match.device_classes.written == ("gpu.*",)
    assert made.matches_runtime_class
    assert numbers.parameters == max_gpus.Parameters(
        {"example.com/gpu": 0}, {"example.com/slice-*": 1}, {"example.com/gpu": (1, 2)}
    )
    (exception,) = made.exceptions
    assert exception.expires == date(2028, 2, 29)
    assert (exception.owner, exception.reason) == ("mesh@example.com", "INC-1")
    (injection,) = made.injections
    assert injection.injection.tolerations == (
        {"key": "reserved", "operator": "Equal", "value": "research"},
        {"operator": "Exists"},
    )
    assert injection.injection.taints == (Taint("example.com/gpu", "", "NoExecute"),)
    assert injection.injection.node_selector == (("accelerator", ""),)
    assert (injection.injection.on_conflict, injection.injection.hide_gpus) == ("keep", True)
    assert made.workload_kinds == (
        WorkloadKind("rockets.example.com", "Rocket", ("/spec/stages/*/template/spec",), "workloads"),
    )
    assert made.workloads_refused == {"pytorchjobs.kubeflow.org"}


def test_documents_add_up_in_order_of_their_names() -> None:
    first = document("rules: [{rule: no-privileged}]\ngpus: {presets: [nvidia]}", "b-base")
    second = document(
        "rules: [{rule: limits-equal-requests}]\ninject: [{name: hide, hideGpus: true}]\nmodes: {default: warn}",
        "a-team",
    )
    third = document("inject: [{name: nodes, nodeSelector: {a: b}}]\nexempt: {namespaces: [kube-system]}", "c-more")

    def made(*files: str) -> Policy:
        return load([(f"{index}.yaml", text.encode()) for index, text in enumerate(files)])

    together = made(first, second, third)
    assert [bound.name for bound in together.rules] == ["limits-equal-requests", "no-privileged"]
    assert [bound.policy for bound in together.rules] == ["a-team", "b-base"]
    assert [bound.name for bound in together.injections] == ["hide", "nodes"]
    assert [entry.name for entry in together.documents] == ["a-team", "b-base", "c-more"]
    assert together.modes.default == "warn"
    assert together.exempt.namespaces == {"kube-system"}
    one_file = made("---\n".join((third, first, second)))
    assert one_file.digest == made(third, second, first).digest == together.digest
    assert [bound.name for bound in one_file.rules] == [bound.name for bound in together.rules]


@pytest.mark.parametrize(
    "section", ["gpus: {presets: [nvidia]}", "modes: {default: warn}", "exempt: {}", "workloads: {}"]
)
def test_a_section_that_may_stand_once(section: str) -> None:
    name = section.partition(":")[0]
    assert problems(("1.yaml", document(section, "one")), ("2.yaml", document(section, "two"))) == [
        f"2.yaml:6:3: {name} may stand in one document only; the first is at 1.yaml:6"
    ]


def test_names_are_unique_over_all_documents() -> None:
    rule = "rules: [{rule: no-privileged, name: x}]"
    assert problems(("1.yaml", document(rule, "p")), ("2.yaml", document(rule, "p"))) == [
        '2.yaml:4:3: a second document is named "p"; the first is at 1.yaml:4',
        '2.yaml:6:33: a second rule or injection is named "x"; the first is at 1.yaml:6',
    ]


def test_an_exception_may_name_the_rules_and_injections_of_every_document() -> None:
    exception = """
exceptions:
  - name: e
    rules: [no-privileged, gpu-nodes]
    match: {namespaces: [a]}
    owner: o
    reason: r
    expires: 2027-01-31
gpus: {presets: [nvidia]}
"""
    rules = "rules: [{rule: no-privileged}]\ninject: [{name: gpu-nodes, nodeSelector: {a: b}}]"
    assert policy(exception, rules).exceptions[0].rules == {"no-privileged", "gpu-nodes"}
    # A document that cannot be used may hold the rule: no second error for the same fault.
    broken = ("b.yaml", document(rules.replace("rule: no-privileged", "rule: no-privileged, actoin: warn"), "b"))
    assert problems(("a.yaml", document(exception, "a")), broken) == [
        'b.yaml:6:33: unknown key "actoin"; did you mean "action"?'
    ]


def test_errors_of_all_files_are_said_at_once() -> None:
    assert problems(
        ("b.yaml", document("modes: {default: strict}", "b")), ("c.yaml", ""), ("a.yaml", document("x: 1", "a"))
    ) == [
        'a.yaml:6:3: unknown key "x"; known here: gpus, modes, exempt, rules, exceptions, inject, workloads',
        'b.yaml:6:20: default: should be disabled, audit, warn, assist or enforce, found "strict"',
        "c.yaml:1:1: the file holds no document; a policy needs a GpuPolicy, or a ClusterPolicy of Kyverno",
    ]


def test_the_digest_stands_for_the_content_and_not_for_its_layout() -> None:
    block = document("modes:\n  default: warn # for now\n  labels: [warn]\nrules:\n  - rule: no-gpu-bypass\n")
    flow = document('{"rules": [{"rule": "no-gpu-bypass"}], "modes": {labels: ["warn"], default: \'warn\'}}')
    json = (
        '{"kind":"GpuPolicy","apiVersion":"gpugate.dev/v1alpha1","metadata":{"name":"p"},'
        '"spec":{"modes":{"default":"warn","labels":["warn"]},"rules":[{"rule":"no-gpu-bypass"}]}}'
    )
    digests = {load([(name, text.encode())]).digest for name, text in (("a", block), ("b", flow), ("c.json", json))}
    assert len(digests) == 1
    (digest,) = digests
    assert digest.startswith("sha256:")
    assert len(digest) == len("sha256:") + 64


@pytest.mark.parametrize(
    "spec",
    ["modes: {default: enforce}", "rules: [{rule: no-gpu-bypass}]", "rules: [{rule: no-gpu-bypass, action: warn}]", ""],
)
def test_every_content_has_a_digest_of_its_own(spec: str) -> None:
    others = {policy("modes: {default: warn}").digest, policy(spec, "").digest}
    assert policy(spec).digest not in others
    assert policy(spec).documents[0].digest == policy(spec, "").documents[0].digest


def test_values_that_yaml_could_read_as_something_else() -> None:
    """Our own modes are text in YAML 1.1, and so is a day, quoted or not."""
    exception = """
rules: [{rule: no-gpu-bypass}]
modes: {default: disabled, labels: [disabled, audit, warn, assist, enforce]}
exceptions:
  - {name: a, rules: [no-gpu-bypass], match: {images: [x]}, owner: o, reason: r, expires: 2027-01-31}
  - {name: b, rules: [no-gpu-bypass], match: {images: [x]}, owner: o, reason: r, expires: "2027-01-31"}
"""
    made = policy(exception)
    assert made.modes.default == "disabled"
    assert {each.expires for each in made.exceptions} == {date(2027, 1, 31)}


def test_mode_of_a_namespace() -> None:
    modes = policy("modes: {default: audit, labels: [warn, enforce], namespaces: {ml-serving: enforce}}").modes
    assert modes.of("ml-serving", "warn") == "enforce"
    assert modes.of("team-a", "warn") == "warn"
    assert modes.of("team-a", "assist") == "audit"
    assert modes.of("team-a") == "audit"
