"""Rules for the controllers of pods, made from rules for pods.

Source: kyverno pkg/autogen/v1/autogen.go and rule.go. The text of a rule is rewritten, not its meaning: only
``request.object.spec`` and ``request.object.metadata`` (and those of oldObject) are taken to the pod template.
"""

import json
from typing import Any, Final

from app.kyverno import kinds
from app.kyverno.kinds import POD_CONTROLLERS

ANNOTATION: Final = "pod-policies.kyverno.io/autogen-controllers"
PREFIX: Final = "autogen-"
CRON_PREFIX: Final = "autogen-cronjob-"

_CRON_JOB: Final = "CronJob"
_LONGEST_NAME: Final = 63
# The path of the pod template in the two shapes of controllers.
_TEMPLATE: Final = ("spec.template", ("spec", "template"))
_CRON_TEMPLATE: Final = ("spec.jobTemplate.spec.template", ("spec", "jobTemplate", "spec", "template"))


def generated(policy: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The rules that Kyverno adds to those of the policy, each with the index of the rule that it is made from."""
    rules = [rule for rule in policy["spec"].get("rules") or () if type(rule) is dict]
    if not _supported(rules):
        return []
    controllers = _wanted(policy)
    found = []
    for index, rule in enumerate(policy["spec"]["rules"]):
        if type(rule) is not dict or str(rule.get("name", "")).startswith(PREFIX) or not _for_pods(rule):
            continue
        plain = [kind for kind in controllers if kind != _CRON_JOB]
        if plain:
            made = _generate(rule, PREFIX, plain, *_TEMPLATE)
            if made is not None:
                found.append((index, made))
        if _CRON_JOB in controllers:
            made = _generate(rule, CRON_PREFIX, [_CRON_JOB], *_CRON_TEMPLATE)
            if made is not None:
                found.append((index, made))
    return found


def base_name(rule: str) -> str:
    """The name of the rule that a generated one was made from (itself for another), as far as it was not cut."""
    for prefix in (CRON_PREFIX, PREFIX):
        if rule.startswith(prefix):
            return rule.removeprefix(prefix)
    return rule


def _supported(rules: list[dict[str, Any]]) -> bool:
    """One rule that cannot be taken to controllers keeps all the others of its policy from it."""
    needed = False
    for rule in rules:
        mutate = rule.get("mutate")
        if rule.get("generate") is not None or (type(mutate) is dict and _has_json_patch(mutate)):
            return False
        for resources in _resources(rule.get("match")) + _resources(rule.get("exclude")):
            listed = resources.get("kinds") or []
            if any(resources.get(key) for key in ("name", "names")) or any(
                resources.get(key) is not None for key in ("selector", "annotations")
            ):
                return False
            if len(listed) > 1 and _names_pod(listed):
                return False
            needed = needed or any(kind == "Pod" or kind in POD_CONTROLLERS for kind in listed)
    return needed


def _has_json_patch(mutate: dict[str, Any]) -> bool:
    entries = mutate.get("foreach")
    return bool(mutate.get("patchesJson6902")) or any(
        bool(entry.get("patchesJson6902"))
        for entry in (entries if type(entries) is list else ())
        if type(entry) is dict
    )


def _wanted(policy: dict[str, Any]) -> list[str]:
    annotations = (policy.get("metadata") or {}).get("annotations")
    written = annotations.get(ANNOTATION) if type(annotations) is dict else None
    if type(written) is not str or written == "":
        return list(POD_CONTROLLERS)
    if written == "all":
        return list(POD_CONTROLLERS)
    named = {kind.strip() for kind in written.split(",")}
    return [kind for kind in POD_CONTROLLERS if kind in named]


def _for_pods(rule: dict[str, Any]) -> bool:
    matched = [kind for each in _resources(rule.get("match")) for kind in each.get("kinds") or ()]
    excluded = [kind for each in _resources(rule.get("exclude")) for kind in each.get("kinds") or ()]
    return _names_pod(matched) and (not excluded or _names_pod(excluded))


def _names_pod(listed: list[Any]) -> bool:
    selectors = (kinds.parse(kind) for kind in listed if type(kind) is str)
    return any(selector is not None and selector.kind == "Pod" for selector in selectors)


def _resources(match: Any) -> list[dict[str, Any]]:
    """The ``resources`` of all filters of a match or exclude."""
    if type(match) is not dict:
        return []
    filters = [match, *(each for key in ("any", "all") for each in match.get(key) or () if type(each) is dict)]
    return [each["resources"] for each in filters if type(each.get("resources")) is dict]


def _generate(
    rule: dict[str, Any], prefix: str, controllers: list[str], template: str, path: tuple[str, ...]
) -> dict[str, Any] | None:
    made = json.loads(json.dumps(rule))
    made["name"] = (prefix + str(rule.get("name", "")))[:_LONGEST_NAME]
    for key in ("match", "exclude"):
        if type(made.get(key)) is dict:
            _for_controllers(made[key], controllers)
    validate, mutate = made.get("validate"), made.get("mutate")
    if type(mutate) is dict:
        made["mutate"] = _mutate(mutate, path)
    elif type(validate) is dict:
        _validate(validate, path)
    else:
        return None
    text = json.dumps(made)
    for which in ("request.object", "request.oldObject"):
        text = text.replace(f"{which}.spec", f"{which}.{template}.spec")
    for which in ("request.object", "request.oldObject"):
        text = text.replace(f"{which}.metadata", f"{which}.{template}.metadata")
    result: dict[str, Any] = json.loads(text)
    return result


def _for_controllers(match: dict[str, Any], controllers: list[str]) -> None:
    listed = match.get("any") or match.get("all")
    filters = listed if listed else [match]
    for each in filters:
        resources = each.get("resources") if type(each) is dict else None
        if type(resources) is dict and _names_pod(resources.get("kinds") or []):
            resources["kinds"] = [f"{kinds.GROUPS[kind]}/v1/{kind}".lstrip("/") for kind in controllers]


def _validate(validate: dict[str, Any], path: tuple[str, ...]) -> None:
    if validate.get("pattern") is not None:
        validate["pattern"] = _inside(validate["pattern"], path)
    elif type(validate.get("anyPattern")) is list:
        validate["anyPattern"] = [_inside(pattern, path) for pattern in validate["anyPattern"]]


def _mutate(mutate: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    if mutate.get("patchStrategicMerge") is not None:
        return {"patchStrategicMerge": _inside(mutate["patchStrategicMerge"], path)}
    kept = ("list", "context", "preconditions")
    entries = mutate.get("foreach")
    return {
        "foreach": [
            {
                **{key: entry[key] for key in kept if key in entry},
                "patchStrategicMerge": _inside(entry.get("patchStrategicMerge"), path),
            }
            for entry in (entries if type(entries) is list else ())
            if type(entry) is dict
        ]
    }


def _inside(pattern: Any, path: tuple[str, ...]) -> Any:
    for key in reversed(path):
        pattern = {key: pattern}
    return pattern
