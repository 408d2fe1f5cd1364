"""`gpugate schema`: the JSON Schema of the policy file, for editors and CI."""

import re

import click
import orjson

from app.policy.schema import document_model

# pydantic names the parameters of a rule by the module that they are in, as they are all called Parameters.
_MODULE_NAME = re.compile(r"app__rules__(\w+)__Parameters")


@click.command(short_help="Print the JSON Schema of the policy file.")
def command() -> None:
    """Print the JSON Schema (draft 2020-12) of the policy file.

    It says what a single document may hold. What several documents may hold together, `gpugate check` says.

    \b
    Examples:
      gpugate schema > gpugate.schema.json
      # yaml-language-server: $schema=gpugate.schema.json      (the first line of a policy, for completion in editors)
    """
    schema = document_model().model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "gpugate policy"}
    text = orjson.dumps({**head, **schema, **head}, option=orjson.OPT_INDENT_2).decode()
    click.echo(_MODULE_NAME.sub(lambda match: f"{match[1].title().replace('_', '')}Parameters", text))
