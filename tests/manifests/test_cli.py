"""`gpugate manifests`."""

import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from cryptography import x509

from app.cli.main import command as gpugate
from tests.controlplane.certificates import Authority

URL = "https://127.0.0.1:9443"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(gpugate, ["manifests", "--policy", "shipped", *arguments])


def webhooks(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    documents = yaml.safe_load_all(result.stdout)
    return [webhook for document in documents for webhook in document.get("webhooks", ())]


def test_a_url() -> None:
    for url in (URL, f"{URL}/"):
        found = {webhook["clientConfig"]["url"].rpartition("/")[0] for webhook in webhooks(run("--url", url))}
        assert found == {f"{URL}/namespace"} | {
            f"{URL}/{endpoint}/{mode}"
            for endpoint in ("mutate", "validate", "advise")
            for mode in ("audit", "warn", "assist", "enforce")
        }


def test_a_service() -> None:
    for port in (443, 8443):
        for webhook in webhooks(run("--service", "gpu/gate", *(("--port", str(port)) if port != 443 else ()))):
            service = webhook["clientConfig"]["service"]
            assert (service["namespace"], service["name"], service["port"]) == ("gpu", "gate", port)
            assert "caBundle" not in webhook["clientConfig"]


def test_only_certificates_of_the_file_are_printed(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    both = tmp_path / "both.pem"
    both.write_bytes((tmp_path / "ca.key").read_bytes() + authority.certificate.read_bytes())
    for webhook in webhooks(run("--url", URL, "--ca-file", str(both))):
        bundle = b64decode(webhook["clientConfig"]["caBundle"])
        assert b"PRIVATE" not in bundle
        assert x509.load_pem_x509_certificates(bundle)


def test_the_comments_say_what_it_was_made_from() -> None:
    result = run("--url", URL, "--scope", "broad")
    head = result.stdout.partition("---")[0].splitlines()
    assert head[0] == "# Made by: gpugate manifests --scope broad"
    assert head[1].startswith("# From the policy gpu-pods (sha256:")
    digest = head[2].removeprefix("# Scope digest: ")
    assert all(webhook["clientConfig"]["url"].endswith(f"/{digest}") for webhook in webhooks(result))
    assert digest not in run("--url", URL).stdout


BAD = [
    ([], "say where the server is"),
    (["--url", URL, "--service", "a/b"], "say where the server is"),
    (["--url", "http://x"], "must begin with https://"),
    (["--url", "https://"], "names no host"),
    (["--url", "https://user@x"], "user or password"),
    (["--url", "https://x?a=b"], "query or fragment"),
    (["--url", "https://x/#a"], "query or fragment"),
    (["--url", "https://x:99999"], "Port out of range"),
    (["--url", "https://x y"], "white space"),
    (["--url", "https://[x"], "--url"),
    (["--service", "gate"], "NAMESPACE/NAME"),
    (["--service", "A/b"], "NAMESPACE/NAME"),
    (["--url", URL, "--port", "1"], "--port is the Service's"),
    (["--service", "a/b", "--port", "0"], "--port"),
    (["--url", URL, "--ca-file", "no-such-file"], "cannot be read: No such file"),
    (["--url", URL, "--ca-file", __file__], "holds no certificate in PEM"),
    (["--url", URL, "--scope", "wide"], "--scope"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(row[0]) or "neither" for row in BAD])
def test_wrong_usage_is_one_clear_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    line = result.stderr.splitlines()[-1]
    assert line.startswith("Error: ")
    assert said in line


def test_a_policy_that_cannot_be_used(tmp_path: Path) -> None:
    result = CliRunner().invoke(gpugate, ["manifests", "--policy", str(tmp_path / "none.yaml"), "--url", URL])
    assert result.exit_code != 0
    assert "none.yaml:1:1: cannot be read" in result.stderr


def test_help_has_an_example() -> None:
    command = [sys.executable, "-m", "app.cli", "manifests", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "| kubectl apply -f -" in shown
