"""The board as files: what `--export` writes, opened without a server."""

import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Browser

from app.report.board.export import export
from app.report.board.overview import overview
from app.report.board.pages import WORKLOADS_IN_FILES
from app.report.snapshot import Snapshot
from tests.board.browsing import watched
from tests.board.samples import UNEQUAL, large, namespace, rollout, snapshot, workload

HOSTILE = '<img src=x onerror="document.title=1">&\'"</script><script>document.title=2</script>'
POINTER = "/" + HOSTILE.replace("/", "~1")


def written(shown: Snapshot, folder: Path) -> Path:
    """The files of a board; the first page."""
    for file in export(overview(shown)):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    return folder / "index.html"


def test_files_open_without_a_server(browser: Browser, tmp_path: Path) -> None:
    index = written(rollout(), tmp_path)
    with watched(browser) as seen:
        page = seen.page
        page.goto(index.as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('.panel')).borderTopWidth") == "1px"
        page.get_by_role("searchbox").fill("whisper-batch-2")
        page.locator("select[name=mode]").select_option("warn")
        page.get_by_text("3 of 14 on this page").wait_for()
        page.get_by_role("link", name="research-vision").click()
        page.locator("select[name=state]").select_option("warned")
        page.get_by_text("2 of 22 on this page").wait_for()
        assert page.locator("details.workload:visible").count() == 2
        page.get_by_role("link", name="All namespaces").click()
        assert page.url == index.as_uri()
        assert page.get_by_role("button").all_inner_texts() == ["Theme: system"]
        assert page.locator("form[method=post]").count() == 0
        assert {urlsplit(url).scheme for url in seen.asked} <= {"file", "data"}


def test_files_need_no_javascript(browser: Browser, tmp_path: Path) -> None:
    index = written(rollout(), tmp_path)
    with watched(browser, java_script_enabled=False) as seen:
        seen.page.goto(index.as_uri())
        assert not seen.page.get_by_role("searchbox").is_visible()  # there is nobody to answer it
        seen.page.get_by_role("link", name="genomics").click()
        seen.page.locator("details.workload summary").nth(4).click()
        assert seen.page.locator("details.workload").nth(4).locator(".finding").first.is_visible()


def test_every_link_leads_to_a_file(tmp_path: Path) -> None:
    index = written(rollout(), tmp_path)
    pages = [index, *sorted((tmp_path / "namespaces").iterdir())]
    assert len(pages) == 15
    for page in pages:
        for target in re.findall(r'(?:href|src)="([^"#][^"]*)"', page.read_text()):
            if not target.startswith(("data:", "https://wiki.example.com", "https://inc.example.com")):
                assert not target.startswith("/")
                assert Path(urlsplit(urljoin(page.as_uri(), target)).path).is_file(), f"{page.name}: {target}"


def test_names_with_html_in_them_stay_text(browser: Browser, tmp_path: Path) -> None:
    hostile = replace(
        UNEQUAL, rule=HOSTILE, policy=HOSTILE, container=HOSTILE, pointer=POINTER, message=HOSTILE, help=HOSTILE
    )
    patch = ({"op": "add", "path": POINTER, "value": HOSTILE},)
    bad = workload(0, "refused", [hostile], name=HOSTILE, kind=HOSTILE, patch=patch)
    shown = snapshot([namespace(HOSTILE, "warn", (0, 0, 0, 0), workloads=(bad,), label=HOSTILE, label_valid=False)])
    index = written(replace(shown, cluster=replace(shown.cluster, context=HOSTILE)), tmp_path)
    with watched(browser) as seen:
        page = seen.page
        page.goto(index.as_uri())
        for locator in (page.locator(".cluster"), page.locator("[data-row] th a"), page.locator(".rules tbody th")):
            assert locator.text_content() == HOSTILE
        page.get_by_role("searchbox").fill("onerror")
        assert page.locator("[data-row]:visible").count() == 1
        page.locator("[data-row] th a").click()
        assert page.locator("h1").inner_text() == HOSTILE
        assert page.locator(".who b").inner_text() == HOSTILE
        assert HOSTILE in page.locator(".finding").inner_text()
        assert json.dumps(HOSTILE) in page.locator(".finding dd code").inner_text()
        assert HOSTILE in page.locator(".patch pre").inner_text().replace("''", "'")
        assert page.locator("main img, main script").count() == 0
        assert page.title().startswith(HOSTILE)
        # The name leads nowhere but to a file of the folder.
        assert [path.name for path in (tmp_path / "namespaces").iterdir()] == [
            urlsplit(page.url).path.rpartition("/")[2]
        ]


def test_a_namespace_of_exempt_workloads_has_an_empty_bar() -> None:
    shown = namespace("only", "warn", (0, 0, 0, 0), workloads=(workload(0, "refused", [], exempt="pod"),))
    files = {file.path: file.content.decode() for file in export(overview(snapshot([shown])))}
    assert 'aria-label="1 exempt"></svg>' in files["index.html"]
    assert "Exempt by its labels." in files["namespaces/only.html"]


def test_the_time_is_that_of_utc() -> None:
    taken = datetime.fromisoformat("2026-12-02T01:30:00+05:30")
    page = {file.path: file.content.decode() for file in export(overview(snapshot([], taken_at=taken)))}["index.html"]
    assert '<time datetime="2026-12-02T01:30:00+05:30">1 Dec 2026, 20:00 UTC</time>' in page
    assert "There are no namespaces in this scan." in page


def test_many_workloads_make_many_pages_of_bounded_size() -> None:
    files = {file.path: file.content for file in export(overview(large(5000)))}
    big = [path for path in files if path.startswith("namespaces/big.")]
    assert len(big) == WORKLOADS_IN_FILES / 100
    assert len(files) == len(big) + 40 * 2 + 3  # two pages a team, style, script, overview
    assert max(map(len, files.values())) < 1_000_000
    last = files["namespaces/big.20.html"].decode()
    assert "1,901 to 2,000 of 2,000 workloads" in last
    assert "3,000 more workloads of this namespace are not in these files" in last
    assert "big.21.html" not in last


def test_many_namespaces_make_several_overviews(tmp_path: Path) -> None:
    shown = snapshot([namespace(f"team-{number}", "audit", (0, 0, 0, 1)) for number in range(450)])
    index = written(shown, tmp_path)
    pages = [index.read_text(), *((tmp_path / f"index.{number}.html").read_text() for number in (2, 3))]
    assert [page.count("data-row ") for page in pages] == [200, 200, 50]
    assert 'rel="next" href="index.2.html"' in pages[0]
    assert 'rel="prev" href="index.2.html"' in pages[2]
