"""`gpugate check`: input, verdicts, exit codes."""

import json
import os
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.cli.conftest import Gpugate, Outcome

SCHEMA = json.loads((Path(__file__).parents[1] / "report" / "check.schema.json").read_text())
GPU = "nvidia.com/gpu"


def spec(**resources: Any) -> dict[str, Any]:
    return {"containers": [{"name": "a", "image": "b", "resources": resources}]}


def pod(name: str = "p", *, pod_spec: Any = None, **metadata: Any) -> dict[str, Any]:
    pod_spec = spec(limits={GPU: 1}) if pod_spec is None else pod_spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": pod_spec}


def workload(kind: str, template_spec: Any, api_version: str = "apps/v1") -> dict[str, Any]:
    inner: dict[str, Any] = {"template": {"spec": template_spec}}
    if kind == "CronJob":
        inner = {"jobTemplate": {"spec": inner}}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": inner}


def written(*objects: Any) -> bytes:
    return yaml.safe_dump_all(objects).encode()


CLEAN = pod("clean", pod_spec={"containers": [{"name": "a", "image": "b"}]})
MISMATCH = pod("mismatch", pod_spec=spec(limits={GPU: 8}, requests={GPU: 6}))
WARNED = pod("warned", pod_spec={"nodeName": "node-1", "containers": []})
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}


@pytest.fixture
def judge(check: Gpugate) -> Any:
    """The JSON of a run over these objects, which is checked against its schema."""

    def call(*objects: Any, options: tuple[str, ...] = ()) -> Any:
        outcome = check("-o", "json", "--fail-on", "none", *options, "-", stdin=written(*objects))
        assert outcome.code == 0, outcome
        assert outcome.err == ""
        value = outcome.json()
        Draft202012Validator(SCHEMA).validate(value)
        return value

    return call


def outcomes(entry: Any) -> list[tuple[str, str]]:
    return [(finding["rule"], finding["outcome"]) for finding in entry["findings"]]


# Verdicts


def test_a_pod_is_repaired_and_what_is_left_is_judged(judge: Any) -> None:
    obj = pod(pod_spec=spec(requests={GPU: 2}), namespace="team-a")
    (entry,) = judge(obj)["pods"]
    assert entry["allowed"]
    assert entry["changed"]
    assert entry["namespace"] == "team-a"
    assert outcomes(entry) == [
        ("limits-equal-requests", "repair"),
        ("runtime-class", "repair"),
        ("gpu-nodes", "inject"),
        ("gpu-nodes", "inject"),
    ]
    patched = jsonpatch.apply_patch(obj, entry["patch"])
    assert patched["spec"]["containers"][0]["resources"] == {"requests": {GPU: 2}, "limits": {GPU: 2}}
    (again,) = judge(patched)["pods"]
    assert again["findings"] == []
    assert not again["changed"]


@pytest.mark.parametrize(
    ("kind", "api_version", "template"),
    [
        ("Deployment", "apps/v1", "/spec/template/spec"),
        ("StatefulSet", "apps/v1", "/spec/template/spec"),
        ("DaemonSet", "apps/v1", "/spec/template/spec"),
        ("ReplicaSet", "apps/v1", "/spec/template/spec"),
        ("ReplicationController", "v1", "/spec/template/spec"),
        ("Job", "batch/v1", "/spec/template/spec"),
        ("CronJob", "batch/v1", "/spec/jobTemplate/spec/template/spec"),
    ],
)
def test_a_template_with_a_request_alone_is_refused(judge: Any, kind: str, api_version: str, template: str) -> None:
    (entry,) = judge(workload(kind, spec(requests={GPU: 1}), api_version))["pods"]
    assert not entry["allowed"]
    assert not entry["changed"]
    assert entry["template"] == template
    (refused,) = [finding for finding in entry["findings"] if finding["outcome"] == "deny"]
    assert refused["rule"] == "limits-equal-requests"
    assert refused["pointer"] == f"{template}/containers/0/resources/requests/nvidia.com~1gpu"
    assert "API server refuses this template" in refused["message"]


