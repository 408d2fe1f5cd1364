"""Which rules of Kyverno are recognised, what they become, and where the original is wrong."""

from typing import Any

import pytest

from app.migrate.row import Row
from tests.migrate.rules import ASKS, GPU, deny, operations, patch, pattern, row, rule

INIT = "does not see a GPU in an init container"
ZERO = "takes a limit of 0 for a GPU"
SIDECAR = "refuses a GPU pod with a sidecar that asks for no GPU: what it asks, it asks of every container"
NO_INIT, NO_DEBUG = "does not look at init containers", "does not look at ephemeral containers (kubectl debug)"
EQUAL = {"rule": "limits-equal-requests"}
UNPRIVILEGED = {"rule": "no-privileged"}
PRIVILEGED_FALSE = {"=(securityContext)": {"=(privileged)": False}}


def classes(*names: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {"default": names[0]}
    if len(names) > 1:
        parameters["allowed"] = list(names)
    return {"rule": "runtime-class", "with": parameters}


@pytest.mark.parametrize(
    ("made", "entry", "better"),
    [
        # A required limit.
        (
            pattern({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "?*"}}}]}, ASKS),
            EQUAL,
            (
                SIDECAR,
                "lets a request without a limit through",
                "lets a request through that is not its limit",
                INIT,
            ),
        ),
        (
            pattern(
                {
                    "containers": [
                        {"(resources)": {"(requests)": {"(nvidia.com/gpu)": "?*"}, "limits": {"nvidia.com/gpu": "?*"}}}
                    ]
                }
            ),
            EQUAL,
            None,
        ),
        (
            rule(
                validate={
                    "message": "said",
                    "foreach": [
                        {
                            "list": "request.object.spec.containers",
                            "deny": {
                                "conditions": {
                                    "all": [
                                        {
                                            "key": '{{ element.resources.limits."nvidia.com/gpu" || `0` }}',
                                            "operator": "NotEquals",
                                            "value": '{{ element.resources.requests."nvidia.com/gpu" || `0` }}',
                                        }
                                    ]
                                }
                            },
                        }
                    ],
                }
            ),
            EQUAL,
            (INIT,),
        ),
        # A forbidden value.
        (pattern({"containers": [PRIVILEGED_FALSE]}, ASKS), UNPRIVILEGED, (NO_INIT, NO_DEBUG, INIT)),
        (
            pattern(
                {
                    "containers": [PRIVILEGED_FALSE],
                    "=(initContainers)": [PRIVILEGED_FALSE],
                    "=(ephemeralContainers)": [PRIVILEGED_FALSE],
                },
                ASKS,
            ),
            UNPRIVILEGED,
            (INIT,),
        ),
        (
            deny(
                {
                    "key": "{{ request.object.spec.containers[].securityContext.privileged }}",
                    "operator": "AnyIn",
                    "value": [True],
                }
            ),
            UNPRIVILEGED,
            (NO_INIT, NO_DEBUG, INIT),
        ),
        # A required runtime class.
        (pattern({"runtimeClassName": "nvidia"}, ASKS), classes("nvidia"), (ZERO, INIT)),
        (pattern({"runtimeClassName": "nvidia | kata"}, ASKS), classes("nvidia", "kata"), (ZERO, INIT)),
        (
            rule(
                ASKS,
                validate={
                    "message": "said",
                    "anyPattern": [{"spec": {"runtimeClassName": "nvidia"}}, {"spec": {"runtimeClassName": "kata"}}],
                },
            ),
            classes("nvidia", "kata"),
            (ZERO, INIT),
        ),
        (
            pattern(
                {
                    "containers": [{"(resources)": {"(limits)": {"<(nvidia.com/gpu)": "?*"}}}],
                    "runtimeClassName": "nvidia",
                }
            ),
            classes("nvidia"),
            (ZERO,),
        ),
        (
            deny(
                {
                    "key": "{{ request.object.spec.runtimeClassName || '' }}",
                    "operator": "AnyNotIn",
                    "value": ["nvidia", "kata"],
                }
            ),
            classes("nvidia", "kata"),
            (ZERO, INIT),
        ),
        (
            patch({"runtimeClassName": "nvidia"}, ASKS),
            {"rule": "runtime-class", "repair": True, "with": {"default": "nvidia"}},
            (ZERO, "overwrites the class that a pod names; gpugate refuses it and says so", INIT),
        ),
        # A bound.
        (
            pattern({"containers": [{"=(resources)": {"=(limits)": {"nvidia.com/gpu": "<=4"}}}]}),
            {"rule": "max-gpus", "with": {"perContainer": {"nvidia.com/gpu": 4}}},
            (INIT,),
        ),
        (
            deny(
                {
                    "key": '{{ sum(request.object.spec.containers[].resources.limits."nvidia.com/gpu".to_number(@)) }}',
                    "operator": "GreaterThan",
                    "value": 8,
                }
            ),
            {"rule": "max-gpus", "with": {"perPod": {"nvidia.com/gpu": 8}}},
            (INIT,),
        ),
        # A way around.
        (
            pattern({"containers": [{"=(env)": [{"name": "!NVIDIA_VISIBLE_DEVICES"}]}]}),
            {"rule": "no-gpu-bypass"},
            (
                "refuses NVIDIA_VISIBLE_DEVICES=void, which hides GPUs",
                NO_INIT,
                "does not look at devices of the node (hostPath)",
            ),
        ),
        # Tolerations and selectors.
        (
            operations("{op: add, path: /spec/tolerations/-, value: {key: gpu, operator: Exists}}"),
            {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
            (ZERO, "adds a toleration again that the pod has", INIT),
        ),
        (
            patch({"tolerations": [{"key": "gpu", "operator": "Exists"}]}, ASKS),
            {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
            (ZERO, "throws away the tolerations that a pod has of its own", INIT),
        ),
        (
            patch({"nodeSelector": {"accelerator": "nvidia"}}, ASKS),
            {"nodeSelector": {"accelerator": "nvidia"}},
            (ZERO, "overwrites the pod's own choice of nodes; gpugate refuses it and says so", INIT),
        ),
        (
            patch({"nodeSelector": {"+(accelerator)": "nvidia"}}, ASKS),
            {"nodeSelector": {"accelerator": "nvidia"}, "onConflict": "keep"},
            (ZERO, INIT),
        ),
        (
            operations("{op: add, path: /spec/nodeSelector/gpu.example.com~1model, value: a100}"),
            {"nodeSelector": {"gpu.example.com/model": "a100"}},
            (ZERO, "overwrites the pod's own choice of nodes; gpugate refuses it and says so", INIT),
        ),
        (
            pattern({"nodeSelector": {"accelerator": "nvidia"}}, ASKS),
            {"nodeSelector": {"accelerator": "nvidia"}},
            ("refuses GPU pods that lack it; gpugate adds it", INIT),
        ),
    ],
)
def test_what_is_better(made: dict[str, Any], entry: dict[str, Any], better: tuple[str, ...] | None) -> None:
    found = row(made)
    assert [piece.entry for piece in found.entries] == [entry], found.notes
    assert found.verdict == "better", found.different
    assert found.different == ()
    assert better is None or found.better == better


