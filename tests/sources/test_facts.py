"""Cluster facts: what a file says, and what it leaves unknown."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.model.context import UNKNOWN_CLUSTER, NamespaceFact, RefusedWorkload, RuntimeClassFact
from app.sources.facts import STALE_AFTER, InvalidFacts, parse_facts


def content(**keys: Any) -> bytes:
    return json.dumps({"version": 1, **keys}).encode()


def test_everything_that_is_read() -> None:
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists"}
    facts = parse_facts(
        content(
            collectedAt="2026-12-02T10:00:00Z",
            runtimeClasses=[
                {
                    "name": "nvidia",
                    "handler": "nvidia",
                    "overhead": {"cpu": "1"},
                    "scheduling": {"nodeSelector": {"accelerator": "nvidia-gpu"}, "tolerations": [toleration]},
                },
                {"name": "runc", "scheduling": None},
                {"name": "kata", "scheduling": {"nodeSelector": None, "tolerations": None}},
            ],
            claimTemplates=[
                {"namespace": "a", "name": "one", "deviceClasses": ["gpu.nvidia.com", "nic.example.com"]},
                {"namespace": "b", "name": "one", "deviceClasses": []},
            ],
            deviceClasses=[{"name": "gpu.nvidia.com", "extendedResourceName": "nvidia.com/gpu"}],
            namespaces={
                "a": {
                    "gpuWorkloads": 3,
                    "refused": 1,
                    "examples": [{"kind": "Deployment", "name": "web", "pods": 2, "rules": ["p/no-privileged"]}],
                },
                "b": {"gpuWorkloads": 1, "refused": 0},
            },
        )
    )
    assert facts.collected_at == datetime(2026, 12, 2, 10, tzinfo=UTC)
    assert facts.facts.runtime_classes == {
        "nvidia": RuntimeClassFact("nvidia", {"accelerator": "nvidia-gpu"}, (toleration,)),
        "runc": RuntimeClassFact("runc"),
        "kata": RuntimeClassFact("kata"),
    }
    assert facts.facts.claims == {("a", "one"): ("gpu.nvidia.com", "nic.example.com"), ("b", "one"): ()}
    assert facts.facts.namespaces == {
        "a": NamespaceFact(3, 1, (RefusedWorkload("Deployment", "web", 2, ("p/no-privileged",)),)),
        "b": NamespaceFact(1, 0),
    }


def test_what_is_left_out_is_unknown() -> None:
    assert parse_facts(content()) == (UNKNOWN_CLUSTER, None)
    assert parse_facts(content(runtimeClasses=None, claimTemplates=None, collectedAt=None)) == (UNKNOWN_CLUSTER, None)
    # To know that there is none is something else.
    assert parse_facts(content(runtimeClasses=[])).facts.runtime_classes == {}
    assert parse_facts(content(namespaces={})).facts.namespaces == {}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-12-02T10:00:00Z", datetime(2026, 12, 2, 10, tzinfo=UTC)),
        ("2026-12-02T10:00:00", datetime(2026, 12, 2, 10, tzinfo=UTC)),
        ("2026-12-02T10:00:00+02:00", datetime(2026, 12, 2, 8, tzinfo=UTC)),
        ("2026-12-02T10:00:00.5Z", datetime(2026, 12, 2, 10, microsecond=500_000, tzinfo=UTC)),
    ],
)
def test_times(written: str, meant: datetime) -> None:
    assert parse_facts(content(collectedAt=written)).collected_at == meant


def test_facts_get_stale() -> None:
    assert timedelta(minutes=15) == STALE_AFTER
    collected = datetime(2026, 12, 2, 10, tzinfo=UTC)
    facts = parse_facts(content(collectedAt=collected.isoformat()))
    assert not facts.stale(collected)
    assert not facts.stale(collected + STALE_AFTER)
    assert facts.stale(collected + STALE_AFTER + timedelta(seconds=1))
    # What doesn't say when it was collected was written by hand, and doesn't age.
    assert not parse_facts(content()).stale(datetime.max.replace(tzinfo=UTC))


NAMED = {"namespace": "a", "name": "b"}

WRONG: list[tuple[bytes, str]] = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"\xff", "not JSON"),
    (b"version: 1", "not JSON"),
    (b"[]", "version"),
    (b"null", "version"),
    (b"{}", "version"),
    (b'{"version": 2}', "version"),
    (b'{"version": "1"}', "version"),
    # None of these may pass for "the cluster has no classes", which would leave every class out.
    (content(runtimeClasses={}), "unexpected shape"),
    (content(runtimeClasses=""), "unexpected shape"),
    (content(runtimeClasses=0), "unexpected shape"),
    (content(runtimeClasses={"nvidia": {}}), "unexpected shape"),
    (content(runtimeClasses="nvidia"), "unexpected shape"),
    (content(runtimeClasses=["nvidia"]), "unexpected shape"),
    (content(runtimeClasses=[{}]), "name"),
    (content(runtimeClasses=[{"name": None}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": 1}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": "x"}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": {"nodeSelector": ["x"]}}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": {"nodeSelector": {"x": 1}}}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": {"tolerations": "x"}}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": {"tolerations": {"key": "x"}}}]), "unexpected shape"),
    (content(runtimeClasses=[{"name": "a", "scheduling": {"tolerations": [1]}}]), "unexpected shape"),
    (content(claimTemplates="x"), "unexpected shape"),
    (content(claimTemplates=[1]), "unexpected shape"),
    (content(claimTemplates=[{"name": "a", "deviceClasses": []}]), "namespace"),
    (content(claimTemplates=[{**NAMED}]), "deviceClasses"),
    # Letters are no device classes.
    (content(claimTemplates=[{**NAMED, "deviceClasses": "gpu.nvidia.com"}]), "expected a list"),
    (content(claimTemplates=[{**NAMED, "deviceClasses": [1]}]), "expected text"),
    (content(claimTemplates=[{**NAMED, "deviceClasses": None}]), "unexpected shape"),
    (content(namespaces=[]), "unexpected shape"),
    (content(namespaces={"a": 1}), "unexpected shape"),
    (content(namespaces={"a": {"refused": 1}}), "gpuWorkloads"),
    (content(namespaces={"a": {"gpuWorkloads": "1", "refused": 0}}), "expected a count"),
    (content(namespaces={"a": {"gpuWorkloads": True, "refused": 0}}), "expected a count"),
    (content(namespaces={"a": {"gpuWorkloads": 1, "refused": -1}}), "expected a count"),
    (content(namespaces={"a": {"gpuWorkloads": 1, "refused": 0, "examples": [{"kind": "Job"}]}}), "rules"),
    (content(collectedAt="yesterday"), "unexpected shape"),
    (content(collectedAt=1764668400), "unexpected shape"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_what_is_no_facts_is_an_error(wrong: bytes, said: str) -> None:
    with pytest.raises(InvalidFacts) as raised:
        parse_facts(wrong)
    assert said in str(raised.value)
