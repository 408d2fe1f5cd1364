"""yaml: every object of the input as the cluster would store it, so that kubectl can apply it.

Objects that nothing is done to, those without a pod among them, are written as they are: what comes out stands for
what went in. The items of a List become documents; comments and anchors are gone. Of a cluster, only the objects that
change are written.
"""

from app.admission.review import printable
from app.documents.dump import dump
from app.policy.compiled import Policy
from app.report.changes import applied, changes
from app.report.formats import Write
from app.report.results import InputError, JudgedObject, Style, Summary


class Report:
    """One document an object, under a comment that says where it is from, as Helm does."""

    def __init__(self, write: Write, _policy: Policy, _style: Style) -> None:
        self._write = write

    def object(self, judged: JudgedObject) -> None:
        """Write the object with its changes. One that is refused is written as the refusing call would see it."""
        lines = ["---", f"# Source: {judged.template_file or judged.source.name}"]
        for pod in judged.pods:
            if not pod.allowed:
                lines += [f"# Refused: {each.finding.text}" for each in pod.findings if each.finding.outcome == "deny"]
        value = judged.value
        operations = tuple(operation for change in changes(judged) for operation in change.operations)
        if judged.source.live and not operations:
            return  # nobody wants the whole cluster
        if operations:
            value = applied(value, operations)
        self._write("".join(f"{printable(line)}\n" for line in lines) + dump(value))

    def error(self, error: InputError) -> None:
        """Nothing: what could not be read can't be written."""

    def finish(self, summary: Summary) -> None:
        """Nothing is left."""
