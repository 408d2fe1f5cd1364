"""`gpugate except`: an exception from a rule, in a file of its own, to break the glass with."""

import json
import re
from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from app.cli.explain_rule import nearest, rule_ids
from app.cli.options import find_policy, policy_option
from app.policy.compiled import Policy
from app.policy.errors import PolicyError
from app.policy.load import load
from app.policy.schema import API_VERSION
from app.sources.policies import SHIPPED, policy_files

_LONGEST_NAME: Final = 63
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_DURATION: Final = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24}


class _Duration(click.ParamType[timedelta]):
    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _DURATION.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is no duration; write hours, days or weeks: 4h, 3d, 2w", param, ctx)
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])


@click.command("except", short_help="Write an exception that lets a violation through for a while.")
@click.argument("namespace", metavar="NS")
@click.argument("rule", metavar="RULE", shell_complete=rule_ids)
@policy_option
@click.option("--for", "duration", type=_Duration(), required=True, help="How long it holds: 4h, 3d, 2w.")
@click.option("--owner", required=True, help="Who answers for it.")
@click.option("--reason", required=True, help="Why, or where that is written.")
@click.option(
    "--container",
    "containers",
    multiple=True,
    metavar="NAME",
    help="Only for containers of this name; * is a wildcard. May be given again.",
)
@click.option(
    "--image",
    "images",
    multiple=True,
    metavar="IMAGE",
    help="Only for containers of this image; * is a wildcard. May be given again.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Where to write it; - is standard output.  [default: NAME.yaml in the policy's folder, or here]",
)
def command(
    namespace: str,
    rule: str,
    policy_path: str | None,
    duration: timedelta,
    owner: str,
    reason: str,
    containers: tuple[str, ...],
    images: tuple[str, ...],
    output: str | None,
) -> None:
    """Write an exception: violations of RULE (or of an injection) by pods in the namespace NS are let through for a
    while. It is a policy document of its own, so that it can be added and taken away without touching the policy.

    An exception ends with a day (UTC), so it holds until the end of the day in which --for ends.

    \b
    Examples:
      gpugate except team-a no-privileged --policy policies/ --for 4h --owner mesh@example.com --reason INC-1
      gpugate except team-a no-privileged --for 3d --owner ml@example.com --reason INC-2 --container istio-init -o -
    """
    if not _NAMESPACE.fullmatch(namespace):
        raise click.UsageError(f"{namespace!r} is no namespace name; an exception to break the glass is for one")
    path = find_policy(policy_path)
    files, policy = _policy(path)
    rules = policy.names
    if rule not in rules:
        raise click.UsageError(f"the policy has no rule or injection {rule!r}; {nearest(rule, rules)}")
    now = datetime.now(UTC)
    expires = (now + duration).date()
    name = _name(namespace, rule, now.date(), policy)
    match: dict[str, Any] = {"namespaces": [namespace]}
    match |= {key: list(given) for key, given in (("containers", containers), ("images", images)) if given}
    text = _document(name, rule, match, owner, reason, expires)
    try:
        load([*files, (f"{name}.yaml", text.encode())])
    except PolicyError as error:
        raise click.ClickException(
            "no exception can be made of this:\n" + "\n".join(map(str, error.problems))
        ) from error
    if output == "-":
        click.echo(text, nl=False)
    else:
        output = output or str(Path(path) / f"{name}.yaml" if Path(path).is_dir() else Path(f"{name}.yaml"))
        _write(output, text)
        click.echo(f"wrote {output}", err=True)
    _say_next(path, output, expires)


def _policy(path: str) -> tuple[list[tuple[str, bytes]], Policy]:
    try:
        files = policy_files(path)
        return files, load(files)
    except PolicyError as error:
        raise click.ClickException("the policy cannot be used:\n" + "\n".join(map(str, error.problems))) from error


def _name(namespace: str, rule: str, today: date, policy: Policy) -> str:
    """A name that neither a document nor an exception of the policy has."""
    taken: Collection[str] = {
        *(each.name for each in policy.documents),
        *(each.name for each in policy.exceptions),
    }
    stem, number = f"except-{namespace}-{rule}", 1
    while True:
        end = f"-{today:%Y%m%d}" + (f"-{number}" if number > 1 else "")
        name = stem[: _LONGEST_NAME - len(end)].rstrip("-") + end
        if name not in taken:
            return name
        number += 1


def _document(name: str, rule: str, match: dict[str, Any], owner: str, reason: str, expires: date) -> str:
    # Texts as JSON writes them: YAML reads them as texts, whatever they hold.
    conditions = ", ".join(f"{key}: {_json(value)}" for key, value in match.items())
    return f"""# Made by gpugate except. It holds until the end of {expires} (UTC); delete it then.
apiVersion: {API_VERSION}
kind: GpuPolicy
metadata:
  name: {name}
spec:
  exceptions:
    - name: {name}
      rules: [{rule}]
      match: {{{conditions}}}
      owner: {_json(owner)}
      reason: {_json(reason)}
      expires: {expires}
"""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(path: str, text: str) -> None:
    try:
        with Path(path).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise click.ClickException(f"{path} exists already; name another file with -o") from None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error


def _say_next(path: str, output: str, expires: date) -> None:
    said = [f"It holds until the end of {expires} (UTC): exceptions end with a day. Its pods get a warning meanwhile."]
    if output == "-" or not _beside(path, output):
        whole = "the policy that gpugate comes with" if path == SHIPPED else path
        said.append(f"It is no part of {whole} yet: --policy takes a folder, so put both in one.")
    said.append("Commit it where the policy is deployed from. A running server follows the files of its policy.")
    click.echo("\n".join(said), err=True)


def _beside(path: str, output: str) -> bool:
    """True if the file is in the folder of the policy."""
    return Path(path).is_dir() and Path(output).resolve().parent == Path(path).resolve()
