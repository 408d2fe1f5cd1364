"""For how long things have been as they are."""

from collections.abc import Callable, Hashable
from time import monotonic


class Since:
    """Remembers since when each of its things has had its present value, as far as this process saw.

    A restart forgets, and waits anew; another keeper's clock does not matter.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[Hashable, float]] = {}

    def seconds(self, what: str, value: Hashable) -> float:
        """For how many seconds ``what`` has been ``value``, which it is now; None means that it is not so at all: 0."""
        now = self._clock()
        found = self._seen.get(what)
        if value is None:
            self._seen.pop(what, None)
            return 0.0
        if found is None or found[0] != value:
            self._seen[what] = found = (value, now)
        return now - found[1]
