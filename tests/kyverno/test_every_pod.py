"""What holds for every pod under Kyverno's policies."""

import copy
from pathlib import Path
from typing import Any

import jsonpatch
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.admission.judge import judge
from app.model.context import Context
from app.model.pod import Pod
from app.policy.load import load
from tests.engine.policies import TODAY
from tests.engine.strategies import pods
from tests.kyverno.judging import policy

SEED = Path(__file__).with_name("gpu-resource-policy.yaml").read_text()
CONTAINERS = "request.object.spec.[containers, initContainers, ephemeralContainers][]"
TOLERATION = "- {op: add, path: /spec/tolerations/-, value: {key: a, operator: Exists}}"
EVERYTHING = policy(
    {
        "name": "patterns",
        "validate": {
            "message": "{{ request.object.metadata.name || request.object.metadata.generateName || 'unnamed' }}",
            "anyPattern": [
                {"spec": {"=(initContainers)": [{"(image)": "*:*", "resources": {"limits": {"*/gpu": "<=8"}}}]}},
                {"metadata": {"=(annotations)": {"X(*)": "null"}}, "spec": {"^(containers)": [{"image": "?*"}]}},
            ],
        },
    },
    {
        "name": "conditions",
        "preconditions": {"any": [{"key": f"{{{{ {CONTAINERS}.resources.limits.keys(@)[] }}}}", "operator": "AnyIn",
                                   "value": ["nvidia.com/*"]}]},
        "validate": {"deny": {"conditions": {"all": [
            {"key": "{{ images.containers.*.registry || `[]` }}", "operator": "AnyNotIn", "value": ["docker.io"]},
            {"key": "{{ request.object.spec.nodeSelector || `{}` }}", "operator": "NotEquals", "value": {}},
        ]}}},
    },
    {
        "name": "elements",
        "validate": {"message": "{{ element.name }}", "foreach": [{
            "list": CONTAINERS,
            "deny": {"conditions": {"any": [{"key": "{{ element.resources.limits.\"nvidia.com/gpu\" || '0' }}",
                                             "operator": "GreaterThan", "value": 4}]}},
        }]},
    },
    {"name": "merge", "mutate": {"patchStrategicMerge": {
        "metadata": {"labels": {"+(team)": "x"}},
        "spec": {"containers": [{"(name)": "*", "resources": {"limits": {"+(memory)": "1Gi"}}}],
                 "+(runtimeClassName)": "nvidia"},
    }}},
    {"name": "patch", "mutate": {"patchesJson6902": TOLERATION}},
)  # fmt: skip
POLICIES = {
    "seed": load([("seed.yaml", SEED.encode())]),
    "everything": load([("everything.yaml", yaml.safe_dump(EVERYTHING).encode())]),
}
CONTEXT = Context("team", TODAY)

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@thorough
@given(pods, st.sampled_from(sorted(POLICIES)))
def test_judging_is_repeatable_leaves_the_pod_alone_and_its_patch_applies(obj: dict[str, Any], name: str) -> None:
    before = copy.deepcopy(obj)
    first = judge(POLICIES[name], Pod.of(obj), CONTEXT, "enforce")
    assert obj == before
    again = judge(POLICIES[name], Pod.of(copy.deepcopy(obj)), CONTEXT, "enforce")
    assert (first.findings, first.patch) == (again.findings, again.patch)
    after = jsonpatch.apply_patch(before, first.patch)
    for finding in first.findings:
        assert finding.message.isprintable()
        assert "internal" not in finding.message
    if name == "everything":
        assert after["metadata"]["labels"]["team"]
        assert {"key": "a", "operator": "Exists"} in after["spec"]["tolerations"]


weird = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "image", "resources", "limits", "spec", "a/b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@thorough
@given(weird, weird, st.sampled_from(sorted(POLICIES)))
def test_whatever_stands_in_a_resource_is_judged(metadata: Any, spec: Any, name: str) -> None:
    from app.kyverno.engine import Judging, apply
    from app.kyverno.types import Request

    resource = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    for each in POLICIES[name].kyverno:
        statuses = {result.status for result in apply(each, Judging(Request(resource, namespace="team"))).results}
        assert statuses <= {"pass", "fail", "skip", "error"}
