"""``mutate.foreach``: a patch for each element of a list.

Each element's patch is laid over what the ones before it made. Their variables see the resource as it was before the
entry of foreach that they are in. Source: kyverno pkg/engine/handlers/mutation/common.go.
"""

from typing import Any, Final, NamedTuple, Union

from app.kyverno.conditions import Conditions, compile_conditions
from app.kyverno.contexts import compile_context, names_of
from app.kyverno.mutation.patches import PATCHES, Patch, compile_patch
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion
from app.kyverno.templates import Compiler, Template
from app.kyverno.types import Flaw
from app.kyverno.validation import element_names, foreach_names
from app.kyverno.variables import Entry, Variables

_ORDERS: Final = ("Ascending", "Descending")
_KEYS: Final = ("list", "order", "context", "preconditions", "foreach", *PATCHES)


class ForEach(NamedTuple):
    """One entry of ``foreach``: for each element a patch, or the entries of another foreach."""

    list: Template
    descending: bool
    context: tuple[Entry, ...]
    preconditions: Conditions
    inner: Union[Patch, "Entries"]

    def apply(self, resource: dict[str, Any], variables: Variables, nesting: int) -> dict[str, Any] | None:
        """The new resource, None if nothing changes; raises RuleError and EvaluationError."""
        found = self.list.render(variables)
        elements = list(enumerate(found if type(found) is list else [found]))
        after: dict[str, Any] | None = None
        for index, element in reversed(elements) if self.descending else elements:
            if element is None:
                continue
            names = variables.inner(element_names(element, index, nesting))
            names.define(self.context)
            if not self.preconditions.hold(names):
                continue
            before = resource if after is None else after
            if isinstance(self.inner, Entries):
                changed = self.inner.apply(before, names, nesting + 1)
            else:
                changed = self.inner.apply(before, names)
            after = after if changed is None else changed
        return after


class Entries(NamedTuple):
    """The entries of a ``foreach``, one after the other."""

    entries: tuple[ForEach, ...]

    def apply(self, resource: dict[str, Any], variables: Variables, nesting: int = 0) -> dict[str, Any] | None:
        """The new resource, None if nothing changes; raises RuleError and EvaluationError."""
        after: dict[str, Any] | None = None
        for entry in self.entries:
            changed = entry.apply(resource if after is None else after, variables, nesting)
            if changed is not None:
                after = changed
                variables = variables.inner({})
                variables.give({"request.object": after})
        return after


def compile_foreach(value: Any, pointer: str, compiler: Compiler, nesting: int = 0) -> Entries:
    """The entries of a foreach; what is wrong goes to the compiler's flaws."""
    listed = a_list(value, pointer, compiler.flaws, "foreach")
    found = [_entry(item, f"{pointer}/{index}", compiler, nesting) for index, item in enumerate(listed)]
    return Entries(tuple(entry for entry in found if entry is not None))


def _entry(item: Any, pointer: str, compiler: Compiler, nesting: int) -> ForEach | None:
    flaws = compiler.flaws
    what = "an entry of foreach"
    if not a_map(item, pointer, flaws, what):
        return None
    only_keys(item, _KEYS, pointer, flaws, what)
    listed, order = item.get("list"), item.get("order")
    if type(listed) is not str or not listed.strip():
        flaws.append(Flaw(f"{pointer}/list", f"{what} needs a list: a JMESPath expression"))
        return None
    if order is not None and order not in _ORDERS:
        flaws.append(Flaw(f"{pointer}/order", f'order cannot be "{order}"; {suggestion(order, _ORDERS)}'))
    inner = compiler.within(foreach_names(nesting) | names_of(item.get("context")))
    body = _body(item, pointer, inner, nesting)
    if body is None:
        return None
    return ForEach(
        compiler.expression(listed, f"{pointer}/list"),
        # Strategic merges put elements first, so that going backwards keeps their order.
        order == "Descending" if order else item.get("patchStrategicMerge") is not None,
        compile_context(item.get("context"), f"{pointer}/context", inner),
        compile_conditions(item.get("preconditions"), f"{pointer}/preconditions", inner),
        body,
    )


def _body(item: dict[str, Any], pointer: str, compiler: Compiler, nesting: int) -> Patch | Entries | None:
    said = [name for name in ("foreach", *PATCHES) if item.get(name) is not None]
    if len(said) != 1:
        named = " and ".join(said) if said else "none"
        message = f"an entry of foreach needs one of foreach, {', '.join(PATCHES)}; it has {named}"
        compiler.flaws.append(Flaw(pointer, message, key=True))
        return None
    (name,) = said
    if name == "foreach":
        return compile_foreach(item[name], f"{pointer}/{name}", compiler, nesting + 1)
    return compile_patch(name, item[name], f"{pointer}/{name}", compiler)
