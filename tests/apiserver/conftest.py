"""The shipped policy in front of the real API server."""

from collections.abc import Iterator

import pytest

from tests.controlplane import ControlPlane
from tests.support.cluster import Installed, installed, nvidia_runtime_class
from tests.support.server import Server


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the fixtures of one policy together in test_parity.py: each change of policy starts another server."""
    places = [place for place, item in enumerate(items) if "test_parity.py" in item.nodeid]
    ordered = sorted((items[place] for place in places), key=lambda item: item.nodeid)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane, with the RuntimeClass nvidia."""
    nvidia_runtime_class(control_plane)
    return control_plane


@pytest.fixture(scope="module")
def shipped(plane: ControlPlane) -> Iterator[Installed]:
    """A server with the shipped policy, called for the namespaces of one module."""
    with Server("shipped", drains=False) as server, installed(plane, server) as made:
        yield made