def test_the_patch_of_a_template_fits_the_object(judge: Any) -> None:
    obj = workload("Deployment", spec(limits={GPU: 1}))
    (entry,) = judge(obj)["pods"]
    made = jsonpatch.apply_patch(obj, entry["patch"])["spec"]["template"]["spec"]
    assert made["runtimeClassName"] == "nvidia"
    assert made["containers"] == obj["spec"]["template"]["spec"]["containers"]


def test_pods_of_a_daemonset_get_no_node_selector_and_may_tolerate_gpu_nodes(judge: Any) -> None:
    agent = {"containers": [{"name": "a"}], "tolerations": [{"key": GPU, "operator": "Exists"}]}
    value = judge(
        workload("DaemonSet", spec(limits={GPU: 1})), workload("DaemonSet", agent), workload("Deployment", agent)
    )
    gpu, daemonset, deployment = value["pods"]
    assert "/spec/template/spec/nodeSelector" not in [operation["path"] for operation in gpu["patch"]]
    assert daemonset["findings"] == []
    assert outcomes(deployment) == [("gpu-nodes-reserved", "warn")]


def test_as_written_nothing_is_repaired(judge: Any) -> None:
    (entry,) = judge(pod(pod_spec=spec(requests={GPU: 1})), options=("--as-written",))["pods"]
    assert not entry["allowed"]
    assert entry["patch"] == []
    assert outcomes(entry) == [
        ("limits-equal-requests", "deny"),
        ("runtime-class", "deny"),
        ("gpu-nodes", "note"),
        ("gpu-nodes", "note"),
    ]


@pytest.mark.parametrize(
    ("mode", "allowed", "changes"),
    [("audit", True, 0), ("warn", True, 0), ("assist", True, 3), ("enforce", False, 3)],
)
def test_modes(judge: Any, mode: str, allowed: bool, changes: int) -> None:
    (entry,) = judge(MISMATCH, options=("--mode", mode))["pods"]
    assert entry["mode"] == mode
    assert entry["allowed"] is allowed
    assert len(entry["patch"]) == changes
    assert ("limits-equal-requests", "deny") in outcomes(entry)


def test_a_disabled_namespace_is_not_looked_at(judge: Any) -> None:
    (entry,) = judge(MISMATCH, options=("--mode", "disabled"))["pods"]
    assert entry["allowed"]
    assert entry["findings"] == []


def test_mode_policy_is_each_namespaces_own(gpugate: Gpugate, folder: Path) -> None:
    policy = {
        "apiVersion": "gpugate.dev/v1alpha1",
        "kind": "GpuPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "gpus": {"presets": ["nvidia"]},
            "modes": {"default": "warn", "namespaces": {"strict": "enforce"}},
            "rules": [{"rule": "limits-equal-requests"}],
        },
    }
    (folder / "gpugate.yaml").write_bytes(written(policy))
    strict = {**MISMATCH, "metadata": {"name": "s", "namespace": "strict"}}
    outcome = gpugate("check", "--mode", "policy", "-o", "json", "-", stdin=written(MISMATCH, strict))
    assert [(entry["mode"], entry["allowed"]) for entry in outcome.json()["pods"]] == [
        ("warn", True),
        ("enforce", False),
    ]
    assert outcome.code == 1


def test_exempt_is_by_the_namespace_that_the_object_will_have(judge: Any) -> None:
    (named,) = judge({**MISMATCH, "metadata": {"name": "a", "namespace": "kube-system"}})["pods"]
    (given,) = judge(MISMATCH, options=("-n", "kube-system"))["pods"]
    assert named["exempt"] == given["exempt"] == "namespace"
    assert named["allowed"]
    (neither,) = judge(MISMATCH)["pods"]
    assert neither["namespace"] == "default"
    assert neither["exempt"] is None


