"""How the cluster is found and who asks: kubeconfigs, plugins, tokens, a pod's own account; and what is said if not."""

import base64
import json
import os
import socketserver
import stat
import threading
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from app.cluster.client import Cluster
from app.cluster.errors import ClusterError, Forbidden, NotConfigured, Unauthenticated, Unreachable
from tests.controlplane import ControlPlane
from tests.support.apiproxy import write_kubeconfig

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig of the machine's, and no cluster around."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def secure(plane: ControlPlane) -> dict[str, Any]:
    return {"server": plane.url, "certificate-authority": str(plane.certificate_authority)}


def whoami(cluster: Cluster) -> str:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    return str(cluster.create(SELF, review)["status"]["userInfo"]["username"])


def token(plane: ControlPlane, namespace: str) -> str:
    """A token of the namespace's default ServiceAccount."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
    return str(plane.client().post(path, request).expect(201)["status"]["token"])


def plugin(directory: Path, script: str) -> dict[str, Any]:
    """The user of a kubeconfig whose credentials a program makes."""
    path = directory / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": "Never"}}


def refused(**options: Any) -> str:
    with pytest.raises(NotConfigured) as caught:
        Cluster.connect(**options)
    return str(caught.value)


def test_a_client_certificate(control_plane: ControlPlane) -> None:
    cluster = Cluster.connect(kubeconfig=str(control_plane.kubeconfig_for("ada", ("ml",))))
    assert whoami(cluster) == "ada"
    assert (cluster.context, cluster.server) == ("test", control_plane.url)


def test_the_environment_names_several_kubeconfigs(
    control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_kubeconfig(tmp_path / "other", {"server": "https://127.0.0.1:1"}, {}, context="other")
    missing = tmp_path / "missing"
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, (missing, other, control_plane.kubeconfig))))
    assert Cluster.connect(context="other").server == "https://127.0.0.1:1"
    assert whoami(Cluster.connect(context="test")) == "gpugate-test-admin"


def test_the_kubeconfig_at_home(control_plane: ControlPlane, tmp_path: Path) -> None:
    (tmp_path / "home" / ".kube").mkdir(parents=True)
    (tmp_path / "home" / ".kube" / "config").write_bytes(control_plane.kubeconfig.read_bytes())
    assert whoami(Cluster.connect()) == "gpugate-test-admin"


def test_a_token_from_a_plugin_and_a_new_one_when_it_is_not_accepted_any_more(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    namespace = control_plane.namespace("plugin")
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    bad, good = ({**credential, "status": {"token": each}} for each in ("revoked", token(control_plane, namespace)))
    (tmp_path / "next").write_text(json.dumps(bad))
    user = plugin(tmp_path, f"cat {tmp_path}/next")
    cluster = Cluster.connect(kubeconfig=str(write_kubeconfig(tmp_path / "config", secure(control_plane), user)))
    with pytest.raises(Unauthenticated):
        whoami(cluster)
    (tmp_path / "next").write_text(json.dumps(good))
    assert whoami(cluster) == f"system:serviceaccount:{namespace}:default"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo session is over >&2; exit 3", "exec: process returned 3. session is over"),
        ("echo nothing", "exec: failed to decode process output"),
        ("echo '{}'", "exec: malformed response. missing key 'apiVersion'"),
    ],
)
def test_a_plugin_that_fails(control_plane: ControlPlane, tmp_path: Path, script: str, said: str) -> None:
    config = write_kubeconfig(tmp_path / "config", secure(control_plane), plugin(tmp_path, script))
    message = refused(kubeconfig=str(config))
    assert message.startswith('the credentials of context "test" could not be made: ')
    assert said in message


def test_a_plugin_that_is_not_there(control_plane: ControlPlane, tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "gpugate-no-such-plugin"}}
    config = write_kubeconfig(tmp_path / "config", secure(control_plane), user)
    assert "No such file or directory: 'gpugate-no-such-plugin'" in refused(kubeconfig=str(config))


def test_no_kubeconfig() -> None:
    assert refused() == (
        "there is no kubeconfig at ~/.kube/config, and this is no pod of a cluster: give --kubeconfig FILE or set "
        "$KUBECONFIG"
    )
    assert refused(kubeconfig="nowhere.yaml") == "there is no kubeconfig nowhere.yaml"


def test_an_unknown_context(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = control_plane.kubeconfig
    assert (
        refused(kubeconfig=str(config), context="prod") == f'the kubeconfig {config} has no context "prod"; it has test'
    )
    empty = tmp_path / "empty"
    empty.write_text(json.dumps({"contexts": [{"name": "a", "context": {}}]}))
    message = f"the kubeconfig {empty} has no current-context: give --context, one of a"
    assert refused(kubeconfig=str(empty)) == message


@pytest.mark.parametrize(
    "content",
    ["", "a: [", "- 1", "7", '{"contexts": 5}', '{"current-context": "a", "contexts": [{"name": "a"}]}', "\0"],
)
def test_a_broken_kubeconfig(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken"
    path.write_text(content)
    message = refused(kubeconfig=str(path))
    assert message.startswith(f"the kubeconfig {path} ")
    assert "\n" not in message


def test_a_certificate_file_that_is_missing(control_plane: ControlPlane, tmp_path: Path) -> None:
    user = {"client-certificate": str(tmp_path / "gone.crt"), "client-key": str(tmp_path / "gone.key")}
    config = write_kubeconfig(tmp_path / "config", secure(control_plane), user)
    assert "gone.crt" in refused(kubeconfig=str(config))


def test_a_cluster_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)
    config = write_kubeconfig(tmp_path / "config", {"server": "https://127.0.0.1:1"}, {})
    with pytest.raises(Unreachable) as caught:
        Cluster.connect(kubeconfig=str(config)).get("/version")
    assert str(caught.value) == (
        'the cluster of context "test" cannot be reached at https://127.0.0.1:1: connection refused'
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(b"", "it closes the connection before TLS is agreed on"), (b"HTTP/1.1 400 Bad\r\n\r\n", "it does not speak TLS")],
)
def test_what_is_no_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes, reason: str) -> None:
    """As a load balancer without a backend, and as a port of HTTP."""
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        url = f"https://127.0.0.1:{server.server_address[1]}"
        config = write_kubeconfig(tmp_path / "config", {"server": url}, {})
        try:
            with pytest.raises(Unreachable) as caught:
                Cluster.connect(kubeconfig=str(config)).get("/version")
        finally:
            server.shutdown()
            thread.join()
    assert str(caught.value) == f'the cluster of context "test" cannot be reached at {url}: {reason}'


def test_a_server_that_is_not_trusted(
    control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cluster.transport._FIRST_PAUSE", 0.01)
    config = write_kubeconfig(tmp_path / "config", {"server": control_plane.url}, {})
    with pytest.raises(Unreachable, match="its certificate is not trusted"):
        Cluster.connect(kubeconfig=str(config)).get("/version")


def test_an_expired_token(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = write_kubeconfig(
        tmp_path / "config", secure(control_plane), {"token": signed(control_plane, int(time.time()) - 60)}
    )
    with pytest.raises(Unauthenticated) as caught:
        Cluster.connect(kubeconfig=str(config)).get("/api/v1/pods")
    assert str(caught.value) == (
        'the cluster of context "test" does not accept the credentials (401): the token or certificate has expired or '
        "is not of this cluster; log in again, or choose another --context"
    )


def signed(plane: ControlPlane, expires: int) -> str:
    """A token as the API server signs them, of the ServiceAccount default in the namespace default."""
    content = (plane.certificate_authority.parent / "service-accounts.key").read_bytes()
    key = serialization.load_pem_private_key(content, password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    account = plane.client().get("/api/v1/namespaces/default/serviceaccounts/default").expect(200)["metadata"]
    claims = {
        "iss": "https://kubernetes.default.svc",
        "aud": ["https://kubernetes.default.svc"],
        "sub": "system:serviceaccount:default:default",
        "exp": expires,
        "iat": expires - 600,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "default", "uid": account["uid"]}},
    }
    parts = [base64.urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=") for part in ({"alg": "ES256"}, claims)]
    r, s = decode_dss_signature(key.sign(b".".join(parts), ec.ECDSA(hashes.SHA256())))
    signature = base64.urlsafe_b64encode(r.to_bytes(32) + s.to_bytes(32)).rstrip(b"=")
    return b".".join([*parts, signature]).decode()


def test_a_token_of_the_same_make_that_has_not_expired_is_accepted(control_plane: ControlPlane, tmp_path: Path) -> None:
    user = {"token": signed(control_plane, int(time.time()) + 600)}
    config = write_kubeconfig(tmp_path / "config", secure(control_plane), user)
    assert whoami(Cluster.connect(kubeconfig=str(config))) == "system:serviceaccount:default:default"


def test_a_missing_right_is_named_with_what_grants_it(control_plane: ControlPlane) -> None:
    cluster = Cluster.connect(kubeconfig=str(control_plane.kubeconfig_for("nobody-here")))

    def said(path: str, *body: Any) -> str:
        with pytest.raises(Forbidden) as caught:
            cluster.create(path, *body) if body else cluster.get(path)
        return str(caught.value)

    assert said("/api/v1/pods") == (
        'user "nobody-here" may not list pods in the whole cluster: a ClusterRole with {apiGroups: [""], resources: '
        '["pods"], verbs: ["list"]} and a ClusterRoleBinding to it grant this'
    )
    assert said("/apis/apps/v1/namespaces/team-a/deployments/web").startswith(
        'user "nobody-here" may not get deployments.apps "web" in namespace "team-a": a Role with {apiGroups: ["apps"]'
    )
    review = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    assert said("/api/v1/namespaces", review).startswith('user "nobody-here" may not create namespaces in the whole')


def test_a_service_account_is_named_as_one(control_plane: ControlPlane, tmp_path: Path) -> None:
    namespace = control_plane.namespace("rights")
    user = {"token": token(control_plane, namespace)}
    config = write_kubeconfig(tmp_path / "config", secure(control_plane), user)
    with pytest.raises(ClusterError, match=f"^ServiceAccount {namespace}/default may not list secrets in namespace "):
        Cluster.connect(kubeconfig=str(config)).get(f"/api/v1/namespaces/{namespace}/secrets")


def test_a_pod_uses_its_own_account(
    control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = control_plane.namespace("inside")
    (tmp_path / "token").write_text(token(control_plane, namespace))
    host, _, port = control_plane.url.removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    loader = "kubernetes.config.incluster_config"
    monkeypatch.setattr(f"{loader}.SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(f"{loader}.SERVICE_CERT_FILENAME", str(control_plane.certificate_authority))
    cluster = Cluster.connect()
    assert whoami(cluster) == f"system:serviceaccount:{namespace}:default"
    assert (cluster.context, cluster.where) == (None, "the cluster")
