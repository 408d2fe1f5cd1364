"""Policy documents: what is wrong with them, and what is right but not taken, each at its place."""

from pathlib import Path
from typing import Any

import pytest

from app.kyverno.policy import compile_policy
from app.kyverno.types import Flaw, InvalidPolicy
from app.policy.errors import PolicyError
from app.policy.load import load
from tests.kyverno.judging import policy, rule

PATTERN = {"pattern": {"spec": {"hostNetwork": False}}}
SEED = Path(__file__).with_name("gpu-resource-policy.yaml")


def flaws(document: dict[str, Any]) -> list[Flaw]:
    """What compiling finds wrong."""
    try:
        compile_policy(document)
    except InvalidPolicy as error:
        return error.flaws
    return []


def problem(text: str) -> tuple[str, int, int]:
    """The one problem of a policy file: its message, line and column."""
    with pytest.raises(PolicyError) as raised:
        load([("policy.yaml", text.encode())])
    (found,) = raised.value.problems
    return found.message, found.line, found.column


def condition(**fields: Any) -> dict[str, Any]:
    return {"preconditions": {"all": [{"key": "a", "operator": "Equals", "value": "b", **fields}]}}


def deep(levels: int) -> dict[str, Any]:
    pattern: dict[str, Any] = {"image": "?*"}
    for _ in range(levels):
        pattern = {"a": pattern}
    return {"pattern": pattern}


def context(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"context": list(entries)}


def variable(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "variable": {"jmesPath": path}}


RULES = "/spec/rules/0"
WRONG = [
    # the rule's fields, where it is wrong, what is said
    (condition(operator="Eqals"), "/preconditions/all/0/operator", '"Eqals" is no operator; did you mean Equals?'),
    (condition(operator=None), "/preconditions/all/0/operator", "a condition needs an operator; it must be one of"),
    (condition(key="{{ a[ }}"), "/preconditions/all/0/key", "{{ a[ }} is no JMESPath expression: "),
    (condition(key="{{ nope(@) }}"), "/preconditions/all/0/key", "is no JMESPath expression: there is no function"),
    (condition(key="{{ objekt.spec }}"), "/preconditions/all/0/key", 'names "objekt", which is no variable here'),
    (condition(kee="x"), "/preconditions/all/0/kee", 'a condition has no field "kee"; did you mean key?'),
    ({"preconditions": "x"}, "/preconditions", "conditions must be a list, found a string"),
    ({"validate": {**PATTERN, "deny": {}}}, "/validate", "it has pattern and deny"),
    (
        {"validate": {"message": "x"}},
        "/validate",
        "validate needs one of pattern, anyPattern, deny, foreach; it has none",
    ),
    ({"validate": {**PATTERN, "massage": "x"}}, "/validate/massage", "did you mean message?"),
    ({"validate": {"foreach": [{"deny": {}}]}}, "/validate/foreach/0/list", "needs a list: a JMESPath expression"),
    ({"validate": {"foreach": [{"list": "a[", "deny": {}}]}}, "/validate/foreach/0/list", "is no JMESPath expression"),
    ({"validate": {"pattern": {"a": "$(./../b)"}}}, "/validate/pattern/a", "refers to /b of this pattern, where there"),
    ({"validate": {**PATTERN, "failureAction": "Deny"}}, "/validate/failureAction", 'the action cannot be "Deny"'),
    ({"match": {}}, "/match", "matches nothing"),
    ({"match": {"any": [{"resources": {"kinds": ["a/b/c/d/e"]}}]}}, "/match/any/0/resources/kinds/0", "is no kind"),
    ({"match": {"any": [{"resources": {"kind": ["Pod"]}}]}}, "/match/any/0/resources/kind", "did you mean kinds?"),
    ({"match": {"any": [], "all": []}}, "/match", 'cannot have both "any" and "all"'),
    ({"name": "a" * 64}, "/name", "a rule needs a name of at most 63 characters"),
    ({"validate": None}, "", "needs either validate or mutate, and has neither"),
    (context(variable("a", "b.c"), variable("b", "a.c")), "/context/0", 'the variable "a" needs itself: a -> b -> a'),
    (context(variable("a", "a.c")), "/context/0", 'the variable "a" needs itself: a -> a'),
    (context({"name": "a"}), "/context/0", 'the context entry "a" needs one source, and has none'),
    (
        {"match": {"any": [{"resources": {"kinds": ["Pod"], "selector": {"matchExpressions": [{"operator": "Is"}]}}}]}},
        "/match/any/0/resources/selector/matchExpressions/0/operator",
        '"Is" is no operator of a selector',
    ),
]


