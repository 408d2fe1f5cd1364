"""References to container images, taken apart. Source: kyverno pkg/utils/image, distribution/reference."""

import re
from functools import lru_cache
from typing import Any, Final

from app.model.words import quoted

_DEFAULT_REGISTRY: Final = "docker.io"
_LABEL: Final = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE: Final = re.compile(
    rf"(?:(?P<registry>{_HOST})/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?"
    r"(?:@(?P<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?",
    re.ASCII,
)
# The longest name, tag and digest that distribution/reference takes, with room to spare.
_MAX_LENGTH: Final = 1024


class InvalidImage(ValueError):
    """The text is no reference to an image."""


@lru_cache(maxsize=1024)
def _parts(image: str) -> tuple[str, str, str, str]:
    """Registry, path, tag and digest; raises InvalidImage."""
    first, slash, _ = image.partition("/")
    registered = slash and (re.search("[.:]", first) or first == "localhost" or first.lower() != first)
    match = _REFERENCE.fullmatch(image if registered else f"{_DEFAULT_REGISTRY}/{image}")
    if match is None or len(image) > _MAX_LENGTH:
        raise InvalidImage(f"{quoted(image)} is no reference to an image")
    registry, path, tag, digest = (each or "" for each in match.groups())
    return registry, path, tag or ("" if digest else "latest"), digest


def image_info(image: str) -> dict[str, Any]:
    """What Kyverno's variable ``images`` says of an image; raises InvalidImage."""
    registry, path, tag, digest = _parts(image)
    found = {
        "registry": registry,
        "name": path.rpartition("/")[2],
        "path": path,
        "tag": tag,
        "digest": digest,
        "reference": normalized(image),
        "referenceWithTag": f"{registry}/{path}:{tag}",
    }
    return {key: value for key, value in found.items() if value}


def normalized(image: str) -> str:
    """The image with its registry, and its digest or tag, written out; raises InvalidImage."""
    registry, path, tag, digest = _parts(image)
    return f"{registry}/{path}@{digest}" if digest else f"{registry}/{path}:{tag}"
