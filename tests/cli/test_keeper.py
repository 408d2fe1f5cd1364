"""What `gpugate keeper` says of wrong usage, before it does anything. What it does is in tests/keeper."""

import socket
from pathlib import Path

import pytest

from tests.cli.conftest import Gpugate


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say where the server is"),
        (("--service", "a/b", "--url", "https://a"), "say where the server is"),
        (("--service", "gpugate"), "write it as NAMESPACE/NAME"),
        (("--url", "http://a"), "must begin with https://"),
        (("--url", "https://a"), "add --namespace NAMESPACE"),
        (("--url", "https://a", "--port", "1"), "--port is the Service's"),
        (("--service", "a/b", "--name", "a b"), "is no DNS name and no IP address"),
        (("--service", "a/b", "--interval", "0"), "--interval"),
        (("--service", "a/b", "--metrics-port", "0", "--kubeconfig", "missing"), "there is no kubeconfig missing"),
    ],
)
def test_wrong_usage(gpugate: Gpugate, arguments: tuple[str, ...], message: str) -> None:
    outcome = gpugate("keeper", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_a_port_that_is_taken(gpugate: Gpugate, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        outcome = gpugate("keeper", "--service", "a/b", "--host", "127.0.0.1", "--metrics-port", port)
    assert outcome.code == 2
    assert (
        f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --metrics-port" in outcome.err
    )