@pytest.mark.parametrize(
    ("fields", "pointer", "said"), WRONG, ids=[f"{place}: {said[:30]}" for _, place, said in WRONG]
)
def test_what_is_wrong_is_said_at_its_place(fields: dict[str, Any], pointer: str, said: str) -> None:
    found = flaws(policy(rule(**{"validate": PATTERN, **fields})))
    assert [flaw.pointer for flaw in found if said in flaw.message] == [RULES + pointer], found
    assert not any(flaw.limit for flaw in found)


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({"validationFailureAction": "Enforse"}, "/spec/validationFailureAction"),
        ({"failurePolicy": "Igнore"}, "/spec/failurePolicy"),
        ({"applyRules": "Some"}, "/spec/applyRules"),
        ({"rule": []}, "/spec/rule"),
    ],
)
def test_what_is_wrong_with_the_policy_itself(spec: dict[str, Any], pointer: str) -> None:
    assert [
        flaw.pointer for flaw in flaws(policy(rule(validate=PATTERN), rule(name="b", validate=PATTERN), **spec))
    ] == [pointer]


def test_names_are_needed_and_are_of_one_rule_each() -> None:
    twice = policy(rule(validate=PATTERN), rule(validate=PATTERN))
    assert [(flaw.pointer, flaw.message) for flaw in flaws(twice)] == [
        ("/spec/rules/1/name", 'two rules have the name "rule"')
    ]
    assert [flaw.pointer for flaw in flaws({**twice, "metadata": {}})] == ["/metadata/name", "/spec/rules/1/name"]
    assert [flaw.pointer for flaw in flaws({"metadata": {"name": "a"}})] == ["/spec"]
    assert [flaw.pointer for flaw in flaws({**twice, "spec": {"rules": []}})] == ["/spec/rules"]


def test_a_pattern_of_a_hundred_levels_is_refused_at_the_level_that_is_too_deep() -> None:
    (found,) = flaws(policy(rule(validate=deep(100))))
    assert found == Flaw(f"{RULES}/validate/pattern" + "/a" * 65, "nested deeper than 64 levels")


LIMITS = [
    # the rule's fields, where it asks for what is not taken, by what name
    ({"generate": {"kind": "ConfigMap"}, "validate": None}, "/generate", "(generate)"),
    ({"verifyImages": [{"imageReferences": ["*"]}], "validate": None}, "/verifyImages", "(verifyImages)"),
    ({"validate": {"cel": {"expressions": []}}}, "/validate/cel", "CEL expressions (cel)"),
    ({"validate": {"podSecurity": {"level": "baseline"}}}, "/validate/podSecurity", "Pod Security Standards by name"),
    ({"validate": {"manifests": {"attestors": []}}}, "/validate/manifests", "signatures of manifests"),
    ({"validate": {"assert": {"a": 1}}}, "/validate/assert", "assertion trees (assert)"),
    ({"celPreconditions": [{"name": "a"}]}, "/celPreconditions", "CEL preconditions"),
    (context({"name": "a", "configMap": {"name": "b"}}), "/context/0/configMap", '"a" is a configMap'),
    (context({"name": "a", "apiCall": {"urlPath": "/"}}), "/context/0/apiCall", '"a" is a apiCall'),
    (context({"name": "a", "imageRegistry": {"reference": "b"}}), "/context/0/imageRegistry", "without asking the net"),
    (context({"name": "a", "globalReference": {"name": "b"}}), "/context/0/globalReference", "without asking the net"),
    ({"mutate": {"targets": [{"kind": "Pod"}]}, "validate": None}, "/mutate/targets", "targets"),
]


@pytest.mark.parametrize(("fields", "pointer", "said"), LIMITS, ids=[said for _, _, said in LIMITS])
def test_what_is_not_taken_is_refused_by_name(fields: dict[str, Any], pointer: str, said: str) -> None:
    found = [flaw for flaw in flaws(policy(rule(**{"validate": PATTERN, **fields}))) if flaw.limit]
    assert [(flaw.pointer, said in flaw.message) for flaw in found] == [(RULES + pointer, True)], found


HEAD = """\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: a}
spec:
  rules:
"""
SERVED = [
    # a rule that compiles, and what of it the admission of pods cannot keep: message, line, column
    ("kinds: [Service]", "no rule of the policy matches pods", 5, 3),
    ("kinds: [Deployment]", "no rule of the policy matches pods", 5, 3),
    ("kinds: [Pod, Service]", "matches Service; only pods are judged", 7, 47),
    ('kinds: ["*"]', "matches *; only pods are judged", 7, 42),
    ("kinds: [Pod], operations: [DELETE]", "is for DELETE; pods are judged on CREATE and UPDATE", 7, 61),
    ("kinds: [Pod], namespaceSelector: {matchLabels: {a: b}}", "the labels of namespaces are not known", 7, 48),
]


