"""The cyclic garbage collector, out of the way of what makes many objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """No collection inside: nodes and values have no cycles, and looking for some takes longer than making them.

    The collector is left as it was. A thread that finds it off leaves it to the one that turned it off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
