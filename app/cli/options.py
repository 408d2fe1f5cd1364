"""Options that several commands share."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from app.model.context import UNKNOWN_CLUSTER, ClusterFacts
from app.policy.compiled import Policy
from app.policy.errors import PolicyError
from app.sources.facts import InvalidFacts, parse_facts
from app.sources.policies import SHIPPED, read_policy

ENVIRONMENT: Final = "GPUGATE_POLICY"
DEFAULT_FILE: Final = "gpugate.yaml"

_Command = TypeVar("_Command", bound=Callable[..., Any])

policy_option = click.option(
    "--policy",
    "policy_path",
    metavar="FILE|DIR",
    help=f'Policy file or folder: GpuPolicy documents, and those of Kyverno; or "{SHIPPED}" for the one that gpugate '
    f"comes with. Default: ${ENVIRONMENT}, else ./{DEFAULT_FILE}.",
)


def cluster_options(function: _Command) -> _Command:
    """The options that say which cluster."""
    kubeconfig = click.option(
        "--kubeconfig", metavar="FILE", help="Default: $KUBECONFIG, else ~/.kube/config, else the pod's own account."
    )
    context = click.option("--context", metavar="NAME", help="Context of the kubeconfig. Default: its current one.")
    return context(kubeconfig(function))


def find_policy(path: str | None) -> str:
    """Where the policy is: the option, the environment, the working folder; raises click.UsageError if nowhere."""
    found = path or os.environ.get(ENVIRONMENT) or (DEFAULT_FILE if Path(DEFAULT_FILE).exists() else None)
    if found is None:
        # A silent default would judge a hundred repositories by a policy that nobody chose.
        raise click.UsageError(
            f"there is no policy: give --policy FILE, set ${ENVIRONMENT}, or put one at ./{DEFAULT_FILE}; "
            f"--policy {SHIPPED} takes the one that gpugate comes with"
        )
    return found


def load_policy(path: str | None) -> Policy:
    """The policy, wherever it is; raises click.ClickException with every problem at its place."""
    try:
        return read_policy(find_policy(path))
    except PolicyError as error:
        raise click.ClickException("the policy cannot be used:\n" + "\n".join(map(str, error.problems))) from error


def read_facts(path: str | None) -> ClusterFacts:
    """The cluster facts of a file, of whatever age; without one nothing is known. Raises click.ClickException."""
    if path is None:
        return UNKNOWN_CLUSTER
    try:
        return parse_facts(Path(path).read_bytes()).facts
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror or error}") from error
    except InvalidFacts as error:
        raise click.ClickException(f"{path} holds no cluster facts: {error}") from error
