"""`gpugate serve`: the webhook server."""

import json
import shlex
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app import __version__
from app.cli.listen import listen
from app.cli.options import find_policy, policy_option
from app.policy.errors import PolicyError
from app.server.limits import MAX_CONNECTIONS
from app.sources.facts import InvalidFacts

if TYPE_CHECKING:
    from app.server.facts import FactsFile
    from app.server.log import JsonLog
    from app.server.metrics import Metrics
    from app.server.recording import Recording
    from app.server.store import PolicyStore
    from app.server.tls import Certificates

_EXAMPLE = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "1",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "default",
        "object": {
            "metadata": {"name": "train"},
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}}]},
        },
    },
}


@click.command(name="serve")
@policy_option
@click.option("--cert-dir", default="certs", show_default=True, metavar="DIR", type=click.Path(path_type=Path),
              help="Folder of tls.crt, tls.key and, with an authority of your own, ca.crt.")  # fmt: skip
@click.option("--dev", is_flag=True, help="Make certificates in --cert-dir if there are none; listen on 127.0.0.1.")
@click.option("--wait", is_flag=True, help="Be live and not ready until policy and certificates can be used.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: all; with --dev 127.0.0.1]")
@click.option("--port", default=9443, show_default=True, type=click.IntRange(0, 65535),
              help="Port of the webhook (HTTPS); 0 takes a free one.")  # fmt: skip
@click.option("--metrics-port", default=8080, show_default=True, type=click.IntRange(0, 65535),
              help="Port of metrics and policy (HTTP); 0 takes a free one.")  # fmt: skip
@click.option("--client-ca", metavar="FILE", type=click.Path(path_type=Path),
              help="Answer only clients that show a certificate of these authorities (PEM); webhook only.")  # fmt: skip
@click.option("--max-connections", default=MAX_CONNECTIONS, show_default=True, type=click.IntRange(1, 100_000),
              help="Beyond, the connection that has been idle for longest is closed.")  # fmt: skip
@click.option("--cluster-facts", metavar="FILE", type=click.Path(path_type=Path),
              help="JSON of what exists in the cluster (RuntimeClasses); followed while it changes.")  # fmt: skip
@click.option("--record", metavar="DIR", type=click.Path(path_type=Path),
              help="Write the reviews of pods there, redacted, for gpugate replay: 512 MiB at most.")  # fmt: skip
def command(
    policy_path: str | None,
    cert_dir: Path,
    host: str | None,
    port: int,
    metrics_port: int,
    client_ca: Path | None,
    max_connections: int,
    cluster_facts: Path | None,
    record: Path | None,
    *,
    dev: bool,
    wait: bool,
) -> None:
    """Run the webhook server.

    Policy, certificates and facts are followed while they change; those in use stay if the new ones are bad. SIGHUP
    reads them at once. At the start, bad ones end the server, unless it is to --wait. SIGTERM stops it when what was
    asked is answered. Decisions that are not a plain "allowed" go to standard output, one JSON line each.

    \b
    Examples:
      gpugate serve --policy shipped --dev
      gpugate serve --policy policies/ --cert-dir /etc/gpugate/certs --port 10250
    """
    from app.server.log import JsonLog
    from app.server.metrics import Metrics
    from app.server.run import run
    from app.server.service import Service

    host = host or ("127.0.0.1" if dev else None)
    policy_path = find_policy(policy_path)
    facts = _facts(cluster_facts, patient=wait) if cluster_facts else None
    made = _make_certificates(cert_dir, host) if dev else None
    log = JsonLog()
    counts = Metrics(lambda: log.dropped)
    with listen(host, metrics_port, "--metrics-port") as metrics:
        if wait:
            found = _wait(policy_path, cert_dir, client_ca, counts, log, metrics)
            if found is None:
                return
            policies, certificates = found
        else:
            policies, certificates = _policies(policy_path), _certificates(cert_dir, client_ca)
        # Bound once there is something to serve with: until then it is better refused than left waiting.
        with listen(host, port, "--port") as webhook:
            recording = _recording(record) if record else None
            service = Service(policies, counts, log, facts, recording)
            if recording:
                counts.registry.register(recording)
            if certificates.trusted() is False:
                click.echo(f"note: {cert_dir / 'ca.crt'} is not the authority of tls.crt", err=True)
            if dev:
                if made:
                    click.echo(f"made {made} in {cert_dir}", err=True)
                _introduce(policies, cert_dir, webhook, metrics)
            run(service, certificates, webhook, metrics, max_connections=max_connections)


