"""Extended resources that are GPUs, and the preset that knows them."""

import re
from functools import cache
from typing import Final

from app.policy.presets import NAMES, preset

# Other vendors' and sites' own: `example.com/gpu`, `vendor.com/gpu-mem`.
_LIKE_GPU: Final = re.compile(r"[a-z0-9.-]+/[a-z0-9._-]*gpu[a-z0-9._-]*")
# Schedulers and runtimes, which come on top of a vendor's preset.
_VENDORS: Final = tuple(name for name in NAMES if name not in ("hami", "kai", "volcano", "kata"))


def is_gpu(resource: str) -> bool:
    """Whether a resource is a GPU, as far as its name says."""
    return preset_of(resource) is not None or _LIKE_GPU.fullmatch(resource) is not None


@cache
def preset_of(resource: str) -> str | None:
    """The preset of the vendor whose resource it is."""
    for name in _VENDORS:
        for known in preset(name).resources:
            if resource == known or (known.endswith("*") and resource.startswith(known[:-1])):
                return name
    return None