def test_a_policys_own_kinds_are_judged(gpugate: Gpugate, folder: Path) -> None:
    kinds = [
        {"resource": "gangs.example.com", "kind": "Gang", "paths": ["/spec/roles/*/template/spec"], "creates": "pods"},
        {"resource": "sets.example.com", "kind": "Set", "paths": ["/spec/template/spec"], "creates": "workloads"},
    ]
    policy = yaml.safe_load((Path(__file__).parents[2] / "policies" / "gpu-pods.yaml").read_text())
    policy["spec"]["workloads"] = {"kinds": kinds}
    (folder / "p.yaml").write_bytes(written(policy))
    gang = {"apiVersion": "example.com/v1", "kind": "Gang"}
    gang["spec"] = {"roles": {"a": {"template": {"spec": spec(requests={GPU: 1})}}, "b": {}}}  # type: ignore[assignment]
    other = {"apiVersion": "example.org/v1", "kind": "Gang", "spec": gang["spec"]}
    made = workload("Set", spec(requests={GPU: 1}), "example.com/v1")
    outcome = gpugate("check", "--policy", "p.yaml", "-o", "json", "-", stdin=written(gang, other, made))
    repaired, guessed, refused = outcome.json()["pods"]
    assert repaired["template"] == guessed["template"] == "/spec/roles/a/template/spec"
    assert repaired["allowed"]
    assert not refused["allowed"]
    assert [each["guessed"] for each in (repaired, guessed, refused)] == [False, True, False]


# What is known of the cluster

RUNTIME_CLASS = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "nvidia"},
    "handler": "nvidia",
    "scheduling": {"nodeSelector": {"accelerator": "other"}},
}


def test_a_runtime_class_after_the_pod_tells_its_scheduling(judge: Any) -> None:
    (entry,) = judge(pod(), RUNTIME_CLASS)["pods"]
    assert ("runtime-class", "warn") in outcomes(entry)
    assert all(operation["path"] != "/spec/runtimeClassName" for operation in entry["patch"])


def test_a_runtime_class_of_the_input_makes_no_other_class_missing(judge: Any) -> None:
    (entry,) = judge({**RUNTIME_CLASS, "metadata": {"name": "gvisor"}}, pod())["pods"]
    assert ("runtime-class", "repair") in outcomes(entry)


def test_cluster_facts_list_all_classes(judge: Any, folder: Path) -> None:
    (folder / "facts.json").write_text('{"version": 1, "runtimeClasses": [{"name": "gvisor"}]}')
    (missing,) = judge(pod(), options=("--cluster-facts", "facts.json"))["pods"]
    assert ("runtime-class", "warn") in outcomes(missing)
    applied = {**RUNTIME_CLASS, "scheduling": None}
    (there,) = judge(pod(), applied, options=("--cluster-facts", "facts.json"))["pods"]
    assert ("runtime-class", "repair") in outcomes(there)


@pytest.mark.parametrize("content", ["{", '{"version": 2}', None])
def test_facts_that_cannot_be_read(check: Gpugate, folder: Path, content: str | None) -> None:
    if content is not None:
        (folder / "facts.json").write_text(content)
    outcome = check("--cluster-facts", "facts.json", "-")
    assert outcome.code == 2
    assert "facts.json" in outcome.err


def test_a_claim_template_of_the_input_tells_what_a_claim_asks_for(judge: Any) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-gpu"},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}},
    }
    claiming = {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        "containers": [{"name": "a", "image": "b", "resources": {"claims": [{"name": "gpu"}]}}],
    }
    (known,) = judge(pod(pod_spec=claiming), claim)["pods"]
    (elsewhere,) = judge(pod(pod_spec=claiming, namespace="other"), claim)["pods"]
    assert known["gpu"]
    assert not elsewhere["gpu"]


