"""Verdicts on objects of custom kinds, for tests."""

from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import yaml

from app.admission.judge import Verdict, judge
from app.model.context import Context
from app.model.finding import Finding
from app.model.patch import unescape
from app.policy.compiled import Policy
from app.policy.load import load
from app.workloads.custom import CUSTOM_KINDS
from app.workloads.kinds import CORE_KINDS, Kinds
from app.workloads.templates import Template, templates

KINDS: Final[Kinds] = {**CUSTOM_KINDS, **CORE_KINDS}
GPU: Final = "nvidia.com/gpu"
ONE: Final = {"limits": {GPU: 1}}
POLICY: Final = """\
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: p}
spec:
  gpus: {presets: [nvidia]}
  rules:
    - {rule: limits-equal-requests, repair: true}
    - {rule: no-privileged}
    - {rule: runtime-class, repair: %s, with: {default: nvidia}}
    - {rule: no-gpu-bypass, action: warn}
    - {rule: gpu-nodes-reserved, action: warn, with: {taintKeys: [nvidia.com/gpu]}}
  inject:
    - name: nodes
      taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]
      nodeSelector: {gpu: "yes"}
    - {name: hide, hideGpus: true}
"""


def policy(*, repair: bool = True) -> Policy:
    """A policy with every kind of change; without ``repair`` a runtime class is asked for, not set."""
    return load([("p.yaml", (POLICY % str(repair).lower()).encode())])


def samples() -> list[dict[str, Any]]:
    """The objects of samples.yaml."""
    text = Path(__file__).with_name("samples.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load_all(text))


def obj(api_version: str, kind: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    """An object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", **metadata}, "spec": spec}


def found(value: dict[str, Any]) -> list[Template]:
    """The templates of an object."""
    return list(templates(value, KINDS))


def verdict(template: Template, by: Policy | None = None, *, as_written: bool = False) -> Verdict:
    """What is said of the pod of a template."""
    context = Context("team-a", template=template.kind.validated)
    return judge(by or policy(), template.pod(), context, "enforce", as_written=as_written)


def verdicts(value: dict[str, Any], by: Policy | None = None, *, as_written: bool = False) -> list[Verdict]:
    """What is said of the pods of an object, which is left as it was."""
    before = deepcopy(value)
    result = [verdict(template, by, as_written=as_written) for template in found(value)]
    assert value == before
    return result


def at(value: Any, pointer: str) -> Any:
    """What stands at the pointer; KeyError, IndexError or TypeError if nothing does."""
    for token in pointer.split("/")[1:]:
        value = value[int(token)] if isinstance(value, list) else value[unescape(token)]
    return value


def lines(findings: list[Finding]) -> list[str]:
    """The findings as ``outcome rule pointer``."""
    return [f"{each.outcome} {each.rule} {each.pointer}" for each in findings]
