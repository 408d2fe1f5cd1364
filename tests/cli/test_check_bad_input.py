"""What `gpugate check` says of input that it cannot read: one error with file and line, exit code 2, and all else is
judged. The same files where other options and commands take one."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Gpugate

ROOT = Path(__file__).parents[2]
CONTAINER = "{name: a, image: b, resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}}"
POD = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - {CONTAINER}\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)
LIST = "apiVersion: v1\nkind: List\nitems:\n- %s\n- " + POD.replace("\n", "\n  ")
BINARY = bytes(range(256)) * 10
GZIP = b"\x1f\x8b\x08\x00" + bytes(range(255, 0, -1))
NOT_TEXT = "not text: found a NUL byte, as in a binary file, or in UTF-16 without a byte order mark"
RENDER = "; judge what Helm makes of it: check --chart DIR, or helm template DIR | gpugate check -"
SEEMS = "a Helm template that was not rendered, it seems (as YAML: "
UNRENDERED = f"a Helm template that was not rendered{RENDER}"

BAD: dict[str, tuple[str | bytes, str]] = {
    "binary": (BINARY, f"1:1: {NOT_TEXT}"),
    "a program": (Path(sys.executable).resolve().read_bytes()[:100_000], f"1:8: {NOT_TEXT}"),
    "gzip": (GZIP, f"1:4: {NOT_TEXT}"),
    "binary with separators": (BINARY + b"\n---\n" + BINARY + b"\n---\n", f"1:1: {NOT_TEXT}"),
    "UTF-16 without a mark": (POD.encode("utf-16-le"), f"1:2: {NOT_TEXT}"),
    "Latin-1": ("a: Straße\n".encode("latin-1"), "1:9: not UTF-8: "),
    "a control character": ("a: \x07\n", "1:4: the control character U+0007 is not allowed"),
    "a duplicate key": ("---\na: 1\n---\nspec:\n  x: 1\n  x: 1\n", '6:3: duplicate key "x", first on line 5'),
    "a duplicate key of JSON": ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}\n', '3:2: duplicate key "c", first on line 2'),
    "no anchor": ("a: &x 1\nb: *y\n", "2:4: no anchor"),
    "a tab": ("a:\n\tb: 1\n", "2:1: a tab can't indent"),
    "deep, in flow": ("a: " + "[" * 201 + "]" * 201 + "\n", "1:203: nested more than 200 levels deep"),
    "deep, in blocks": ("".join(f"{' ' * n}a:\n" for n in range(202)), "201:201: nested more than 200 levels deep"),
    "deeper than the stack": ("- " * 100_000 + "\n", "1:1999: nested more than 200 levels deep"),
    "deep JSON": ('{"a": ' * 201 + "1" + "}" * 201 + "\n", "1:1: nested more than 200 levels deep"),
    "deep, in an item": (LIST % ("a: " + "[" * 201 + "]" * 201), "4:205: nested more than 200 levels deep"),
    "a bomb": (BOMB, "1:4: aliases add more than 100000 values"),
    "a bomb of merges": (
        BOMB.replace("[", "{<<: [", 1).replace("]", "]}", 1),
        "1:37: << takes a mapping or a list of mappings",
    ),
    "a bomb in an item": (LIST % ("x: 1\n  " + BOMB.replace("\n", "\n  ")), "aliases add more than 100000 values"),
    # Helm
    "a value": ("apiVersion: v1\nkind: Pod\nspec: {{ .Values.spec }}\n", f"3:8: {SEEMS}a mapping can't be a key)"),
    "two values": ("kind: Pod\nx:\n  image: {{ .Values.a }}:{{ .Values.b }}\n", f"3:25: {SEEMS}"),
    "a line": ("{{- if .Values.on }}\n" + POD + "{{- end }}\n", f"1:3: {SEEMS}while parsing a flow node: "),
    "a line that is indented": (POD + "    {{- toYaml .Values.x | nindent 4 }}\n", f"7:5: {SEEMS}while parsing"),
    "a comment": ("{{/* about it */}}\n\n" + POD, f"3:1: {SEEMS}the document ends before this"),
    "documents": ("{{- range .Values.x }}\n---\n" + POD + "{{- end }}\n---\n{{ x }}\n", f"1:3: {SEEMS}"),
    "a definition": ('{{- define "x" -}}\na: b\n{{- end -}}\n', f"1:3: {SEEMS}"),
    "an item": (LIST % "{{ .Values.x }}", f"4:4: {SEEMS}"),
    "in quotes": (POD.replace("name: p", 'name: "{{ .Release.Name }}-p"'), f"3:18: {UNRENDERED}"),
    "a number in quotes": (POD.replace("gpu: 2", "gpu: '{{ .Values.gpus }}'"), f"6:62: {UNRENDERED}"),
    "an include": (POD.replace("name: p", "labels: {'{{- include \"x.labels\" . }}': x}"), f"3:52: {UNRENDERED}"),
    "where a map belongs": (POD.replace(f"\n  - {CONTAINER}", ' "{{ toYaml .Values.c }}"'), f"5:15: {UNRENDERED}"),
    "a file of them": ((POD.replace("image: b", "image: '{{ .Chart.Name }}'") + "---\n") * 3, f"6:22: {UNRENDERED}"),
    "in UTF-16": (
        POD.replace("name: p", 'name: "{{ .Release.Name }}"').encode("utf-16"),
        f"3:18: {UNRENDERED}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_it_is_one_error_at_its_line_and_the_rest_is_judged(
    check: Gpugate, folder: Path, content: str | bytes, message: str
) -> None:
    (folder / "bad.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "good.yaml").write_text(POD)
    outcome = check("-q", "bad.yaml", "good.yaml")
    assert outcome.code == 2
    (error,) = outcome.err.splitlines()
    assert error.startswith("Error: bad.yaml:")
    assert message in error
    assert error.endswith(RENDER) is ("Helm" in error)
    assert "in good.yaml: refused" in outcome.out


@pytest.mark.parametrize(
    "text",
    [
        POD.replace("name: a,", 'name: a, args: ["{{ .Values.x }}"], env: [{name: a, value: "{{ .Release.Name }}"}],'),
        POD.replace("name: p", "name: p, annotations: {a: '{{ .Values.x }}'}"),
        POD.replace("image: b", 'image: "{{inputs.parameters.image}}"'),
        POD.replace("image: b", 'image: "{{ $labels.Values }}"'),
        "# {{ .Values.x }}\n" + POD,
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\n---\n' + POD,
    ],
)
def test_other_templates_and_free_text_are_values(check: Gpugate, text: str) -> None:
    outcome = check("-", stdin=text.encode())
    assert (outcome.code, outcome.err) == (1, "")


def test_braces_are_blamed_for_nothing_else(check: Gpugate) -> None:
    text = "data: '{{ .Values.x }}'\nb: 1\nc: [\n"
    assert check("-", stdin=text.encode()).err.startswith("Error: <stdin>:4:1: while parsing a flow node: ")


# What is there, and cannot be opened

UNPRIVILEGED = """
import ctypes, os, sys
for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: without them root too needs the file's permission
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.executable, [sys.executable, "-P", "-c", "from app.cli.main import run; run()", *sys.argv[1:]])
"""


@pytest.fixture
def closed(folder: Path) -> Path:
    """A folder with files that cannot be read among some that can."""
    tree = folder / "t"
    (tree / "closed").mkdir(parents=True)
    for name in ("a.yaml", "m.yaml", "z.yaml", "closed/x.yaml"):
        (tree / name).write_text(POD)
    (tree / "m.yaml").chmod(0)
    (tree / "closed").chmod(0)
    return tree


def test_files_and_folders_without_permission(closed: Path) -> None:
    command = [sys.executable, "-c", UNPRIVILEGED, "check", "-q", "--policy", "shipped", "t"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.stderr.splitlines() == [
        "Error: t/closed:1:1: cannot be read: Permission denied",
        "Error: t/m.yaml:1:1: cannot be read: Permission denied",
    ]
    assert done.stdout.count(": refused\n") == 2
    assert done.returncode == 2


def test_links_that_lead_to_themselves(check: Gpugate, folder: Path) -> None:
    (folder / "t").mkdir()
    (folder / "t/a.yaml").write_text(POD)
    (folder / "t/loop.yaml").symlink_to("loop.yaml")
    (folder / "t/up").symlink_to(".")
    outcome = check("-q", "t")
    assert outcome.err == "Error: t/loop.yaml:1:1: cannot be read: Too many levels of symbolic links\n"
    assert (outcome.code, outcome.out.count(": refused\n")) == (2, 1)


def test_what_is_no_file(check: Gpugate, folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.yaml")
        (folder / "z.yaml").write_text(POD)
        outcome = check("-q", ".")
    assert outcome.err.splitlines() == [
        "Error: ./pipe.yaml:1:1: is not a regular file",
        "Error: ./socket.yaml:1:1: is not a regular file",
    ]
    assert (outcome.code, outcome.out.count(": refused\n")) == (2, 1)


# The same where something else than manifests is read

FILES = {"binary": BINARY, "deep": ("[" * 100_000).encode(), "bomb": BOMB.encode(), "template": b"a: {{ .Values.a }}\n"}
COMMANDS = [
    "check --policy {} good.yaml",
    "check --policy shipped --baseline {} good.yaml",
    "check --policy shipped --cluster-facts {} good.yaml",
    "check --policy shipped --chart {}",
    "check --policy shipped -k {}",
    "explain file --policy shipped {}",
    "replay --policy shipped {}",
    "test {}",
    "manifests --policy shipped --url https://127.0.0.1:9443 --ca-file {}",
]


@pytest.mark.parametrize("kind", [*FILES, "loop", "gone"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_fails_by_itself(gpugate: Gpugate, folder: Path, command: str, kind: str) -> None:
    (folder / "good.yaml").write_text(POD)
    if kind == "loop":
        (folder / "bad.yaml").symlink_to("bad.yaml")
    elif kind != "gone":
        (folder / "bad.yaml").write_bytes(FILES[kind])
    outcome = gpugate(*command.format("bad.yaml").split())
    assert outcome.code == 2
    said = outcome.err + outcome.out
    assert "Traceback" not in said
    assert "bad.yaml" in said


def test_a_folder_of_policies_names_the_file_that_it_cannot_read(gpugate: Gpugate, folder: Path) -> None:
    (folder / "p").mkdir()
    (folder / "p/a.yaml").symlink_to("a.yaml")
    assert "\np/a.yaml:1:1: cannot be read: Too many levels" in gpugate("check", "--policy", "p", ".").err
    (folder / "p/a.yaml").unlink()
    os.mkfifo(folder / "p/a.yaml")
    assert "\np/a.yaml:1:1: is not a regular file" in gpugate("check", "--policy", "p", ".").err


def test_a_folder_of_tests_with_a_pipe(gpugate: Gpugate, folder: Path) -> None:
    (folder / "pass").mkdir()
    os.mkfifo(folder / "policy.yaml")
    os.mkfifo(folder / "pass/a.yaml")
    outcome = gpugate("test", ".")
    assert outcome.code == 2
    assert {"  pass/a.yaml:1:1: is not a regular file", "  policy.yaml:1:1: is not a regular file"} <= {
        *outcome.out.splitlines()
    }


def test_a_test_of_a_file_that_can_have_no_such_name(gpugate: Gpugate, folder: Path) -> None:
    (folder / "test.yaml").write_text(
        "apiVersion: gpugate.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\npolicies: [shipped]\ncases:\n"
        '  - {name: a, object: "a\\0b", expect: {allowed: true}}\n'
        '  - {name: b, object: {apiVersion: v1, kind: Pod, spec: {}}, clusterFacts: "\\0", expect: {allowed: true}}\n'
    )
    outcome = gpugate("test", "test.yaml")
    assert outcome.code in (1, 2)
    assert outcome.out.count("cannot be read: embedded null byte") == 2
    (folder / "test.yaml").write_text((folder / "test.yaml").read_text().replace("[shipped]", '["\\0"]'))
    assert "cannot be read: embedded null byte" in gpugate("test", "test.yaml").out


def test_a_folder_of_recordings(gpugate: Gpugate, folder: Path) -> None:
    (folder / "r").mkdir()
    (folder / "r/a.json").symlink_to("nowhere")
    (folder / "r/b.jsonl").write_bytes(BINARY + b"\n" + BINARY)
    outcome = gpugate("replay", "--policy", "shipped", "r")
    assert outcome.code == 2
    gone, binary = outcome.err.splitlines()
    assert gone == "Error: r/a.json: cannot be read: No such file or directory"
    assert binary.startswith("Error: r/b.jsonl:1: not text: found a NUL byte, as in a binary file")
