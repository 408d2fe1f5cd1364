from collections.abc import Iterator

import pytest

from tests.support.server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """`gpugate serve` with the shipped policy, for tests that leave it as it is."""
    with Server() as running:
        yield running
