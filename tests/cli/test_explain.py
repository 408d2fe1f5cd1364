"""`gpugate explain`."""

from pathlib import Path

import pytest

from app.model.gpu import DEVICE_CLASS_PREFIX
from app.rules.registry import RULES
from tests.cli.conftest import Gpugate
from tests.suite.running import POD, POLICY, written

PRIVILEGED = (
    'container "side": privileged is true, which lets it use every GPU of the node; '
    "set securityContext.privileged to false"
)
PRESETS = "runtime classes that hand it over: nvidia, nvidia-cdi, nvidia-container-runtime, nvidia-legacy"


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_rule(gpugate: Gpugate, rule: object) -> None:
    found = RULES[rule.id]  # type: ignore[attr-defined]
    outcome = gpugate("explain", "rule", found.id)
    assert (outcome.code, outcome.err) == (0, "")
    said = " ".join(outcome.out.split())
    assert said.startswith(f"{found.id} {found.summary}. Why. ")
    for text in (found.why, found.comply):
        assert " ".join(text.split()) in said
    for field in found.parameters.__dataclass_fields__:  # type: ignore[attr-defined]
        assert f"\n- `{field}`" in outcome.out
    assert f"    rule: {found.id}\n" in outcome.out
    assert not any(sign in outcome.out for sign in ("**", "```", "](", "\x01", "|-"))
    prose = [line for line in outcome.out.splitlines() if not line.startswith("    ")]
    assert max(map(len, prose)) <= 100
    assert "In the policy" not in outcome.out


def test_rule_in_a_policy(gpugate: Gpugate) -> None:
    written(
        Path(),
        {
            "gpugate.yaml": POLICY
            + """
  inject:
    - name: nodes
      match: {namespaces: [a, "b-*"], podLabels: {x: z}}
      nodeSelector: {a: b}
      onConflict: keep
      tolerations: [{key: k, operator: Exists}]
"""
        },
    )
    outcome = gpugate("explain", "rule", "runtime-class")
    assert outcome.out.endswith(
        'In the policy: p/runtime-class\n  action: deny, repair: true\n  with: {"default":"nvidia"}\n'
    )
    outcome = gpugate("explain", "rule", "no-privileged")
    assert outcome.out.endswith(
        "In the policy: p/no-privileged\n  action: deny\n"
        "  exception: mesh, until 2027-01-31 (INC-1, mesh@example.com)\n"
    )
    assert gpugate("explain", "rule", "max-gpus").out.endswith("The policy p does not use it.\n")
    outcome = gpugate("explain", "injection", "nodes")
    assert outcome.out.startswith("tolerations\n\n")
    assert "\nnodeSelector\n\n" in outcome.out
    assert outcome.out.endswith(
        "In the policy: p/nodes\n  tolerations: key=k operator=Exists\n  nodeSelector: a=b (onConflict: keep)\n"
        "  match.namespaces: a, b-*\n  match.podLabels: x=z\n"
    )
    assert gpugate("explain", "injection", "taints").out.endswith("The policy p does not use it.\n")


def test_a_rule_is_found_by_its_name_in_the_policy(gpugate: Gpugate) -> None:
    named = "- {rule: max-gpus, name: one-gpu, help: ask us, with: {perPod: {nvidia.com/gpu: 1}}}"
    written(Path(), {"p.yaml": POLICY.replace("- rule: no-privileged", f"- rule: no-privileged\n    {named}")})
    outcome = gpugate("explain", "rule", "--policy", "p.yaml", "one-gpu")
    assert outcome.out.startswith("max-gpus\n\n")
    assert outcome.out.endswith(
        'In the policy: p/one-gpu\n  action: deny\n  with: {"perPod":{"nvidia.com/gpu":1}}\n  help: ask us\n'
    )


