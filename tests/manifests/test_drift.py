"""What is said to be different between a configuration and what it should be."""

import copy
from typing import Any

from app.manifests.client import Url
from app.manifests.drift import bundles, differences
from app.manifests.objects import SCOPE_ANNOTATION, configurations
from tests.manifests.policies import GPU_RULE, policy

WANTED = configurations(policy(rules=[GPU_RULE]), Url("https://a", b"one"), "tight")[1]
NAME = WANTED["webhooks"][0]["name"]


def found() -> dict[str, Any]:
    return copy.deepcopy(WANTED)


def test_nothing() -> None:
    assert differences(found(), WANTED) == []


def test_what_others_added_and_the_bundle_do_not_count() -> None:
    other = found()
    other["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] = "a/b"
    other["webhooks"][0] |= {"fieldOfALaterVersion": True}
    other["webhooks"][0]["clientConfig"]["caBundle"] = "b3RoZXI="
    assert differences(other, WANTED) == []
    assert bundles(other)[0] == b"other"


def test_what_counts() -> None:
    other = found()
    other["webhooks"][0]["failurePolicy"] = "Unheard"
    other["webhooks"][0]["clientConfig"]["url"] = "https://b"
    assert differences(other, WANTED) == [f"entry {NAME} differs in clientConfig, failurePolicy"]
    other = found()
    del other["webhooks"][0]
    assert differences(other, WANTED) == [f"entry {NAME} is missing"]
    other = found()
    other["webhooks"].append({"name": "x.y.z"})
    assert differences(other, WANTED) == ["entry x.y.z is not of the policy"]
    other = found()
    other["metadata"]["annotations"][SCOPE_ANNOTATION] = "0"
    digest = WANTED["metadata"]["annotations"][SCOPE_ANNOTATION]
    assert differences(other, WANTED) == [f"annotation {SCOPE_ANNOTATION} is 0, not {digest}"]
    assert differences(None, WANTED) == ["it does not exist"]


def test_a_bundle_that_is_none_is_empty() -> None:
    assert bundles({"webhooks": [{"clientConfig": {}}, {"clientConfig": {"caBundle": "%"}}, {}]}) == [b"", b"", b""]
    assert bundles({}) == []
