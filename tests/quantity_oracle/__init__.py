"""What the API server makes of quantities: its own code, in a small Go program that is built once and cached."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FLAGS = ("-mod=readonly", "-buildvcs=false", "-trimpath")


def ask(values: Sequence[str]) -> list[int | None]:
    """For each JSON value, the quantity in thousandths; None for one that the API server refuses."""
    assert not any("\n" in value for value in values)
    lines = "".join(f"{value}\n" for value in values)
    result = subprocess.run([_program()], input=lines, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    answers = result.stdout.splitlines()
    assert len(answers) == len(values)
    return [_milli(answer) for answer in answers]


def _milli(answer: str) -> int | None:
    if answer == "error":
        return None
    unscaled, scale = map(int, answer.split())
    assert scale <= 3  # as it has been rounded
    milli: int = unscaled * 10 ** (3 - scale)
    return milli


def _program() -> Path:
    digest = hashlib.sha256("\0".join(_FLAGS).encode())
    for name in ("main.go", "go.mod", "go.sum"):
        digest.update((_HERE / name).read_bytes())
    program = _cache_root() / f"oracle-{digest.hexdigest()[:12]}"
    if not program.exists():
        _build(program)
    return program


def _cache_root() -> Path:
    # As tests/controlplane/build.py, which says why.
    if os.environ.get("GPUGATE_CACHE"):
        return Path(os.environ["GPUGATE_CACHE"], "quantity-oracle").resolve()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "gpugate", "quantity-oracle").resolve()


def _build(program: Path) -> None:
    """Builds beside the program and moves it in place: whoever builds at the same time does no harm."""
    if shutil.which("go") is None:
        raise RuntimeError("comparing quantities with the API server's code needs Go, and there is none on PATH")
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=program.parent) as temporary:
        built = Path(temporary, program.name)
        subprocess.run(
            ["go", "build", *_FLAGS, "-o", str(built), "."],
            cwd=_HERE,
            env={**os.environ, "GOWORK": "off", "CGO_ENABLED": "0"},
            check=True,
        )
        built.replace(program)
