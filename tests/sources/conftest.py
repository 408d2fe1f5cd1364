"""The real helm, kustomize and kubectl."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.controlplane.build import programs_directory as control_plane_programs
from tests.tools import programs_directory


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Where each program is."""
    tools = programs_directory()
    return {
        "helm": tools / "helm",
        "kustomize": tools / "kustomize",
        "kubectl": control_plane_programs() / "kubectl",
    }


@pytest.fixture
def only(
    programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Leave only these programs on PATH."""

    def call(*names: str) -> None:
        folder = tmp_path_factory.mktemp("bin")
        for name in names:
            (folder / name).symlink_to(programs[name])
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setenv("HOME", str(folder))

    return call
