"""``patchesJson6902``: the operations of a JSON patch, written as YAML or JSON in a text.

Kyverno fills variables into that text and reads the result, so that the value of a label could add operations of its
own. Here the text is read once, when the policy is loaded, and variables are filled into the values that it says.
"""

import re
from typing import Any, Final, NamedTuple

from app.documents.yaml_scalars import resolve
from app.kyverno.gojson import marshal
from app.kyverno.mutation.json_patch import OPERATIONS
from app.kyverno.shapes import a_list, a_map, only_keys, suggestion
from app.kyverno.templates import Compiler, Template
from app.kyverno.types import Flaw
from app.kyverno.variables import Variables
from app.kyverno.yamltext import InvalidYaml, parse

_KEYS: Final = ("op", "path", "from", "value")
_NEEDS: Final = {"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from"}
_MARK: Final = "gpugate-variable-{}-"
_MARKED: Final = re.compile(r"gpugate-variable-([0-9]+)-")


class Operations(NamedTuple):
    """The operations, with marks in place of the variables.

    ``quoted`` are the numbers of the variables that stand in quotes: what they bring is text, whatever it says.
    """

    marked: list[Any]
    variables: tuple[Template, ...]
    quoted: frozenset[int]

    def render(self, variables: Variables) -> list[Any]:
        """The operations with their variables filled in; raises RuleError and EvaluationError."""
        if not self.variables:
            return self.marked
        filled: list[Any] = self._filled(self.marked, [each.render(variables) for each in self.variables])
        return filled

    def _filled(self, value: Any, values: list[Any]) -> Any:
        if type(value) is dict:
            return {self._text(key, values): self._filled(item, values) for key, item in value.items()}
        if type(value) is list:
            return [self._filled(item, values) for item in value]
        if type(value) is not str:
            return value
        alone = _MARKED.fullmatch(value)
        if alone is None or int(alone[1]) in self.quoted:
            return self._text(value, values)
        found = values[int(alone[1])]
        return resolve(found) if type(found) is str else found

    def _text(self, text: str, values: list[Any]) -> str:
        return _MARKED.sub(lambda mark: _written(values[int(mark[1])]), text)


def _written(value: Any) -> str:
    return value if type(value) is str else marshal(value)


def compile_operations(text: Any, pointer: str, compiler: Compiler) -> Operations:
    """The operations that the text says; what is wrong goes to the compiler's flaws."""
    flaws = compiler.flaws
    if type(text) is not str:
        flaws.append(Flaw(pointer, "patchesJson6902 must be text: a JSON patch written as YAML or JSON"))
        return Operations([], (), frozenset())
    pieces = compiler.pieces(text, pointer)
    marked, variables, quoted = "", list[Template](), set[int]()
    for index, piece in enumerate(pieces):
        if isinstance(piece, str):
            marked += piece
            continue
        after = pieces[index + 1] if index + 1 < len(pieces) else ""
        if marked[-1:] in ("'", '"') and type(after) is str and after[:1] == marked[-1:]:
            quoted.add(len(variables))
        marked += _MARK.format(len(variables))
        variables.append(piece)
    try:
        parsed = parse(marked)
    except InvalidYaml as error:
        flaws.append(Flaw(pointer, f"patchesJson6902 is neither YAML nor JSON: {error}"))
        return Operations([], (), frozenset())
    operations = a_list(parsed, pointer, flaws, "patchesJson6902")
    for number, operation in enumerate(operations, 1):
        _check(operation, f"operation {number} of the JSON patch", pointer, flaws)
    return Operations(operations, tuple(variables), frozenset(quoted))


def _check(operation: Any, what: str, pointer: str, flaws: list[Flaw]) -> None:
    if not a_map(operation, pointer, flaws, what):
        return
    inside: list[Flaw] = []
    only_keys(operation, _KEYS, pointer, inside, what)
    # The operations are inside a text, which has a place only as a whole.
    flaws += [Flaw(pointer, flaw.message) for flaw in inside]
    name = operation.get("op")
    if type(name) is str and _MARKED.search(name):
        return
    if name not in OPERATIONS:
        flaws.append(Flaw(pointer, f'{what} cannot be "{name}"; {suggestion(name, OPERATIONS)}'))
        return
    needed = _NEEDS.get(name)
    for key in ("path", "from") if needed == "from" else ("path",):
        path = operation.get(key)
        if type(path) is not str or not (path.startswith("/") or _MARKED.match(path)):
            flaws.append(Flaw(pointer, f'{what} needs a {key} that starts with "/"'))
    if needed == "value" and "value" not in operation:
        flaws.append(Flaw(pointer, f"{what} needs a value"))
