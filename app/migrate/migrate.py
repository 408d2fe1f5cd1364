"""Kyverno policies to a GpuPolicy."""

import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from app.kyverno.limits import limits
from app.kyverno.policy import KINDS, VERSIONS, compile_policy
from app.kyverno.types import InvalidPolicy
from app.migrate.additions import additions
from app.migrate.changes import changes_of
from app.migrate.checks import checks_of
from app.migrate.compare import differences
from app.migrate.lessons import NEVER_SEEN
from app.migrate.reach import reach_of
from app.migrate.resources import preset_of
from app.migrate.row import Migration, NotTaken, Piece, Reach, Row
from app.policy.compiled import Policy
from app.policy.errors import PolicyError
from app.policy.load import load
from app.policy.schema import API_VERSION

_NAME: Final = "migrated"
_LONGEST: Final = 63
_ACTIONS: Final = {"enforce": "deny", "audit": "audit"}
_OTHER_WAYS: Final = ("generate", "verifyImages")


class _Document:
    """The GpuPolicy that is being put together."""

    def __init__(self) -> None:
        self.rules: list[dict[str, Any]] = []
        self.inject: list[dict[str, Any]] = []
        self.resources: set[str] = set()
        self.enforcing = False
        self.names: list[str] = []

    def add(self, pieces: list[Piece], reach: Reach, action: str, name: str) -> None:
        """Take what a rule has become. What is there already, word for word, is not repeated."""
        self.resources |= reach.resources
        self.enforcing = self.enforcing or action == "deny"
        for piece in pieces:
            if piece.kind == "rule":
                entry = {**piece.entry, **_narrowed(reach)}
                if action != "deny":
                    entry["action"] = action
                if entry not in [{key: value for key, value in each.items() if key != "name"} for each in self.rules]:
                    taken = any(each["rule"] == entry["rule"] and "name" not in each for each in self.rules)
                    self.rules.append({**entry, "name": self._unique(name)} if taken else entry)
            else:
                self.inject.append({"name": self._unique(name), **piece.entry, **_narrowed(reach)})

    def _unique(self, name: str) -> str:
        label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-") or "rule"
        taken = {str(each.get("name")) for each in (*self.rules, *self.inject)}
        number = 1
        found = label
        while found in taken:
            number += 1
            found = f"{label[: _LONGEST - 4]}-{number}"
        return found

    def made(self, name: str, mode: str | None = None) -> dict[str, Any]:
        """The document, with its keys in the order of the shipped one; ``mode`` is its default one."""
        presets = sorted({found for each in self.resources if (found := preset_of(each))})
        others = sorted(each for each in self.resources if preset_of(each) is None)
        gpus = {"presets": presets, "resources": others}
        spec: dict[str, Any] = {"gpus": {key: value for key, value in gpus.items() if value}}
        spec["modes"] = {"default": mode or ("enforce" if self.enforcing else "audit")}
        if mode is None and not self.enforcing:
            self.rules = [{key: value for key, value in each.items() if key != "action"} for each in self.rules]
        if self.rules:
            spec["rules"] = [_ordered(each) for each in self.rules]
        if self.inject:
            spec["inject"] = self.inject
        return {"apiVersion": API_VERSION, "kind": "GpuPolicy", "metadata": {"name": name}, "spec": spec}


def migrate(policies: Iterable[dict[str, Any]], shipped: dict[str, Any], mode: str | None = None) -> Migration:
    """The GpuPolicy that says what the policies say, and a row for each of their rules.

    ``shipped`` is the policy that gpugate comes with; what that has besides is told. ``mode`` is for namespaces without
    one of their own; by default what the policies do.
    """
    whole, rows, names = _Document(), list[Row](), list[str]()
    for policy in policies:
        metadata = policy.get("metadata")
        name = str(metadata.get("name", "unnamed")) if isinstance(metadata, dict) else "unnamed"
        spec = policy.get("spec")
        listed = spec.get("rules") if isinstance(spec, dict) else None
        if policy.get("kind") not in KINDS or policy.get("apiVersion") not in VERSIONS:
            said = f"{policy.get('kind')} of {policy.get('apiVersion')} has no counterpart"
            rows.append(Row(name, "*", "not taken", notes=(said,)))
            continue
        served = _served(policy)
        for rule in listed if isinstance(listed, list) else []:
            rows.append(_row(policy, name, rule, whole, served))
            if rows[-1].verdict != "not taken" and name not in names:
                names.append(name)
    if not names:
        return Migration(None, tuple(rows))
    document = whole.made(_document_name(names), mode)
    return Migration(document, tuple(rows), tuple(additions(document, shipped)))


