"""The exit code of `gpugate check`: 0 clean, 1 violations, 2 where there is no whole verdict."""

from pathlib import Path

import pytest

from tests.cli.conftest import Gpugate

CLEAN = "apiVersion: v1\nkind: Pod\nmetadata: {name: clean}\nspec: {containers: [{name: a, image: b}]}\n"
CHANGED = CLEAN.replace("image: b", "image: b, resources: {limits: {nvidia.com/gpu: 1}}")
WARNED = CLEAN.replace("spec: {", "spec: {nodeName: node-1, ")
REFUSED = CLEAN.replace("image: b", "image: b, resources: {limits: {nvidia.com/gpu: 8}, requests: {nvidia.com/gpu: 6}}")
FILES = {
    "clean.yaml": CLEAN,
    "changed.yaml": CHANGED,
    "warned.yaml": WARNED,
    "refused.yaml": REFUSED,
    "no-pods.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
    "empty.yaml": "",
    "broken.yaml": "a: [\n",
    "good/a.yaml": CLEAN,
    "mixed/a.yaml": CLEAN,
    "mixed/z.yaml": REFUSED,
    "broken-policy.yaml": "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: p}\nspec: {rule: []}\n",
}
SHIPPED = "--policy shipped"


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "mixed/gone.yaml").symlink_to("nowhere")
    (folder / "none").mkdir()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        # clean
        (f"{SHIPPED} clean.yaml", 0),
        (f"{SHIPPED} good", 0),
        (f"{SHIPPED} changed.yaml warned.yaml", 0),
        # violations
        (f"{SHIPPED} refused.yaml", 1),
        (f"{SHIPPED} good refused.yaml", 1),
        (f"{SHIPPED} --fail-on warn warned.yaml", 1),
        (f"{SHIPPED} --fail-on change changed.yaml", 1),
        (f"{SHIPPED} --fail-on none refused.yaml", 0),
        # something that cannot be read among what can, which is judged all the same
        (f"{SHIPPED} mixed", 2),
        (f"{SHIPPED} good broken.yaml", 2),
        (f"{SHIPPED} refused.yaml broken.yaml", 2),
        (f"{SHIPPED} --fail-on none broken.yaml", 2),
        # no such path
        (f"{SHIPPED} no-such", 2),
        (f"{SHIPPED} good no-such.yaml", 2),
        (f"{SHIPPED} -k no-such", 2),
        (f"{SHIPPED} --chart no-such", 2),
        # no pods
        (f"{SHIPPED} no-pods.yaml", 0),
        (f"{SHIPPED} empty.yaml", 0),
        (f"{SHIPPED} none", 0),
        (f"{SHIPPED} --fail-if-no-pods no-pods.yaml", 1),
        (f"{SHIPPED} --fail-if-no-pods empty.yaml", 1),
        (f"{SHIPPED} --fail-if-no-pods none", 1),
        (f"{SHIPPED} --fail-if-no-pods --fail-on none none", 1),
        (f"{SHIPPED} --fail-if-no-pods clean.yaml", 0),
        (f"{SHIPPED} --fail-if-no-pods broken.yaml", 2),
        # the policy
        ("clean.yaml", 2),
        ("--policy broken-policy.yaml clean.yaml", 2),
        ("--policy no-such.yaml clean.yaml", 2),
        ("--policy none clean.yaml", 2),
        # wrong usage
        (SHIPPED, 2),
        (f"{SHIPPED} --values x.yaml clean.yaml", 2),
        (f"{SHIPPED} --write-baseline b.json --fail-on none clean.yaml", 2),
        (f"{SHIPPED} --baseline no-such.json clean.yaml", 2),
        (f"{SHIPPED} --baseline clean.yaml clean.yaml", 2),
        (f"{SHIPPED} -o sarif= clean.yaml", 2),
        (f"{SHIPPED} -o xml clean.yaml", 2),
        (f"{SHIPPED} -o github -o gitlab clean.yaml", 2),
    ],
)
def test_exit_code(gpugate: Gpugate, arguments: str, code: int) -> None:
    outcome = gpugate("check", *arguments.split())
    assert outcome.code == code, outcome
    assert "Traceback" not in outcome.err
    assert bool(outcome.err) is (code == 2 or ("--fail-if-no-pods" in arguments and code == 1))


def test_what_can_be_read_is_judged_beside_what_cannot(check: Gpugate) -> None:
    outcome = check("mixed")
    assert outcome.err == "Error: mixed/gone.yaml:1:1: cannot be read: No such file or directory\n"
    assert "Pod default/clean in mixed/z.yaml: refused" in outcome.out
    assert "2 pods" in outcome.out
