"""podSpecPatch of Argo Workflows: a strategic merge patch of the pod spec, written as YAML or JSON in a text.

Source: argoproj/argo-workflows workflow/util/util.go ApplyPodSpecPatch. What it sets can be found in the object as the
text only. A patch with parameters in it (`{{...}}`) is known when the workflow runs, not before.
"""

from typing import Any, Final

from app.documents import Document, read
from app.model.patch import escape
from app.model.places import Note, Place
from app.model.pod import MalformedPod
from app.workloads.assembly import Assembly, Source
from app.workloads.reading import text_in

_KEYED: Final = {"containers": "name", "initContainers": "name", "volumes": "name"}
_REASON: Final = "it is what podSpecPatch says"


def apply(pod: Assembly, source: Source) -> None:
    """Change the pod as the podSpecPatch of the source says, if it has one."""
    text = text_in(source.fields, "podSpecPatch", source.pointer)
    at = f"{source.pointer}/podSpecPatch"
    if not text.strip():
        return
    if "{{" in text:
        pod.places.rest = "its podSpecPatch"
        pod.places.notes.append(Note(at, "podSpecPatch has parameters, so it is judged only when pods are created"))
        return
    found = list(read(text.encode("utf-8", "surrogatepass"), "podSpecPatch"))
    if len(found) != 1 or not isinstance(found[0], Document):
        raise MalformedPod(at, text, "one pod spec as YAML")
    _merge(pod, pod.spec, found[0].value, pod.pointer, Place(at, _REASON, whole=True))


def _merge(pod: Assembly, target: dict[str, Any], patch: dict[str, Any], pointer: str, place: Place) -> None:
    for key, value in patch.items():
        at = f"{pointer}/{escape(key)}"
        old = target.get(key)
        if type(value) is dict and type(old) is dict:
            target[key] = dict(old)
            _merge(pod, target[key], value, at, place)
        elif pointer == pod.pointer and key in _KEYED and type(value) is list and type(old) is list:
            target[key] = list(old)
            _merge_list(pod, target[key], value, at, place)
        else:
            target[key] = value
            pod.places.put(at, place)


def _merge_list(pod: Assembly, target: list[Any], patch: list[Any], pointer: str, place: Place) -> None:
    """Merge what has the same name; add what is new."""
    names = [entry.get("name") if type(entry) is dict else None for entry in target]
    for entry in patch:
        if type(entry) is not dict:
            raise MalformedPod(
                place.pointer, entry, f"YAML of one pod spec, whose {pointer.rpartition('/')[2]} are maps"
            )
        if entry.get("name") in names:
            index = names.index(entry.get("name"))
            target[index] = dict(target[index])
            _merge(pod, target[index], entry, f"{pointer}/{index}", place)
        else:
            pod.places.put(f"{pointer}/{len(target)}", place)
            target.append(entry)
            names.append(entry.get("name"))
