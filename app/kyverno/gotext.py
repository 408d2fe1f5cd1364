"""Values as Go's fmt.Sprint writes them, which is how lists of conditions are compared."""

from typing import Any, Final

# Source: fmt/format.go fmtFloat: where %v goes over to an exponent.
_LARGE: Final = 1e21


def sprint(value: Any) -> str:
    """``64`` for 64.0, ``<nil>`` for null, ``map[a:1]``, ``[a b]``."""
    if type(value) is str:
        return value
    if value is None:
        return "<nil>"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return _float(value)
    if type(value) is dict:
        return "map[" + " ".join(f"{key}:{sprint(value[key])}" for key in sorted(value)) + "]"
    if type(value) is list:
        return "[" + " ".join(map(sprint, value)) + "]"
    return str(value)


def _float(value: float) -> str:
    if value.is_integer() and abs(value) < _LARGE:
        return str(int(value))
    return repr(value)
