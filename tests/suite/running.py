"""Running tests that are written into a folder."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from app.policy.kinds import kinds_of
from app.sources.facts import parse_facts
from app.sources.policies import policy_files
from app.suite.case import CaseResult, Failure, Sources, SuiteResult
from app.suite.coverage import Row
from app.suite.discover import Discovery
from app.suite.run import Runner

SOURCES = Sources(policy_files, lambda content: parse_facts(content).facts, kinds_of)
TODAY = date(2027, 1, 15)
POLICY = """
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: p}
spec:
  gpus: {presets: [nvidia]}
  modes: {default: warn, namespaces: {pinned: audit}}
  exempt: {namespaces: [kube-system]}
  rules:
    - rule: no-privileged
    - rule: limits-equal-requests
      repair: true
    - {rule: runtime-class, repair: true, with: {default: nvidia}}
  exceptions:
    - name: mesh
      rules: [no-privileged]
      match: {namespaces: [team-a]}
      owner: mesh@example.com
      reason: INC-1
      expires: 2027-01-31
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - {name: main, image: "main:1", resources: {limits: {nvidia.com/gpu: 1}}}
    - {name: side, image: "side:1", securityContext: {privileged: true}}
"""


class Ran(NamedTuple):
    """What came of a run."""

    suites: list[SuiteResult]
    problems: list[Failure]
    unused: list[str]
    rows: list[Row]

    @property
    def cases(self) -> list[CaseResult]:
        """The cases of all suites."""
        return [case for suite in self.suites for case in suite.cases]

    @property
    def messages(self) -> list[str]:
        """Everything that went wrong, at its place, without the folder."""
        failures = [
            *self.problems,
            *(failure for suite in self.suites for failure in suite.errors),
            *(failure for case in self.cases for failure in case.failures),
        ]
        return [f"{Path(place.file).name}:{place.line}:{place.column}: {message}" for place, message in failures]


def written(folder: Path, files: dict[str, str]) -> None:
    """Write the files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def ran(paths: Iterable[Path], *, update: bool = False, policy: str | None = None) -> Ran:
    """Run the tests below the paths."""
    discovery = Discovery(map(str, paths), policy)
    runner = Runner(SOURCES, TODAY, update=update)
    suites = list(runner.run(discovery.suites))
    return Ran(suites, discovery.problems, discovery.unused, runner.coverage.rows())


def suite_of(*cases: str) -> str:
    """A PolicyTest with these cases, each a mapping in YAML's flow style."""
    head = "apiVersion: gpugate.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\npolicies: [p.yaml]\ncases:\n"
    return head + "".join(f"  - {case}\n" for case in cases)


def run_case(folder: Path, case: str, **files: str) -> Ran:
    """Run a PolicyTest (t.yaml) with this case for POLICY (p.yaml) and POD (pod.yaml); other files by their stem."""
    written(folder, {"p.yaml": POLICY, "pod.yaml": POD, "t.yaml": suite_of(case)})
    written(folder, {f"{stem}.yaml": text for stem, text in files.items()})
    return ran([folder / "t.yaml"])
