"""Requests to a real API server: what comes back, page by page, and what is said when it does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.cluster.client import APPLY_PATCH, JSON_PATCH, Cluster
from app.cluster.errors import Conflict, Expired, NotFound, Rejected, Unavailable, Unreachable
from tests.controlplane import ControlPlane
from tests.support.apiproxy import ApiProxy, Fault, api_proxy

MAPS = "/api/v1/namespaces/{}/configmaps"


@pytest.fixture
def cluster(control_plane: ControlPlane) -> Cluster:
    return Cluster.connect(kubeconfig=str(control_plane.kubeconfig))


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[ApiProxy]:
    with api_proxy(control_plane) as made:
        yield made


@pytest.fixture
def proxied(proxy: ApiProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)
    return Cluster.connect(kubeconfig=str(proxy.kubeconfig(tmp_path)))


@pytest.fixture
def maps(control_plane: ControlPlane) -> str:
    """The path of a new namespace's ConfigMaps: m-0 to m-5, and kube-root-ca.crt."""
    namespace = control_plane.namespace("client")
    path = MAPS.format(namespace)
    api = control_plane.client()
    for number in range(6):
        api.post(path, config_map(f"m-{number}")).expect(201)
    control_plane.wait_for(lambda: api.get(f"{path}/kube-root-ca.crt").status == 200, message="kube-root-ca.crt")
    return path


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def names(cluster: Cluster, path: str, limit: int) -> list[list[str]]:
    return [[item["metadata"]["name"] for item in page] for page in cluster.pages(path, limit=limit)]


