"""The board's server: who may ask it for what, and what it says when a snapshot cannot be made."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.board.running import RunningBoard
from tests.board.samples import large, namespace, rollout, snapshot

READ = ("/", "/namespaces/recsys", "/status", "/board.css", "/board.js")


@pytest.fixture
def client(board: RunningBoard) -> Iterator[httpx.Client]:
    """A client that sends what it is told, and follows nothing."""
    with httpx.Client(base_url=board.url) as made:
        yield made


def token(client: httpx.Client) -> str:
    """The token of the forms, as a page of ours reads it."""
    found = re.search(r'name="token" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


@pytest.mark.parametrize("path", [*READ, "/nothing", "/namespaces/nothing"])
def test_every_answer_protects_itself(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == (404 if "nothing" in path else 200)
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} <= set(policy)
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers
    assert client.head(path).status_code == answer.status_code


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize(
    "host",
    ["attacker.example.com", "127.0.0.1.attacker.example.com", "localhost@attacker.example.com", "localhost:1:2", ""],
)
def test_another_host_gets_nothing(client: httpx.Client, path: str, host: str) -> None:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code in (400, 421)
    assert "recsys" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "localhost:9000", "127.0.0.1:1", "[::1]:80"])
def test_a_forwarded_port_is_this_machine_too(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200
    form = {"token": token(client)}
    own = {"host": host, "origin": f"http://{host}"}
    assert client.post("/refresh", data=form, headers=own).status_code == 303
    assert client.post("/refresh", data=form, headers={**own, "origin": "http://localhost:1234"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://attacker.example.com"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://{own}"},
        {"origin": "http://{own}", "sec-fetch-site": "cross-site"},
        {"origin": "http://{own}", "sec-fetch-site": "same-site"},
    ],
)
def test_a_form_from_elsewhere_is_refused(client: httpx.Client, board: RunningBoard, headers: dict[str, str]) -> None:
    own = urlsplit(board.url).netloc
    sent = {name: value.format(own=own) for name, value in headers.items()}
    answer = client.post("/refresh", data={"token": token(client)}, headers=sent)
    assert (answer.status_code, "<h1>Not from there</h1>" in answer.text) == (403, True)


@pytest.mark.parametrize("sent", [{}, {"token": ""}, {"token": "wrong"}, {"token": "ü"}])
def test_a_form_without_the_token_is_refused(client: httpx.Client, board: RunningBoard, sent: dict[str, str]) -> None:
    answer = client.post("/refresh", data=sent, headers={"origin": board.url})
    assert answer.status_code == 403
    assert "not made by the board that runs now" in answer.text


def test_a_form_that_is_too_large_is_refused(client: httpx.Client, board: RunningBoard) -> None:
    data = {"token": token(client), "back": "x" * 5000}
    assert client.post("/refresh", data=data, headers={"origin": board.url}).status_code == 413


@pytest.mark.parametrize(
    ("back", "location"),
    [
        ("", "/"),
        ("?q=a&page=2", "/?q=a&page=2"),
        ("namespaces/recsys?state=ready", "/namespaces/recsys?state=ready"),
        ("/attacker.example.com", "/"),
        ("https://attacker.example.com", "/"),
        ("\\attacker.example.com", "/"),
        ("?\r\nset-cookie: a=b", "/"),
    ],
)
def test_a_refresh_leads_back_and_nowhere_else(
    client: httpx.Client, board: RunningBoard, back: str, location: str
) -> None:
    answer = client.post("/refresh", data={"token": token(client), "back": back}, headers={"origin": board.url})
    assert (answer.status_code, answer.headers["location"]) == (303, location)


def test_there_is_no_way_to_change_a_mode_unless_it_was_asked_for(client: httpx.Client, board: RunningBoard) -> None:
    page = client.get("/namespaces/research-vision").text
    assert 'name="to"' not in page
    assert "gpugate modes promote research-vision" in page
    data = {"token": token(client), "to": "assist"}
    answer = client.post("/namespaces/research-vision/mode", data=data, headers={"origin": board.url})
    assert answer.status_code == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
def test_other_methods_are_refused(client: httpx.Client, board: RunningBoard, method: str) -> None:
    answer = client.request(method, "/", headers={"origin": board.url})
    assert answer.status_code == 405
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/%2e%2e/board.py", "/board.py", "/templates/base.html", "/static/board.css", "//board.css"]
)
def test_nothing_else_is_served(board: RunningBoard, path: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(board.url).netloc)  # which sends paths as they are
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_what_means_nothing_in_an_address_is_as_if_it_were_not_there(client: httpx.Client) -> None:
    plain = client.get("/").text
    assert client.get("/?mode=strict&state=bad&sort=up&page=-1").text == plain
    assert client.get("/?page=999").text == plain  # the last page there is
    assert "No namespace fits" in client.get("/?rule=none").text


def test_five_thousand_workloads_are_pages_of_bounded_size(tmp_path: Path) -> None:
    file = tmp_path / "scan.json"
    file.write_bytes(large(5000).to_json())
    with RunningBoard("--snapshot", str(file)) as board, httpx.Client(base_url=board.url) as client:
        first, big, last = (client.get(path).text for path in ("/", "/namespaces/big", "/namespaces/big?page=50"))
        assert max(map(len, (first, big, last))) < 1_000_000
        assert "10,000" in first
        assert big.count("<details") == last.count("<details") == 100
        assert "1 to 100 of 5,000 workloads" in big
        assert "4,901 to 5,000 of 5,000 workloads" in last
        found = client.get("/namespaces/big?q=-4999").text  # nothing is left out here
        assert found.count("<details") == 1
        assert client.get("/?q=-4999").text.count("data-row ") == 1


def test_a_snapshot_is_read_again_and_a_bad_one_leaves_the_last(tmp_path: Path) -> None:
    file = tmp_path / "scan.json"
    file.write_bytes(rollout().to_json())
    with RunningBoard("--snapshot", str(file)) as board, httpx.Client(base_url=board.url) as client:

        def refreshed() -> str:
            data = {"token": token(client)}
            answer = client.post("/refresh", data=data, headers={"origin": board.url}, follow_redirects=True)
            assert answer.status_code == 200
            return answer.text

        assert client.get("/status").json() == {"revision": 1, "scanning": False, "problem": None}
        file.write_bytes(snapshot([namespace("only", "warn", (1, 0, 0, 0))]).to_json())
        assert "1 GPU workload in 1 namespace" in re.sub(r"<[^>]+>|\s+", " ", refreshed()).replace("  ", " ")
        assert client.get("/status").json()["revision"] == 2
        file.write_bytes(b'{"version": 1}')
        broken = refreshed()
        assert "This is not up to date." in broken
        assert f"The last scan failed: {file} is no snapshot of gpugate scan: " in broken
        assert ">only</a>" in broken
        file.unlink()
        assert f"{file} cannot be read: No such file or directory" in refreshed()
        file.write_bytes(rollout().to_json())
        mended = refreshed()
        assert "not up to date" not in mended
        assert ">recsys</a>" in mended
        assert board.errors().count("\n") == 1  # where it listens, and nothing else
        assert board.stop() == 0