def _row(policy: dict[str, Any], name: str, rule: Any, whole: _Document, served: str) -> Row:
    title = str(rule.get("name")) if isinstance(rule, dict) else "?"
    if not isinstance(rule, dict):
        return Row(name, title, "not taken", notes=("it is no rule",))
    validation = rule.get("validate") or {}
    message = " ".join(str(validation.get("message") or "").split()) if isinstance(validation, dict) else ""
    try:
        pieces, reach = _pieces(rule)
        original = compile_policy({**policy, "spec": {**policy["spec"], "rules": [rule]}})
        alone = _Document()
        action, notes = _action(policy["spec"], rule)
        alone.add(pieces, reach, "deny", title)
        found = differences(original, _loaded(alone), pieces, reach)
    except NotTaken as error:
        return Row(name, title, "not taken", notes=(f"{error}{served}",), message=message)
    except InvalidPolicy as error:
        said = "; ".join(flaw.message for flaw in error.flaws)
        return Row(name, title, "not taken", notes=(said,), message=message)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        said = f"it is not written as a rule of Kyverno is ({type(error).__name__})"
        return Row(name, title, "not taken", notes=(said,), message=message)
    whole.add(pieces, reach, action, title)
    if rule.get("validate") and any(piece.id == "limits-equal-requests" for piece in pieces):
        notes = (*notes, NEVER_SEEN)
    verdict = "different" if found.different else "better" if found.better or NEVER_SEEN in notes else "same"
    becomes = tuple(_shown(piece) for piece in pieces)
    return Row(name, title, verdict, becomes, *found, notes, message, tuple(pieces))  # type: ignore[arg-type]


def _pieces(rule: dict[str, Any]) -> tuple[list[Piece], Reach]:
    for key in _OTHER_WAYS:
        if rule.get(key):
            raise NotTaken(f"{key} has no counterpart")
    if rule.get("context"):
        raise NotTaken("it looks things up (context)")
    reach = reach_of(rule)
    if rule.get("validate"):
        pieces, reach = checks_of(rule["validate"], reach)
    elif rule.get("mutate"):
        pieces = changes_of(rule["mutate"], reach)
    else:
        raise NotTaken("it neither validates nor mutates")
    if not reach.resources:
        raise NotTaken("it is not about GPUs")
    return pieces, reach


def _served(policy: dict[str, Any]) -> str:
    """How the original can go on, as the end of a sentence."""
    try:
        compile_policy(policy)
    except InvalidPolicy as error:
        return f"; nor can it be served as it is: {error.flaws[0].message}"
    flaws = list(limits(policy))
    if flaws:
        return f"; nor can it be served as it is: {flaws[0].message}"
    return "; it can be served as it is, beside the GpuPolicy"


def _loaded(document: _Document) -> Policy:
    content = orjson.dumps(document.made(_NAME))
    try:
        return load([("migrated.json", content)])
    except PolicyError as error:
        raise NotTaken(error.problems[0].message) from None


def _action(spec: dict[str, Any], rule: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    validation = rule.get("validate") or {}
    if not rule.get("validate"):
        return "deny", ()
    written = validation.get("failureAction") or spec.get("validationFailureAction") or "Audit"
    overrides = validation.get("failureActionOverrides") or spec.get("validationFailureActionOverrides")
    notes: tuple[str, ...] = ()
    if overrides:
        named = ", ".join(
            f"{each.get('action')} in {', '.join(each.get('namespaces') or ['some'])}" for each in overrides
        )
        notes = (f"its action differs by namespace ({named}): set modes.namespaces, or the label of each namespace",)
    return _ACTIONS.get(str(written).lower(), "audit"), notes


def _narrowed(reach: Reach) -> dict[str, Any]:
    return {"match": reach.match} if reach.match else {}


def _ordered(entry: dict[str, Any]) -> dict[str, Any]:
    order = ("rule", "name", "action", "repair", "match", "with", "help")
    return {key: entry[key] for key in order if key in entry}


def _shown(piece: Piece) -> str:
    if piece.kind == "rule":
        return f"rule {piece.id}" + (" with repair" if piece.entry.get("repair") else "")
    return f"injection of {' and '.join(key for key in ('tolerations', 'nodeSelector') if key in piece.entry)}"


def _document_name(names: list[str]) -> str:
    return names[0] if len(names) == 1 else _NAME
