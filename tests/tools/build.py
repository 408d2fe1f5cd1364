"""Builds the programs that tests call, helm, kustomize and promtool, once, into a cache outside the tree.

Run as a script it prints the directory that holds them as the last line of stdout, progress on stderr. It
needs nothing but the standard library and, unless everything is cached, Go. kubectl comes with the control plane.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Programs by the Go module of the same name that pins them: program name -> package and flags.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "helm": ("helm.sh/helm/v3/cmd/helm",),
    "kustomize": ("sigs.k8s.io/kustomize/kustomize/v5",),
    # Rules need no service discovery, which is most of promtool's code.
    "promtool": ("-tags=remove_all_sd", "github.com/prometheus/prometheus/cmd/promtool"),
}

_FLAGS = ("-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w")
_HERE = Path(__file__).resolve().parent


class BuildError(Exception):
    """The programs are not there and cannot be built here."""


def programs_directory() -> Path:
    """The directory with every program, building what is missing.

    Each is built into a directory of its own, by its own versions: another one more builds nothing else anew.
    """
    built = {name: _cache_root() / f"{name}-{_key(name)}" / name for name in PROGRAMS}
    together = hashlib.sha256("\0".join(map(str, built.values())).encode()).hexdigest()[:12]
    directory = _cache_root() / f"programs-{together}"
    if not all((directory / name).exists() for name in PROGRAMS):
        directory.mkdir(parents=True, exist_ok=True)
        with (directory.parent / f"{directory.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever held the lock before may have built them.
            for name, program in built.items():
                if not program.exists():
                    _build(name, program)
                with contextlib.suppress(FileExistsError):
                    (directory / name).symlink_to(program)
    return directory


def _cache_root() -> Path:
    environment = os.environ
    if environment.get("GPUGATE_CACHE"):
        return Path(environment["GPUGATE_CACHE"], "tools").resolve()
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "gpugate", "tools").resolve()


def _key(program: str) -> str:
    digest = hashlib.sha256("\0".join((*_FLAGS, *PROGRAMS[program])).encode())
    for name in ("go.mod", "go.sum"):
        digest.update((_HERE / program / name).read_bytes())
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{sys.platform}-{machine}-{digest.hexdigest()[:12]}"


def _build(name: str, destination: Path) -> None:
    """Builds beside the destination and moves the program in place: it is never seen half written."""
    if shutil.which("go") is None:
        raise BuildError(f"building {name} needs Go, and there is none on PATH")
    _say(f"building {name} (some minutes on two cores, then cached)")
    began = time.monotonic()
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=destination.parent) as temporary:
        output = Path(temporary, name)
        result = subprocess.run(
            ["go", "build", *_FLAGS, "-o", str(output), *PROGRAMS[name]],
            cwd=_HERE / name,
            # No workspace above the module may change its versions, and no C compiler is needed.
            env={**os.environ, "GOWORK": "off", "CGO_ENABLED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise BuildError(f"go build of {name} failed:\n{result.stderr[-4000:]}")
        output.replace(destination)
    _say(f"built {name} in {time.monotonic() - began:.0f} s")


def _say(message: str) -> None:
    print(f"tools: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        print(programs_directory())
    except BuildError as error:
        sys.exit(f"tools: {error}")
