"""The folders of cases: input.yaml, and expected.yaml with the verdicts by policy (policies/*.yaml)."""

from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from app.model.finding import Finding
from app.model.patch import Operation
from app.policy.compiled import Policy
from app.policy.load import load

FOLDER: Final = Path(__file__).parent
TODAY: Final = date(2026, 12, 1)


def cases() -> list[Path]:
    """Every folder with a case."""
    return sorted(path for path in FOLDER.iterdir() if path.name[:2].isdigit())


def expected(case: Path) -> dict[str, Any]:
    """What must come of the case."""
    found: dict[str, Any] = yaml.safe_load((case / "expected.yaml").read_text(encoding="utf-8"))
    return found


@cache
def policy(name: str) -> Policy:
    """A policy of the cases."""
    path = FOLDER / "policies" / f"{name}.yaml"
    return load([(path.name, path.read_bytes())])


def short(findings: list[Finding]) -> list[str]:
    """The findings as the cases write them, in alphabetical order: ``deny no-privileged container/a``."""
    return sorted(
        f"{each.outcome} {each.rule}" + (f" {each.container_kind}/{each.container}" if each.container else "")
        for each in findings
    )


def adds(patch: list[Operation]) -> list[dict[str, Any]]:
    """The patch as the cases write it; nothing but additions is ever made."""
    assert all(operation["op"] == "add" for operation in patch)
    return [{operation["path"]: operation["value"]} for operation in patch]
