"""The files beside a ``kyverno-test.yaml``: variables that are given, and who makes the requests."""

from pathlib import Path
from typing import Any, Final

from app.documents import Document, read
from app.kyverno.shapes import a_list, a_map, only_keys, text_map
from app.kyverno.types import Flaw
from app.suite.kyverno_case import Values

_VALUES: Final = (
    "apiVersion", "kind", "metadata", "globalValues", "policies", "namespaceSelector", "namespaces", "subresources",
)  # fmt: skip
_USER: Final = ("apiVersion", "kind", "metadata", "roles", "clusterRoles", "userInfo")


def read_values(file: str, pointer: str, flaws: list[Flaw]) -> Values:
    """The variables of a file of kind Values; what is wrong is a flaw at the pointer that refers to it."""
    return parse_values(_read(file, pointer, flaws), pointer, flaws, file)


def read_user(file: str, pointer: str, flaws: list[Flaw]) -> dict[str, Any]:
    """The user of a file of kind UserInfo, as the fields of a request."""
    return parse_user(_read(file, pointer, flaws), pointer, flaws, file)


def parse_values(value: Any, pointer: str, flaws: list[Flaw], file: str = "") -> Values:
    """The variables of a document; where it is a ``file``, its flaws are shown where the test refers to it."""
    inside: list[Flaw] = []
    found = _values(value, inside) if a_map(value, "", inside, "values") else Values()
    flaws += [_placed(flaw, pointer, file) for flaw in inside]
    return found


def parse_user(value: Any, pointer: str, flaws: list[Flaw], file: str = "") -> dict[str, Any]:
    """The user of a document, as the fields of a request: ``userInfo``, ``roles``, ``clusterRoles``."""
    inside: list[Flaw] = []
    found: dict[str, Any] = {}
    if a_map(value, "", inside, "userinfo"):
        only_keys(value, _USER, "", inside, "userinfo")
        for key in ("roles", "clusterRoles"):
            if value.get(key) is not None:
                found[key] = a_list(value[key], f"/{key}", inside, key)
        user = value.get("userInfo")
        if user is not None and a_map(user, "/userInfo", inside, "userInfo"):
            found["userInfo"] = user
    flaws += [_placed(flaw, pointer, file) for flaw in inside]
    return found


def _values(value: dict[str, Any], flaws: list[Flaw]) -> Values:
    only_keys(value, _VALUES, "", flaws, "values")
    resources: dict[tuple[str, str], dict[str, Any]] = {}
    rules: dict[tuple[str, str], dict[str, Any]] = {}
    foreach: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for at, policy in _entries(value, "policies", "", flaws, ("name", "resources", "rules")):
        name = str(policy.get("name"))
        for place, each in _entries(policy, "resources", at, flaws, ("name", "values")):
            resources[name, str(each.get("name"))] = _map(each, "values", place, flaws)
        for place, each in _entries(policy, "rules", at, flaws, ("name", "values", "foreachValues")):
            rules[name, str(each.get("name"))] = _map(each, "values", place, flaws)
            given = _map(each, "foreachValues", place, flaws)
            foreach[name, str(each.get("name"))] = {
                key: a_list(item, f"{place}/foreachValues/{key}", flaws, key) for key, item in given.items()
            }
    labels = {
        str(each.get("name")): text_map(each.get("labels"), f"{at}/labels", flaws, "labels")
        for at, each in _entries(value, "namespaceSelector", "", flaws, ("name", "labels"))
    }
    for at, each in _entries(value, "namespaces", "", flaws, None):
        metadata = each.get("metadata")
        if a_map(metadata, f"{at}/metadata", flaws, "metadata"):
            labels[str(metadata.get("name"))] = text_map(metadata.get("labels"), f"{at}/metadata", flaws, "labels")
    return Values(_map(value, "globalValues", "", flaws), resources, rules, foreach, labels)


def _entries(
    value: dict[str, Any], key: str, pointer: str, flaws: list[Flaw], known: tuple[str, ...] | None
) -> list[tuple[str, dict[str, Any]]]:
    """The maps of a list, with their places."""
    found = []
    listed = value.get(key)
    for index, each in enumerate([] if listed is None else a_list(listed, f"{pointer}/{key}", flaws, key)):
        at = f"{pointer}/{key}/{index}"
        if a_map(each, at, flaws, f"an entry of {key}"):
            if known is not None:
                only_keys(each, known, at, flaws, f"an entry of {key}")
            found.append((at, each))
    return found


def _map(value: dict[str, Any], key: str, pointer: str, flaws: list[Flaw]) -> dict[str, Any]:
    found = value.get(key)
    return found if found is not None and a_map(found, f"{pointer}/{key}", flaws, key) else {}


def _read(file: str, pointer: str, flaws: list[Flaw]) -> Any:
    try:
        documents = list(read(Path(file).read_bytes(), file))
    except OSError as error:
        flaws.append(Flaw(pointer, f"{file} cannot be read: {error.strerror}"))
        return {}
    wrong = next((each for each in documents if not isinstance(each, Document)), None)
    if wrong is not None:
        flaws.append(Flaw(pointer, f"{file}:{wrong.line}:{wrong.column}: {wrong.message}"))
        return {}
    if len(documents) != 1:
        flaws.append(Flaw(pointer, f"{file} holds {len(documents)} documents; one is wanted"))
        return {}
    (document,) = documents
    return document.value if isinstance(document, Document) else {}


def _placed(flaw: Flaw, pointer: str, file: str) -> Flaw:
    if not file:
        return Flaw(pointer + flaw.pointer, flaw.message, flaw.key)
    return Flaw(pointer, f"{file}: {flaw.pointer or 'the document'}: {flaw.message}")
