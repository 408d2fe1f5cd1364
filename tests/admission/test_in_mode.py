"""What another mode makes of the verdict of enforce is what judging by that mode gives."""

from typing import get_args

import pytest

from app.admission.judge import in_mode, judge
from app.model.context import Context
from app.model.pod import MalformedPod, Pod
from app.policy.compiled import Mode
from app.sources.policies import read_policy
from tests.support.pods import pods


@pytest.mark.parametrize("mode", get_args(Mode))
def test_in_mode(mode: Mode) -> None:
    policy = read_policy("shipped")
    context = Context("kube-system")
    for number, obj in enumerate(pods(7, 300)):
        pod = Pod(obj["metadata"], obj["spec"], metadata_pointer="/metadata", spec_pointer="/spec")
        where = context if number % 5 == 0 else Context("team-a")
        try:
            enforced = judge(policy, pod, where, "enforce")
        except MalformedPod:
            continue
        assert in_mode(enforced, mode) == judge(policy, pod, where, mode)
