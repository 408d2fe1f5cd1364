"""The pytest plugin with the fixtures `control_plane` and `own_control_plane`.

One control plane serves a whole run, with or without xdist; it is started when the first test asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from .build import BuildError
from .controlplane import ControlPlane
from .keeper import Keeper, ask

_REQUIRED = "GPUGATE_REQUIRE_CONTROL_PLANE"
_WORKER_INPUT = "gpugate_control_plane"
_keeper = pytest.StashKey[Keeper]()


class Node(Protocol):
    """What is used of xdist's WorkerController, which has no types."""

    config: pytest.Config
    workerinput: dict[str, object]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Node) -> None:
    """Called in xdist's controller for each worker."""
    node.workerinput[_WORKER_INPUT] = str(_address(node.config))


def pytest_unconfigure(config: pytest.Config) -> None:
    keeper = config.stash.get(_keeper, None)
    if keeper is not None:
        del config.stash[_keeper]
        keeper.stop()


@pytest.fixture(scope="session")
def control_plane(pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """The control plane of the run. Tests share it: use namespaces, nodes and webhooks of your own."""
    yield from _attached(_address(pytestconfig))


@pytest.fixture(scope="module")
def own_control_plane() -> Iterator[ControlPlane]:
    """A control plane for one module, for tests that would disturb others."""
    yield from another_control_plane()


def another_control_plane() -> Iterator[ControlPlane]:
    """A control plane that nobody else uses, for a fixture of whatever scope."""
    keeper = Keeper()
    try:
        yield from _attached(keeper.address)
    finally:
        keeper.stop()


def _attached(address: Path) -> Iterator[ControlPlane]:
    try:
        plane = ask(address)
    except BuildError as error:
        if os.environ.get(_REQUIRED) == "1":
            raise
        pytest.skip(f"no control plane ({_REQUIRED}=1 makes this an error): {error}")
    try:
        yield plane
    finally:
        plane.stop()


def _address(config: pytest.Config) -> Path:
    worker_input = getattr(config, "workerinput", {})
    if _WORKER_INPUT in worker_input:
        return Path(worker_input[_WORKER_INPUT])
    if _keeper not in config.stash:
        config.stash[_keeper] = Keeper()
    return config.stash[_keeper].address
