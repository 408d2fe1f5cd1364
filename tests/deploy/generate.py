"""Files of deploy/ that are made from the code: `make generate` writes them, tests/deploy/test_generated.py compares.

What people edit (kustomizations, values, templates with values in them) is written by hand, and compared as objects.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from app.cli.schema import command as schema
from app.manifests.client import Service
from app.manifests.guard import guard
from app.manifests.install.objects import install
from app.manifests.install.scan import scan
from app.manifests.install.settings import IMAGE, Installation
from app.manifests.keeper_rbac import (
    AUTHORITY_OF_OTHERS,
    CERTIFICATE_RIGHTS,
    NAMESPACE_RIGHTS,
    READING_RIGHTS,
    configuration_rights,
    keeper_rbac,
)
from app.manifests.objects import configurations, empty_configurations, text
from app.manifests.rbac import Right
from app.sources.policies import read_policy, shipped_policy

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
BASE: Final = "kustomize/base"
CHART: Final = "helm/gpugate"
NAMESPACE: Final = "gpugate"
SERVICE: Final = Service(NAMESPACE, "gpugate")

_MADE: Final = "Made by `make generate` from app/manifests; do not edit."
_POD_INDENT: Final = " " * 10
"""Of the fields of a CronJob's pod."""

_RIGHTS: Final = (
    *CERTIFICATE_RIGHTS,
    AUTHORITY_OF_OTHERS,
    *NAMESPACE_RIGHTS,
    *configuration_rights("gpugate"),
    *READING_RIGHTS,
)
_BASE_FILES: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "namespace.yaml": lambda obj: obj["kind"] in ("Namespace", "ResourceQuota"),
    "server.yaml": lambda obj: _component(obj) == "server" and obj["kind"] != "ResourceQuota",
    "keeper.yaml": lambda obj: _component(obj) == "keeper",
    "mode-label.yaml": lambda obj: _component(obj) == "mode-label",
    "webhooks.yaml": lambda obj: _component(obj) == "webhook",
}


def generated() -> dict[str, str]:
    """The files by path below deploy/."""
    policy = shipped_policy().read_text()
    base = install(read_policy("shipped"), Installation(SERVICE))
    certificates = install(read_policy("shipped"), Installation(SERVICE, certificates="cert-manager"))
    autoscaled = install(read_policy("shipped"), Installation(SERVICE, ha=True))
    files = {f"{BASE}/{name}": _yaml(filter(wanted, base)) for name, wanted in _BASE_FILES.items()}
    files[f"{BASE}/policy/gpu-pods.yaml"] = policy
    files["kustomize/components/cert-manager/certificates.yaml"] = _yaml(
        obj for obj in certificates if obj["apiVersion"].startswith("cert-manager.io/")
    )
    files["kustomize/components/ha/autoscaler.yaml"] = _yaml(
        obj for obj in autoscaled if obj["kind"] == "HorizontalPodAutoscaler"
    )
    files["kustomize/overlays/audit/gpu-pods.yaml"] = with_modes(policy, "audit", "[audit, warn]")
    files["kustomize/overlays/enforce/gpu-pods.yaml"] = with_modes(policy, "enforce", None)
    files[f"{CHART}/files/gpu-pods.yaml"] = policy
    files[f"{CHART}/values.schema.json"] = _values_schema()
    # A chart reads no file outside of its folder.
    for name in ("servicemonitors.yaml", "rules.yaml", "gpu-rules.yaml", "gpugate.json"):
        files[f"{CHART}/files/monitoring/{name}"] = (DEPLOY / "monitoring" / name).read_text()
    files[f"{CHART}/templates/keeper-rbac.yaml"] = _template(
        "if .Values.keeper.enabled",
        'if eq .Values.certificates.provider "keeper"',
        _yaml(keeper_rbac(NAMESPACE, create=False)),
        "else",
        _yaml(keeper_rbac(NAMESPACE, certificates=False, create=False)),
        "end",
        "end",
    )
    reports = scan(Installation(SERVICE))
    files["kustomize/components/reports/scan.yaml"] = _yaml(reports)
    files[f"{CHART}/templates/scan.yaml"] = _for_helm(
        _template(
            "if .Values.reports.enabled",
            _yaml(obj for obj in reports if obj["kind"] != "NetworkPolicy"),
            "if .Values.networkPolicy.enabled",
            _yaml(obj for obj in reports if obj["kind"] == "NetworkPolicy"),
            "end",
            "end",
        )
    )
    files[f"{CHART}/templates/mode-label.yaml"] = _template(_yaml(guard()))
    files[f"{CHART}/files/webhooks.yaml"] = _yaml(configurations(read_policy("shipped"), SERVICE, "broad"))
    files[f"{CHART}/files/webhooks-empty.yaml"] = _yaml(empty_configurations())
    return files


