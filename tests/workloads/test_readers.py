"""Kinds that describe pods in fields of their own: what is read from where, and what has no place there."""

from typing import Any

import jsonpatch
import pytest

from app.model.context import ClusterFacts, Context
from app.model.gpu import gpu_use
from app.model.pod import MalformedPod
from tests.workloads.judging import GPU, ONE, found, lines, obj, policy, verdicts


def only(value: dict[str, Any]) -> Any:
    (template,) = found(value)
    return template.pod()


def messages(value: dict[str, Any], rule: str, *, as_written: bool = False) -> list[str]:
    (verdict,) = verdicts(value, as_written=as_written)
    return [each.message for each in verdict.findings if each.rule == rule]


# Ray

AUTOSCALER = {"securityContext": {"privileged": True}}


def ray(**fields: Any) -> dict[str, Any]:
    head = {"template": {"spec": {"containers": [{"name": "head", "resources": ONE}]}}}
    return obj("ray.io/v1", "RayCluster", {"headGroupSpec": head, **fields})


def test_the_autoscaler_is_a_container_of_the_head() -> None:
    (verdict,) = verdicts(ray(enableInTreeAutoscaling=True, autoscalerOptions=AUTOSCALER))
    denied = [each for each in verdict.findings if each.outcome == "deny"]
    assert lines(denied) == ["deny no-privileged /spec/autoscalerOptions/securityContext/privileged"]
    assert denied[0].container == "autoscaler"


@pytest.mark.parametrize("fields", [{"autoscalerOptions": AUTOSCALER}, {"enableInTreeAutoscaling": True}])
def test_without_autoscaling_or_options_there_is_none(fields: dict[str, Any]) -> None:
    assert [container.name for container in only(ray(**fields)).containers] == ["head"]


# Volcano


@pytest.mark.parametrize(
    ("job", "task", "scheduler"),
    [({}, {}, "volcano"), ({"schedulerName": "kai"}, {}, "kai"), ({}, {"schedulerName": "own"}, "own")],
)
def test_a_task_gets_the_scheduler_of_its_job(job: dict[str, Any], task: dict[str, Any], scheduler: str) -> None:
    spec = {**task, "containers": [{"name": "a", "resources": ONE}]}
    value = obj("batch.volcano.sh/v1alpha1", "Job", {**job, "tasks": [{"template": {"spec": spec}}]})
    assert only(value).scheduler == scheduler
    (verdict,) = verdicts(value)
    # Volcano chooses the node; others leave that to the pod.
    assert any("nodeSelector" in operation["path"] for operation in verdict.patch) is (scheduler != "volcano")


# Argo Workflows


