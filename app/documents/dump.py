"""Values to YAML that kubectl reads as what they are."""

from typing import Any, Final

import yaml
from yaml.representer import SafeRepresenter

from app.documents.yaml_scalars import resolve

_TEXT: Final = "tag:yaml.org,2002:str"
_NO_FOLDING: Final = 1 << 30
_BREAKS: Final = frozenset("\x85\u2028\u2029")


class _Full(SafeRepresenter):
    """Writes every value in full: what stands twice may be changed in one place, and aliases tell readers nothing."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: SafeRepresenter, text: str) -> yaml.ScalarNode:
    # PyYAML quotes what it would not read as text itself. kubectl's reader takes more for numbers and booleans, and
    # line breaks that only YAML knows would get lost.
    quoted = (text and type(resolve(text)) is not str) or text == "<<" or not _BREAKS.isdisjoint(text)
    style = '"' if quoted else "|" if "\n" in text else None
    return dumper.represent_scalar(_TEXT, text, style=style)


_Full.add_representer(str, _represent_text)


class _Dumper(_Full, yaml.CSafeDumper):
    pass


class _IndentingDumper(_Full, yaml.SafeDumper):
    """Indents lists, which libyaml's emitter does not."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


def dump(value: Any, *, indent_lists: bool = False) -> str:
    """The value as one YAML document, its keys in the order that they have, texts of several lines as blocks.

    Lists stand as deep as their key, as `kubectl get -o yaml` prints them, or deeper with ``indent_lists``, as people
    write manifests; that takes longer.
    """
    dumper = _IndentingDumper if indent_lists else _Dumper
    text: str = yaml.dump(
        value, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_NO_FOLDING
    )
    return text
