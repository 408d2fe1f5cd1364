"""The objects as text: always the same for the same policy, and as reviewed.

After a change that is meant to change them: `GPUGATE_UPDATE_GOLDEN=1 python -m pytest tests/manifests/test_objects.py`.
"""

import os
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import yaml

from app.manifests.client import Service, Url
from app.manifests.objects import objects, text
from app.manifests.scope import scope_digest
from app.sources.policies import read_policy
from tests.manifests.policies import policy

GOLDEN = Path(__file__).parent / "golden" / "shipped.yaml"
SERVER = Url("https://gpugate.example.com", b"certificate")
KINDS = [
    "ClusterRole",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
]


def test_the_shipped_policy() -> None:
    made = text(objects(read_policy("shipped"), SERVER))
    if os.environ.get("GPUGATE_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(made)
    assert made == GOLDEN.read_text()


def test_the_text_says_what_the_objects_say() -> None:
    made = objects(read_policy("shipped"), SERVER, "broad")
    assert list(yaml.safe_load_all(text(made))) == made
    assert "&id" not in text(made)


def test_another_process_writes_the_same() -> None:
    """Nothing hangs on the order of a set."""
    code = (
        "from app.manifests.client import Url; from app.manifests.objects import objects, text;"
        "from app.sources.policies import read_policy;"
        "print(text(objects(read_policy('shipped'), Url('https://x'), 'broad')), end='')"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert outputs == {text(objects(read_policy("shipped"), Url("https://x"), "broad")).encode()}


def test_every_entry_calls_its_own_path() -> None:
    made = policy(rules=[{"rule": "no-privileged"}], inject=[{"name": "i", "hideGpus": True}])
    digest = scope_digest(made)
    for obj in objects(made, Service("gpu", "gate", 8443, b"certificate")):
        for webhook in obj.get("webhooks", ()):
            called = "/".join(webhook["name"].partition(".")[0].split("-")[:2])
            service = webhook["clientConfig"]["service"]
            assert service == {"namespace": "gpu", "name": "gate", "port": 8443, "path": f"/{called}/{digest}"}
            assert b64decode(webhook["clientConfig"]["caBundle"]) == b"certificate"


def test_a_policy_without_work_still_takes_the_place_of_another() -> None:
    made = objects(policy(), Url("https://x"))
    assert [obj["kind"] for obj in made] == KINDS
    names = [webhook["name"] for obj in made for webhook in obj.get("webhooks", ())]
    assert names == ["namespace.gpugate.dev"]  # the label may mean nothing whatever the rules are
