"""The command `gpugate`: finds the sub-command, imports only that, and turns errors into exit codes."""

import os
import select
import signal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FrameType
from typing import Any, Final, NoReturn

import click

from app import __version__

COMMANDS: Final = {
    "board": "show a rollout as pages: served here, or as files",
    "check": "judge manifests as the cluster would",
    "certs": "make, inspect and rotate certificates by hand",
    "completion": "print the completion script of a shell, or of kubectl",
    "except": "write an exception that lets a violation through for a while",
    "explain": "explain a rule, an injection, or the verdict on a file",
    "keeper": "keep certificates, configurations and cluster facts in step",
    "manifests": "print what goes into a cluster: configurations, or everything",
    "migrate": "turn Kyverno policies into a GpuPolicy",
    "modes": "show and change the modes of namespaces, and what breaks",
    "replay": "show what another policy would have answered to recorded pods",
    "scan": "judge what is in a cluster",
    "schema": "print the JSON Schema of the policy file, or of its tests",
    "serve": "run the webhook server",
    "test": "run the tests of a policy",
}
"""Every command with its one-line help. Each is in a module of its name, imported only when it is run."""

_MODULES: Final = {"except": "exception"}  # what Python keeps for itself

EXIT_ERROR: Final = 2
"""Wrong usage, unreadable input or policy, or a failure of the tool: never mistaken for a verdict (1)."""


class LazyGroup(click.Group):
    """A group whose help needs none of its commands' modules.

    ``summaries`` are its commands with their one-line help, ``modules`` says where the ``command`` of each is.
    """

    def __init__(self, summaries: Mapping[str, str], modules: Callable[[str], str], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._summaries = summaries
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands by name."""
        return sorted(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self._summaries:
            return None
        command = import_module(self._modules(cmd_name)).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest name for one that does not exist."""
        if args and args[0] not in self._summaries and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], self._summaries, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else ""
            raise click.UsageError(f'There is no command "{args[0]}".{hint}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._summaries.items()))


@click.group(
    cls=LazyGroup,
    summaries=COMMANDS,
    modules=lambda name: f"app.cli.{_MODULES.get(name, name)}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="gpugate")
def command() -> None:
    """Keep the GPU pods of Kubernetes clusters right, from one policy file.

    \b
    Examples:
      gpugate check --policy shipped deploy/          what the cluster would say of these manifests
      gpugate test --coverage policies/               whether the policy says what its tests want
      gpugate serve --policy shipped --dev            the webhook on 127.0.0.1, with certificates of its own
      gpugate scan --policy shipped --mode enforce    what enforcing would break of what is in a cluster
      gpugate manifests --policy shipped --install --image IMAGE | kubectl apply -f -
    """


def _broken_pipe(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is Python's
    """End quietly when the reader of the output does. A connection that breaks is reported by whoever writes to it."""
    output = select.poll()
    output.register(1, 0)
    if output.poll(0):
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def run() -> NoReturn:
    """The entry point of `gpugate` and `kubectl gpugate`. Exits 0 clean, 1 violations, 2 errors, 130 interrupted."""
    name = "kubectl gpugate" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "gpugate"  # noqa: PTH119
    # pydantic looks through every installed package for plugins, and nobody's should have a say in what a policy means.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    signal.signal(signal.SIGPIPE, _broken_pipe)
    try:
        code = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_ERROR)
    except click.exceptions.Abort:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
