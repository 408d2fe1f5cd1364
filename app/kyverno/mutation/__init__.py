"""``mutate``: what a rule makes of a resource."""

from typing import Any, Final, NamedTuple

from app.kyverno.mutation.foreach import Entries, compile_foreach
from app.kyverno.mutation.patches import PATCHES, Patch, compile_patch
from app.kyverno.shapes import a_map, only_keys
from app.kyverno.templates import Compiler
from app.kyverno.types import Flaw, Mutated
from app.kyverno.variables import Variables

__all__ = ["Mutation", "compile_mutation"]

_KEYS: Final = ("foreach", "targets", "mutateExistingOnPolicyUpdate", *PATCHES)


class Mutation(NamedTuple):
    """A compiled ``mutate``; None stands for one that has flaws."""

    body: Patch | Entries | None

    def apply(self, resource: dict[str, Any], variables: Variables) -> Mutated:
        """What it makes of the resource, which is not changed itself; raises RuleError and EvaluationError."""
        after = self.body.apply(resource, variables) if self.body is not None else None
        if after is None:
            return Mutated("skip", "there is nothing to change", None)
        return Mutated("pass", "", after)


def compile_mutation(value: Any, pointer: str, compiler: Compiler) -> Mutation:
    """The mutation of a rule; what is wrong with it goes to the compiler's flaws."""
    flaws = compiler.flaws
    if not a_map(value, pointer, flaws, "mutate"):
        return Mutation(None)
    only_keys(value, _KEYS, pointer, flaws, "mutate")
    if value.get("targets"):
        said = "mutate.targets, which changes objects other than the one of the request, is not supported"
        flaws.append(Flaw(f"{pointer}/targets", said, key=True, limit=True))
        return Mutation(None)
    found = [name for name in ("foreach", *PATCHES) if value.get(name) is not None]
    if len(found) != 1:
        named = " and ".join(found) if found else "none"
        flaws.append(Flaw(pointer, f"mutate needs one of foreach, {', '.join(PATCHES)}; it has {named}", key=True))
        return Mutation(None)
    (name,) = found
    if name == "foreach":
        return Mutation(compile_foreach(value[name], f"{pointer}/{name}", compiler))
    return Mutation(compile_patch(name, value[name], f"{pointer}/{name}", compiler))