# Input


def test_documents_lists_and_kinds_without_pods(judge: Any) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [CONFIG, pod("in-list")]}
    volcano = workload("Job", spec(limits={GPU: 1}), "batch.volcano.sh/v1alpha1")
    value = judge(CONFIG, listed, volcano, pod("", generateName="run-"), {"not": "an object of the API"})
    first, second = value["pods"]
    assert (first["name"], first["document"], first["item"]) == ("in-list", 2, 1)
    assert (second["name"], second["generateName"], second["item"]) == (None, "run-", None)
    assert value["summary"] | {"changed": 0} == {
        "files": 1, "objects": 6, "skipped": 4, "pods": 2, "gpuPods": 2, "refused": 0, "warned": 0, "changed": 0,
        "exempt": 0, "known": 0, "errors": 0,
    }  # fmt: skip


def test_an_admission_review_is_judged_by_its_request(check: Gpugate) -> None:
    request = {
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "team-a",
        "object": MISMATCH,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    outcome = check("-o", "json", "-", stdin=json.dumps(review, indent=1).encode())
    (entry,) = outcome.json()["pods"]
    assert (entry["kind"], entry["namespace"], entry["template"]) == ("Pod", "team-a", "/spec")
    (refused,) = [finding for finding in entry["findings"] if finding["outcome"] == "deny"]
    assert refused["pointer"].startswith("/spec/containers/0/")
    assert json.dumps(review, indent=1).splitlines()[refused["line"] - 1].strip() == '"nvidia.com/gpu": 6'
    del review["request"]
    assert check("-", stdin=json.dumps(review).encode()).code == 2


@pytest.fixture
def tree(folder: Path) -> Path:
    for name in ("b/z.yaml", "b/a.yml", "a.json", "c.txt", ".git/x.yaml", ".hidden.yaml"):
        path = folder / "t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(pod(name)))
    (folder / "t/b/loop").symlink_to("..")
    return folder / "t"


def files(outcome: Outcome) -> list[str]:
    return [entry["file"] for entry in outcome.json()["pods"]]


def test_a_folder_is_walked_in_order(check: Gpugate, tree: Path) -> None:
    assert files(check("-o", "json", "t")) == ["t/a.json", "t/b/a.yml", "t/b/z.yaml"]
    assert files(check("-o", "json", "t/b/")) == ["t/b/a.yml", "t/b/loop/a.json", "t/b/z.yaml"]


def test_a_file_that_is_named_may_have_any_name(check: Gpugate, tree: Path) -> None:
    assert files(check("-o", "json", "t/c.txt", "t/.hidden.yaml")) == ["t/c.txt", "t/.hidden.yaml"]


def test_a_pipe_is_read_once(check: Gpugate, folder: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, written(pod(), RUNTIME_CLASS))
    os.close(writer)
    outcome = check("-o", "json", f"/dev/fd/{reader}")
    os.close(reader)
    assert outcome.json()["summary"]["pods"] == 1


def test_line_ends_of_windows_and_a_byte_order_mark(check: Gpugate) -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n    resources:\n"
    text += "      limits:\n        nvidia.com/gpu: 500m\n"
    outcome = check("-", stdin=b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert "<stdin>:9:25: deny" in outcome.out
    assert "    9 |         nvidia.com/gpu: 500m\n      |                         ^^^^\n" in outcome.out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_byte_order_mark(check: Gpugate, encoding: str) -> None:
    outcome = check(
        "-", stdin=written(pod("ü", pod_spec=spec(limits={GPU: 0.5})), RUNTIME_CLASS).decode().encode(encoding)
    )
    assert "        nvidia.com/gpu: 0.5\n" in outcome.out
    assert 'runtimeClassName "nvidia" was left out' in outcome.out


# Exit codes


@pytest.fixture
def inputs(folder: Path) -> Path:
    (folder / "clean.yaml").write_bytes(written(CLEAN, CONFIG))
    (folder / "changed.yaml").write_bytes(written(pod()))
    (folder / "warned.yaml").write_bytes(written(WARNED))
    (folder / "refused.yaml").write_bytes(written(MISMATCH))
    (folder / "none.yaml").write_bytes(written(CONFIG))
    (folder / "broken.yaml").write_text("a: [\n")
    (folder / "malformed.yaml").write_text("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - resources: 1\n")
    (folder / "twice.yaml").write_text("a: 1\na: 2\n")
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("clean.yaml", 0),
        ("changed.yaml", 0),
        ("warned.yaml", 0),
        ("refused.yaml", 1),
        ("clean.yaml refused.yaml", 1),
        ("--as-written changed.yaml", 1),
        ("--mode audit refused.yaml", 0),
        ("--mode assist refused.yaml", 0),
        ("--fail-on none refused.yaml", 0),
        ("--fail-on warn warned.yaml", 1),
        ("--fail-on warn changed.yaml", 0),
        ("--fail-on warn refused.yaml", 1),
        ("--fail-on warn --mode assist refused.yaml", 1),
        ("--fail-on change changed.yaml", 1),
        ("--fail-on change warned.yaml", 1),
        ("--fail-on change clean.yaml", 0),
        ("none.yaml", 0),
        ("empty", 0),
        ("--fail-if-no-pods none.yaml", 1),
        ("--fail-if-no-pods empty", 1),
        ("--fail-if-no-pods clean.yaml", 0),
        ("broken.yaml", 2),
        ("twice.yaml", 2),
        ("malformed.yaml", 2),
        ("no-such.yaml", 2),
        ("broken.yaml clean.yaml", 2),
        ("refused.yaml no-such.yaml", 2),
        ("--fail-on none broken.yaml", 2),
        ("-o jsonn clean.yaml", 2),
        ("-o json= clean.yaml", 2),
        ("-o json -o text clean.yaml", 2),
        ("-o json=a -o text=a clean.yaml", 2),
        ("-o json=no/such/folder clean.yaml", 2),
        ("-q -v clean.yaml", 2),
    ],
)
def test_exit_codes(check: Gpugate, inputs: Path, arguments: str, code: int) -> None:
    assert check(*arguments.split()).code == code


