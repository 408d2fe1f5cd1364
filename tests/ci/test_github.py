"""deploy/ci/github/action.yml, step by step, as GitHub's runner would run it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.pipelines import BAD, GOOD, ROOT, bash, checkout, environment, load

ACTION: dict[str, Any] = load("deploy/ci/github/action.yml")
INSTALL, CHECK = ACTION["runs"]["steps"]
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


class Runner:
    """A runner with gpugate installed by the first step."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.variables = environment(
            home,
            GITHUB_ACTION_PATH=str(ROOT / "deploy/ci/github"),
            RUNNER_TEMP=str(home),
            GITHUB_OUTPUT=str(home / "output"),
            GITHUB_STEP_SUMMARY=str(home / "summary.md"),
            GITHUB_ACTIONS="true",
        )

    def check(self, folder: Path, **inputs: str) -> tuple[int, str]:
        """Run the second step with these inputs; its exit code and log."""
        for name in ("output", "summary.md", "gpugate.txt"):
            (self.home / name).unlink(missing_ok=True)
        given = {name: each["default"] for name, each in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        values = {name: INPUT.sub(lambda match: given[match[1]], text) for name, text in CHECK["env"].items()}
        done = bash(CHECK["run"], folder, {**self.variables, **values})
        return done.returncode, done.stdout + done.stderr

    def written(self, name: str) -> str:
        path = self.home / name
        return path.read_text() if path.exists() else ""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    made = Runner(tmp_path_factory.mktemp("runner"))
    done = bash(INSTALL["run"], made.home, made.variables)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return checkout(
        tmp_path / "repository", {"deploy/bad.yaml": BAD, "deploy/good.yaml": GOOD, "with space/a.yaml": BAD}
    )


def test_violations_become_annotations_and_fail_the_step(runner: Runner, repository: Path) -> None:
    code, log = runner.check(repository, path="deploy", policy="shipped", sarif="gpugate.sarif")
    assert code == 1
    assert "::error file=deploy/bad.yaml,line=9," in log
    assert "Pod default/bad in deploy/bad.yaml: refused" in log
    assert runner.written("output") == "sarif=gpugate.sarif\n"
    assert "Pod default/bad in deploy/bad.yaml: refused" in runner.written("summary.md")
    (run,) = json.loads((repository / "gpugate.sarif").read_text())["runs"]
    (found,) = [each for each in run["results"] if each["level"] == "error"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "deploy/bad.yaml"


def test_nothing_to_find(runner: Runner, repository: Path) -> None:
    code, log = runner.check(repository, path="deploy/good.yaml", policy="shipped")
    assert (code, "::error" in log, runner.written("output")) == (0, False, "")


def test_paths_are_lines_and_arguments_words(runner: Runner, repository: Path) -> None:
    code, log = runner.check(
        repository, path="with space\n\ndeploy/good.yaml\n", policy="shipped", args="--mode warn\n -n team-a "
    )
    assert code == 0
    assert "Pod team-a/bad in with space/a.yaml: admitted, with warnings (mode warn)" in log
    assert runner.check(repository, path="with space", policy="shipped", fail_on="warn", args="--mode warn")[0] == 1


def test_an_input_is_no_command(runner: Runner, repository: Path) -> None:
    evil = '$(touch pwned)`touch pwned`"; touch pwned; "'
    code, _ = runner.check(repository, path=evil, policy=evil, args=evil, fail_on=evil, sarif=evil)
    assert code == 2
    assert not list(repository.glob("**/pwned"))


def test_a_manifest_is_no_command_of_the_runner(runner: Runner, repository: Path) -> None:
    spec = yaml.safe_load(BAD)["spec"]
    evil = {"apiVersion": "a.example/v1", "kind": "::add-mask::a", "spec": {"template": {"spec": spec}}}
    (repository / "evil.yaml").write_text(yaml.safe_dump(evil))
    _, log = runner.check(repository, path="evil.yaml", policy="shipped")
    stop = re.search(r"^::stop-commands::(\w+)$", log, re.MULTILINE)
    assert stop is not None
    before, _, rest = log.partition(stop[0])
    quoted, _, after = rest.partition(f"::{stop[1]}::")
    assert "::add-mask::" in quoted
    assert not re.search("^::add-mask", before + after, re.MULTILINE)


def test_without_a_policy_the_step_says_so(runner: Runner, repository: Path) -> None:
    code, log = runner.check(repository)
    assert code == 2
    assert "there is no policy" in log


def test_no_action_of_others_is_used_and_every_input_is() -> None:
    assert not [step for step in ACTION["runs"]["steps"] if "uses" in step]
    assert set(INPUT.findall(str(CHECK["env"]))) == set(ACTION["inputs"])
    assert all("${{" not in step["run"] for step in ACTION["runs"]["steps"])
