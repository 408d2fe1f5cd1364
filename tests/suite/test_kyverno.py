"""Kyverno's tests: what is read, what is judged, and what counts as shown."""

from pathlib import Path

import pytest

from tests.suite.running import Ran, ran, written

POLICY = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
    - name: needs-class
      match: {any: [{resources: {kinds: [Pod], selector: {matchLabels: {gpu: "yes"}}}}]}
      validate: {message: a class is needed, pattern: {spec: {runtimeClassName: nvidia}}}
    - name: add-selector
      match: {any: [{resources: {kinds: [Pod], selector: {matchLabels: {gpu: "yes"}}}}]}
      mutate: {patchStrategicMerge: {spec: {nodeSelector: {+(accelerator): nvidia}}}}
"""
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: good, labels: {gpu: "yes"}}
spec: {runtimeClassName: nvidia, containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: ml, labels: {gpu: "yes"}}
spec: {containers: [], nodeSelector: {accelerator: other}}
---
apiVersion: v1
kind: Pod
metadata: {name: cpu}
spec: {containers: []}
"""
PATCHED = """
apiVersion: v1
kind: Pod
metadata: {name: good, namespace: default, labels: {gpu: "yes"}, annotations: {}}
spec: {runtimeClassName: nvidia, nodeSelector: {accelerator: nvidia}}
"""


def row(rule: str = "needs-class", resources: str = "[good]", result: str = "pass", **more: str) -> str:
    """A row of results."""
    values = {"policy": "p", "rule": rule, "kind": "Pod", "resources": resources, "result": result, **more}
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items() if value) + "}"


def run(folder: Path, *rows: str, head: str = "", policy: str = POLICY, **files: str) -> Ran:
    """Run a kyverno-test.yaml with these rows; other files by their stem."""
    test = (
        f"apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {{name: t}}\n{head}\n"
        "policies: [../policy.yaml]\nresources: [../pods.yaml]\nresults:\n" + "".join(f"  - {each}\n" for each in rows)
    )
    written(folder, {"policy.yaml": policy, "pods.yaml": PODS, ".kyverno-test/kyverno-test.yaml": test})
    written(folder, {f".kyverno-test/{stem}.yaml": text for stem, text in {"patched": PATCHED, **files}.items()})
    return ran([folder])


def only(result: Ran) -> tuple[str, list[str]]:
    """The status and the messages of the one case."""
    assert result.problems == []
    assert [suite.errors for suite in result.suites] == [()]
    (case,) = result.cases
    return case.status, [each.message for each in case.failures]


@pytest.mark.parametrize(
    ("written_row", "status", "message"),
    [
        (row(), "passed", None),
        (row(resources="[default/good]"), "passed", None),
        (row(resources="[bad]", result="fail"), "passed", None),
        (row(resources="[ml/bad]", result="fail"), "passed", None),
        (
            row(resources="[bad]"),
            "failed",
            (
                "Pod ml/bad: found fail by needs-class: a class is needed (spec.runtimeClassName is missing; "
                '"nvidia" is wanted); wanted pass'
            ),
        ),
        (row("add-selector", result="skip"), "failed", "Pod default/good: found pass by add-selector; wanted skip"),
        (row("add-selector", "[bad]", "skip"), "passed", None),
        (row("add-selector", patchedResources="patched.yaml"), "passed", None),
        (row("add-selector", patchedResource="patched.yaml"), "passed", None),
        # The old keys.
        (row(resources="", resource="good"), "passed", None),
        (row(result="", status="pass"), "passed", None),
        (row(resources="", resource="bad", namespace="ml", result="fail"), "passed", None),
        # In any case of letters.
        (row("add-selector", PatchedResources="patched.yaml"), "passed", None),
        (row(resources="", resourceSpecs="[{kind: Pod, name: bad, namespace: ml}]", result="fail"), "passed", None),
        # What shows nothing.
        (
            row("needs-clas"),
            "unproven",
            'the policy has no rule "needs-clas", so nothing was checked; it has needs-class, add-selector',
        ),
        (
            row(resources="[cpu]", result="fail"),
            "unproven",
            "Pod default/cpu: the rule is not for it (not matched, or excluded), so it has no result",
        ),
        (
            row(kind="Deployment"),
            "unproven",
            "there is no Deployment of that name; what was checked is Pod default/good",
        ),
        (
            row("add-selector", "[bad]", "skip", patchedResources="patched.yaml"),
            "unproven",
            "Pod ml/bad: it is not in {}/patched.yaml, so what became of it was not compared",
        ),
        (
            row("add-selector", "[bad]", "skip", patchedResources="patched.yaml", failOnMissingResources="true"),
            "failed",
            "Pod ml/bad: it is not in {}/patched.yaml, so what became of it was not compared",
        ),
        # What cannot be run.
        (row(policy="q"), "error", 'there is no policy "q"; there is p'),
        (row(isValidatingPolicy="true"), "error", 'the policy "p" is a ValidatingPolicy, which is not supported'),
        (row(isMUtatingPolicy="true"), "error", 'the policy "p" is a MutatingPolicy, which is not supported'),
        (
            row(generatedResource="a.yaml"),
            "error",
            "generatedResource: rules that make other objects are not supported",
        ),
    ],
)
def test_an_assertion(tmp_path: Path, written_row: str, status: str, message: str | None) -> None:
    found = only(run(tmp_path, written_row))
    wanted = [] if message is None else [message.format(tmp_path / ".kyverno-test")]
    assert found == (status, wanted)


