"""Where the parts of a pod stand."""

import pytest

from app.model.patch import add
from app.model.places import Place, Places
from app.model.pod import MalformedPod


@pytest.fixture
def places() -> Places:
    found = Places({"spec": {"container": {"env": []}, "list": [{}], "nothing": None}})
    found.put("/spec/containers/0", Place("/spec/container"))
    found.put("/spec/containers/0/resources", Place("/spec/container/compute"))
    found.put("/spec/tolerations", Place("/spec/all/tolerations", "it is everybody's"))
    found.put("/spec/runtimeClassName", Place("/spec/runtimeClassName", "there is none", missing=True))
    found.put("/spec/nodeName", Place("/spec/patch", "a text says it", whole=True))
    found.put("/spec/affinity", Place("/spec/list/0/settings/affinity"))
    found.put("/spec/nodeSelector", Place("/spec/nothing/nodeSelector"))
    return found


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ("/spec/containers/0", "/spec/container"),
        ("/spec/containers/0/env/1", "/spec/container/env/1"),
        ("/spec/containers/0/resources/limits/a~1b", "/spec/container/compute/limits/a~1b"),
        ("/spec/containers/00", "/spec/containers/00"),
        ("/spec/tolerations/2/key", "/spec/all/tolerations/2/key"),
        ("/spec/runtimeClassName", "/spec/runtimeClassName"),
        ("/spec/nodeName/x", "/spec/patch"),
        ("/metadata/labels", "/metadata/labels"),
        ("", ""),
    ],
)
def test_a_part_is_found_by_its_longest_listed_beginning(places: Places, pointer: str, place: str) -> None:
    assert places.find(pointer).pointer == place


def test_operations_go_to_the_place_and_make_the_way_to_it_once(places: Places) -> None:
    made: set[str] = set()
    limits = [add("/spec/containers/0/resources/limits", {"a": 1}), add("/spec/containers/0/resources/b", 1)]
    assert places.operations(limits, made) == [
        add("/spec/container/compute", {}),
        add("/spec/container/compute/limits", {"a": 1}),
        add("/spec/container/compute/b", 1),
    ]
    assert places.operations(limits[:1], made) == [add("/spec/container/compute/limits", {"a": 1})]
    assert places.operations([add("/spec/affinity", {})], made) == [
        add("/spec/list/0/settings", {}),
        add("/spec/list/0/settings/affinity", {}),
    ]
    assert places.operations([add("/spec/nodeSelector", {})], made) == [
        add("/spec/nothing", {}),
        add("/spec/nothing/nodeSelector", {}),
    ]
    assert places.operations([add("/spec/containers/0/env/-", {})], set()) == [add("/spec/container/env/-", {})]


@pytest.mark.parametrize("pointer", ["/spec/tolerations/-", "/spec/runtimeClassName", "/spec/nodeName"])
def test_operations_without_a_place(places: Places, pointer: str) -> None:
    assert places.operations([add("/spec/containers/0/env/-", {}), add(pointer, 1)], set()) is None


def test_an_error_is_at_the_field_of_the_object(places: Places) -> None:
    error = places.malformed(MalformedPod("/spec/containers/0/resources/limits", "x", "a map"))
    assert (error.pointer, str(error)) == (
        "/spec/container/compute/limits",
        "spec.container.compute.limits must be a map, found text",
    )
