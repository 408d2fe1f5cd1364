"""Whether a webhook configuration in a cluster says what it should."""

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Any


def differences(found: dict[str, Any] | None, wanted: dict[str, Any]) -> list[str]:
    """What is different in the configuration of a cluster, one line each; None: there is none.

    Fields that are not wanted are left alone (a later API may have more), and so is ``caBundle``: whoever makes the
    certificates writes it.
    """
    if found is None:
        return ["it does not exist"]
    return list(_differences(found, wanted))


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    entries = {each.get("name"): each for each in found.get("webhooks") or []}
    expected = {each["name"]: each for each in wanted.get("webhooks") or []}
    for name, entry in expected.items():
        if name not in entries:
            yield f"entry {name} is missing"
        elif fields := [key for key in entry if _plain(key, entries[name].get(key)) != _plain(key, entry[key])]:
            yield f"entry {name} differs in {', '.join(fields)}"
    for name in entries:
        if name not in expected:
            yield f"entry {name} is not of the policy"
    annotations = found["metadata"].get("annotations") or {}
    for key, value in (wanted["metadata"].get("annotations") or {}).items():
        if annotations.get(key) != value:
            yield f"annotation {key} is {annotations.get(key, 'missing')}, not {value}"


def _plain(key: str, value: Any) -> Any:
    if key == "clientConfig" and isinstance(value, dict):
        return {name: field for name, field in value.items() if name != "caBundle"}
    return value


def bundles(configuration: dict[str, Any]) -> list[bytes]:
    """The CA bundle (PEM) of each entry; empty where there is none."""
    return [_bundle(each.get("clientConfig") or {}) for each in configuration.get("webhooks") or []]


def _bundle(client_config: dict[str, Any]) -> bytes:
    try:
        return b64decode(client_config.get("caBundle") or "", validate=True)
    except Error:
        return b""
