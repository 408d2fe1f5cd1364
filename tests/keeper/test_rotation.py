"""Two rotations of authority and certificate, while clients create pods that fail closed."""

import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from app.certs import issued_by
from app.certs.rotation import holds
from tests.controlplane import wait_for
from tests.support.cluster import gpu_pod
from tests.support.keeper import KeeperProcess, Site, policy

CONNECTIONS = 8
LONGEST_SECONDS = 60.0
MOST_PODS = 10_000
INJECTION = {"name": "nodes", "nodeSelector": {"accelerator": "nvidia-gpu"}}


class Load:
    """Clients that create GPU pods in `enforce`, each on a connection of its own, and what became of it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.created = 0
        self.failures: list[object] = []

    def run(self) -> None:
        # A scheduler that does not exist: nobody has work with these pods.
        pod = gpu_pod(schedulerName="none")
        pod["metadata"] = {"generateName": "pod-"}
        path = f"/api/v1/namespaces/{self._site.team}/pods"
        while not self.stop.is_set() and self.created < MOST_PODS:
            answer = self._site.api.post(path, pod)
            # Without its change a pod would have gone by the mutating webhook.
            good = answer.status == 201 and answer.body["spec"]["nodeSelector"] == INJECTION["nodeSelector"]
            with self._lock:
                self.created += good
                if not good:
                    self.failures.append(answer.body)

    def goes_on(self) -> None:
        """Wait until the clients have created some more pods."""
        target = self.created + 5 * CONNECTIONS
        wait_for(lambda: self.created >= target or self.failures, message=f"more pods than {self.created}")


@contextmanager
def load(site: Site) -> Iterator[Load]:
    made = Load(site)
    threads = [threading.Thread(target=made.run) for _ in range(CONNECTIONS)]
    ending = threading.Timer(LONGEST_SECONDS, made.stop.set)
    for thread in (*threads, ending):
        thread.start()
    try:
        yield made
        assert not made.stop.is_set(), "the load lasted to the end"
    finally:
        made.stop.set()
        ending.cancel()
        for thread in threads:
            thread.join()
        # With its pods, which nobody waits for.
        site.api.delete(f"/api/v1/namespaces/{site.team}")


def ask_for_a_rotation(site: Site) -> str:
    """As a person does."""
    command = [sys.executable, "-P", "-m", "app.cli", "certs", "rotate", "--namespace", site.namespace]
    result = subprocess.run(
        [*command, "--kubeconfig", str(site.plane.kubeconfig)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def present(site: Site) -> bytes:
    """The authority that every entry trusts, once it is the present one alone."""

    def alone() -> bytes | None:
        bundle = (site.authority or {})["ca.crt"]
        return bundle if site.bundles() == {bundle} and bundle.count(b"BEGIN") == 1 else None

    return wait_for(alone, message="one authority, trusted by every entry")


def test_two_rotations_under_load(make_site: Callable[..., Site]) -> None:
    site = make_site(create=False)
    site.write_policy(policy(site.team, inject=[INJECTION]))
    with KeeperProcess(site) as keeper:
        wait_for(lambda: site.certificate and site.served, message="certificate and policy for the server")
        with site.server() as server:
            wait_for(lambda: len({each["name"] for each in site.entries()}) > 2, message="the configurations")
            refused = gpu_pod(schedulerName="none")
            refused["spec"]["containers"][0]["securityContext"] = {"privileged": True}
            path = f"/api/v1/namespaces/{site.team}/pods?dryRun=All"
            wait_for(lambda: site.api.post(path, refused).status == 403, message="the API server to call")
            assert all(each["webhooks"] for each in site.configurations())
            authorities = [present(site)]
            with load(site) as clients:
                for number in (1, 2):
                    clients.goes_on()
                    assert "asked the keeper" in ask_for_a_rotation(site)
                    keeper.wait_for_log("authority_dropped", number)
                    authorities.append(present(site))
                    # Only a certificate of the new authority is trusted now, and both webhooks fail closed.
                    seen = ssl.get_server_certificate(("127.0.0.1", site.port)).encode()
                    assert issued_by(seen, authorities[-1], datetime.now(UTC))
                    clients.goes_on()
            assert clients.failures == []
            for phase, verdict in (("mutate", "changed"), ("validate", "allowed")):
                assert server.metric("gpugate_reviews_total", endpoint=phase, verdict=verdict) >= clients.created
        assert len(set(authorities)) == 3
        assert not any(holds(authorities[-1], each) for each in authorities[:-1]), "the old ones are gone"
        assert issued_by((site.certificate or {})["tls.crt"], authorities[-1], datetime.now(UTC))
        assert len(keeper.logs("authority_made")) == 3
        assert [line for line in keeper.logs() if line["level"] == "error"] == []
        assert keeper.stop() == 0
        print(f"{clients.created} pods created by {CONNECTIONS} connections, 0 failed")
