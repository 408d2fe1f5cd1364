"""JMESPath text to a syntax tree, by the grammar of Go's JMESPath."""

import json
from typing import Any, Final

from jmespath import exceptions, lexer, parser

from app.kyverno.expressions.errors import InvalidExpression
from app.model.words import quoted

Node = dict[str, Any]
"""``{"type": "field", "value": "spec", "children": []}``, as jmespath.ast makes it."""

_MAX_LENGTH: Final = 10_000
# More than anybody writes, and far less than Python's stack, on which each level takes a few calls.
_MAX_DEPTH: Final = 64
_TOO_SHORT: Final = "the expression ends too early"
_TOO_DEEP: Final = f"the expression is nested more than {_MAX_DEPTH} levels deep"


class _Lexer(lexer.Lexer):  # type: ignore[misc]
    """Literals must be JSON: the library takes ``` `foo` ``` for a string, Go does not."""

    def _consume_literal(self) -> dict[str, Any]:
        start = self._position
        lexeme = self._consume_until("`").replace("\\`", "`")
        try:
            value = json.loads(lexeme, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise InvalidExpression(f"`{lexeme}` is not JSON; text is written '{lexeme}'") from None
        return {"type": "literal", "value": value, "start": start, "end": self._position}


class _Parser(parser.Parser):  # type: ignore[misc]
    def tree(self, expression: str) -> Node:
        self._tokens = list(_Lexer().tokenize(expression))
        self._index = 0
        root: Node = self._expression(binding_power=0)
        if self._current_token() != "eof":
            raise InvalidExpression(f"{quoted(str(self._lookahead_token(0)['value']))} is not expected there")
        return root


def parse(expression: str) -> Node:
    """The syntax tree of the expression; raises InvalidExpression."""
    if len(expression) > _MAX_LENGTH:
        raise InvalidExpression(f"the expression is longer than {_MAX_LENGTH} characters")
    try:
        tree = _Parser().tree(expression)
    except exceptions.EmptyExpressionError:
        raise InvalidExpression("the expression is empty") from None
    except exceptions.IncompleteExpressionError:
        raise InvalidExpression(_TOO_SHORT) from None
    except exceptions.LexerError as error:
        raise InvalidExpression(f"{error.message} at character {error.lexer_position + 1}") from None
    except exceptions.ParseError as error:
        found = str(error.token_value)
        raise InvalidExpression(f"{quoted(found)} is not expected there" if found else _TOO_SHORT) from None
    except exceptions.JMESPathError as error:
        raise InvalidExpression(str(error)) from None
    except RecursionError:
        raise InvalidExpression(_TOO_DEEP) from None
    level = [tree]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in node["children"] if isinstance(child, dict)]
        if not level:
            return tree
    raise InvalidExpression(_TOO_DEEP)


def _no_constant(text: str) -> None:
    raise ValueError(text)