def test_what_can_be_read_is_judged_beside_what_cannot(check: Gpugate, inputs: Path) -> None:
    outcome = check("-o", "json", "broken.yaml", "no-such.yaml", "malformed.yaml", "refused.yaml")
    value = outcome.json()
    Draft202012Validator(SCHEMA).validate(value)
    assert [entry["file"] for entry in value["pods"]] == ["refused.yaml"]
    assert [(each["file"], each["line"]) for each in value["errors"]] == [
        ("broken.yaml", value["errors"][0]["line"]),
        ("no-such.yaml", 1),
        ("malformed.yaml", 5),
    ]
    assert value["errors"][1]["message"] == "cannot be read: No such file or directory"
    assert value["summary"]["errors"] == 3
    assert value["summary"]["skipped"] == 0
    assert outcome.err.splitlines() == [
        f"Error: {each['file']}:{each['line']}:{each['column']}: {each['message']}" for each in value["errors"]
    ]


@pytest.mark.parametrize(
    ("metadata", "line"), [("metadata: x", 3), ("metadata:\n  name: 3", 4), ("metadata:\n  labels: {a: 1}", 4)]
)
def test_metadata_that_the_api_server_could_not_read(check: Gpugate, metadata: str, line: int) -> None:
    text = f"apiVersion: v1\nkind: Pod\n{metadata}\nspec: {{containers: []}}\n"
    outcome = check("-", stdin=text.encode())
    assert outcome.code == 2
    assert outcome.err.startswith(f"Error: <stdin>:{line}:")
    other = text.replace("kind: Pod", "kind: Values")
    assert check("-", stdin=other.encode()).code == 0