def workflow(template: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return obj("argoproj.io/v1alpha1", "Workflow", {"templates": [{"name": "a", **template}], **fields})


MAIN = {"image": "a:1", "resources": ONE}


def test_a_template_has_no_runtime_class_and_is_not_blamed_for_it() -> None:
    (verdict,) = verdicts(workflow({"container": MAIN}))
    assert 'runtimeClassName set to "nvidia", at the pod: a workflow\'s template has no field for it' in [
        each.message for each in verdict.findings
    ]
    assert [operation["path"] for operation in verdict.patch] == [
        "/spec/templates/0/tolerations",
        "/spec/templates/0/nodeSelector",
    ]
    (written,) = verdicts(workflow({"container": MAIN}), as_written=True)
    assert written.allowed
    assert {each.outcome for each in written.findings} == {"note"}


def test_without_repair_the_missing_class_refuses_the_pod() -> None:
    for as_written in (False, True):
        (verdict,) = verdicts(workflow({"container": MAIN}), policy(repair=False), as_written=as_written)
        assert not verdict.allowed
        assert any(each.message.endswith("(a workflow's template has no field for it)") for each in verdict.findings)


def test_what_a_template_leaves_out_it_gets_from_the_workflow() -> None:
    tolerations = [{"key": GPU, "operator": "Exists"}]
    value = workflow(
        {"container": MAIN, "nodeSelector": {"zone": "a"}},
        tolerations=tolerations,
        nodeSelector={"zone": "b"},
        templateDefaults={"schedulerName": "kai"},
        podMetadata={"labels": {"team": "x", "a": "b"}},
    )
    pod = only(value)
    assert (pod.tolerations(), pod.node_selector(), pod.scheduler) == (tolerations, {"zone": "a"}, "kai")
    assert pod.labels == {"team": "x", "a": "b"}
    (verdict,) = verdicts(value)
    assert [operation["path"] for operation in verdict.patch] == ["/spec/templates/0/nodeSelector/gpu"]


def test_nothing_is_written_where_other_templates_read_it_too() -> None:
    value = workflow({"container": MAIN}, nodeSelector={"zone": "b"})
    (verdict,) = verdicts(value)
    (said,) = [each.message for each in verdict.findings if "nodeSelector" in each.message]
    assert said.endswith("at the pod: that of the workflow is for more templates than this")
    assert [operation["path"] for operation in verdict.patch] == ["/spec/templates/0/tolerations"]


def test_annotations_of_the_workflow_are_found_there() -> None:
    annotations = {"cdi.k8s.io/x": "nvidia.com/gpu=0"}
    (verdict,) = verdicts(workflow({"script": {"image": "a:1"}}, podMetadata={"annotations": annotations}))
    assert lines(verdict.findings) == ["warn no-gpu-bypass /spec/podMetadata/annotations/cdi.k8s.io~1x"]


def test_every_container_of_a_template_is_looked_at() -> None:
    privileged = {"securityContext": {"privileged": True}}
    value = workflow(
        {
            "containerSet": {"containers": [{"name": "one", "resources": ONE}]},
            "sidecars": [{"name": "side", **privileged}],
            "initContainers": [{"name": "init", **privileged}],
        }
    )
    (verdict,) = verdicts(value)
    assert [(each.pointer, each.container_kind) for each in verdict.findings if each.outcome == "deny"] == [
        ("/spec/templates/0/initContainers/0/securityContext/privileged", "initContainer"),
        ("/spec/templates/0/sidecars/0/securityContext/privileged", "container"),
    ]


def test_a_mounted_volume_of_the_workflow_counts() -> None:
    volumes = [{"name": "x", "emptyDir": {}}, {"name": "dev", "hostPath": {"path": "/dev/nvidia0"}}]
    mounting = {"container": {"volumeMounts": [{"name": "dev", "mountPath": "/d"}]}}
    (verdict,) = verdicts(workflow(mounting, volumes=volumes))
    assert lines(verdict.findings) == ["warn no-gpu-bypass /spec/volumes/1/hostPath"]
    assert verdicts(workflow({"container": {}}, volumes=volumes))[0].findings == []


def test_templates_of_other_types_make_no_pods() -> None:
    assert found(workflow({"dag": {"tasks": [{"name": "b", "template": "c"}]}})) == []
    assert found(workflow({"steps": [{"name": "b", "template": "c"}]})) == []
    assert found(workflow({"suspend": {}})) == []


PATCH = """
runtimeClassName: nvidia
tolerations: [{key: nvidia.com/gpu, operator: Exists}]
containers:
  - name: main
    resources: {limits: {nvidia.com/gpu: 0.5}}
  - {name: more, securityContext: {privileged: true}}
"""


def test_a_pod_spec_patch_changes_the_pod() -> None:
    value = workflow(
        {"container": {"image": "a:1"}, "podSpecPatch": PATCH}, podSpecPatch='{"nodeSelector": {"gpu": "yes"}}'
    )
    pod = only(value)
    assert pod.runtime_class == "nvidia"
    assert pod.node_selector() == {"gpu": "yes"}
    assert [container.name for container in pod.containers] == ["main", "more"]
    (verdict,) = verdicts(value)
    at = "/spec/templates/0/podSpecPatch"
    assert lines(verdict.findings)[:2] == [f"deny limits-equal-requests {at}", f"deny no-privileged {at}"]
    assert verdict.patch == []


def test_what_a_pod_spec_patch_says_is_added_to_at_the_pod() -> None:
    patch = '{"tolerations": [{"key": "team", "operator": "Exists"}]}'
    (verdict,) = verdicts(workflow({"container": MAIN, "podSpecPatch": patch, "nodeSelector": {"gpu": "yes"}}))
    assert verdict.patch == []
    said = [each.message for each in verdict.findings if "toleration" in each.message]
    assert said[0].endswith("at the pod: it is what podSpecPatch says")


def test_a_pod_spec_patch_with_parameters_is_a_note() -> None:
    value = workflow({"container": {"image": "a:1"}, "podSpecPatch": '{"nodeName": "{{inputs.parameters.node}}"}'})
    (verdict,) = verdicts(value)
    assert [each.outcome for each in verdict.findings] == ["note"]
    assert verdict.findings[0].pointer == "/spec/templates/0/podSpecPatch"


@pytest.mark.parametrize(
    "patch", ["[", "text", "a: 1\n---\nb: 1", "containers: [x]", '{"containers": 3}', "tolerations: x"]
)
def test_a_pod_spec_patch_that_is_none_is_an_error_there(patch: str) -> None:
    value = workflow({"container": MAIN, "podSpecPatch": patch})
    with pytest.raises(MalformedPod) as error:
        verdicts(value)
    assert error.value.pointer == "/spec/templates/0/podSpecPatch"


# Tekton


def task_run(**fields: Any) -> dict[str, Any]:
    task = {"steps": [{"name": "a", "computeResources": ONE}, {"name": "b"}]}
    return obj("tekton.dev/v1", "TaskRun", {"taskSpec": task, **fields})


def test_what_a_task_run_lacks_is_made() -> None:
    value = task_run()
    (verdict,) = verdicts(value)
    assert [operation["path"] for operation in verdict.patch][:3] == [
        "/spec/podTemplate",
        "/spec/podTemplate/runtimeClassName",
        "/spec/podTemplate/tolerations",
    ]
    assert jsonpatch.apply_patch(value, verdict.patch)["spec"]["podTemplate"]["nodeSelector"] == {"gpu": "yes"}


def test_a_run_says_other_resources_than_the_step() -> None:
    wrong = {"limits": {GPU: 2}, "requests": {GPU: 1}}
    (verdict,) = verdicts(task_run(stepSpecs=[{"name": "a", "computeResources": wrong}]))
    at = "/spec/stepSpecs/0/computeResources/requests/nvidia.com~1gpu"
    assert f"deny limits-equal-requests {at}" in lines(verdict.findings)
    (verdict,) = verdicts(task_run(computeResources=wrong))
    assert "deny limits-equal-requests /spec/computeResources/requests/nvidia.com~1gpu" in lines(verdict.findings)
    assert [each.container for each in verdict.findings if each.outcome == "deny"] == ["a"]


def test_a_step_gets_what_the_step_template_says() -> None:
    common = {"securityContext": {"privileged": True}, "computeResources": {"requests": {GPU: 1}}}
    value = obj("tekton.dev/v1", "Task", {"stepTemplate": common, "steps": [{"name": "a"}]})
    (verdict,) = verdicts(value)
    assert lines(verdict.findings)[:2] == [
        "deny no-privileged /spec/stepTemplate/securityContext/privileged",
        "repair limits-equal-requests /spec/stepTemplate/computeResources/requests/nvidia.com~1gpu",
    ]
    assert verdict.patch == []
    assert all(", at the pod: " in each.message for each in verdict.findings[1:])


def test_a_task_leaves_the_settings_of_the_pod_to_its_run() -> None:
    value = obj("tekton.dev/v1", "Task", {"steps": [{"name": "a", "computeResources": ONE}]})
    assert messages(value, "runtime-class") == [
        'runtimeClassName set to "nvidia", at the pod: the podTemplate is the run\'s'
    ]
    (written,) = verdicts(value, as_written=True)
    assert written.allowed


def test_a_pod_template_of_a_pipeline_run_is_for_all_its_tasks_but_those_with_their_own() -> None:
    tasks = [{"name": name, "taskSpec": {"steps": [{"name": "s", "computeResources": ONE}]}} for name in ("a", "b")]
    runs = [{"pipelineTaskName": "b", "podTemplate": {"runtimeClassName": "nvidia"}}]
    value = obj("tekton.dev/v1", "PipelineRun", {"pipelineSpec": {"tasks": tasks}, "taskRunSpecs": runs})
    first, second = verdicts(value)
    assert first.patch == []
    assert [operation["path"] for operation in second.patch] == [
        "/spec/taskRunSpecs/0/podTemplate/tolerations",
        "/spec/taskRunSpecs/0/podTemplate/nodeSelector",
    ]


def test_runs_of_tasks_and_pipelines_elsewhere_hold_no_pod() -> None:
    assert found(obj("tekton.dev/v1", "TaskRun", {"taskRef": {"name": "a"}})) == []
    assert found(obj("tekton.dev/v1", "PipelineRun", {"pipelineRef": {"name": "a"}})) == []


# KServe and Knative


def service(predictor: dict[str, Any], **annotations: str) -> dict[str, Any]:
    return obj("serving.kserve.io/v1beta1", "InferenceService", {"predictor": predictor}, annotations=annotations)


def test_knative_takes_some_fields_with_a_flag_only() -> None:
    value = service({"model": {"resources": ONE}})
    (verdict,) = verdicts(value)
    assert verdict.patch == []
    assert all(", at the pod: in serverless mode Knative takes it only" in each.message for each in verdict.findings)
    (said,) = messages(value, "runtime-class", as_written=True)
    assert said.endswith("(in serverless mode Knative takes it only with its flag kubernetes.podspec-runtimeclassname)")
    assert not verdicts(value, as_written=True)[0].allowed


@pytest.mark.parametrize("mode", ["RawDeployment", "Standard"])
def test_without_knative_the_predictor_takes_them(mode: str) -> None:
    value = service({"model": {"resources": ONE}}, **{"serving.kserve.io/deploymentMode": mode})
    (verdict,) = verdicts(value)
    assert [operation["path"] for operation in verdict.patch] == [
        "/spec/predictor/runtimeClassName",
        "/spec/predictor/tolerations",
        "/spec/predictor/nodeSelector",
    ]


def test_a_framework_by_its_name_is_a_container_too() -> None:
    predictor = {
        "containers": [{"name": "agent", "securityContext": {"privileged": True}}],
        "triton": {"resources": ONE},
    }
    (verdict,) = verdicts(service(predictor))
    assert "deny no-privileged /spec/predictor/containers/0/securityContext/privileged" in lines(verdict.findings)
    assert [container.pointer for container in only(service(predictor)).containers][1] == "/spec/predictor/containers/1"
    assert found(service({"minReplicas": 1})) == []


def test_a_predictor_whose_runtime_may_ask_for_gpus_is_not_blamed_for_aiming_at_them() -> None:
    predictor = {"model": {"args": ["a"]}, "tolerations": [{"key": GPU, "operator": "Exists"}]}
    (verdict,) = verdicts(service(predictor))
    (finding,) = verdict.findings
    assert (finding.outcome, finding.message.endswith("(unless its ServingRuntime asks for one)")) == ("note", True)


# Trainer


def train_job(**fields: Any) -> dict[str, Any]:
    return obj("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}, **fields})


def test_a_train_job_that_asks_for_nothing_says_nothing_of_its_pods() -> None:
    assert found(train_job()) == []
    assert found(train_job(trainer={"numNodes": 2})) == []


def test_patches_of_the_training_node_count() -> None:
    spec = {"tolerations": [{"key": GPU, "operator": "Exists"}], "nodeSelector": {"gpu": "no"}}
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": spec}}}}]
    patches = [{"manager": "a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}]
    override = {"targetJobs": [{"name": "node"}], "spec": spec}
    at = "/spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/template/spec"
    for fields, pointer in (
        ({"runtimePatches": patches}, at),
        ({"podTemplateOverrides": [override]}, "/spec/podTemplateOverrides/0/spec"),
        ({"podSpecOverrides": [{**spec, **override}]}, "/spec/podSpecOverrides/0"),
    ):
        (verdict,) = verdicts(train_job(trainer={"resourcesPerNode": ONE}, **fields))
        assert f"deny nodes {pointer}/nodeSelector" in lines(verdict.findings)
        assert not any("toleration" in each.message for each in verdict.findings)


# NIM, Dynamo, Spark


def test_dra_resources_of_a_nim_service_are_claims() -> None:
    spec = {"draResources": [{"resourceClaimName": "a"}, {"resourceClaimTemplateName": "one-gpu"}], "resources": {}}
    value = obj("apps.nvidia.com/v1alpha1", "NIMService", spec)
    pod = only(value)
    facts = ClusterFacts(claims={("team-a", "one-gpu"): ("gpu.nvidia.com",)})
    assert gpu_use(pod, policy().gpus, Context("team-a", facts=facts)).device_classes == {"gpu.nvidia.com"}
    (verdict,) = verdicts(value)
    assert lines(verdict.findings) == ["note no-privileged /spec/draResources"]


def test_the_runtime_class_of_older_nemo_kinds() -> None:
    value = obj("apps.nvidia.com/v1alpha1", "NemoCustomizer", {"runtimeClass": "kata", "resources": ONE})
    (verdict,) = verdicts(value)
    assert "deny runtime-class /spec/runtimeClass" in lines(verdict.findings)


def test_the_short_name_of_dynamo_is_noted_and_no_resource() -> None:
    worker = {"resources": {"limits": {"gpu": "1"}, "requests": {"gpu": "1"}}}
    (verdict,) = verdicts(obj("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"Worker": worker}}))
    assert not verdict.gpu
    assert lines(verdict.findings) == [
        "note limits-equal-requests /spec/services/Worker/resources/limits/gpu",
        "note limits-equal-requests /spec/services/Worker/resources/requests/gpu",
    ]


def test_a_container_of_dynamo_is_repaired_where_it_stands() -> None:
    worker = {"extraPodSpec": {"mainContainer": {"image": "a:1", "resources": {"requests": {GPU: 1}}}}}
    value = obj("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"a/b": worker}})
    (verdict,) = verdicts(value)
    changed = jsonpatch.apply_patch(value, verdict.patch)["spec"]["services"]["a/b"]["extraPodSpec"]
    assert changed["mainContainer"]["resources"]["limits"] == {GPU: 1}
    assert changed["runtimeClassName"] == "nvidia"


def test_a_spark_pod_starts_from_its_template() -> None:
    template = {
        "spec": {
            "schedulerName": "kai",
            "containers": [{"name": "x", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}, {"name": "y"}],
        }
    }
    spec = {"driver": {"template": template, "labels": {"a": "b"}}, "nodeSelector": {"zone": "a"}}
    value = obj("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)
    pod = only(value)
    assert (pod.scheduler, pod.node_selector(), pod.labels) == ("kai", {"zone": "a"}, {"a": "b"})
    assert [container.name for container in pod.containers] == ["x", "y"]
    (verdict,) = verdicts(value)
    assert lines(verdict.findings) == ["warn no-gpu-bypass /spec/driver/template/spec/containers/0/env/0"]
