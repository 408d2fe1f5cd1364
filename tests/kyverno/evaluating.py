"""Expressions, evaluated in tests."""

from datetime import UTC, datetime
from typing import Any

from app.kyverno.expressions import Expression, Scope

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def evaluated(expression: str, data: Any = None) -> Any:
    """The value of the expression for the data, at a time that stands still."""
    return Expression(expression).search({} if data is None else data, Scope(NOW))
