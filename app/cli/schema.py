"""`gpugate schema`: the JSON Schema of the policy file and of its tests, for editors and CI."""

import re
from typing import Any, Final

import click
import orjson

# pydantic names the parameters of a rule by the module that they are in, as they are all called Parameters.
_MODULE_NAME = re.compile(r"app__rules__(\w+)__Parameters")
_TITLES: Final = {"GpuPolicy": "gpugate policy", "PolicyTest": "tests of a gpugate policy"}


@click.command(short_help="Print the JSON Schema of the policy file, or of its tests.")
@click.option(
    "--kind",
    type=click.Choice(tuple(_TITLES)),
    default="GpuPolicy",
    show_default=True,
    help="The kind of document.",
)
def command(kind: str) -> None:
    """Print the JSON Schema (draft 2020-12) of the policy file, or of its tests.

    It says what a single document may hold. What several documents may hold together, `gpugate check` says.

    \b
    Examples:
      gpugate schema > gpugate.schema.json
      gpugate schema --kind PolicyTest > policytest.schema.json
      # yaml-language-server: $schema=gpugate.schema.json      (the first line of a policy, for completion in editors)
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": _TITLES[kind]}
    text = orjson.dumps({**head, **_schema(kind), **head}, option=orjson.OPT_INDENT_2).decode()
    click.echo(_MODULE_NAME.sub(lambda match: f"{match[1].title().replace('_', '')}Parameters", text))


def _schema(kind: str) -> dict[str, Any]:
    if kind == "GpuPolicy":
        from app.policy.schema import document_model

        return document_model().model_json_schema(by_alias=True)
    from app.suite.schema import PolicyTest

    return PolicyTest.model_json_schema(by_alias=True)
