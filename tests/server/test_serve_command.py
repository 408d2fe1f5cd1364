"""`gpugate serve`: what it says to people, at the start and when it cannot start."""

import json
import os
import shlex
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.certs import issue, make_authority
from tests.support.server import Server

_ROOT = Path(__file__).resolve().parents[2]


def serve(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from app.cli.main import run; run()", "serve", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    environment.pop("GPUGATE_POLICY", None)
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60, env=environment)


def write_pair(folder: Path, now: datetime, *, other_key: bool = False) -> None:
    authority = make_authority(now)
    pair = issue(authority, ["localhost", "127.0.0.1"], now)
    folder.mkdir(exist_ok=True)
    (folder / "ca.crt").write_bytes(authority.certificate)
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(authority.key if other_key else pair.key)


def failed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def test_no_policy(tmp_path: Path) -> None:
    assert "--policy" in failed(serve("--dev", folder=tmp_path))


def test_a_policy_that_is_not_there(tmp_path: Path) -> None:
    assert "none.yaml" in failed(serve("--policy", "none.yaml", "--dev", folder=tmp_path))


def test_a_policy_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: {name: a}\nspec: {ruels: []}\n"
    )
    said = failed(serve("--policy", "p.yaml", "--dev", folder=tmp_path))
    assert "p.yaml:4:8:" in said
    assert "ruels" in said


def test_no_certificates(tmp_path: Path) -> None:
    said = failed(serve("--policy", "shipped", folder=tmp_path))
    assert "there is no certificate: certs does not exist; put tls.crt and tls.key into certs (--cert-dir)" in said
    assert "--dev" in said


def test_a_pair_that_is_none(tmp_path: Path) -> None:
    write_pair(tmp_path / "certs", datetime.now(UTC), other_key=True)
    said = failed(serve("--policy", "shipped", folder=tmp_path))
    assert "private key is not that of the certificate" in said


def test_an_expired_certificate(tmp_path: Path) -> None:
    write_pair(tmp_path / "certs", datetime.now(UTC) - timedelta(days=500))
    assert "expired on" in failed(serve("--policy", "shipped", folder=tmp_path))
    # It is not --dev's to renew: no authority's key is there.
    assert "expired on" in failed(serve("--policy", "shipped", "--dev", folder=tmp_path))


def test_client_authorities_that_are_none(tmp_path: Path) -> None:
    write_pair(tmp_path / "certs", datetime.now(UTC))
    said = failed(serve("--policy", "shipped", "--client-ca", "clients.crt", folder=tmp_path))
    assert "there is no clients.crt (--client-ca)" in said
    (tmp_path / "clients.crt").write_text("nothing")
    said = failed(serve("--policy", "shipped", "--client-ca", "clients.crt", folder=tmp_path))
    assert "clients.crt holds no certificates in PEM" in said


def test_files_that_are_no_certificates(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "tls.crt").write_text("hello")
    (folder / "tls.key").write_text("hello")
    assert "not PEM" in failed(serve("--policy", "shipped", folder=tmp_path))


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for option in ("--port", "--metrics-port"):
            other = "--metrics-port" if option == "--port" else "--port"
            said = failed(serve("--policy", "shipped", "--dev", option, port, other, "0", folder=tmp_path))
            assert f"127.0.0.1:{port}" in said
            assert option in said


def test_a_host_that_is_not_here(tmp_path: Path) -> None:
    done = serve("--policy", "shipped", "--dev", "--host", "192.0.2.1", "--port", "0", folder=tmp_path)
    assert "192.0.2.1" in failed(done)


@pytest.mark.parametrize("content", ["{", "{}", '{"version": 2}', '{"version": 1, "runtimeClasses": 7}'])
def test_facts_that_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "facts.json").write_text(content)
    said = failed(serve("--policy", "shipped", "--dev", "--cluster-facts", "facts.json", folder=tmp_path))
    assert "facts.json" in said


def test_facts_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    said = failed(serve("--policy", "shipped", "--dev", "--cluster-facts", "no/facts.json", folder=tmp_path))
    assert "no/facts.json" in said


def test_the_line_to_try_works(server: Server) -> None:
    line = next(line for line in server.errors().splitlines() if line.startswith("  curl "))
    words = shlex.split(line)
    assert words[:3] == ["curl", "-sS", "--cacert"]
    done = subprocess.run(words, capture_output=True, check=True, timeout=60)
    response = json.loads(done.stdout)["response"]
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    said = server.errors()
    assert server.url in said
    assert f"{server.metrics_url}/metrics" in said
    assert "gpugate manifests --policy shipped" in said


def test_certificates_of_dev_are_kept_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    # The helper gives --dev only where it chooses the folder itself.
    with Server(cert_dir=folder, extra=["--dev"]) as server:
        assert server.get("/healthz").status == 200
        assert "made a certificate authority and a certificate" in server.errors()
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert (folder / "tls.key").stat().st_mode & 0o077 == 0
    assert (folder / "ca.key").stat().st_mode & 0o077 == 0
    with Server(cert_dir=folder) as server:
        assert server.get("/healthz").status == 200
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_an_authority_that_is_not_that_of_the_certificate(tmp_path: Path) -> None:
    write_pair(tmp_path, datetime.now(UTC))
    authority = (tmp_path / "ca.crt").read_bytes()
    (tmp_path / "ca.crt").write_bytes(make_authority(datetime.now(UTC)).certificate)
    with Server(cert_dir=tmp_path) as server:
        assert "is not the authority of tls.crt" in server.errors()
        (tmp_path / "ca.crt").write_bytes(authority)
        with server.new_client() as client:
            assert client.get("/healthz").status_code == 200