def test_a_difference_of_the_patched_resource_is_named(tmp_path: Path) -> None:
    status, messages = only(
        run(
            tmp_path,
            row("add-selector", patchedResources="patched.yaml"),
            patched=PATCHED.replace("r: nvidia}}", "r: amd}}"),
        )
    )
    assert status == "failed"
    assert messages == [
        (
            'Pod default/good: /spec/nodeSelector/accelerator: found "nvidia", wanted "amd" '
            f"by {tmp_path / '.kyverno-test' / 'patched.yaml'}"
        )
    ]


def test_a_name_that_is_missing_beside_others_and_alone(tmp_path: Path) -> None:
    result = run(tmp_path, row(resources="[good, gone]"), row(resources="[gone]", result="fail"))
    assert [(case.case.name, case.status) for case in result.cases] == [
        ("p/needs-class/Pod/good", "passed"),
        ("p/needs-class/Pod/gone", "unproven"),
        ("p/needs-class/Pod/gone", "failed"),
    ]
    assert [each.message for each in result.cases[1].failures] == ["there is no resource gone, so nothing was checked"]
    # All resources take its place, as they do in Kyverno; here one of them does not fail.
    assert "found pass by needs-class; wanted fail" in result.cases[2].failures[0].message


def test_rules_for_controllers_count_under_the_name_of_the_rule(tmp_path: Path) -> None:
    policy = POLICY.replace(', selector: {matchLabels: {gpu: "yes"}}', "")
    deployment = (
        "\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: []}}}\n"
    )
    written(tmp_path, {"more.yaml": deployment})
    test = (
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n"
        "policies: [p.yaml]\nresources: [more.yaml]\n"
        "results:\n"
        "- {policy: p, rule: needs-class, kind: Deployment, resources: [d], result: fail}\n"
        "- {policy: p, rule: autogen-needs-class, kind: Deployment, resources: [d], result: fail}\n"
    )
    written(tmp_path, {"p.yaml": policy, "kyverno-test.yaml": test})
    assert [case.status for case in ran([tmp_path]).cases] == ["passed", "passed"]


VARIABLES = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  rules:
    - name: r
      match: {any: [{resources: {kinds: [Pod], namespaceSelector: {matchLabels: {team: ml}}}}]}
      context:
        - {name: allowed, configMap: {name: allowed, namespace: default}}
      preconditions: {all: [{key: "{{ request.operation }}", operator: Equals, value: UPDATE}]}
      validate:
        message: m
        deny:
          conditions:
            any: [{key: "{{ request.object.metadata.name }}", operator: AnyNotIn, value: "{{ allowed.data.names }}"}]
"""
VALUES = """
apiVersion: cli.kyverno.io/v1alpha1
kind: Values
globalValues: {request.operation: UPDATE}
policies:
  - name: p
    resources: [{name: bad, values: {allowed.data.names: [bad]}}]
    rules: [{name: r, values: {allowed.data.names: [good]}}]
namespaceSelector:
  - {name: default, labels: {team: ml}}
  - {name: ml, labels: {team: ml}}
