"""Kyverno's JMESPath: ``Expression(text).search(data, scope)``."""

from app.kyverno.expressions.errors import EvaluationError, InvalidExpression, NotFound
from app.kyverno.expressions.interpreter import Expression, Scope

__all__ = ["EvaluationError", "Expression", "InvalidExpression", "NotFound", "Scope"]
