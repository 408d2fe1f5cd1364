"""limits-equal-requests: for every GPU resource of a GPU container, limit and request are the same whole number.

Reads resources.limits and resources.requests of containers and init containers.
Allowed: a limit alone (the API server makes it the request too), or both, equal as quantities, whole numbers.

Source: k8s.io/kubernetes pkg/apis/core/validation/validation.go validateResourceRequirements and
ValidateResourceQuantityValue, pkg/apis/core/v1/defaults.go SetDefaults_Pod (v1.37.2). For resources named
deviceclass.resource.kubernetes.io/<class> the API server checks none of it.
"""

from collections.abc import Iterator
from typing import Any

from app.model.finding import Repair, Result
from app.model.gpu import Resource, resource_pointer
from app.model.patch import add
from app.model.pod import Container
from app.model.quantity import MILLI, InvalidQuantity, parse, text
from app.model.words import quoted
from app.rules.rule import NoParameters, Rule, Subject


def check(_parameters: NoParameters, subject: Subject) -> Iterator[Result]:
    """One result for each GPU resource whose limit and request are not the same whole number."""
    for container, resources in subject.use.containers:
        limits, requests = container.limits, container.requests
        creates_limits = container.raw["resources"].get("limits") is None if resources else False
        for name, resource in resources.items():
            if name in limits and _whole(limits[name]) and (name not in requests or _same(requests, limits, name)):
                continue
            limit, request = _quantity(limits, name), _quantity(requests, name)
            result = _judge(container, name, resource, limit, request, subject.context.template, creates_limits)
            if result is not None:
                yield result
                # An operation that creates the map a second time would drop what the first has put there.
                creates_limits = creates_limits and result.repair is None


def _same(requests: dict[str, Any], limits: dict[str, Any], name: str) -> bool:
    """True if both are written alike; ``true`` is not 1, though Python says so."""
    return type(requests[name]) is type(limits[name]) and bool(requests[name] == limits[name])


def _quantity(section: dict[str, Any], name: str) -> Any:
    """The quantity as it counts: null is zero to the API server, and None here means that there is none."""
    value = section.get(name)
    return 0 if value is None and name in section else value


def _whole(value: Any) -> bool:
    """True if the quantity is a whole number, zero or more. Raises nothing."""
    try:
        milli = parse(value)
    except InvalidQuantity:
        return False
    return milli >= 0 and milli % MILLI == 0


def _judge(
    container: Container,
    name: str,
    resource: Resource,
    limit: Any,
    request: Any,
    template: bool,
    creates_limits: bool,
) -> Result | None:
    final = not resource.overcommit
    for section, value in (("limits", limit), ("requests", request)):
        if value is not None and not _whole(value):
            problem = _not_whole(name, value)
            pointer = resource_pointer(container, section, name)
            return Result("violation", pointer, f"{container.label}: {problem}", container, final=final)
    if limit is None:
        return _without_limit(container, name, request, template, creates_limits)
    if parse(limit) == parse(request):
        return None
    return Result(
        "violation",
        resource_pointer(container, "requests", name),
        f"{container.label}: {name} request {_show(request)} is not its limit {_show(limit)}; "
        "set both to the number you need",
        container,
        final=final,
    )


def _without_limit(container: Container, name: str, request: Any, template: bool, creates_limits: bool) -> Result:
    pointer = resource_pointer(container, "requests", name)
    said = f"{container.label}: {name} request {_show(request)} has no limit; add limits: {{{name}: {_show(request)}}}"
    if template:
        said += " (the API server refuses this template as it is)"
        return Result("violation", pointer, said, container, final=True)
    if creates_limits:
        operation = add(f"{container.pointer}/resources/limits", {name: request})
    else:
        operation = add(resource_pointer(container, "limits", name), request)
    done = f"{container.label}: {name} limit set to {_show(request)}, its request"
    return Result("violation", pointer, said, container, Repair(done, [operation]))


def _not_whole(name: str, value: Any) -> str:
    try:
        milli = parse(value)
    except InvalidQuantity:
        return f"{name} is {quoted(str(value))}, which is not a quantity; write a whole number"
    if milli < 0:
        return f"{name} is {_show(value)}; write a whole number above 0"
    return (
        f"{name} is {_show(value)}, not a whole number; ask for whole devices "
        "(to share one, use a MIG slice, time-slicing or a scheduler that shares GPUs)"
    )


def _show(value: Any) -> str:
    return value.strip() if isinstance(value, str) else text(parse(value))


RULE = Rule(
    id="limits-equal-requests",
    summary="GPU limits equal GPU requests",
    why=(
        "GPUs cannot be overcommitted: the API server refuses a container whose GPU request and limit differ, in words "
        "that few understand and often only in the log of the controller that creates the pod."
    ),
    comply="Write the GPU resource under limits only, or the same whole number under limits and requests.",
    parameters=NoParameters,
    check=check,
    pods="gpu",
    repairs=True,
)