@pytest.mark.parametrize("kind", ["taints", "tolerations", "nodeSelector", "hideGpus"])
def test_injection(gpugate: Gpugate, kind: str) -> None:
    outcome = gpugate("explain", "injection", kind)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{kind}\n\n")
    assert f"    {kind}:" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rule", "no-privilegd"), "there is no rule 'no-privilegd'; did you mean 'no-privileged'?"),
        (("rule", "x"), "there is no rule 'x'; there are limits-equal-requests, no-privileged, "),
        (("injection", "nodeselector"), "there is no injection 'nodeselector'; did you mean 'nodeSelector'?"),
        (("rul",), 'There is no command "rul". Did you mean "rule"?'),
        (("rule", "--policy", "none.yaml", "max-gpus"), "none.yaml:1:1: cannot be read"),
        (("file", "pod.yaml"), "there is no policy"),
        (("file", "--policy", "shipped", "none.yaml"), "none.yaml cannot be read: No such file or directory"),
        (("file", "--policy", "shipped", "--cluster-facts", "none", "pod.yaml"), "none cannot be read"),
        (("file", "--policy", "shipped", "--cluster-facts", "pod.yaml", "pod.yaml"), "holds no cluster facts"),
    ],
)
def test_wrong_usage(gpugate: Gpugate, arguments: tuple[str, ...], said: str) -> None:
    written(Path(), {"pod.yaml": POD})
    outcome = gpugate("explain", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


@pytest.fixture
def explained(gpugate: Gpugate) -> object:
    """The steps for a file and POLICY, as (what, outcome), and the lines under them."""

    def call(text: str, *arguments: str, policy: str = POLICY) -> list[str]:
        written(Path(), {"p.yaml": policy, "x.yaml": text})
        outcome = gpugate("explain", "file", "--policy", "p.yaml", *arguments, "x.yaml")
        assert (outcome.code, outcome.err) == (0, "")
        return [" ".join(line.split()) for line in outcome.out.splitlines()]

    return call


def test_file(explained: object) -> None:
    assert explained(POD) == [  # type: ignore[operator]
        "Pod default/a in x.yaml:2",
        "pod spec /spec of a Pod",
        "namespace default",
        "mode enforce, by --mode",
        "GPU use a GPU pod",
        'container "main": nvidia.com/gpu (requests 1, limits 1), of preset nvidia',
        PRESETS,
        "exempt no",
        "rule no-privileged violated",
        f"x.yaml:8:67: {PRIVILEGED}",
        "rule limits-equal-requests holds",
        "rule runtime-class repaired",
        'x.yaml:5:1: runtimeClassName set to "nvidia"',
        "exception mesh does not apply: match.namespaces is team-a",
        "result refused, for 1 violation",
    ]


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("--mode", "warn"), ["rule no-privileged violated (warn admits it)",
                              "rule runtime-class would be repaired (warn changes nothing)",
                              "result admitted as it is, with warnings"]),
        (("--mode", "audit"), ["result admitted as it is"]),
        (("--mode", "assist"), ["result admitted with 1 change, with warnings"]),
        (("--mode", "disabled"), ["result admitted untouched: the mode is disabled"]),
        (("--mode", "policy"), ["mode warn, modes.default (labels are not known here)"]),
        (("--mode", "policy", "-n", "pinned"), ["mode audit, pinned by modes.namespaces"]),
        (("-n", "kube-system"), ["exempt yes, its namespace is in exempt.namespaces",
                                 "result admitted untouched; nothing else is looked at"]),
    ],
)  # fmt: skip
def test_modes_and_exemptions(explained: object, arguments: tuple[str, ...], lines: list[str]) -> None:
    found = explained(POD, *arguments)  # type: ignore[operator]
    assert [line for line in lines if line not in found] == []


def test_exceptions(explained: object) -> None:
    ended = POLICY.replace("2027-01-31", "2020-01-31")
    assert "exception mesh does not apply: it ended with 2020-01-31" in explained(POD, policy=ended)  # type: ignore[operator]
    endless = POLICY.replace("2027-01-31", "9999-12-31")
    held = explained(POD, "-n", "team-a", policy=endless)  # type: ignore[operator]
    assert "exception mesh lets through, until 9999-12-31" in held
    assert "rule no-privileged noted" in held
    assert "result admitted with 1 change" in held
    unused = explained(POD.replace("true", "false"), "-n", "team-a", policy=endless)  # type: ignore[operator]
    assert "exception mesh lets nothing through here" in unused


