"""The patch of a rule, or of one element of its foreach: a strategic merge, or a JSON patch."""

from typing import Any, Final, NamedTuple, Protocol

from app.kyverno import anchors
from app.kyverno.expressions.kinds import equal
from app.kyverno.mutation.json_patch import patched
from app.kyverno.mutation.merging import DIRECTIVE, DIRECTIVES, merged
from app.kyverno.mutation.operations import Operations, compile_operations
from app.kyverno.mutation.overlay import resolved
from app.kyverno.mutation.schema import schema_of
from app.kyverno.shapes import a_map
from app.kyverno.templates import Compiler, Template
from app.kyverno.types import Flaw
from app.kyverno.variables import Variables
from app.model.patch import escape

PATCHES: Final = ("patchStrategicMerge", "patchesJson6902")
_ANCHORS: Final = (anchors.CONDITION, anchors.GLOBAL, anchors.ADDITION)
_NOT_TAKEN: Final = ("$setElementOrder", "$retainKeys", "$deleteFromPrimitiveList")


class Patch(Protocol):
    """A compiled patch."""

    def apply(self, resource: dict[str, Any], variables: Variables) -> dict[str, Any] | None:
        """The new resource, None if nothing changes; raises RuleError and EvaluationError."""


class StrategicMerge(NamedTuple):
    """``patchStrategicMerge``; ``anchored`` if there are anchors in it."""

    template: Template

    def apply(self, resource: dict[str, Any], variables: Variables) -> dict[str, Any] | None:
        """See Patch."""
        patch = resolved(self.template.render(variables), resource)
        return _changed(resource, merged(resource, patch, schema_of(resource)))


class JsonPatch(NamedTuple):
    """``patchesJson6902``."""

    operations: Operations

    def apply(self, resource: dict[str, Any], variables: Variables) -> dict[str, Any] | None:
        """See Patch."""
        return _changed(resource, patched(resource, self.operations.render(variables)))


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any] | None:
    return None if equal(before, after) else after


def compile_patch(name: str, value: Any, pointer: str, compiler: Compiler) -> Patch | None:
    """The patch of that name; what is wrong goes to the compiler's flaws."""
    if name == "patchesJson6902":
        return JsonPatch(compile_operations(value, pointer, compiler))
    if not a_map(value, pointer, compiler.flaws, "patchStrategicMerge"):
        return None
    _check(value, pointer, compiler.flaws)
    return StrategicMerge(compiler.document(value, pointer))


def _check(value: Any, pointer: str, flaws: list[Flaw]) -> None:
    if type(value) is list:
        for index, item in enumerate(value):
            _check(item, f"{pointer}/{index}", flaws)
    if type(value) is not dict:
        return
    for key, item in value.items():
        at = f"{pointer}/{escape(key)}"
        anchor = anchors.parse(key)
        if anchor and anchor.modifier not in _ANCHORS:
            said = f"the anchor {anchor} has no meaning in a patch; there are (key), <(key) and +(key)"
            flaws.append(Flaw(at, said, key=True))
        if key == DIRECTIVE and item not in DIRECTIVES:
            flaws.append(Flaw(at, f'{DIRECTIVE} cannot be "{item}"; it must be one of {", ".join(DIRECTIVES)}'))
        if key.partition("/")[0] in _NOT_TAKEN:
            flaws.append(Flaw(at, f"the directive {key} is not supported", key=True, limit=True))
        _check(item, at, flaws)
