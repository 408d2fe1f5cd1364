"""`gpugate completion`: the scripts by which shells and kubectl complete its command lines."""

from typing import Final

import click

from app.cli.main import command as gpugate

_VARIABLE: Final = "_GPUGATE_COMPLETE"
_SHELLS: Final = ("bash", "zsh", "fish")

# kubectl runs this with the words after `kubectl gpugate`, the last of them unfinished, and reads candidates, one a
# line, then what to do beside them: ":4" no files, ":0" files too (k8s.io/kubectl pkg/cmd/plugin_completion.go).
_KUBECTL: Final = f"""#!/bin/sh
# Completion of `kubectl gpugate`. To install: gpugate completion kubectl > kubectl_complete-gpugate, make it
# executable, and put it on PATH. Needs kubectl's own completion, and kubectl 1.26 or newer.
COMP_WORDS="gpugate $*" COMP_CWORD=$# {_VARIABLE}=bash_complete gpugate | awk '
  /^plain,/ {{ print substr($0, 7) }}
  /^(file|dir),/ {{ files = 1 }}
  END {{ print files ? ":0" : ":4" }}'
"""


@click.command(short_help="Print the completion script of a shell, or of kubectl.")
@click.argument("shell", type=click.Choice([*_SHELLS, "kubectl"]))
def command(shell: str) -> None:
    """Print the script by which a shell completes `gpugate`, or kubectl `kubectl gpugate`.

    \b
    Examples:
      gpugate completion bash > ~/.local/share/bash-completion/completions/gpugate
      gpugate completion zsh > "${fpath[1]}/_gpugate"
      gpugate completion fish > ~/.config/fish/completions/gpugate.fish
      gpugate completion kubectl > ~/.local/bin/kubectl_complete-gpugate; chmod +x ~/.local/bin/kubectl_complete-gpugate
    """
    if shell == "kubectl":
        click.echo(_KUBECTL, nl=False)
        return
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(gpugate, {}, "gpugate", _VARIABLE).source())