OTHERS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: Pod
metadata: {name: empty}
---
apiVersion: apps/v1
kind: Deployment
metadata: {generateName: d-, namespace: ns}
spec: {template: {spec: {containers: [{name: a, image: "a:1"}]}}}
---
apiVersion: example.com/v1
kind: Rocket
metadata: {name: r}
spec: {stage: {containers: [{name: a, image: "a:1"}]}}
"""


def test_other_objects(explained: object) -> None:
    found = explained(OTHERS)  # type: ignore[operator]
    assert found[:6] == [
        "ConfigMap default/c in x.yaml:2",
        "pods holds none: neither its kind nor its shape does",
        "",
        "Pod default/empty in x.yaml:6",
        "pods holds none: its pod spec is missing",
        "",
    ]
    assert found[6:9] == [
        "Deployment ns/d- in x.yaml:10",
        "pod spec /spec/template/spec of a Deployment, which the API server checks before there is a pod",
        "namespace ns",
    ]
    assert "pod spec /spec/stage of a Rocket, a guess by its shape: the kind is not known" in found
    assert "GPU use none: a pod without GPUs" in found
    assert "rule no-privileged does not apply: looks at GPU pods only" in found


USES = """
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {gpu-fraction: "0.5"}}
spec:
  resourceClaims: [{name: one, resourceClaimTemplateName: t}, {name: two, resourceClaimName: u}]
  containers:
    - name: a
      resources: {claims: [{name: one}, {name: two}]}
    - name: b
      resources: {limits: {deviceclass.resource.kubernetes.io/gpu.nvidia.com: 1, example.com/gpu: 2}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""


def test_uses_of_gpus(explained: object) -> None:
    policy = POLICY.replace("presets: [nvidia]", "presets: [nvidia, kai], resources: [example.com/gpu]")
    found = explained(USES, policy=policy)  # type: ignore[operator]
    start = found.index("GPU use a GPU pod")
    assert found[start + 1 : start + 6] == [
        'container "a": a claim for gpu.nvidia.com',
        f'container "b": {DEVICE_CLASS_PREFIX}gpu.nvidia.com (requests 1, limits 1), of a GPU device class',
        'container "b": example.com/gpu (requests 2, limits 2), of the policy\'s gpus.resources',
        "annotation gpu-fraction",
        "the claim 'two' may be for a GPU: its device class is not known",
    ]


def test_standard_input_and_a_review(gpugate: Gpugate) -> None:
    review = b"""{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1",
    "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "UPDATE", "namespace": "team",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}}}"""
    outcome = gpugate("explain", "file", "--policy", "shipped", "-", stdin=review)
    assert outcome.code == 0
    assert outcome.out.startswith("Pod team/a in <stdin>:1\n")
    assert "UPDATE; explained as if the object was created\n" in outcome.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [\n---\n" + POD, "Error: x.yaml:2:1: "),
        (
            "{apiVersion: v1, kind: Pod, spec: {containers: 1}}\n---\n" + POD,
            "Error: x.yaml:1:48: spec.containers must be",
        ),
        (
            "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview}\n---\n" + POD,
            "Error: x.yaml:1:2: the AdmissionReview",
        ),
    ],
)
def test_what_cannot_be_read_is_said_and_the_rest_explained(gpugate: Gpugate, text: str, said: str) -> None:
    written(Path(), {"x.yaml": text})
    outcome = gpugate("explain", "file", "--policy", "shipped", "x.yaml")
    assert outcome.code == 2
    assert said in outcome.err
    assert "result" in outcome.out


def test_an_empty_file(gpugate: Gpugate) -> None:
    written(Path(), {"x.yaml": "# nothing\n"})
    assert gpugate("explain", "file", "--policy", "shipped", "x.yaml").out == "x.yaml holds no object\n"
