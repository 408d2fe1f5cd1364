"""``mutate`` of a rule: the repairs and injections of a GpuPolicy that make the same of a pod."""

from collections.abc import Iterator
from typing import Any, Final

from app.kyverno import anchors
from app.kyverno.yamltext import InvalidYaml, parse
from app.migrate.leaves import ITEM, Leaf, leaves
from app.migrate.row import NotTaken, Piece, Reach
from app.model.patch import unescape
from app.model.words import quoted

_TOLERATIONS: Final = ("spec", "tolerations")
_SELECTOR: Final = ("spec", "nodeSelector")
_CLASS: Final = ("spec", "runtimeClassName")


def changes_of(mutate: dict[str, Any], reach: Reach) -> list[Piece]:
    """What the rule adds; raises NotTaken."""
    if not reach.gated:
        raise NotTaken("it changes pods that ask for no GPU too; a GpuPolicy changes GPU pods")
    if isinstance(mutate.get("patchStrategicMerge"), dict):
        pieces = list(_merge(mutate["patchStrategicMerge"]))
    elif isinstance(mutate.get("patchesJson6902"), str):
        pieces = list(_operations(mutate["patchesJson6902"]))
    else:
        others = ", ".join(key for key in mutate if mutate[key]) or "nothing"
        raise NotTaken(f"mutate by {others} has no counterpart")
    return _together(pieces)


def _merge(patch: dict[str, Any]) -> Iterator[Piece]:
    tolerations = (patch.get("spec") or {}).get("tolerations")
    for leaf in leaves(patch):
        if leaf.path[: len(_TOLERATIONS)] == _TOLERATIONS and isinstance(tolerations, list):
            continue
        yield _field(leaf.path, leaf.value, leaf, keep=leaf.last == anchors.ADDITION)
    if isinstance(tolerations, list):
        yield _tolerations(tolerations)


def _operations(text: str) -> Iterator[Piece]:
    if "{{" in text:
        raise NotTaken("there are variables in its JSON patch")
    try:
        operations = parse(text)
    except InvalidYaml as error:
        raise NotTaken(f"its JSON patch cannot be read: {error}") from None
    for operation in operations if isinstance(operations, list) else []:
        path = tuple(map(unescape, str(operation.get("path")).split("/")[1:]))
        if operation.get("op") not in ("add", "replace"):
            raise NotTaken(f"its JSON patch has {quoted(str(operation.get('op')))} of {operation.get('path')}")
        value = operation.get("value")
        if path[:2] == _TOLERATIONS and len(path) == 3:
            yield _tolerations([value])
        elif path == _TOLERATIONS and isinstance(value, list):
            yield _tolerations(value)
        elif path == _SELECTOR and isinstance(value, dict):
            for key, item in value.items():
                yield _field((*_SELECTOR, key), item, operation.get("path"))
        else:
            yield _field(path, value, operation.get("path"))


def _field(path: tuple[str, ...], value: Any, shown: Leaf | Any, *, keep: bool = False) -> Piece:
    """What sets a field; ``keep``: only where the pod does not."""
    text = value if isinstance(value, str) else ""
    if path == _CLASS and text and "{{" not in text:
        return Piece("rule", {"rule": "runtime-class", "repair": True, "with": {"default": text}})
    if path[:2] == _SELECTOR and len(path) == 3 and text and "{{" not in text:
        return Piece("inject", {"nodeSelector": {path[2]: text}, **({"onConflict": "keep"} if keep else {})})
    raise NotTaken(f"it sets {str(shown).replace(f'.{ITEM}', ITEM)}, which a GpuPolicy does not")


def _tolerations(listed: list[Any]) -> Piece:
    for each in listed:
        if not isinstance(each, dict) or "{{" in str(each) or any("(" in key for key in each):
            raise NotTaken("it adds tolerations with variables or anchors in them")
    return Piece("inject", {"tolerations": [dict(each) for each in listed]})


def _together(pieces: list[Piece]) -> list[Piece]:
    """One injection of all that a rule injects."""
    rules = [piece for piece in pieces if piece.kind == "rule"]
    entry: dict[str, Any] = {}
    kept: list[bool] = []
    for piece in pieces:
        if piece.kind != "inject":
            continue
        if "tolerations" in piece.entry:
            entry.setdefault("tolerations", []).extend(piece.entry["tolerations"])
        entry.setdefault("nodeSelector", {}).update(piece.entry.get("nodeSelector", {}))
        if "nodeSelector" in piece.entry:
            kept.append("onConflict" in piece.entry)
    if any(kept) and not all(kept):
        raise NotTaken("it overwrites one label of the nodeSelector and keeps another")
    if any(kept):
        entry["onConflict"] = "keep"
    entry = {key: value for key, value in entry.items() if value}
    return [*rules, *([Piece("inject", entry)] if entry else [])]