@pytest.mark.parametrize("content", ["a: [\n", "kind: Pod\n", None])
def test_a_policy_that_cannot_be_used(gpugate: Gpugate, folder: Path, content: str | None) -> None:
    if content is not None:
        (folder / "policy.yaml").write_text(content)
    outcome = gpugate("check", "--policy", "policy.yaml", "-", stdin=written(MISMATCH))
    assert outcome.code == 2
    assert outcome.out == ""
    assert "policy.yaml:1:" in outcome.err or "policy.yaml:2:" in outcome.err


def test_no_policy_is_no_verdict(gpugate: Gpugate, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = gpugate("check", "-", stdin=written(CLEAN))
    assert outcome.code == 2
    for place in ("--policy FILE", "$GPUGATE_POLICY", "./gpugate.yaml", "--policy shipped"):
        assert place in outcome.err
    monkeypatch.setenv("GPUGATE_POLICY", "shipped")
    assert gpugate("check", "-", stdin=written(CLEAN)).code == 0


# Output


def test_findings_go_to_standard_output_and_errors_to_the_other(check: Gpugate, inputs: Path) -> None:
    outcome = check("refused.yaml", "no-such.yaml")
    assert "refused.yaml:" in outcome.out
    assert "no-such.yaml" not in outcome.out
    assert outcome.err == "Error: no-such.yaml:1:1: cannot be read: No such file or directory\n"


def test_several_outputs_at_once(check: Gpugate, inputs: Path) -> None:
    outcome = check("-o", "text", "-o", "json=out.json", "refused.yaml")
    assert outcome.out.startswith("Pod default/mismatch in refused.yaml: refused\n")
    assert json.loads((inputs / "out.json").read_text())["summary"]["refused"] == 1
    silent = check("-o", "json=out.json", "refused.yaml")
    assert (silent.code, silent.out, silent.err) == (1, "", "")


def test_quiet_and_verbose(check: Gpugate, inputs: Path) -> None:
    assert check("-q", "changed.yaml", "clean.yaml").out == ""
    assert "deny" in check("-q", "refused.yaml").out
    assert "clean" not in check("clean.yaml").out.splitlines()[0]
    assert check("-v", "clean.yaml").out.startswith("Pod default/clean in clean.yaml: admitted\n")
    assert "note" not in check("--as-written", "refused.yaml").out
    assert "note gpu-pods/gpu-nodes" in check("--as-written", "-v", "refused.yaml").out


def test_color(check: Gpugate, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in check("refused.yaml").out
    assert "\x1b[" in check("--color", "always", "refused.yaml").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[" in check("refused.yaml").out
    assert "\x1b[" not in check("--color", "never", "refused.yaml").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in check("refused.yaml").out
    assert "\x1b[" in check("--color", "always", "refused.yaml").out
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in check("refused.yaml").out


# Documentation

PAGE = (Path(__file__).parents[2] / "docs" / "check.md").read_text()


def block(language: str) -> str:
    """The first block of the page in a language."""
    return PAGE.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def test_the_page_shows_what_happens(check: Gpugate, folder: Path) -> None:
    (folder / "deploy").mkdir()
    (folder / "deploy" / "trainer.yaml").write_text(block("yaml"))
    assert block("console") == "$ gpugate check --policy shipped deploy/\n" + check("deploy/").out


def test_the_page_shows_the_json_as_it_is() -> None:
    example = json.loads(block("json").replace("sha256:…", "sha256:" + "0" * 64))
    Draft202012Validator(SCHEMA).validate(example)


def test_the_page_names_every_option(gpugate: Gpugate) -> None:
    options = {word.strip(",.") for word in gpugate("check", "--help").out.split() if word.startswith("--")}
    assert not {option for option in options - {"--help", "--output", "--quiet", "--verbose"} if option not in PAGE}