@pytest.mark.parametrize(("resources", "said", "line", "column"), SERVED, ids=[said for _, said, _, _ in SERVED])
def test_what_admission_cannot_keep_is_refused_by_name(resources: str, said: str, line: int, column: int) -> None:
    match = f"match: {{any: [{{resources: {{{resources}}}}}]}}"
    text = f"{HEAD}    - name: b\n      {match}\n      validate: {{pattern: {{}}}}\n"
    with pytest.raises(PolicyError) as raised:
        load([("policy.yaml", text.encode())])
    assert any(said in found.message and found.line == line for found in raised.value.problems)
    assert (line, column) in [(found.line, found.column) for found in raised.value.problems]


def test_a_rule_for_controllers_alone_is_taken_beside_one_for_pods_unless_it_changes_them() -> None:
    pods = f"{HEAD}    - {{name: a, match: {{any: [{{resources: {{kinds: [Pod]}}}}]}}, validate: {{deny: {{}}}}}}\n"
    match = "    - name: b\n      match: {any: [{resources: {kinds: [Deployment]}}]}\n"
    assert load([("policy.yaml", f"{pods}{match}      validate: {{deny: {{}}}}\n".encode())]).names == ["a", "b"]
    change = "      mutate: {patchStrategicMerge: {spec: {replicas: 2}}}\n"
    assert problem(pods + match + change) == (
        'rule "b" changes Deployment and no pods; only pods are changed', 8, 7,
    )  # fmt: skip


def test_a_text_in_the_wrong_quotes_is_never_found_and_no_unknown_variable() -> None:
    assert flaws(policy(rule(validate=PATTERN, **condition(key='{{ request.object.metadata.name || "" }}')))) == []


def test_who_asks_by_roles_is_not_known() -> None:
    text = (
        f"{HEAD}    - name: b\n      match: {{any: [{{resources: {{kinds: [Pod]}}, clusterRoles: [admin]}}]}}\n"
        "      validate: {deny: {}}\n"
    )
    assert problem(text)[0] == 'rule "b": the cluster roles of users are not known where pods are judged'


def test_documents_of_other_kinds_and_versions_are_refused_by_name() -> None:
    said, line, _ = problem("apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: a}\n")
    assert line == 2
    assert said.startswith("ValidatingPolicy of policies.kyverno.io/v1 is not supported; of Kyverno's documents")
    said = problem("apiVersion: kyverno.io/v2\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {}\n")[0]
    assert said == "ClusterPolicy of kyverno.io/v2 is not supported; kyverno.io/v1 and kyverno.io/v2beta1 are"
    assert "CleanupPolicy" in problem("apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nmetadata: {name: a}\n")[0]


def test_a_policy_alone_and_beside_a_gpu_policy() -> None:
    own = b"""\
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: gpus}
spec: {gpus: {presets: [nvidia]}, rules: [{rule: no-privileged}]}
"""
    seed = ("seed.yaml", SEED.read_bytes())
    alone, both = load([seed]), load([seed, ("own.yaml", own)])
    assert [each.name for each in alone.documents] == ["gpu-resource-policy"]
    assert [each.name for each in both.documents] == ["gpus", "gpu-resource-policy"]
    assert alone.digest != both.digest
    assert both.names == [
        "no-privileged", "require-gpu-limits", "deny-privileged-gpu-pods", "require-nvidia-runtimeclass",
    ]  # fmt: skip


EXCEPTION = """\
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: mesh}
spec:
  match: {any: [{resources: {kinds: [Pod]}}]}
  exceptions:
    - {policyName: gpu-resource-policy, ruleNames: [no-such-rule]}
    - {policyName: other, ruleNames: ["*"]}
"""


def test_exceptions_from_what_there_is_not_are_problems() -> None:
    with pytest.raises(PolicyError) as raised:
        load([("seed.yaml", SEED.read_bytes()), ("exception.yaml", EXCEPTION.encode())])
    assert [(each.line, each.message.partition(";")[0]) for each in raised.value.problems] == [
        (7, '"gpu-resource-policy" has no rule named "no-such-rule"'),
        (8, 'no ClusterPolicy or Policy named "other" is among the documents'),
    ]


def test_two_documents_of_one_name_are_a_problem() -> None:
    with pytest.raises(PolicyError) as raised:
        load([("a.yaml", SEED.read_bytes()), ("b.yaml", SEED.read_bytes())])
    assert str(raised.value) == (
        'b.yaml:5:3: a second document is named "gpu-resource-policy"; the first is at a.yaml:5'
    )


def test_a_regular_expression_that_would_hang_does_not() -> None:
    hanging = condition(
        key="{{ regex_match('^(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!') }}", value=True
    )
    assert flaws(policy(rule(validate=PATTERN, **hanging))) == []


def test_all_policies_of_a_version_are_read_alike() -> None:
    document = policy(rule(validate=PATTERN))
    newer = compile_policy({**document, "apiVersion": "kyverno.io/v2beta1"})
    assert [each.name for each in newer.rules] == [each.name for each in compile_policy(document).rules]
