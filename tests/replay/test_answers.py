"""What replay says a policy would have answered is what it would have answered."""

from datetime import date
from pathlib import Path

import pytest

from app.admission.recorded import Answered
from app.admission.replay import Judge, differences, effects
from app.policy.compiled import Mode
from tests.engine.policies import FACTS, POLICIES, TODAY
from tests.replay.cluster import Cluster, Truth, recorded
from tests.support import pods as valid

MODES: tuple[Mode, ...] = ("audit", "warn", "assist", "enforce")
SIDECAR = {
    "name": "mesh",
    "image": "registry.example.com/mesh:1",
    "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
    "securityContext": {"privileged": True},
}


def truth(answered: Answered) -> Truth:
    """An answer in the terms of what came of the pod."""
    denied = {each.rule for each in answered.said if each.outcome == "deny"}
    warned = {each.rule for each in answered.said if each.outcome in ("deny", "warn")}
    return Truth(
        answered.refused,
        denied if answered.refused else set(),
        dict(effects(answered.patch or ())),
        set() if answered.refused else warned,
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", POLICIES)
def test_the_policy_of_that_time_changes_nothing(name: str, mode: Mode, tmp_path: Path) -> None:
    cluster = Cluster(POLICIES[name], mode, tmp_path, FACTS["plain classes"])
    sent = valid.pods(seed=3, count=150)
    for number, pod in enumerate(sent):
        cluster.create(pod, sidecar=SIDECAR if number % 3 == 0 else None)
    cluster.close()
    judge = Judge(POLICIES[name], FACTS["plain classes"], today=TODAY)
    found = recorded(tmp_path)
    assert len(found) == len(sent)
    for each in found:
        assert each.answered is not None
        assert list(differences(each.answered, judge.answer(each, TODAY))) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("new", POLICIES)
@pytest.mark.parametrize("old", POLICIES)
def test_another_policy_answers_as_it_would_have(old: str, new: str, mode: Mode, tmp_path: Path) -> None:
    facts = FACTS["plain classes"]
    then, now = Cluster(POLICIES[old], mode, tmp_path, facts), Cluster(POLICIES[new], mode, facts=facts)
    sent = valid.pods(seed=4, count=80)
    expected = []
    for number, pod in enumerate(sent):
        sidecar = SIDECAR if number % 3 == 0 else None
        then.create(pod, sidecar=sidecar)
        expected.append(now.create(pod, sidecar=sidecar))
    then.close()
    judge = Judge(POLICIES[new], facts, today=TODAY)
    for found, wanted in zip(recorded(tmp_path), expected, strict=True):
        assert truth(judge.answer(found, TODAY)) == wanted, found


@pytest.mark.parametrize("new", MODES)
@pytest.mark.parametrize("old", MODES)
def test_another_mode_answers_as_it_would_have(old: Mode, new: Mode, tmp_path: Path) -> None:
    policy = POLICIES["shipped"]
    then, now = Cluster(policy, old, tmp_path), Cluster(policy, new)
    expected = []
    for pod in valid.pods(seed=5, count=150):
        then.create(pod)
        expected.append(now.create(pod))
    then.close()
    judge = Judge(policy, FACTS["unknown"], mode=new)
    for found, wanted in zip(recorded(tmp_path), expected, strict=True):
        assert truth(judge.answer(found, TODAY)) == wanted, found


def test_exceptions_hold_on_the_day_of_the_record_or_today(tmp_path: Path) -> None:
    pod = {
        "metadata": {"name": "a"},
        "spec": {
            "runtimeClassName": "nvidia",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/a",
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                    "securityContext": {"privileged": True},
                }
            ],
        },
    }
    cluster = Cluster(POLICIES["excepted"], "enforce", tmp_path)
    cluster.create(pod)
    cluster.close()
    (found,) = recorded(tmp_path)
    assert found.when is not None
    for day, refused in ((date(2027, 1, 15), False), (date(2027, 1, 16), True)):
        on_its_day = found._replace(when=found.when.replace(year=day.year, month=day.month, day=day.day))
        assert Judge(POLICIES["excepted"], FACTS["unknown"]).answer(on_its_day, TODAY).refused is refused
        assert Judge(POLICIES["excepted"], FACTS["unknown"], today=day).answer(found, TODAY).refused is refused
