"""A namespace with a keeper's rights for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controlplane import ControlPlane
from tests.support.keeper import Site


@pytest.fixture
def make_site(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Callable[..., Site]]:
    made: list[Site] = []

    def make(**options: bool) -> Site:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Site(control_plane, folder, **options))
        return made[-1]

    yield make
    for site in made:
        site.close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()
