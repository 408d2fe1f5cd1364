"""A namespace with a keeper's rights for each test, in a control plane for keepers alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controlplane import ControlPlane
from tests.controlplane.plugin import another_control_plane
from tests.support.keeper import Site


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """Not the one that all tests share. A keeper writes the configurations of a whole cluster, which look at every
    namespace whose label changes, whoever made it: nobody's warnings, calls or pods but those of keepers may depend on
    them."""
    yield from another_control_plane()


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
