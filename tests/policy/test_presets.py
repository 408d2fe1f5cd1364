"""The presets: data with sources, in names that Kubernetes accepts."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel, ConfigDict, Field

from app.model.gpu import GpuSet, Names
from app.policy import presets
from app.policy.presets import NAMES, preset
from app.policy.schema import PresetName

RESOURCE = re.compile(r"[a-z0-9][-a-z0-9.]*/[A-Za-z0-9]?[-A-Za-z0-9._]*\*?")
KEY = re.compile(r"([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?")
CLASS = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
PATH = re.compile(r"(/[a-z][-a-z0-9]*)+\*?")


class Preset(BaseModel):
    """What a preset file holds; see Vendor for the meaning of the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    preset: str
    description: str
    sources: list[str] = Field(min_length=1)
    resources: list[str] = []
    whole: list[str] = []
    deviceClasses: list[str] = []
    runtimeClasses: list[str] = []
    annotations: list[str] = []
    environment: dict[str, list[str]] = {}
    hide: dict[str, str] = {}
    bypassAnnotations: list[str] = []
    devicePaths: list[str] = []
    mountPaths: list[str] = []
    nodeLabels: list[str] = []
    taintKeys: list[str] = []


def read_preset(name: str) -> Preset:
    """The file of a preset, checked."""
    return Preset.model_validate(presets.read_preset(name))


every_preset = pytest.mark.parametrize("name", NAMES)


def test_every_file_is_a_preset_and_every_name_has_one() -> None:
    folder = Path(presets.__file__).parent
    assert {path.stem for path in folder.glob("*.yaml")} == set(NAMES) == set(get_args(PresetName))


@every_preset
def test_it_says_what_it_is_and_where_that_is_from(name: str) -> None:
    read = read_preset(name)
    assert read.preset == name
    assert read.description.endswith(".")
    assert all(len(source) > 20 for source in read.sources)


@every_preset
def test_names_are_what_kubernetes_accepts(name: str) -> None:
    read = read_preset(name)
    assert all(map(RESOURCE.fullmatch, read.resources))
    assert all(map(CLASS.fullmatch, [*read.deviceClasses, *read.runtimeClasses]))
    keys = [*read.annotations, *(label.partition("=")[0] for label in read.nodeLabels), *read.taintKeys]
    assert all(map(KEY.fullmatch, keys))
    assert all(KEY.fullmatch(key.removesuffix("*").rstrip("/.")) for key in read.bypassAnnotations)
    assert all(map(PATH.fullmatch, [*read.devicePaths, *read.mountPaths]))
    assert all(re.fullmatch(r"[A-Z]+_VISIBLE_DEVICES", variable) for variable in {**read.environment, **read.hide})


@every_preset
def test_nothing_stands_twice(name: str) -> None:
    for field, value in read_preset(name):
        if isinstance(value, list):
            assert len(set(value)) == len(value), field


@every_preset
def test_it_finds_gpus(name: str) -> None:
    read = read_preset(name)
    assert read.resources or read.deviceClasses or read.annotations
    assert all(whole in read.resources for whole in read.whole)


@every_preset
def test_what_hides_gpus_hands_out_none(name: str) -> None:
    read = read_preset(name)
    for variable, value in read.hide.items():
        assert value in read.environment[variable]
    assert all("" in values for values in read.environment.values())


@every_preset
def test_the_vendor_holds_what_the_file_says(name: str) -> None:
    read, vendor = read_preset(name), preset(name)
    assert vendor.name == name
    for written, held in (
        (read.resources, vendor.resources),
        (read.whole, vendor.whole),
        (read.deviceClasses, vendor.device_classes),
        (read.runtimeClasses, vendor.runtime_classes),
        (read.annotations, vendor.annotations),
        (read.bypassAnnotations, vendor.bypass_annotations),
        (read.devicePaths, vendor.device_paths),
        (read.mountPaths, vendor.mount_paths),
        (read.nodeLabels, vendor.node_labels),
        (read.taintKeys, vendor.taint_keys),
    ):
        assert tuple(written) == held
    assert vendor.hide == read.hide
    assert {variable: list(values) for variable, values in vendor.environment.items()} == read.environment


def test_no_resource_belongs_to_two_presets() -> None:
    for name in NAMES:
        for resource in read_preset(name).resources:
            owners = [other for other in NAMES if resource.removesuffix("*") in Names(read_preset(other).resources)]
            assert owners == [name]


@pytest.mark.parametrize(
    ("name", "resource", "whole", "runtime_class"),
    [
        ("nvidia", "nvidia.com/gpu", True, True),
        ("nvidia", "nvidia.com/gpu.shared", False, True),
        ("nvidia", "nvidia.com/mig-1g.24gb.me.all", True, True),
        ("nvidia", "deviceclass.resource.kubernetes.io/gpu.nvidia.com", True, False),
        ("amd", "amd.com/cpx_nps4", True, False),
        ("neuron", "aws.amazon.com/neuroncore", False, False),
        ("hami", "nvidia.com/gpumem", False, False),
        ("hami", "huawei.com/Ascend910B4-memory", False, False),
        ("volcano", "volcano.sh/vgpu-number", False, True),
        ("kata", "nvidia.com/pgpu", True, True),
        ("gaudi", "habana.ai/gaudi", True, True),
    ],
)
def test_resource(name: str, resource: str, whole: bool, runtime_class: bool) -> None:
    found = GpuSet([preset(name)]).resource(resource)
    assert found is not None
    assert found.whole is whole
    assert bool(found.runtime_classes) is runtime_class


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("nvidia", "nvidia.com/mig"),
        ("nvidia", "nvidia.com/gpumem"),
        ("nvidia", "nvidia.com/pgpu"),
        ("nvidia", "deviceclass.resource.kubernetes.io/gpu.example.com"),
        ("intel", "gpu.intel.com/i915_monitoring"),
        ("amd", "nvidia.com/gpu"),
        ("hami", "nvidia.com/gpu"),
    ],
)
def test_not_a_gpu(name: str, resource: str) -> None:
    assert GpuSet([preset(name)]).resource(resource) is None


def test_a_misspelt_key_in_a_preset_is_an_error() -> None:
    with pytest.raises(ValueError, match="resorces"):
        Preset.model_validate({"preset": "x", "description": "X.", "sources": ["a"], "resorces": []})