"""


def test_variables_are_given(tmp_path: Path) -> None:
    rows = [row("r", "[good]", "pass"), row("r", "[cpu]", "fail")]
    result = run(tmp_path, *rows, head="variables: values.yaml", policy=VARIABLES, values=VALUES)
    assert [(case.status, case.failures) for case in result.cases] == [("passed", ()), ("passed", ())]


def test_variables_may_stand_in_the_test(tmp_path: Path) -> None:
    head = (
        "values: {globalValues: {request.operation: UPDATE}, namespaceSelector: [{name: default, labels: {team: ml}}], "
        "policies: [{name: p, rules: [{name: r, values: {allowed.data.names: [good]}}]}]}"
    )
    assert only(run(tmp_path, row("r"), head=head, policy=VARIABLES)) == ("passed", [])


def test_a_row_may_have_an_operation(tmp_path: Path) -> None:
    head = "values: {globalValues: {allowed.data.names: [x]}, namespaceSelector: [{name: default, labels: {team: ml}}]}"
    rows = [row("r", result="fail", operation="UPDATE"), row("r", result="skip", operation="CREATE")]
    result = run(tmp_path, *rows, head=head, policy=VARIABLES)
    assert [case.status for case in result.cases] == ["passed", "passed"]


def test_the_user_is_given(tmp_path: Path) -> None:
    policy = POLICY.replace(
        "      validate", "      exclude: {any: [{subjects: [{kind: User, name: admin}]}]}\n      validate", 1
    )
    user = "apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {username: admin}\n"
    status, messages = only(run(tmp_path, row(), head="userinfo: user.yaml", policy=policy, user=user))
    assert (status, messages) == (
        "unproven",
        ["Pod default/good: the rule is not for it (not matched, or excluded), so it has no result"],
    )


def test_exceptions_are_taken(tmp_path: Path) -> None:
    exception = (
        "apiVersion: kyverno.io/v2\nkind: PolicyException\nmetadata: {name: e, namespace: ml}\n"
        "spec:\n  exceptions: [{policyName: p, ruleNames: [needs-class]}]\n"
        "  match: {any: [{resources: {kinds: [Pod], names: [bad]}}]}\n"
    )
    assert only(run(tmp_path, row(resources="[bad]", result="skip"), head="exceptions: [e.yaml]", e=exception)) == (
        "passed",
        [],
    )


def test_a_policy_whose_failures_do_not_count_warns(tmp_path: Path) -> None:
    policy = POLICY.replace("{name: p}", '{name: p, annotations: {policies.kyverno.io/scored: "false"}}')
    assert only(run(tmp_path, row(resources="[bad]", result="warn"), policy=policy)) == ("passed", [])


def test_a_policy_that_is_not_supported_is_an_error_of_its_rows(tmp_path: Path) -> None:
    policy = POLICY.replace(
        "validate: {message: a class is needed, pattern: {spec: {runtimeClassName: nvidia}}}",
        "generate: {kind: ConfigMap}",
    )
    status, messages = only(run(tmp_path, row(), policy=policy))
    assert status == "error"
    assert messages[0].startswith(f'the policy "p" cannot be used: {tmp_path}/policy.yaml:9:')
    assert "rules that make other objects (generate) are not supported" in messages[0]


def test_a_policy_of_another_kind_is_named(tmp_path: Path) -> None:
    policy = "apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: p}\nspec: {}\n"
    assert only(run(tmp_path, row(), policy=policy)) == (
        "error",
        [
            (
                f'the policy "p" cannot be used: {tmp_path}/policy.yaml:1: ValidatingPolicy (policies.kyverno.io/v1) '
                "is not supported"
            )
        ],
    )


@pytest.mark.parametrize(
    ("head", "rows", "message"),
    [
        ("polices: []", [row()], 'a test has no field "polices"; did you mean policies?'),
        ("jsonPayload: a.json", [row()], "jsonPayload is not supported"),
        ("variables: gone.yaml", [row()], "{}/gone.yaml cannot be read: No such file or directory"),
        ("variables: two.yaml", [row()], "{}/two.yaml holds 2 documents; one is wanted"),
        (
            "variables: odd.yaml",
            [row()],
            '{}/odd.yaml: /globalValue: values has no field "globalValue"; did you mean globalValues?',
        ),
        (
            "exceptions: [https://example.com/e.yaml]",
            [row()],
            "https://example.com/e.yaml is not fetched; write the path of a file",
        ),
        ("", [row(result="passed")], 'a result cannot be "passed"; did you mean pass?'),
        ("", [row(operation="MAKE")], 'an operation cannot be "MAKE"; it must be one of CREATE, UPDATE, DELETE'),
        ("", [row(rulename="x")], 'a result has no field "rulename"; did you mean rule?'),
        ("", [], "there are no results, so the test asserts nothing"),
    ],
)
def test_a_test_that_is_wrong_is_not_run(tmp_path: Path, head: str, rows: list[str], message: str) -> None:
    files = {"two": "a: 1\n---\nb: 1\n", "odd": "globalValue: {}\n"}
    result = run(tmp_path, *rows, head=head, **files)
    (suite,) = result.suites
    assert suite.cases == ()
    assert message.format(tmp_path / ".kyverno-test") in suite.errors[0].message


def test_files_that_cannot_be_read_are_errors_at_their_place(tmp_path: Path) -> None:
    written(tmp_path, {"empty/readme.txt": ""})
    head = f"exceptions: [gone.yaml, {tmp_path / 'empty'}]"
    (suite,) = run(tmp_path, row(), head=head, policy="a: [").suites
    assert [each.message for each in suite.errors if "policy" not in each.place.file] == [
        f"{tmp_path / '.kyverno-test' / 'gone.yaml'} cannot be read: No such file or directory",
        f"the folder {tmp_path / 'empty'} holds no .yaml, .yml, .json file",
    ]
    assert any(each.place.file == str(tmp_path / "policy.yaml") for each in suite.errors)


def test_the_oldest_form_is_taken(tmp_path: Path) -> None:
    rows = "results:\n- {policy: p, rule: needs-class, resource: good, status: pass}\n"
    test = f"name: old\npolicies: [policy.yaml]\nresources: [pods.yaml]\n{rows}"
    written(tmp_path, {"policy.yaml": POLICY, "pods.yaml": PODS, "kyverno-test.yaml": test})
    result = ran([tmp_path])
    assert [(suite.suite.name, [case.status for case in suite.cases]) for suite in result.suites] == [
        ("old", ["passed"])
    ]


def test_other_files_of_kyverno_are_no_tests(tmp_path: Path) -> None:
    written(tmp_path, {"values.yaml": VALUES, "policy.yaml": POLICY})
    result = ran([tmp_path])
    assert (result.suites, result.problems) == ([], [])
