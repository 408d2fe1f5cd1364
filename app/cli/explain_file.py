"""`gpugate explain file`."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, get_args

import click

from app.admission.review import API_VERSION, NotAReview, printable, read_request
from app.cli.options import load_policy, policy_option, read_facts
from app.cli.verdict_steps import Verdicts
from app.documents import Document, DocumentError, read
from app.model.context import Context
from app.model.pod import MalformedPod
from app.policy.compiled import Mode
from app.policy.kinds import kinds_of
from app.report.judging import Judging, facts_among
from app.suite.judged import templates_in
from app.workloads.kinds import Kinds, group_kind
from app.workloads.reading import map_in, text_in
from app.workloads.templates import Template

_OWN_MODES: Final = "policy"
_ERRORS: Final = 2
_WIDTH: Final = 28


@click.command("file", short_help="Why a manifest gets its verdict, step by step.")
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@policy_option
@click.option(
    "--mode",
    type=click.Choice([*get_args(Mode), _OWN_MODES]),
    default="enforce",
    show_default=True,
    help=f'The mode that answers. "{_OWN_MODES}": as the policy has it for the namespace, pinned or by default.',
)
@click.option(
    "-n", "--namespace", default="default", show_default=True, metavar="NS", help="For objects that name no namespace."
)
@click.option("--cluster-facts", metavar="FILE", type=click.Path(), help="What is known of the cluster, as JSON.")
def command(file: str, policy_path: str | None, mode: str, namespace: str, cluster_facts: str | None) -> int:
    """Explain why the objects of a file (- is standard input) get their verdict: what holds pods, which container asks
    for which GPU, the mode, exemptions, and each rule, injection and exception: whether it applies, and what it finds.

    \b
    Examples:
      gpugate explain file --policy shipped trainer.yaml
      kubectl get pod trainer -o yaml | gpugate explain file -
    """
    judging = Judging(
        policy=load_policy(policy_path),
        facts=read_facts(cluster_facts),
        today=datetime.now(UTC).date(),
        mode=None if mode == _OWN_MODES else mode,  # type: ignore[arg-type]
        namespace=namespace,
    )
    name, content = _content(file)
    judging = replace(judging, facts=facts_among([(name, content)], judging))
    return _Explanation(judging).file(name, content)


class _Explanation:
    """Prints what there is to say of each object of a file."""

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._kinds: Kinds = kinds_of(judging.policy)

    def file(self, name: str, content: bytes) -> int:
        """Explain everything; returns the exit code."""
        failed, empty = False, True
        for document in read(content, name):
            if not empty:
                click.echo()
            empty = False
            if isinstance(document, DocumentError):
                click.echo(f"Error: {printable(str(document))}", err=True)
                failed = True
                continue
            try:
                self._object(document)
            except (MalformedPod, NotAReview) as error:
                region = document.locate(error.pointer if isinstance(error, MalformedPod) else "")
                click.echo(f"Error: {printable(f'{name}:{region.line}:{region.column}: {error}')}", err=True)
                failed = True
        if empty:
            click.echo(f"{name} holds no object")
        return _ERRORS if failed else 0

    def _object(self, document: Document) -> None:
        obj, base, namespace, operation = document.value, "", "", "CREATE"
        if obj.get("kind") == "AdmissionReview" and obj.get("apiVersion") == API_VERSION:
            request = read_request(obj)
            obj, base, namespace = request.object or {}, "/request/object", request.namespace
            operation = request.operation
        metadata = map_in(obj, "metadata", "")
        namespace = namespace or text_in(metadata, "namespace", "/metadata") or self._judging.namespace
        title = f"{obj.get('kind')} {namespace}/{metadata.get('name') or metadata.get('generateName') or '(no name)'}"
        click.echo(click.style(printable(f"{title} in {document.name}:{document.line}"), bold=True))
        found = list(templates_in(obj, self._kinds))
        if not found:
            why = "its pod spec is missing" if group_kind(obj) in self._kinds else "neither its kind nor its shape does"
            _say("pods", f"holds none: {why}")
            return
        if operation != "CREATE":
            _say("operation", f"{operation}; explained as if the object was created")
        mode, why = self._mode(namespace)
        for template in found:
            _say("pod spec", f"{template.spec_pointer} of a {obj['kind']}{_known(template)}")
            _say("namespace", namespace)
            _say("mode", f"{mode}, {why}")
            context = Context(namespace, self._judging.today, self._judging.facts, template.kind.validated)
            for step in Verdicts(self._judging.policy, document, base, template.pod(), context, mode).steps():
                _say(step.what, step.outcome)
                for line in step.detail:
                    click.echo(printable(f"      {line}"))

    def _mode(self, namespace: str) -> tuple[Mode, str]:
        modes = self._judging.policy.modes
        if self._judging.mode is not None:
            return self._judging.mode, "by --mode"
        why = (
            "pinned by modes.namespaces"
            if namespace in modes.namespaces
            else "modes.default (labels are not known here)"
        )
        return modes.of(namespace), why


def _say(what: str, outcome: str) -> None:
    click.echo(printable(f"  {what:{_WIDTH}}  {outcome}"))


def _known(template: Template) -> str:
    if template.guessed:
        return ", a guess by its shape: the kind is not known"
    return ", which the API server checks before there is a pod" if template.kind.validated else ""


def _content(file: str) -> tuple[str, bytes]:
    if file == "-":
        import sys

        return "<stdin>", sys.stdin.buffer.read()
    try:
        return file, Path(file).read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}") from error
