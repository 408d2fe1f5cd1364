"""What goes wrong with an expression: when it is read, or when it is evaluated."""


class InvalidExpression(ValueError):
    """The text is no JMESPath expression, or calls a function that there is not."""


class EvaluationError(Exception):
    """The expression has no value for this data: a function got what it does not take.

    In a rule that is an error, which is neither pass nor fail.
    """


class NotFound(EvaluationError):
    """A field that the expression names is not there: an error in Kyverno, where JMESPath has null."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def __str__(self) -> str:
        return f'there is no field "{self.field}"'