def _wait(
    policy_path: str, cert_dir: Path, client_ca: Path | None, counts: "Metrics", log: "JsonLog", metrics: socket.socket
) -> "tuple[PolicyStore, Certificates] | None":
    from app.manifests.scope import scope_digests
    from app.server.store import PolicyStore
    from app.server.tls import Certificates
    from app.server.waiting import wait_for_files

    return wait_for_files(
        lambda: PolicyStore(policy_path, scope_digests), lambda: Certificates(cert_dir, client_ca), counts, log, metrics
    )


def _policies(path: str) -> "PolicyStore":
    from app.manifests.scope import scope_digests
    from app.server.store import PolicyStore

    try:
        return PolicyStore(path, scope_digests)
    except PolicyError as error:
        raise click.ClickException("the policy cannot be used:\n" + "\n".join(map(str, error.problems))) from error


def _facts(path: Path, *, patient: bool) -> "FactsFile":
    from app.server.facts import FactsFile

    try:
        return FactsFile(path, patient=patient)
    except InvalidFacts as error:
        raise click.ClickException(f"{path} holds no cluster facts: {error}") from error
    except OSError as error:
        raise click.ClickException(f"cluster facts cannot be read: {path}: {error.strerror}") from error


def _recording(folder: Path) -> "Recording":
    from app.server.recording import Recording

    try:
        return Recording(folder)
    except OSError as error:
        raise click.ClickException(f"reviews cannot be recorded in {folder}: {error.strerror}") from error


def _make_certificates(folder: Path, host: str | None) -> str | None:
    from app.certs import InvalidPair
    from app.server.dev import ensure_certificates

    try:
        return ensure_certificates(folder, host)
    except InvalidPair as error:
        raise click.ClickException(f"certificates in {folder}: {error}") from error
    except OSError as error:
        raise click.ClickException(f"certificates cannot be made: {error.filename}: {error.strerror}") from error


def _certificates(folder: Path, client_ca: Path | None) -> "Certificates":
    from app.certs import InvalidPair
    from app.server.tls import Certificates

    try:
        return Certificates(folder, client_ca)
    except FileNotFoundError as error:
        if error.filename == str(client_ca):
            raise click.ClickException(f"there is no {error.filename} (--client-ca)") from error
        raise click.ClickException(
            f"there is no certificate: {error.filename} does not exist; "
            f"put tls.crt and tls.key into {folder} (--cert-dir), or let --dev make some to try gpugate with"
        ) from error
    except OSError as error:
        raise click.ClickException(f"certificates cannot be read: {error.filename}: {error.strerror}") from error
    except InvalidPair as error:
        raise click.ClickException(f"certificates in {folder}: {error}") from error


def _introduce(policies: "PolicyStore", cert_dir: Path, webhook: socket.socket, metrics: socket.socket) -> None:
    """For the person at the terminal: where everything is, and what to do next."""
    url, metrics_url = f"https://{_address(webhook)}", f"http://{_address(metrics)}"
    authority = shlex.quote(str(cert_dir / "ca.crt"))
    policy = policies.current.policy
    review = json.dumps(_EXAMPLE, separators=(",", ":"))
    rules = ", ".join(policy.names)
    click.echo(
        f"""
gpugate {__version__}

  webhook   {url}   /mutate/MODE and /validate/MODE, MODE one of audit, warn, assist, enforce
  metrics   {metrics_url}/metrics   (policy in force: /policy)
  policy    {policies.path}: {rules}

Try it: what is said of a pod that requests a GPU, sets no limit, and nothing else.

  curl -sS --cacert {authority} -H 'Content-Type: application/json' {url}/mutate/enforce -d '{review}'

Next: `gpugate manifests --policy {shlex.quote(policies.path)} --url {url} --ca-file {authority}` prints the webhook
configurations for an API server on this machine. Ctrl-C stops the server.
""",
        err=True,
    )
    sys.stderr.flush()


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "localhost"}.get(host, host)  # noqa: S104 - where to reach it, not where to listen
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
