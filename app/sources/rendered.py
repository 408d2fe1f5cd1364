"""What kustomize and Helm render, by the programs themselves: only they know what `kubectl apply -k` and
`helm install` would send."""

from pathlib import Path
from shutil import which
from typing import Final, NamedTuple

_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LONGEST_ERROR: Final = 2000


class Chart(NamedTuple):
    """A Helm chart, a folder or a packed one, and what `helm template` is told of the release."""

    path: str
    values: tuple[str, ...]
    release: str
    namespace: str


class Rendering(NamedTuple):
    """How to render an input: the command, the file that stands for the input, and the folder of a chart."""

    command: tuple[str, ...]
    file: str
    chart: str | None = None


class NotRendered(Exception):
    """The program is missing, or it failed; the text says what to do or what it said."""


def kustomize(folder: str) -> Rendering:
    """How to build a kustomization; raises NotRendered."""
    _must_exist(folder)
    file = next((name for name in _KUSTOMIZATIONS if Path(folder, name).exists()), _KUSTOMIZATIONS[0])
    if which("kustomize"):
        command: tuple[str, ...] = ("kustomize", "build", "--", folder)
    elif which("kubectl"):
        command = ("kubectl", "kustomize", "--", folder)
    else:
        raise NotRendered(
            "there is neither kustomize nor kubectl on PATH, and -k needs one of them: install one, or pipe what "
            "it prints elsewhere into `gpugate check -`"
        )
    return Rendering(command, str(Path(folder, file)))


def helm(chart: Chart) -> Rendering:
    """How to render a chart; raises NotRendered."""
    _must_exist(chart.path)
    if not which("helm"):
        raise NotRendered(
            "there is no helm on PATH, and --chart needs it: install it, or pipe `helm template` into `gpugate check -`"
        )
    values = (argument for file in chart.values for argument in ("--values", file))
    command = ("helm", "template", "--namespace", chart.namespace, *values, "--", chart.release, chart.path)
    folder = Path(chart.path).is_dir()
    file = str(Path(chart.path, "Chart.yaml")) if folder else chart.path
    return Rendering(command, file, chart.path if folder else None)


def render(rendering: Rendering) -> bytes:
    """What the program prints; raises NotRendered."""
    import subprocess  # most runs render nothing

    try:
        result = subprocess.run(rendering.command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise NotRendered(f"{rendering.command[0]} cannot be run: {error.strerror or error}") from error
    if result.returncode != 0:
        said = " ".join(result.stderr.decode("utf-8", "replace").split()) or f"exit code {result.returncode}"
        raise NotRendered(f"{rendering.command[0]} failed: {said[:_LONGEST_ERROR]}")
    return result.stdout


def _must_exist(path: str) -> None:
    # helm would look for the name of a repository, and go to the network.
    try:
        Path(path).stat()
    except (OSError, ValueError) as error:
        raise NotRendered(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
