"""The rules that a policy can name. To add one: a file beside this one, a line here, a folder of fixtures."""

from typing import Final

from app.rules import (
    gpu_nodes_reserved,
    limits_equal_requests,
    max_gpus,
    no_gpu_bypass,
    no_privileged,
    runtime_class,
)
from app.rules.rule import Rule

RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for rule in (
        limits_equal_requests.RULE,
        no_privileged.RULE,
        runtime_class.RULE,
        no_gpu_bypass.RULE,
        gpu_nodes_reserved.RULE,
        max_gpus.RULE,
    )
}
