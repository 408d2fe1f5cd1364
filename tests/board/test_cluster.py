"""The board over a real API server: what it shows is so, and its buttons change what they say."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from playwright.sync_api import Browser

from app.manifests.scan_rbac import SCANNER, scan_rbac
from tests.board.browsing import watched
from tests.board.running import RunningBoard
from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import MODE_LABEL
from tests.support.workloads import BAD, GOOD, PATHS, create, deployment

PINNED = "board-pinned"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A policy that needs nothing of the cluster: no RuntimeClass, no node."""
    spec = {
        "gpus": {"presets": ["nvidia"]},
        "modes": {"default": "audit", "namespaces": {PINNED: "warn"}},
        "rules": [{"rule": "limits-equal-requests", "repair": True}, {"rule": "no-privileged"}],
    }
    document = {"apiVersion": "gpugate.dev/v1alpha1", "kind": "GpuPolicy", "metadata": {"name": "p"}, "spec": spec}
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """A namespace in audit with a deployment that enforce would refuse, and one that is ready."""
    name = control_plane.namespace("board", {MODE_LABEL: "audit"})
    create(control_plane, name, deployment("bad", BAD, replicas=0), deployment("good", GOOD, replicas=0))
    return name


@pytest.fixture
def board(control_plane: ControlPlane, namespace: str, policy: str) -> Iterator[RunningBoard]:
    """The board of that namespace, with buttons."""
    kubeconfig = str(control_plane.kubeconfig)
    arguments = ["--policy", policy, "--kubeconfig", kubeconfig, "-n", namespace, "--interval", "0", "--allow-promote"]
    with RunningBoard(*arguments) as running:
        yield running


def mode(plane: ControlPlane, namespace: str) -> str | None:
    labels: dict[str, str] = plane.client().get(f"/api/v1/namespaces/{namespace}").expect(200)["metadata"]["labels"]
    return labels.get(MODE_LABEL)


def test_a_namespace_goes_up_the_ladder_and_back(
    browser: Browser, control_plane: ControlPlane, namespace: str, board: RunningBoard
) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.opened)
        assert page.url == f"{board.url}/"  # the key is no longer in it
        page.get_by_role("link", name=namespace).click()
        assert page.locator(".tallies li").all_inner_texts() == ["✓1 ready", "✕1 would break"]
        page.get_by_role("button", name="Promote to warn").click()
        assert page.locator(".notice.good").inner_text() == f"{namespace} was in audit, and is in warn now."
        assert mode(control_plane, namespace) == "warn"
        assert page.locator(".title .mode").inner_text() == "warn"
        page.get_by_role("button", name="Promote to assist").click()
        page.get_by_role("button", name="Promote to enforce").click()
        # The browser itself asks for the box: nothing was sent.
        assert page.locator(".force input").evaluate("(box) => !box.validity.valid")
        assert mode(control_plane, namespace) == "assist"
        # A page may be older than what it is about: what was mended can be promoted, what was not cannot.
        page.evaluate("document.querySelector('.force input').required = false")
        page.get_by_role("button", name="Promote to enforce").click()
        assert page.locator(".notice.bad").inner_text() == (
            f"{namespace} stays in assist: 1 workload would be refused (Deployment bad)."
        )
        assert mode(control_plane, namespace) == "assist"
        control_plane.client().delete(f"{PATHS['Deployment'].format(namespace)}/bad").expect()
        page.get_by_role("button", name="Scan again").click()
        assert page.locator(".says").inner_text() == "nothing would break"
        page.get_by_role("button", name="Promote to enforce").click()
        assert mode(control_plane, namespace) == "enforce"
        page.get_by_role("button", name="Go back to assist").click()
        assert mode(control_plane, namespace) == "assist"
        assert seen.outside(board.url) == []


