"""Functions that decode and encode text."""

import base64
import binascii
import hashlib
import json
from typing import Any, Final

from app.kyverno.expressions.errors import EvaluationError
from app.kyverno.expressions.functions import declared
from app.kyverno.yamltext import InvalidYaml, parse

# Longer than what any annotation holds (256 KiB for all of an object).
_MAX_TEXT: Final = 1 << 20


@declared("string")
def base64_decode(text: str) -> str:
    """The text that is encoded; line breaks are skipped."""
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True).decode("utf-8", "replace")
    except binascii.Error:
        raise EvaluationError("the text is not base64") from None


@declared("string")
def base64_encode(text: str) -> str:
    """The text as base64."""
    return base64.b64encode(text.encode()).decode()


@declared("string")
def md5(text: str) -> str:
    """The MD5 sum in hexadecimal digits."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@declared("string")
def sha1(text: str) -> str:
    """The SHA-1 sum in hexadecimal digits."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


@declared("string")
def sha256(text: str) -> str:
    """The SHA-256 sum in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


@declared("string")
def parse_json(text: str) -> Any:
    """The value that the JSON says."""
    _bounded(text)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        raise EvaluationError("the text is not JSON") from None


@declared("string")
def parse_yaml(text: str) -> Any:
    """The value that the first YAML document says."""
    _bounded(text)
    try:
        return parse(text)
    except InvalidYaml:
        raise EvaluationError("the text is not YAML") from None


def _bounded(text: str) -> None:
    if len(text) > _MAX_TEXT:
        raise EvaluationError(f"the text is longer than {_MAX_TEXT} characters")


def _no_constant(text: str) -> None:
    raise ValueError(text)
