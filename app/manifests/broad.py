"""What any policy made of the built-in presets can mean, whatever its rules."""

from collections.abc import Iterable
from typing import Any

from app.model.gpu import GpuSet, Vendor
from app.policy.presets import NAMES, preset
from app.rules import gpu_nodes_reserved, no_gpu_bypass
from app.rules.rule import Rule


def every_vendor() -> tuple[Vendor, ...]:
    """All presets."""
    return tuple(preset(name) for name in NAMES)


def broadest(rule: Rule, gpus: GpuSet, given: Iterable[Any]) -> Any:
    """Parameters with which the rule finds fault with every pod without GPUs that it can, for these GPUs.

    ``given`` are parameters that a policy already gives the rule; names in them are kept. Raises KeyError for a rule
    about pods without GPUs that is not listed here.
    """
    listed = list(given)
    if rule is gpu_nodes_reserved.RULE:
        labels = {*gpus.node_labels, *(label for each in listed for label in each.nodeLabels)}
        keys = {*gpus.taint_keys, *(key for each in listed for key in each.taintKeys)}
        return gpu_nodes_reserved.Parameters(tuple(sorted(labels)), tuple(sorted(keys)))
    return {no_gpu_bypass.RULE.id: no_gpu_bypass.Parameters(envFrom=True, privileged=True)}[rule.id]
