"""The formats that show objects: yaml and diff."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

from app.documents import Region
from app.documents.dump import dump
from app.report.results import Style
from tests.report.conftest import Golden
from tests.report.samples import judged, placed, pod, report

SPEC = "/spec/template/spec"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "trainer", "annotations": {"학습": "예 🚀"}},
    "spec": {
        "replicas": 1,
        "template": {
            "spec": {
                "containers": [{"name": "a", "command": ["sh", "-c", "a\nb\n"], "resources": {}}],
                "tolerations": [{"key": "x", "operator": "Exists"}],
                "restartPolicy": "Always",
            }
        },
    },
}
OPERATIONS: list[tuple[str, list[dict[str, Any]]]] = [
    ("limits", [{"op": "add", "path": f"{SPEC}/containers/0/resources/limits", "value": {"nvidia.com/gpu": 2}}]),
    ("class", [{"op": "add", "path": f"{SPEC}/runtimeClassName", "value": "nvidia"}]),
    ("nodes", [{"op": "add", "path": f"{SPEC}/tolerations/-", "value": {"key": "nvidia.com/gpu", "value": "on"}}]),
    ("nodes", [{"op": "add", "path": f"{SPEC}/nodeSelector", "value": {"accelerator": "true"}}]),
]


def changed(**fields: Any) -> Any:
    findings = [
        placed("repair", f"change {number}", at=Region(1, 1, 1, 2), rule=rule, operations=tuple(operations))
        for number, (rule, operations) in enumerate(OPERATIONS)
    ]
    patch = tuple(operation for _, operations in OPERATIONS for operation in operations)
    return judged(pod(*findings, patch=patch, **fields), value=DEPLOYMENT)


def after() -> Any:
    return jsonpatch.apply_patch(DEPLOYMENT, [op for _, operations in OPERATIONS for op in operations])


CONFIG = judged(kind="ConfigMap", value={"kind": "ConfigMap", "data": {"a": "1"}})
SEEN = judged(pod(mode="warn"), value={"kind": "Deployment", "spec": {}})


def test_yaml_is_the_whole_input_after_the_changes(golden: Golden) -> None:
    before = dump(DEPLOYMENT)
    text = report("yaml", objects=[changed(), CONFIG, SEEN])
    golden("changed.yaml", text)
    assert list(yaml.safe_load_all(text)) == [after(), CONFIG.value, SEEN.value]
    assert dump(DEPLOYMENT) == before


def test_yaml_says_where_objects_are_from_and_what_is_refused() -> None:
    wrong = placed("deny", "wrong\n---\na: 1", at=Region(1, 1, 1, 2))
    refused = judged(pod(wrong, allowed=False), value={"kind": "Deployment"})
    text = report("yaml", objects=[refused])
    assert text.splitlines() == [
        "---",
        "# Source: k8s/a.yaml",
        "# Refused: p/no-privileged: wrong --- a: 1",
        "kind: Deployment",
    ]


# diff


def applied(text: str, folder: Path, before: str) -> str:
    """The text after the diff, as git applies it."""
    git = shutil.which("git")
    assert git is not None
    (folder / "k8s").mkdir()
    (folder / "k8s" / "a.yaml").write_text(before)
    command = [git, "apply", "-p0", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(command, cwd=folder, input=text.encode(), check=True)
    return (folder / "k8s" / "a.yaml").read_text()


def test_a_hunk_for_each_rule(golden: Golden) -> None:
    text = report("diff", objects=[CONFIG, changed(), SEEN])
    golden("changes.diff", text)
    assert re.findall(r"^@@ .* @@ (.*)$", text, re.MULTILINE) == [
        "p/limits: change 0",
        "p/nodes: change 2",
        "p/class: change 1",
        "p/nodes: change 3",
    ]


def test_the_diff_leads_from_the_object_to_what_yaml_writes(tmp_path: Path) -> None:
    text = report("diff", objects=[changed()])
    assert applied(text, tmp_path, dump(DEPLOYMENT)) == dump(after())


@pytest.mark.parametrize("first", range(len(OPERATIONS)))
def test_every_change_alone(tmp_path: Path, first: int) -> None:
    rule, operations = OPERATIONS[first]
    found = placed("repair", "m", at=Region(1, 1, 1, 2), rule=rule, operations=tuple(operations))
    one = judged(pod(found, patch=tuple(operations)), value=DEPLOYMENT)
    text = report("diff", objects=[one])
    assert text.count("\n@@ ") == 1
    expected = dump(jsonpatch.apply_patch(DEPLOYMENT, operations))
    assert applied(text, tmp_path, dump(DEPLOYMENT)) == expected


def test_a_change_of_an_earlier_change(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [
        {"op": "add", "path": f"{SPEC}/nodeSelector", "value": {}},
        {"op": "add", "path": f"{SPEC}/nodeSelector/a", "value": "b"},
        {"op": "add", "path": f"{SPEC}/restartPolicy", "value": "Never"},
        {"op": "add", "path": f"{SPEC}/restartPolicy", "value": "OnFailure"},
    ]
    findings = [
        placed("inject", "m", at=Region(1, 1, 1, 2), rule=f"r{number}", operations=(step,))
        for number, step in enumerate(steps)
    ]
    text = report("diff", objects=[judged(pod(*findings, patch=tuple(steps)), value=DEPLOYMENT)])
    assert applied(text, tmp_path, dump(DEPLOYMENT)) == dump(jsonpatch.apply_patch(DEPLOYMENT, steps))
    assert "Never" not in text
    assert "-      restartPolicy: Always" in text


def test_no_diff_where_nothing_is_applied() -> None:
    assert report("diff", objects=[CONFIG, SEEN]) == ""
    assert report("yaml", objects=[]) == ""


def test_colors_of_a_diff() -> None:
    plain = report("diff", objects=[changed()])
    coloured = report("diff", Style(color=True), [changed()])
    assert "\x1b[32m+" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