def test_a_promotion_can_be_forced(
    browser: Browser, control_plane: ControlPlane, namespace: str, board: RunningBoard
) -> None:
    control_plane.kubectl("label", "--overwrite", "namespace", namespace, f"{MODE_LABEL}=assist")
    with watched(browser, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(board.opened)
        page.get_by_role("button", name="Scan again").click()
        page.get_by_role("link", name=namespace).click()
        page.get_by_label("1 workload would break; do it all the same").check()
        page.get_by_role("button", name="Promote to enforce").click()
        assert page.locator(".notice.good").is_visible()
        assert mode(control_plane, namespace) == "enforce"


def test_only_who_started_it_can_change_anything(
    browser: Browser, control_plane: ControlPlane, namespace: str, board: RunningBoard
) -> None:
    with watched(browser) as seen:
        seen.page.goto(f"{board.url}/namespaces/{namespace}")
        assert seen.page.get_by_role("button", name="Promote").count() == 0
        assert seen.page.get_by_text("open the address that gpugate printed when it started").is_visible()
        seen.page.goto(f"{board.url}/?key=guessed")
        seen.page.goto(f"{board.url}/namespaces/{namespace}")
        assert seen.page.get_by_role("button", name="Promote").count() == 0
    path = f"/namespaces/{namespace}/mode"
    with httpx.Client(base_url=board.url) as stranger, httpx.Client(base_url=board.url) as owner:
        entered = owner.get(board.opened)
        assert re.search(r"HttpOnly; Path=/; SameSite=strict", entered.headers["set-cookie"])
        token = re.search(r'name="token" value="([^"]+)"', stranger.get("/").text)
        assert token
        form = {"token": token[1], "to": "warn"}
        own = {"origin": board.url}
        refused = [
            stranger.post(path, data=form, headers=own),
            owner.post(path, data={"to": "warn"}, headers=own),
            owner.post(path, data={**form, "token": "guessed"}, headers=own),
            owner.post(path, data=form),
            owner.post(path, data=form, headers={"origin": "http://attacker.example.com"}),
        ]
        assert [answer.status_code for answer in refused] == [403] * 5
        assert owner.post(path, data=form, headers={**own, "host": "attacker.example.com"}).status_code == 421
        assert owner.get(path, params=form).status_code == 405
        assert owner.post(path, data={**form, "to": "strict"}, headers=own).status_code == 400
        assert owner.post("/namespaces/nothing/mode", data=form, headers=own).status_code == 404
        assert mode(control_plane, namespace) == "audit"
        assert owner.post(path, data=form, headers=own).status_code == 303
        assert mode(control_plane, namespace) == "warn"


def test_what_cannot_be_changed_says_why(control_plane: ControlPlane, policy: str) -> None:
    control_plane.client().post("/api/v1/namespaces", {"metadata": {"name": PINNED}}).expect(201, 409)
    kubeconfig = str(control_plane.kubeconfig)
    arguments = ["--policy", policy, "--kubeconfig", kubeconfig, "-n", PINNED, "--allow-promote"]
    with RunningBoard(*arguments) as board, httpx.Client(base_url=board.url, follow_redirects=True) as owner:
        page = owner.get(board.opened).text
        token = re.search(r'name="token" value="([^"]+)"', page)
        assert token
        assert 'name="to"' not in owner.get(f"/namespaces/{PINNED}").text
        form = {"token": token[1], "to": "enforce", "force": "yes"}
        answer = owner.post(f"/namespaces/{PINNED}/mode", data=form, headers={"origin": board.url})
        assert f"the policy pins namespace {PINNED} to warn: its label decides nothing." in answer.text
        assert mode(control_plane, PINNED) is None


def test_a_scan_that_fails_leaves_the_last_one(
    browser: Browser, control_plane: ControlPlane, namespace: str, policy: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(control_plane.kubeconfig.read_bytes())
    arguments = ["--policy", policy, "--kubeconfig", str(kubeconfig), "-n", namespace]
    with RunningBoard(*arguments) as board, watched(browser) as seen:
        page = seen.page
        page.goto(board.url)
        kubeconfig.unlink()
        page.get_by_role("button", name="Scan again").click()
        assert f"The last scan failed: there is no kubeconfig {kubeconfig}." in page.get_by_role("alert").inner_text()
        assert page.get_by_role("link", name=namespace).is_visible()
        kubeconfig.write_bytes(control_plane.kubeconfig.read_bytes())
        page.get_by_role("button", name="Scan again").click()
        assert page.get_by_role("alert").count() == 0


def test_a_page_says_that_there_is_a_newer_scan(
    browser: Browser, control_plane: ControlPlane, namespace: str, board: RunningBoard
) -> None:
    with watched(browser) as open_page, watched(browser) as other:
        open_page.page.clock.install()
        open_page.page.goto(board.url)
        other.page.goto(board.url)
        create(control_plane, namespace, deployment("later", GOOD, replicas=0))
        other.page.get_by_role("button", name="Scan again").click()
        assert not open_page.page.get_by_text("There is a newer scan.").is_visible()
        open_page.page.clock.fast_forward(6_000)
        open_page.page.get_by_role("link", name="Show it").click()
        assert open_page.page.locator(".figure").inner_text() == "3 GPU workloads in 1 namespace"


def test_the_rights_of_a_scan_are_enough_to_look_and_not_to_change(
    control_plane: ControlPlane, namespace: str, policy: str
) -> None:
    """With the ClusterRole that an installation brings, under a name of this test."""
    user = f"system:serviceaccount:{namespace}:{SCANNER}"
    api, paths = control_plane.client(), []
    for obj in json.loads(json.dumps(scan_rbac(namespace))):  # where objects share no parts
        if obj["metadata"]["name"] == SCANNER and obj["kind"] != "ServiceAccount":
            obj["metadata"]["name"] = name = f"{SCANNER}-{namespace}"
            if "roleRef" in obj:
                obj["roleRef"]["name"] = name
            collection = f"/apis/rbac.authorization.k8s.io/v1/{obj['kind'].lower()}s"
            api.post(collection, obj).expect(201)
            paths.append(f"{collection}/{name}")
    try:
        # The authorizer hears of new roles a little later.
        wait_for(lambda: control_plane.client(user).get("/api/v1/namespaces").status == 200, message="the rights")
        arguments = ["--policy", policy, "--kubeconfig", str(control_plane.kubeconfig_for(user)), "--allow-promote"]
        with RunningBoard(*arguments) as board, httpx.Client(base_url=board.url, follow_redirects=True) as owner:
            page = owner.get(board.opened).text
            assert f">{namespace}</a>" in page
            assert " may not " not in page  # though others may have left what cannot be judged
            token = re.search(r'name="token" value="([^"]+)"', page)
            assert token
            form, own = {"token": token[1], "to": "warn"}, {"origin": board.url}
            answer = owner.post(f"/namespaces/{namespace}/mode", data=form, headers=own)
            assert f"ServiceAccount {namespace}/{SCANNER} may not patch namespaces" in html.unescape(answer.text)
            assert mode(control_plane, namespace) == "audit"
    finally:
        for path in paths:
            api.delete(path)