def with_modes(policy: str, default: str, labels: str | None) -> str:
    """The text of the shipped policy with another default mode, and other modes for labels to choose."""
    changed, count = re.subn(r"^    default: audit  ", f"    default: {default}  ", policy, flags=re.MULTILINE)
    if labels:
        changed, more = re.subn(r"^    labels: \[.*?\]", f"    labels: {labels}", changed, flags=re.MULTILINE)
        count = min(count, more)
    if count != 1:
        raise ValueError("the shipped policy does not say its modes where they are looked for")
    return changed


def write() -> None:
    """Write all of them."""
    for name, content in generated().items():
        path = DEPLOY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def _values_schema() -> str:
    """The schema of the chart's values as it is, with the policy's, under ``$defs``, as it has to be."""
    values = json.loads((DEPLOY / CHART / "values.schema.json").read_text())
    policy = json.loads(CliRunner().invoke(schema, []).stdout)
    definitions = policy.pop("$defs")
    del policy["$schema"]
    return json.dumps({**values, "$defs": {**definitions, "GpuPolicy": policy}}, indent=2) + "\n"


def _component(obj: dict[str, Any]) -> str:
    return str(obj["metadata"]["labels"]["app.kubernetes.io/component"])


def _yaml(listed: Iterable[dict[str, Any]]) -> str:
    return f"# {_MADE}\n" + _explained(text(list(listed)).removeprefix("---\n"))


def _explained(document: str) -> str:
    """The YAML with the reason above each rule of the keeper's roles."""
    for right in _RIGHTS:
        rule = _rule_text(right)
        document = document.replace(rule, f"  # {right.why}\n{rule}")
    return document


def _rule_text(right: Right) -> str:
    return text([{"rules": [right.rule()]}]).removeprefix("---\nrules:\n")


def _template(*parts: str) -> str:
    """A Helm template of YAML and of actions, with the release's namespace in the place of the default one."""
    lines = [f"{{{{- /* {_MADE} */ -}}}}"]
    for part in parts:
        if "\n" in part:
            objects = part.replace(f"namespace: {NAMESPACE}\n", "namespace: {{ .Release.Namespace }}\n")
            lines.append(f"---\n{objects}".rstrip())
        else:
            lines.append(f"{{{{- {part} }}}}")
    return "\n".join(lines) + "\n"


def _for_helm(template: str) -> str:
    """The template of a pod with the image of the values, and the secrets to pull it with."""
    image = template.replace(f"image: {IMAGE}\n", 'image: {{ include "gpugate.image" . }}\n')
    last = f"{_POD_INDENT}restartPolicy: Never\n"
    secrets = (
        "{{- with .Values.imagePullSecrets }}",
        "imagePullSecrets:",
        "  {{- toYaml . | nindent " + str(len(_POD_INDENT) + 2) + " }}",
        "{{- end }}",
    )
    return image.replace(last, last + "".join(f"{_POD_INDENT}{line}\n" for line in secrets))


if __name__ == "__main__":
    write()