def test_an_object_is_made_read_changed_and_deleted(cluster: Cluster, maps: str) -> None:
    made = cluster.create(maps, config_map("one", a="1"))
    path = f"{maps}/one"
    assert cluster.get(path) == made

    replaced = cluster.replace(path, {**made, "data": {"a": "2"}})
    assert replaced["data"] == {"a": "2"}
    assert cluster.patch(path, {"data": {"b": "3"}})["data"] == {"a": "2", "b": "3"}
    removed = cluster.patch(path, [{"op": "remove", "path": "/data/a"}], content_type=JSON_PATCH)
    assert removed["data"] == {"b": "3"}
    applied = cluster.patch(path, config_map("one", c="4"), content_type=APPLY_PATCH, fieldManager="tests", force=True)
    assert applied["data"] == {"b": "3", "c": "4"}

    with pytest.raises(Conflict, match=r'answered 409 to update configmaps "one" in namespace "client-'):
        cluster.replace(path, {**made, "data": {"a": "5"}})
    cluster.delete(path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
    with pytest.raises(NotFound, match=r'^configmaps "one" in namespace "client-\w+" was not found in the cluster of '):
        cluster.get(path)


def test_what_exists_is_a_conflict_and_what_is_wrong_is_rejected(cluster: Cluster, maps: str) -> None:
    with pytest.raises(Conflict, match="already exists"):
        cluster.create(maps, config_map("m-0"))
    with pytest.raises(Rejected, match=r"answered 422 to create configmaps.*metadata\.name: Invalid value"):
        cluster.create(maps, config_map("No Name"))


def test_a_dry_run_stores_nothing(cluster: Cluster, maps: str) -> None:
    cluster.create(maps, config_map("dry"), dryRun="All")
    with pytest.raises(NotFound):
        cluster.get(f"{maps}/dry")


def test_a_resource_that_the_cluster_does_not_have(cluster: Cluster) -> None:
    with pytest.raises(NotFound, match=r'^the cluster of context "test" has no widgets\.example\.com$'):
        cluster.get("/apis/example.com/v1/widgets")


def test_a_list_comes_in_pages_with_kinds(cluster: Cluster, maps: str) -> None:
    before = cluster.calls
    pages = list(cluster.pages(maps, limit=3))
    assert [len(page) for page in pages] == [3, 3, 1]
    assert cluster.calls - before == 3
    assert {(item["apiVersion"], item["kind"]) for page in pages for item in page} == {("v1", "ConfigMap")}
    assert names(cluster, maps, 100) == [["kube-root-ca.crt", *(f"m-{number}" for number in range(6))]]


def test_a_query_selects(cluster: Cluster, maps: str) -> None:
    pages = list(cluster.pages(maps, fieldSelector="metadata.name=m-3", labelSelector=None))
    assert [[item["metadata"]["name"] for item in page] for page in pages] == [["m-3"]]


def test_a_watch_tells_what_follows(cluster: Cluster, control_plane: ControlPlane, maps: str) -> None:
    version = cluster.get(maps, limit=1)["metadata"]["resourceVersion"]
    control_plane.client().post(maps, config_map("later")).expect(201)
    control_plane.client().delete(f"{maps}/later").expect(200)
    seen = []
    for event in cluster.watch(maps, version, 10):
        seen.append((event["type"], event["object"]["metadata"]["name"]))
        if event["type"] == "DELETED":
            break
    assert seen == [("ADDED", "later"), ("DELETED", "later")]


def test_a_watch_ends_in_time(cluster: Cluster, maps: str) -> None:
    version = cluster.get(maps, limit=1)["metadata"]["resourceVersion"]
    assert [event for event in cluster.watch(maps, version, 1) if event["type"] != "BOOKMARK"] == []


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_read_is_asked_again(proxied: Cluster, proxy: ApiProxy, maps: str, status: int) -> None:
    proxy.faults.append(Fault(status, times=3, headers={"Retry-After": "0"}))
    assert proxied.get(f"{maps}/m-0")["metadata"]["name"] == "m-0"
    assert proxied.calls == 4


def test_a_read_is_not_asked_for_ever(proxied: Cluster, proxy: ApiProxy, maps: str) -> None:
    proxy.faults.append(Fault(503, times=99))
    with pytest.raises(Unavailable, match=r'answered 503 to get configmaps "m-0" in namespace .*: made to fail: 503'):
        proxied.get(f"{maps}/m-0")
    assert len(proxy.requests) == 4


@pytest.mark.parametrize(("status", "again"), [(429, True), (503, True), (500, False), (504, False)])
def test_a_write_is_asked_again_where_nothing_was_done(
    proxied: Cluster, proxy: ApiProxy, maps: str, status: int, again: bool
) -> None:
    proxy.faults.append(Fault(status, headers={"Retry-After": "0"}))
    if again:
        proxied.create(maps, config_map("again"))
    else:
        with pytest.raises(Unavailable):
            proxied.create(maps, config_map("again"))
    assert len(proxy.requests) == 1 + again


def test_a_lost_answer_is_asked_for_again_only_by_a_read(proxied: Cluster, proxy: ApiProxy, maps: str) -> None:
    proxy.faults.append(Fault(0, drop=True))
    assert proxied.get(f"{maps}/m-0")["metadata"]["name"] == "m-0"
    proxy.faults.append(Fault(0, drop=True))
    with pytest.raises(Unreachable, match="cannot be reached at http://127"):
        proxied.create(maps, config_map("lost"))
    assert [request.partition(" ")[0] for request in proxy.requests] == ["GET", "GET", "POST"]
    assert proxied.get(f"{maps}/lost")["metadata"]["name"] == "lost"  # it was done, and would have been a conflict


def second_page(_method: str, path: str) -> bool:
    return "continue=" in path


def test_a_list_that_expires_goes_on_where_it_was(
    proxied: Cluster, proxy: ApiProxy, control_plane: ControlPlane, maps: str
) -> None:
    first = control_plane.client().get(maps, {"limit": "2"}).expect(200)
    resume = {"kind": "Status", "code": 410, "message": "too old", "metadata": first["metadata"]}
    proxy.faults.append(Fault(410, body=resume, matches=second_page))
    assert names(proxied, maps, 2) == [["kube-root-ca.crt", "m-0"], ["m-1", "m-2"], ["m-3", "m-4"], ["m-5"]]


def test_a_list_that_expires_with_no_word_how_to_go_on_starts_again_and_skips(
    proxied: Cluster, proxy: ApiProxy, maps: str
) -> None:
    proxy.faults.append(Fault(410, matches=second_page))
    listed = names(proxied, maps, 2)
    assert [name for page in listed for name in page] == ["kube-root-ca.crt", *(f"m-{number}" for number in range(6))]
    assert len(proxy.requests) == 6  # the page, the one that expired, and four from the start


def test_a_list_that_expires_again_and_again_is_an_error(proxied: Cluster, proxy: ApiProxy, maps: str) -> None:
    proxy.faults.append(Fault(410, times=99))
    with pytest.raises(Expired, match="answered 410 to list configmaps"):
        names(proxied, maps, 2)
    proxy.faults[:] = [Fault(410, times=99, matches=second_page)]
    with pytest.raises(Expired):
        names(proxied, maps, 2)


def test_a_watch_from_too_long_ago_is_expired(proxied: Cluster, proxy: ApiProxy, maps: str) -> None:
    gone = {"kind": "Status", "code": 410, "message": "too old resource version: 1 (7)"}
    proxy.faults.append(Fault(200, body=orjson.dumps({"type": "ERROR", "object": gone}) + b"\n"))
    with pytest.raises(Expired, match=r"answered 410 to watch configmaps.*too old resource version: 1 \(7\)"):
        list(proxied.watch(maps, "1", 5))
    proxy.faults.append(Fault(410))
    with pytest.raises(Expired):
        list(proxied.watch(maps, "1", 5))


def test_an_answer_that_is_no_json(proxied: Cluster, proxy: ApiProxy, maps: str) -> None:
    proxy.faults.append(Fault(200, body=b"<html>log in</html>"))
    with pytest.raises(Unreachable, match="no Kubernetes API server: b'<html>log in</html>'"):
        proxied.get(maps)
    proxy.faults.append(Fault(403, body=b"<html>go away</html>"))
    with pytest.raises(Exception, match=r"answered 403 to list configmaps.*: <html>go away</html>"):
        proxied.get(maps)
