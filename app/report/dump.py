"""Objects as YAML that kubectl reads as what they are, and what becomes of them."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from app.documents.yaml_scalars import resolve
from app.model.patch import Operation
from app.report.results import JudgedObject

_TEXT: Final = "tag:yaml.org,2002:str"
_NO_FOLDING: Final = 1 << 30


class _Dumper(yaml.CSafeDumper):
    """Writes every value in full: what was an alias in the input may have been changed in one place only."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # PyYAML quotes what it would not read as text itself. kubectl's reader takes more for numbers and booleans.
    style = "|" if "\n" in text else '"' if type(resolve(text)) is not str or text == "<<" else None
    return dumper.represent_scalar(_TEXT, text, style=style)


_Dumper.add_representer(str, _represent_text)


def dump(value: Any) -> str:
    """The value as one YAML document, its keys in the order that they have."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_NO_FOLDING
    )
    return text


class Change(NamedTuple):
    """A change that the cluster makes, and the rule or injection that it is made for."""

    rule: str
    message: str
    operations: tuple[Operation, ...]


def changes(judged: JudgedObject) -> Iterator[Change]:
    """What is applied to the object, in that order."""
    for pod in judged.pods:
        if pod.patch:
            for placed in pod.findings:
                finding = placed.finding
                if finding.operations:
                    yield Change(f"{finding.policy}/{finding.rule}", finding.message, finding.operations)


def applied(value: dict[str, Any], operations: tuple[Operation, ...]) -> dict[str, Any]:
    """A copy of the object after the operations."""
    import jsonpatch  # most runs need none

    result: dict[str, Any] = jsonpatch.apply_patch(value, list(operations))
    return result
