"""Authority and certificate in Secrets of a real API server, by a keeper with the rights of its installation."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.certs import check_pair, issue, issued_by, make_authority
from app.certs.rotation import holds
from app.manifests.client import Service
from app.manifests.keeper_names import AUTHORITY_SECRET, CERTIFICATE_SECRET, ROTATE_ANNOTATION
from tests.support.keeper import Driven, Site, policy

DAY = timedelta(days=1)


def now() -> datetime:
    return datetime.now(UTC)


def rotate(site: Site) -> None:
    patch = {"metadata": {"annotations": {ROTATE_ANNOTATION: "now"}}}
    site.api.patch(site.path("secrets", AUTHORITY_SECRET), patch).expect(200)


def held(data: dict[str, bytes] | None) -> dict[str, bytes]:
    assert data is not None
    return data


def authorities(bundle: bytes) -> int:
    return bundle.count(b"BEGIN CERTIFICATE")


def test_from_nothing(site: Site) -> None:
    keeper = site.keeper()
    assert keeper.step()
    authority, pair = held(site.authority), held(site.certificate)
    assert set(authority) == {"ca.crt", "ca.key"}
    assert set(pair) == {"tls.crt", "tls.key", "ca.crt"}, "servers never see the authority's key"
    assert pair["ca.crt"] == authority["ca.crt"]
    leaf = check_pair(pair["tls.crt"], pair["tls.key"], now())
    assert leaf.covers("127.0.0.1")
    assert issued_by(pair["tls.crt"], authority["ca.crt"], now())
    assert site.api.get(site.path("secrets", CERTIFICATE_SECRET)).body["type"] == "kubernetes.io/tls"
    for _ in range(3):
        assert keeper.step()
    assert (site.authority, site.certificate) == (authority, pair)
    assert keeper.metric("gpugate_keeper_certificates_total", certificate="authority") == 1
    expiry = keeper.metric("gpugate_keeper_certificate_expiry_timestamp_seconds", certificate="server")
    assert expiry == leaf.not_after.timestamp()


def test_keepers_at_once_make_one_authority(site: Site) -> None:
    keepers = [site.keeper() for _ in range(4)]
    start = threading.Barrier(len(keepers))

    def run(keeper: Driven) -> None:
        start.wait()
        for _ in range(3):
            keeper.step()

    threads = [threading.Thread(target=run, args=(keeper,)) for keeper in keepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    authority, pair = held(site.authority), held(site.certificate)
    assert authorities(authority["ca.crt"]) == 1
    assert issued_by(pair["tls.crt"], authority["ca.crt"], now())
    made = [keeper.metric("gpugate_keeper_certificates_total", certificate="authority") or 0 for keeper in keepers]
    assert sum(made) == 1
    made = [keeper.metric("gpugate_keeper_certificates_total", certificate="server") or 0 for keeper in keepers]
    assert sum(made) == 1


def test_a_clock_moved_forward_renews_in_time(site: Site) -> None:
    ahead = [timedelta()]
    # A Service without endpoints: nobody uses a certificate, so nobody has to be waited for.
    keeper = site.keeper(now=lambda: now() + ahead[0], client=Service(site.namespace, "gpugate"))
    keeper.step()
    first, authority = held(site.certificate), held(site.authority)
    assert check_pair(first["tls.crt"], first["tls.key"], now()).names[0] == f"gpugate.{site.namespace}.svc"
    ahead[0] = 240 * DAY
    keeper.step()
    assert site.certificate == first, "not before two thirds of its life"
    ahead[0] = 250 * DAY
    keeper.step()
    assert held(site.certificate)["tls.crt"] != first["tls.crt"]
    assert site.authority == authority
    ahead[0] = 2440 * DAY
    keeper.until(lambda: keeper.events.of("authority_dropped"), "a new authority alone")
    third, renewed = held(site.certificate), held(site.authority)
    assert authorities(renewed["ca.crt"]) == 1
    check_pair(third["tls.crt"], third["tls.key"], now() + ahead[0])
    assert issued_by(third["tls.crt"], renewed["ca.crt"], now() + ahead[0])
    assert not holds(renewed["ca.crt"], authority["ca.crt"])


def test_a_clock_moved_past_every_end_starts_anew(site: Site) -> None:
    ahead = [timedelta()]
    keeper = site.keeper(now=lambda: now() + ahead[0])
    keeper.step()
    ahead[0] = 4000 * DAY
    keeper.step()
    pair, authority = held(site.certificate), held(site.authority)
    assert issued_by(pair["tls.crt"], authority["ca.crt"], now() + ahead[0])
    assert authorities(authority["ca.crt"]) == 1
    assert keeper.events.of("authority_unusable")


def test_deleted_secrets_are_made_anew_and_the_configurations_patched(site: Site) -> None:
    site.write_policy(policy(site.team))
    keeper = site.keeper()
    keeper.step()
    with site.server():
        before = wait_until_trusted(site, keeper, lambda: site.authority)
        pair = site.certificate
        site.api.delete(site.path("secrets", CERTIFICATE_SECRET)).expect(200)
        keeper.until(lambda: site.certificate not in (None, pair), "the certificate made anew")
        assert site.authority == before
        site.api.delete(site.path("secrets", AUTHORITY_SECRET)).expect(200)
        # The old one stays trusted until the server has a certificate of the new one.
        keeper.until(lambda: (found := site.authority) and found["ca.crt"] != before["ca.crt"], "another authority")
        after = wait_until_trusted(
            site, keeper, lambda: found if (found := site.authority) and authorities(found["ca.crt"]) == 1 else None
        )
        assert not holds(after["ca.crt"], before["ca.crt"])
        assert issued_by(held(site.certificate)["tls.crt"], after["ca.crt"], now())
    dropped = keeper.events.of("authority_dropped")
    assert len(dropped) == 1


def wait_until_trusted(
    site: Site, keeper: Driven, authority: Callable[[], dict[str, bytes] | None]
) -> dict[str, bytes]:
    """The authority, once every entry trusts it and no other."""

    def trusted() -> dict[str, bytes] | None:
        found = authority()
        return found if found and site.bundles() == {found["ca.crt"]} else None

    return held(keeper.until(trusted, "the configurations to trust the authority"))


def test_an_old_authority_stays_while_a_server_uses_its_certificate(site: Site) -> None:
    site.write_policy(policy(site.team))
    keeper = site.keeper()
    keeper.step()
    with site.server():
        keeper.until(lambda: site.entries(), "the configurations")
    rotate(site)
    first = held(site.authority)
    # No server answers: nobody knows what it would serve.
    keeper.until(lambda: keeper.events.of("certificate_issued")[1:], "a certificate of the new authority")
    for _ in range(10):
        keeper.step()
    assert authorities(held(site.authority)["ca.crt"]) == 2
    assert keeper.metric("gpugate_keeper_rotating") == 1
    assert keeper.events.of("servers_behind")
    assert all(holds(bundle, first["ca.crt"]) for bundle in site.bundles())
    with site.server():
        keeper.until(lambda: authorities(held(site.authority)["ca.crt"]) == 1, "the old authority dropped")
    assert keeper.metric("gpugate_keeper_rotating") == 0


def test_secrets_of_others_are_left_alone(site: Site) -> None:
    authority = make_authority(now())
    leaf = issue(authority, ["gpugate.example.com"], now())
    made = {
        "tls.crt": leaf.certificate.decode(),
        "tls.key": leaf.key.decode(),
        "ca.crt": authority.certificate.decode(),
    }
    body = {"metadata": {"name": CERTIFICATE_SECRET}, "type": "kubernetes.io/tls", "stringData": made}
    site.api.post(f"/api/v1/namespaces/{site.namespace}/secrets", body).expect(201)
    keeper = site.keeper()
    keeper.step()
    assert held(site.certificate)["tls.crt"] == leaf.certificate
    assert site.authority is None
    (said,) = keeper.events.of("secret_of_others")
    assert "--no-certificates" in said["reason"]


@pytest.mark.parametrize("broken", [{"ca.key": b"nonsense"}, {"ca.crt": b""}, {}], ids=["key", "certificate", "empty"])
def test_an_authority_that_cannot_sign_is_replaced(site: Site, broken: dict[str, bytes]) -> None:
    keeper = site.keeper()
    keeper.step()
    before = held(site.authority)
    patch: dict[str, Any] = {"data": {"ca.crt": None, "ca.key": None}}
    patch["stringData"] = {key: value.decode() for key, value in broken.items()}
    site.api.patch(site.path("secrets", AUTHORITY_SECRET), patch).expect(200)
    keeper.until(lambda: issued_by(held(site.certificate)["tls.crt"], held(site.authority)["ca.crt"], now()))
    assert keeper.events.of("authority_unusable")
    assert not holds(before["ca.crt"], held(site.authority)["ca.crt"])


class TestCertificatesOfOthers:
    """cert-manager, or a person, makes the Secret of the servers."""

    @staticmethod
    def write(site: Site, *authority_and_leaf: bytes) -> None:
        certificate, key, bundle = authority_and_leaf
        made = {"tls.crt": certificate.decode(), "tls.key": key.decode(), "ca.crt": bundle.decode()}
        body = {"metadata": {"name": CERTIFICATE_SECRET}, "type": "kubernetes.io/tls", "stringData": made}
        path = f"/api/v1/namespaces/{site.namespace}/secrets"
        if site.certificate is None:
            site.api.post(path, body).expect(201)
        else:
            site.api.patch(f"{path}/{CERTIFICATE_SECRET}", body).expect(200)

    def test_their_authority_is_trusted_and_their_rotation_followed(self, make_site: Callable[..., Site]) -> None:
        site = make_site(certificates=False)
        site.write_policy(policy(site.team))
        first, second = make_authority(now()), make_authority(now())
        leaf = issue(first, ["127.0.0.1"], now())
        keeper = site.keeper(certificates=False)
        keeper.step()
        assert not site.entries(), "nobody to call yet"
        self.write(site, leaf.certificate, leaf.key, first.certificate)
        with site.server():
            keeper.until(lambda: site.bundles() == {first.certificate})
            new = issue(second, ["127.0.0.1"], now())
            before = site.api.get(site.path("secrets", CERTIFICATE_SECRET)).body["metadata"]["managedFields"]
            self.write(site, new.certificate, new.key, second.certificate)
            keeper.until(lambda: site.bundles() == {second.certificate + first.certificate}, "both trusted")
            keeper.until(lambda: site.bundles() == {second.certificate}, "the new one alone")
        after = site.api.get(site.path("secrets", CERTIFICATE_SECRET)).body["metadata"]["managedFields"]
        assert {each["manager"] for each in after} == {each["manager"] for each in before}, "never written"
        assert site.authority is None

    def test_bundles_that_cert_manager_writes_are_left_to_it(self, make_site: Callable[..., Site]) -> None:
        site = make_site(certificates=False)
        site.write_policy(policy(site.team))
        first, second = make_authority(now()), make_authority(now())
        leaf = issue(first, ["127.0.0.1"], now())
        self.write(site, leaf.certificate, leaf.key, first.certificate)
        keeper = site.keeper(certificates=False)
        keeper.step()
        with site.server():
            keeper.until(lambda: site.bundles() == {first.certificate})
            annotations = {"cert-manager.io/inject-ca-from": f"{site.namespace}/{CERTIFICATE_SECRET}"}
            for each in site.configurations():
                path = f"/apis/admissionregistration.k8s.io/v1/{each['kind'].lower()}s/{site.name}"
                site.api.patch(path, {"metadata": {"annotations": annotations}}).expect(200)
            self.write(site, leaf.certificate, leaf.key, second.certificate)
            for _ in range(5):
                keeper.step()
            assert site.bundles() == {first.certificate}
            for each in site.configurations():
                assert each["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
