"""docs/kyverno.md names what is taken of Kyverno's policies, and what is not."""

import os
import re
import sys
from pathlib import Path

import pytest

from app.kyverno import exceptions, policy
from app.kyverno.contexts import EXTERNAL
from app.kyverno.operators import NAMES
from app.kyverno.validation import CHECKS, UNSUPPORTED
from tests.contract.fixtures import ROOT
from tests.docs.transcripts import commands, rewritten, run, write_files

TEXT = (ROOT / "docs" / "kyverno.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
TAKEN, NOT_TAKEN = SECTIONS["What is taken"], SECTIONS["What is not taken"]


@pytest.mark.parametrize("name", [*NAMES, *CHECKS, *policy.KINDS, exceptions.KIND, *policy.VERSIONS])
def test_what_is_taken(name: str) -> None:
    assert re.search(rf"`(?:\w+\.)?{re.escape(name)}`", TAKEN)


@pytest.mark.parametrize("name", [*UNSUPPORTED, *policy.NOT_TAKEN, *EXTERNAL])
def test_what_is_not_taken(name: str) -> None:
    assert re.search(rf"`(?:\w+\.)?{re.escape(name)}`", NOT_TAKEN)


def test_transcripts(tmp_path: Path) -> None:
    write_files(TEXT, tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outputs = [run(command.line, tmp_path, {"PATH": path}) for command in commands(TEXT)]
    assert outputs
    assert rewritten(TEXT, outputs) == TEXT
