"""Conditions: lists of comparisons, in preconditions and in ``deny``."""

from typing import Any, Final, NamedTuple

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.operators import NAMES, OPERATORS, Operator, not_equals
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion
from app.kyverno.templates import Compiler, Template
from app.kyverno.types import Flaw, RuleError
from app.kyverno.variables import Variables

_KEYS: Final = ("key", "operator", "value", "message")


class _Condition(NamedTuple):
    key: Template
    operator: Operator
    value: Template
    message: Template | None
    written: str

    def holds(self, variables: Variables) -> bool:
        try:
            key, value = self.key.render(variables), self.value.render(variables)
        except EvaluationError as error:
            raise RuleError(f"{self.written}: {error}") from error
        return self.operator(key, value)


class _Block(NamedTuple):
    """``any`` and ``all``: where both are there, both must hold."""

    any: tuple[_Condition, ...] | None
    all: tuple[_Condition, ...]

    def holds(self, variables: Variables, said: list[Template]) -> bool:
        if self.any is not None:
            first = next((each for each in self.any if each.holds(variables)), None)
            if first is None:
                return False
            if first.message is not None:
                said.append(first.message)
        for each in self.all:
            if not each.holds(variables):
                return False
            if each.message is not None:
                said.append(each.message)
        return True


class Conditions(NamedTuple):
    """Blocks that must all hold; without any they do."""

    blocks: tuple[_Block, ...] = ()

    def hold(self, variables: Variables) -> bool:
        """Whether the conditions hold, asked one by one up to the first that decides; raises RuleError."""
        return all(block.holds(variables, []) for block in self.blocks)

    def messages(self, variables: Variables) -> list[Template] | None:
        """The messages of the conditions by which these hold; None if they do not. Raises RuleError."""
        said: list[Template] = []
        return said if all(block.holds(variables, said) for block in self.blocks) else None


ALWAYS: Final = Conditions()


def compile_conditions(value: Any, pointer: str, compiler: Compiler) -> Conditions:
    """Of ``{any: [...], all: [...]}``, of a list of such maps, or (the old form) of a list of conditions."""
    if value is None:
        return ALWAYS
    flaws = compiler.flaws
    if type(value) is dict:
        return Conditions((_block(value, pointer, compiler),))
    blocks: list[_Block] = []
    old: list[_Condition] = []
    for index, item in enumerate(a_list(value, pointer, flaws, "conditions")):
        at = f"{pointer}/{index}"
        if type(item) is dict and ("any" in item or "all" in item):
            blocks.append(_block(item, at, compiler))
        else:
            old += _condition(item, at, compiler)
    return Conditions((*blocks, _Block(None, tuple(old)))) if old else Conditions(tuple(blocks))


def _block(value: dict[str, Any], pointer: str, compiler: Compiler) -> _Block:
    only_keys(value, ("any", "all"), pointer, compiler.flaws, "conditions")
    found: dict[str, tuple[_Condition, ...]] = {}
    for name in ("any", "all"):
        if value.get(name) is not None:
            listed = a_list(value[name], f"{pointer}/{name}", compiler.flaws, "conditions")
            found[name] = tuple(
                condition
                for index, item in enumerate(listed)
                for condition in _condition(item, f"{pointer}/{name}/{index}", compiler)
            )
    return _Block(found.get("any"), found.get("all", ()))


def _condition(value: Any, pointer: str, compiler: Compiler) -> list[_Condition]:
    flaws = compiler.flaws
    if not a_map(value, pointer, flaws, "a condition"):
        return []
    only_keys(value, _KEYS, pointer, flaws, "a condition")
    name = value.get("operator")
    operator = OPERATORS.get(name.lower()) if type(name) is str else None
    if operator is None:
        found = f'"{name}" is no operator' if name is not None else "a condition needs an operator"
        flaws.append(Flaw(f"{pointer}/operator", f"{found}; {suggestion(name, NAMES)}"))
    message = value.get("message")
    if message is not None and type(message) is not str:
        flaws.append(Flaw(f"{pointer}/message", "the message of a condition must be text"))
        message = None
    return [
        _Condition(
            compiler.document(value.get("key"), f"{pointer}/key"),
            operator or not_equals,  # never asked: with this flaw the policy is refused
            compiler.document(value.get("value"), f"{pointer}/value"),
            compiler.text(message, f"{pointer}/message") if message else None,
            f"{value.get('key')} {name} {value.get('value')}",
        )
    ]
