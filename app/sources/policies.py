"""Policy files on disk."""

from pathlib import Path

from app.policy.compiled import Policy
from app.policy.errors import PolicyError, Problem
from app.policy.load import load

SHIPPED = "shipped"
"""The name that stands for the policy that gpugate comes with."""

SUFFIXES = (".yaml", ".yml", ".json")


def read_policy(path: str) -> Policy:
    """The policy of a file, of a folder's files, or the shipped one; raises PolicyError."""
    return load(policy_files(path))


def policy_files(path: str) -> list[tuple[str, bytes]]:
    """The (name, content) of the policy files that a path stands for; raises PolicyError."""
    if path == SHIPPED:
        return [("shipped/gpu-pods.yaml", shipped_policy().read_bytes())]
    try:
        paths = policy_paths(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if paths == [Path(path)]:
        return [(path, _content(path))]
    if not paths:
        raise PolicyError([Problem(path, 1, 1, f"the folder holds no {', '.join(SUFFIXES)} file")])
    for each in paths:
        if each.exists() and not each.is_file():  # to open a pipe would wait for somebody to write to it
            raise PolicyError([Problem(str(each), 1, 1, "is not a regular file")])
    return [(str(each), _content(str(each))) for each in paths]


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: Exception) -> PolicyError:
    return PolicyError([Problem(path, 1, 1, f"cannot be read: {getattr(error, 'strerror', None) or error}")])


def policy_paths(path: str) -> list[Path]:
    """The files that a path stands for: itself, or what its folder holds, in order of names. Raises OSError."""
    if path == SHIPPED:
        return [shipped_policy()]
    place = Path(path)
    if not place.is_dir():
        return [place]
    # Not recursive, and without dot-files: a mounted ConfigMap holds its files twice, once under ..data.
    return sorted(entry for entry in place.iterdir() if entry.suffix in SUFFIXES and entry.name[0] != ".")


def shipped_policy() -> Path:
    """The file of the shipped policy: package data of an installed gpugate, else the folder beside the package."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "policies" / "gpu-pods.yaml"
    return installed if installed.exists() else package.parent / "policies" / "gpu-pods.yaml"
