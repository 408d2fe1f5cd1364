"""deploy/monitoring: rules that the real promtool takes and tries, queries that it parses, metrics that exist."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from app.cluster.keeper.log import Metrics
from tests.controlplane import ControlPlane, wait_for
from tests.support.cluster import gpu_pod, installed
from tests.support.server import Server
from tests.tools import programs_directory

ROOT: Final = Path(__file__).parents[2]
MONITORING: Final = ROOT / "deploy/monitoring"
RULES: Final = ("rules.yaml", "gpu-rules.yaml")
DASHBOARD: Final = "gpugate.json"

_NAME: Final = re.compile(r"\b(?:gpugate|apiserver|process|DCGM|kube)_\w+\b")
_INTERVAL: Final = "$__rate_interval"


def promtool(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(programs_directory() / "promtool"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def groups(name: str) -> list[dict[str, Any]]:
    (document,) = yaml.safe_load_all((MONITORING / name).read_text())
    assert document["kind"] == "PrometheusRule"
    found = document["spec"]["groups"]
    assert isinstance(found, list)
    return found


def alerts(name: str) -> list[dict[str, Any]]:
    return [rule for group in groups(name) for rule in group["rules"]]


def queries() -> list[str]:
    """What the dashboard's panels ask, as Grafana sends it."""
    panels = json.loads((MONITORING / DASHBOARD).read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    return [query.replace(_INTERVAL, "5m") for query in asked]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the rules as Prometheus reads them."""
    for name in RULES:
        (tmp_path / name).write_text(yaml.safe_dump({"groups": groups(name)}))
    return tmp_path


def test_promtool_takes_the_rules(folder: Path) -> None:
    result = promtool("check", "rules", "--lint=all", "--lint-fatal", *RULES, folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(alerts('rules.yaml'))} rules found" in result.stdout


def without_annotations(name: str) -> str:
    """The rules without their texts, which promtool would compare too."""
    rules = groups(name)
    for group in rules:
        for rule in group["rules"]:
            del rule["annotations"]
    return yaml.safe_dump({"groups": rules})


@pytest.mark.parametrize("tests", ["gpugate.test.yaml", "gpus.test.yaml"])
def test_each_alert_fires_when_it_should_and_not_before(folder: Path, tests: str) -> None:
    content = (Path(__file__).parent / tests).read_text()
    (folder / tests).write_text(content)
    if "exp_annotations" not in content:
        (folder / "rules.yaml").write_text(without_annotations("rules.yaml"))
    result = promtool("test", "rules", tests, folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    (rules,) = yaml.safe_load(content)["rule_files"]
    fired = {
        case["alertname"]
        for test in yaml.safe_load(content)["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert fired == {rule["alert"] for rule in alerts(rules)}


def test_a_rule_that_is_wrong_fails(folder: Path) -> None:
    rules = without_annotations("rules.yaml")
    (folder / "rules.yaml").write_text(rules.replace("== 1) < 2", "== 1) < 1"))
    tests = "gpugate.test.yaml"
    (folder / tests).write_text((Path(__file__).parent / tests).read_text())
    assert promtool("test", "rules", tests, folder=folder).returncode == 1


def test_promtool_parses_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    records = [{"record": f"query:{place}", "expr": query} for place, query in enumerate(queries())]
    assert len(records) >= 18
    (tmp_path / "queries.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))
    result = promtool("check", "rules", "queries.yaml", folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_panels_have_ids_titles_and_places_of_their_own() -> None:
    dashboard = json.loads((MONITORING / DASHBOARD).read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert {target["datasource"]["uid"] for panel in panels for target in panel.get("targets", ())} == {"${datasource}"}


def test_every_alert_says_what_it_means_and_where_to_read_on() -> None:
    page = (ROOT / "docs/monitoring.md").read_text()
    for name in RULES:
        for rule in alerts(name):
            assert rule["labels"]["severity"] in ("warning", "critical")
            assert set(rule["annotations"]) == {"summary", "description"}
            assert f"`{rule['alert']}`" in page, rule["alert"]


def names() -> set[str]:
    """Every metric that rules and dashboard name."""
    asked = [rule["expr"] for name in RULES for rule in alerts(name)] + queries()
    return {found for expression in asked for found in _NAME.findall(expression)}


@pytest.fixture(scope="module")
def exposed(control_plane: ControlPlane) -> Iterator[set[str]]:
    """What a running server and the API server that calls it expose, after a pod of each kind."""
    with Server("shipped", drains=False) as server, installed(control_plane, server) as gate:
        namespace = gate.namespace("enforce")
        gate.wait_until_known(namespace)
        gate.create(namespace, gpu_pod("refused", securityContext=None))
        gate.create(namespace, gpu_pod("changed"))
        wait_for(lambda: gate.calls(verdict="changed"), message="a changed pod in the metrics")
        server.post("/mutate/enforce", b"no review")
        found = {name for name, _ in server.metrics()}
        server.stop(9)
        audit = gate.namespace("audit")

        def passed() -> bool:
            gate.create(audit, gpu_pod("unseen"), dry_run=True)
            gate.create(namespace, gpu_pod("refused"), dry_run=True)
            text = control_plane.metrics()
            return "webhook_fail_open_count{" in text and 'error_type="calling_webhook_error"' in text

        wait_for(passed, message="the API server's count of calls that failed")
        yield found | set(re.findall(r"^(apiserver_\w+)", control_plane.metrics(), flags=re.MULTILINE))


def test_every_metric_of_gpugate_and_of_the_api_server_exists(exposed: set[str]) -> None:
    wanted = {name for name in names() if name.startswith(("gpugate_", "apiserver_", "process_"))}
    keepers = {name for name in wanted if name.startswith("gpugate_keeper_")}
    assert len(wanted) > 12
    assert wanted - keepers - exposed == set()


def test_every_metric_of_the_keeper_exists() -> None:
    families = Metrics().registry.collect()
    exposed = {f"{each.name}_total" if each.type == "counter" else each.name for each in families}
    wanted = {name for name in names() if name.startswith("gpugate_keeper_")}
    assert len(wanted) >= 3
    assert wanted - exposed == set()


def test_metrics_of_others_are_the_ones_that_their_projects_document() -> None:
    others = {name for name in names() if name.startswith(("DCGM_", "kube_"))}
    assert others == {
        "DCGM_FI_DEV_FB_FREE",
        "DCGM_FI_DEV_FB_USED",
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_GPU_UTIL",
        "kube_node_status_allocatable",
        "kube_pod_container_resource_limits",
        "kube_pod_container_resource_requests",
        "kube_pod_status_phase",
    }