def test_what_differs_without_being_better_is_different() -> None:
    found = row(patch({"+(runtimeClassName)": "nvidia"}, ASKS))
    assert found.verdict == "different"
    assert found.different == ("a GPU pod with another runtime class: let through by the original, refused by gpugate",)


def test_what_is_the_same_is_the_same() -> None:
    gate = {
        "key": '{{ request.object.spec.[initContainers, containers][].resources.limits."nvidia.com/gpu" || `[]` }}',
        "operator": "NotEquals",
        "value": [],
    }
    every = {kind: [PRIVILEGED_FALSE] for kind in ("containers", "=(initContainers)", "=(ephemeralContainers)")}
    found = row(pattern(every, gate))
    assert (found.verdict, found.better, found.different) == ("same", (), ())


def test_a_message_that_is_never_seen() -> None:
    found = row(pattern({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "?*"}}}]}, ASKS))
    assert found.notes[0].startswith("its message is never seen in a cluster: the API server refuses")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (pattern({"containers": [PRIVILEGED_FALSE]}), "no-privileged is for GPU pods; this is for every pod"),
        (pattern({"runtimeClassName": "nvidia"}), "runtime-class is for GPU pods; this is for every pod"),
        (
            patch({"runtimeClassName": "nvidia"}),
            "it changes pods that ask for no GPU too; a GpuPolicy changes GPU pods",
        ),
        (
            pattern({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "?*"}}}]}),
            "it wants a GPU in every container of every pod (spec.containers[].resources.limits.nvidia.com/gpu)",
        ),
        (
            pattern({"containers": [{"image": "!*:latest"}]}, ASKS),
            'it asks for spec.containers[].image "!*:latest", which no rule of a GpuPolicy does',
        ),
        (
            pattern({"runtimeClassName": "nv*"}, ASKS),
            'it takes the runtime classes "nv*"; a GpuPolicy lists them by name',
        ),
        (
            pattern({"=(runtimeClassName)": "nvidia"}, ASKS),
            "it lets GPU pods without a runtime class through; runtime-class wants one",
        ),
        (
            pattern({"(hostPID)": True, "runtimeClassName": "nvidia"}, ASKS),
            'it asks for spec.hostPID "True", which no rule of a GpuPolicy does',
        ),
        (patch({"priorityClassName": "high"}, ASKS), "it sets spec.priorityClassName, which a GpuPolicy does not"),
        (operations("{op: remove, path: /spec/tolerations}"), 'its JSON patch has "remove" of /spec/tolerations'),
        (
            rule(ASKS, mutate={"patchesJson6902": "- {op: add, path: '/spec/{{ x }}', value: 1}"}),
            "there are variables in its JSON patch",
        ),
        (rule(ASKS, mutate={"foreach": []}), "mutate by nothing has no counterpart"),
        (rule(generate={"kind": "ConfigMap"}), "generate has no counterpart"),
        (rule(ASKS, context=[{"name": "a"}], validate={}), "it looks things up (context)"),
        (rule(ASKS, validate={"message": "m", "cel": {}}), "validate by cel has no counterpart"),
        (rule(ASKS), "it neither validates nor mutates"),
        (
            {
                **pattern({"runtimeClassName": "nvidia"}, ASKS),
                "match": {"any": [{"resources": {"kinds": ["Deployment"]}}]},
            },
            "it is for Deployment; a GpuPolicy judges pods",
        ),
        (
            {
                **pattern({"runtimeClassName": "nvidia"}, ASKS),
                "match": {"any": [{"resources": {"kinds": ["Pod"]}, "subjects": [{"kind": "User", "name": "a"}]}]},
            },
            "it matches by subjects: who makes the request plays no part in a GpuPolicy",
        ),
        (
            {
                **pattern({"runtimeClassName": "nvidia"}, ASKS),
                "match": {"any": [{"resources": {"kinds": ["Pod"], "names": ["a*"]}}]},
            },
            "it matches by names, which a GpuPolicy has no condition for",
        ),
        (
            {
                **pattern({"runtimeClassName": "nvidia"}, ASKS),
                "exclude": {"any": [{"resources": {"names": ["a"]}}]},
            },
            "it excludes by names; a GpuPolicy excludes namespaces",
        ),
        (
            pattern({"runtimeClassName": "nvidia"}, ASKS, {"key": "{{ images }}", "operator": "Equals", "value": "x"}),
            'its precondition "{{ images }}" has no counterpart',
        ),
        (
            pattern({"runtimeClassName": "nvidia"}, {"key": GPU, "operator": "Equals", "value": ["3"]}),
            "its precondition on nvidia.com/gpu is none that asks for GPUs",
        ),
        (
            pattern({"runtimeClassName": "nvidia"}, {**ASKS, "key": GPU.replace("nvidia.com/gpu", "cpu")}),
            None,
        ),
    ],
)
def test_what_is_not_taken(made: dict[str, Any], reason: str | None) -> None:
    found = row(made)
    assert (found.verdict, found.entries) == ("not taken", ())
    assert reason is None or found.notes[0].startswith(reason)


def _served(found: Row) -> str:
    return found.notes[0].partition("; ")[2]


def test_what_is_not_taken_says_how_the_original_goes_on() -> None:
    assert (
        row(pattern({"containers": [{"image": "!*:latest"}]}))
        .notes[0]
        .endswith("; it can be served as it is, beside the GpuPolicy")
    )
    found = row(rule(generate={"kind": "ConfigMap"}))
    assert _served(found).startswith("nor can it be served as it is: ")
