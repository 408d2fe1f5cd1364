"""`gpugate keeper`: certificates, configurations in step with the policy, cluster facts."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from app.cli.certs_names import ServerName
from app.cli.listen import listen
from app.cluster.keeper.times import HANDOVER, INTERVAL, SETTLE

if TYPE_CHECKING:
    from app.manifests.client import Client

_OWN_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@click.command("keeper", short_help="keep certificates, configurations and cluster facts in step")
@click.option("--service", metavar="NAMESPACE/NAME", help="The servers' Service.")
@click.option("--url", metavar="URL",
              help="Base URL of a server outside the cluster, https://HOST[:PORT], instead of a Service.")  # fmt: skip
@click.option("--port", type=click.IntRange(1, 65535), default=None, metavar="PORT",
              help="Port of the Service.  [default: 443]")  # fmt: skip
@click.option("--namespace", metavar="NAMESPACE",
              help="Of its Secrets and ConfigMaps.  [default: the Service's, else the keeper's own]")  # fmt: skip
@click.option("--name", "names", type=ServerName(), multiple=True, metavar="NAME",
              help="DNS name or address that the certificate is for too, beside the Service's or URL's.")  # fmt: skip
@click.option("--no-certificates", is_flag=True,
              help="Somebody else makes the Secret gpugate-tls (cert-manager): only read its ca.crt.")  # fmt: skip
@click.option("--gitops", is_flag=True,
              help="Somebody else writes the webhook configurations: keep their CA bundle, report drift.")  # fmt: skip
@click.option("--no-workloads", is_flag=True,
              help="Don't look at running pods; warnings about a stricter mode then name nobody.")  # fmt: skip
@click.option("--configuration", default=None, metavar="NAME",
              help="Name of the webhook configurations.  [default: gpugate]")  # fmt: skip
@click.option("--interval", type=click.FloatRange(0.1, 60), default=INTERVAL, show_default=True, metavar="SECONDS",
              help="Time between looks.")  # fmt: skip
@click.option("--settle", type=click.FloatRange(0.1, 600), default=SETTLE, show_default=True, metavar="SECONDS",
              help="For how long something must have been so before others count as knowing it.")  # fmt: skip
@click.option("--handover", type=click.FloatRange(1, 3600), default=HANDOVER, show_default=True, metavar="SECONDS",
              help="After how long servers that don't run a new policy are no longer waited for.")  # fmt: skip
@click.option("--host", metavar="ADDRESS", help="Address to listen on for health and metrics.  [default: all]")
@click.option("--metrics-port", default=8080, show_default=True, type=click.IntRange(0, 65535),
              help="Port of /healthz and /metrics (HTTP); 0 takes a free one.")  # fmt: skip
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: in a pod, its own cluster]")
@click.option("--kubeconfig", metavar="FILE", help="Kubeconfig, to run it outside the cluster.")
def command(
    service: str | None,
    url: str | None,
    port: int | None,
    namespace: str | None,
    names: tuple[str, ...],
    configuration: str | None,
    interval: float,
    settle: float,
    handover: float,
    host: str | None,
    metrics_port: int,
    context: str | None,
    kubeconfig: str | None,
    *,
    no_certificates: bool,
    gitops: bool,
    no_workloads: bool,
) -> None:
    """Keep a cluster's gpugate in order: make and renew the certificates, hand a changed policy on to the servers with
    the webhook configurations in step, and write down what exists in the cluster.

    It is the only part with rights in the cluster; several may run at once. SIGTERM stops it. What happens goes to
    standard output, one JSON line each.

    \b
    Examples:
      gpugate keeper --service gpugate/gpugate
      gpugate keeper --service gpugate/gpugate --no-certificates --gitops
    """
    from app.cli.manifests_address import client_of
    from app.cluster.client import Cluster
    from app.cluster.errors import ClusterError
    from app.cluster.keeper.keeper import Keeper
    from app.cluster.keeper.log import Metrics
    from app.cluster.keeper.run import run
    from app.cluster.keeper.settings import Settings
    from app.manifests.objects import NAME
    from app.server.log import JsonLog

    client = client_of(url, service, port, None)
    settings = Settings(
        namespace=namespace or _namespace(client),
        client=client,
        configuration=configuration or NAME,
        names=names,
        certificates=not no_certificates,
        gitops=gitops,
        workloads=not no_workloads,
        interval=interval,
        settle=settle,
        handover=handover,
    )
    with listen(host, metrics_port, "--metrics-port") as bound:
        try:
            cluster = Cluster.connect(context=context, kubeconfig=kubeconfig)
        except ClusterError as error:
            raise click.ClickException(str(error)) from error
        log, metrics = JsonLog(), Metrics()
        try:
            run(Keeper(cluster, settings, log, metrics), settings, log, metrics, bound)
        finally:
            log.close()


def _namespace(client: "Client") -> str:
    from app.manifests.client import Service

    if isinstance(client, Service):
        return client.namespace
    try:
        return _OWN_NAMESPACE.read_text().strip()
    except OSError:
        raise click.UsageError(
            "--url says nothing of where the Secrets and ConfigMaps are: add --namespace NAMESPACE"
        ) from None
