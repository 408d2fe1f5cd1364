"""cert-manager as the one that makes certificates: a CA of gpugate's own, and the server's certificate."""

from typing import Any, Final

from app.manifests.install.settings import Installation
from app.manifests.keeper_names import CERTIFICATE_SECRET
from app.manifests.metadata import metadata

_COMPONENT: Final = "certificates"
_CA: Final = "gpugate-issuer-ca"
_SELF_SIGNED: Final = "gpugate-issuer-self-signed"


def ca_injection(installation: Installation) -> dict[str, str]:
    """The annotation by which cert-manager writes the CA bundle into the webhook configurations."""
    return {"cert-manager.io/inject-ca-from": f"{installation.namespace}/{CERTIFICATE_SECRET}"}


def cert_manager(installation: Installation) -> list[dict[str, Any]]:
    """The issuers and certificates. The Secret of the last one holds ca.crt, tls.crt and tls.key, as the server wants
    them."""
    service = f"{installation.name}.{installation.namespace}.svc"
    authority = {
        "isCA": True,
        "commonName": "gpugate webhook CA",
        "secretName": _CA,
        "duration": "87600h",
        "renewBefore": "8760h",
        "privateKey": {"algorithm": "ECDSA", "size": 256},
        "issuerRef": {"name": _SELF_SIGNED, "kind": "Issuer", "group": "cert-manager.io"},
    }
    leaf = {
        "secretName": CERTIFICATE_SECRET,
        "commonName": "gpugate webhook",
        "dnsNames": [service, f"{service}.cluster.local"],
        "duration": "2160h",
        "renewBefore": "720h",
        "usages": ["server auth", "digital signature"],
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "issuerRef": {"name": _CA, "kind": "Issuer", "group": "cert-manager.io"},
    }
    return [
        _object(installation, "Issuer", _SELF_SIGNED, {"selfSigned": {}}),
        _object(installation, "Certificate", _CA, authority),
        _object(installation, "Issuer", _CA, {"ca": {"secretName": _CA}}),
        _object(installation, "Certificate", CERTIFICATE_SECRET, leaf),
    ]


def _object(installation: Installation, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": kind,
        "metadata": metadata(name, _COMPONENT, namespace=installation.namespace),
        "spec": spec,
    }
