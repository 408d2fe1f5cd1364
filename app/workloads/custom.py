"""The kinds of custom resources that hold pods: where, and what is special about them.

Each entry names where its paths are from. Kinds that are not here are looked through for what has the shape of a pod
spec, and a policy can describe them (`workloads.kinds`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.workloads.kinds import Kind
from app.workloads.knative import FLAGS
from app.workloads.readers import argo, dynamo, kserve, nim, ray, spark, tekton, trainer, volcano

_KUBERAY: Final = "ray-project/kuberay ray-operator/apis/ray/v1"
_SUBMITTER: Final = Kind(("/spec/submitterPodTemplate/spec",), validated=True)  # a Job runs it
_TRAINING: Final = "kubeflow/training-operator pkg/apis/kubeflow.org/v1"
_TRAINER: Final = "kubeflow/trainer pkg/apis/trainer/v1alpha1"
_JOBS: Final = "/spec/replicatedJobs/*/template/spec/template/spec"
_LWS: Final = "kubernetes-sigs/lws api"
_KSERVE: Final = "kserve/kserve pkg/apis/serving"
_KNATIVE: Final = "knative/serving pkg/apis/serving/v1"
_ARGO: Final = "argoproj/argo-workflows pkg/apis/workflow/v1alpha1"
_ROLLOUTS: Final = "argoproj/argo-rollouts pkg/apis/rollouts/v1alpha1"
_TEKTON: Final = "tektoncd/pipeline pkg/apis/pipeline/v1"
_VOLCANO: Final = "volcano-sh/volcano config/crd/volcano/bases"
_SPARK: Final = "kubeflow/spark-operator api/v1beta2"
_GROVE: Final = "ai-dynamo/grove operator/api/core/v1alpha1"
_NIM: Final = "NVIDIA/k8s-nim-operator api/apps/v1alpha1"
_DYNAMO: Final = "ai-dynamo/dynamo deploy/operator/api"

_WORKER_SPEC: Final = Kind(
    ("/spec/workerSpec",), validated=True, metadata="/spec/workerSpec", lacks=("runtimeClassName",)
)
_SERVING_RUNTIME: Final = Kind(
    ("/spec",), validated=True, metadata="/spec", lacks=("runtimeClassName",), parts=(_WORKER_SPEC,), source=_KSERVE
)
_LLM: Final = Kind(
    ("/spec/template", "/spec/worker", "/spec/router/scheduler/template", "/spec/router/scheduler/tokenizer/template"),
    validated=True,
    metadata="/spec",
    rest="its LLMInferenceServiceConfig",
    parts=(
        Kind(
            ("/spec/prefill/template", "/spec/prefill/worker"),
            validated=True,
            metadata="/spec/prefill",
            rest="its LLMInferenceServiceConfig",
        ),
    ),
    source=_KSERVE,
)
_WORKFLOW: Final = Kind(
    ("/spec",),
    reader=argo.read_workflow,
    about="templates with container, script or containerSet, their initContainers and sidecars, templates inline in "
    "steps and dag; templateDefaults, podMetadata, podSpecPatch",
    source=_ARGO,
)
_ANALYSIS: Final = Kind(("/spec/metrics/*/provider/job/spec/template/spec",), validated=True, source=_ROLLOUTS)
_TASK: Final = Kind(
    ("/spec",), reader=tekton.read_task, about="steps and sidecars with computeResources, stepTemplate", source=_TEKTON
)
_VOLCANO_JOB: Final = Kind(
    ("/spec",), reader=volcano.read_job, about="tasks with a template, schedulerName", source=_VOLCANO
)
_SPARK_APPLICATION: Final = Kind(
    ("/spec",),
    reader=spark.read_application,
    about="driver and executor: gpu, template, sidecars, initContainers and their fields of a pod spec",
    source=_SPARK,
)
_NIM_SERVICE: Final = Kind(
    ("/spec",),
    validated=True,
    reader=nim.read_spec,
    about="resources, draResources, runtimeClassName (or runtimeClass), tolerations, nodeSelector, env",
    source=_NIM,
)


def _replicas(field: str) -> Kind:
    return Kind((f"/spec/{field}/*/template/spec",), source=_TRAINING)


def _at(kind: Kind, *paths: str) -> Kind:
    return replace(kind, paths=paths)


def _cluster(path: str, *parts: Kind) -> Kind:
    return Kind(
        (path,),
        reader=ray.read_cluster,
        about="headGroupSpec and workerGroupSpecs with a template, autoscalerOptions as a container of the head",
        parts=parts,
        source=_KUBERAY,
    )


_KINDS: Final[dict[str, dict[str, Kind]]] = {
    "ray.io": {
        "RayCluster": _cluster("/spec"),
        "RayJob": _cluster("/spec/rayClusterSpec", _SUBMITTER),
        "RayService": _cluster("/spec/rayClusterConfig"),
        "RayCronJob": _cluster(
            "/spec/jobTemplate/rayClusterSpec", _at(_SUBMITTER, "/spec/jobTemplate/submitterPodTemplate/spec")
        ),
    },
    "kubeflow.org": {
        "PyTorchJob": _replicas("pytorchReplicaSpecs"),
        "TFJob": _replicas("tfReplicaSpecs"),
        "MPIJob": _replicas("mpiReplicaSpecs"),
        "XGBoostJob": _replicas("xgbReplicaSpecs"),
        "PaddleJob": _replicas("paddleReplicaSpecs"),
        "JAXJob": _replicas("jaxReplicaSpecs"),
        "Notebook": Kind(
            ("/spec/template/spec",),
            validated=True,
            source="kubeflow/kubeflow components/notebook-controller/api/v1",
        ),
    },
    "trainer.kubeflow.org": {
        "TrainJob": Kind(
            ("/spec",),
            validated=True,
            reader=trainer.read_train_job,
            about="trainer.resourcesPerNode and trainer.env; what runtimePatches, podTemplateOverrides and "
            "podSpecOverrides say of the job node",
            source=_TRAINER,
        ),
        "TrainingRuntime": Kind((f"/spec/template{_JOBS}",), validated=True, source=_TRAINER),
        "ClusterTrainingRuntime": Kind((f"/spec/template{_JOBS}",), validated=True, source=_TRAINER),
    },
    "jobset.x-k8s.io": {
        "JobSet": Kind((_JOBS,), validated=True, source="kubernetes-sigs/jobset api/jobset/v1alpha2"),
    },
    "leaderworkerset.x-k8s.io": {
        "LeaderWorkerSet": Kind(
            ("/spec/leaderWorkerTemplate/leaderTemplate/spec", "/spec/leaderWorkerTemplate/workerTemplate/spec"),
            validated=True,
            source=_LWS,
        ),
    },
    "disaggregatedset.x-k8s.io": {
        "DisaggregatedSet": Kind(
            (
                "/spec/roles/*/spec/leaderWorkerTemplate/leaderTemplate/spec",
                "/spec/roles/*/spec/leaderWorkerTemplate/workerTemplate/spec",
            ),
            validated=True,
            source=_LWS,
        ),
    },
    "serving.kserve.io": {
        "InferenceService": Kind(
            ("/spec/predictor", "/spec/transformer", "/spec/explainer", "/spec/canary/*/predictor"),
            validated=True,
            reader=kserve.read_component,
            about="a pod spec with model (or the name of a framework) as a container, workerSpec",
            source=_KSERVE,
        ),
        "ServingRuntime": _SERVING_RUNTIME,
        "ClusterServingRuntime": _SERVING_RUNTIME,
        "LLMInferenceService": _LLM,
        "LLMInferenceServiceConfig": _LLM,
    },
    "serving.knative.dev": {
        "Service": Kind(("/spec/template/spec",), validated=True, guarded=FLAGS, source=_KNATIVE),
        "Configuration": Kind(("/spec/template/spec",), validated=True, guarded=FLAGS, source=_KNATIVE),
        "Revision": Kind(("/spec",), validated=True, guarded=FLAGS, source=_KNATIVE),
    },
    "argoproj.io": {
        "Workflow": _WORKFLOW,
        "WorkflowTemplate": _WORKFLOW,
        "ClusterWorkflowTemplate": _WORKFLOW,
        "CronWorkflow": _at(_WORKFLOW, "/spec/workflowSpec"),
        "Rollout": Kind(("/spec/template/spec",), validated=True, source=_ROLLOUTS),
        "AnalysisTemplate": _ANALYSIS,
        "ClusterAnalysisTemplate": _ANALYSIS,
        "AnalysisRun": _ANALYSIS,
    },
    "tekton.dev": {
        "Task": _TASK,
        "ClusterTask": _TASK,
        "TaskRun": Kind(
            ("/spec",),
            reader=tekton.read_task_run,
            about="taskSpec as in a Task, podTemplate, stepSpecs, sidecarSpecs, computeResources",
            source=_TEKTON,
        ),
        "Pipeline": Kind(
            ("/spec",), reader=tekton.read_pipeline, about="taskSpec of tasks and finally, as in a Task", source=_TEKTON
        ),
        "PipelineRun": Kind(
            ("/spec",),
            reader=tekton.read_pipeline_run,
            about="pipelineSpec as in a Pipeline, taskRunTemplate, taskRunSpecs",
            source=_TEKTON,
        ),
    },
    "batch.volcano.sh": {
        "Job": _VOLCANO_JOB,
        "CronJob": _at(_VOLCANO_JOB, "/spec/jobTemplate/spec"),
    },
    "flow.volcano.sh": {
        "JobTemplate": _VOLCANO_JOB,
        "JobFlow": _at(_VOLCANO_JOB, "/spec/flows/*/patch/jobSpec"),
    },
    "training.volcano.sh": {
        "HyperJob": _at(_VOLCANO_JOB, "/spec/replicatedJobs/*/templateSpec"),
    },
    "sparkoperator.k8s.io": {
        "SparkApplication": _SPARK_APPLICATION,
        "ScheduledSparkApplication": _at(_SPARK_APPLICATION, "/spec/template"),
    },
    "grove.io": {
        "PodCliqueSet": Kind(
            ("/spec/template/cliques/*/spec/podSpec",), metadata="/spec/template/cliques/*", source=_GROVE
        ),
        "PodClique": Kind(("/spec/podSpec",), metadata="/metadata", source=_GROVE),
    },
    "kueue.x-k8s.io": {
        "Workload": Kind(("/spec/podSets/*/template/spec",), source="kubernetes-sigs/kueue apis/kueue/v1beta1"),
    },
    "workload.codeflare.dev": {
        "AppWrapper": Kind(objects=("/spec/components/*/template",), source="project-codeflare/appwrapper api/v1beta2"),
    },
    "apps.openshift.io": {
        "DeploymentConfig": Kind(("/spec/template/spec",), validated=True, source="openshift/api apps/v1"),
    },
    "apps.nvidia.com": {
        "NIMService": _NIM_SERVICE,
        "NIMPipeline": _at(_NIM_SERVICE, "/spec/services/*/spec"),
        "NIMCache": _NIM_SERVICE,
        "NIMBuild": replace(_NIM_SERVICE, validated=False, lacks=("runtimeClassName",)),
        "NemoCustomizer": _NIM_SERVICE,
        "NemoDatastore": _NIM_SERVICE,
        "NemoEntitystore": _NIM_SERVICE,
        "NemoEvaluator": _NIM_SERVICE,
        "NemoGuardrail": _NIM_SERVICE,
    },
    "nvidia.com": {
        "DynamoGraphDeployment": Kind(
            ("/spec/services/*",),
            reader=dynamo.read_service,
            about="extraPodSpec with mainContainer, resources.limits.custom",
            parts=(Kind(("/spec/components/*/podTemplate/spec",)),),
            source=_DYNAMO,
        ),
        "DynamoComponentDeployment": Kind(
            ("/spec",),
            reader=dynamo.read_service,
            about="extraPodSpec with mainContainer, resources.limits.custom",
            parts=(Kind(("/spec/podTemplate/spec",)),),
            source=_DYNAMO,
        ),
    },
    "keda.sh": {
        "ScaledJob": Kind(
            ("/spec/jobTargetRef/template/spec",), validated=True, source="kedacore/keda apis/keda/v1alpha1"
        ),
    },
}


def _by_group(kinds: dict[str, dict[str, Kind]]) -> Iterator[tuple[tuple[str, str], Kind]]:
    for group, listed in kinds.items():
        for name, kind in listed.items():
            yield (group, name), kind


CUSTOM_KINDS: Final[dict[tuple[str, str], Kind]] = dict(_by_group(_KINDS))
"""The kinds of custom resources."""
