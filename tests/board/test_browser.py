"""The board that is served, in a real browser."""

import pytest
from playwright.sync_api import Browser

from tests.board.browsing import NARROW, watched
from tests.board.running import RunningBoard
from tests.board.samples import rollout

PAGES = (
    "/",
    "/namespaces/research-vision",
    "/namespaces/ml-serving",
    "/namespaces/default",
    "/?q=nothing-has-this-name",
)


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_quietly_and_ask_nobody_else(browser: Browser, board: RunningBoard, path: str) -> None:
    with watched(browser) as seen:
        seen.page.goto(board.url + path)
        seen.page.wait_for_load_state("networkidle")
        assert seen.outside(board.url) == []
        assert {url.removeprefix(board.url) for url in seen.asked} >= {path, "/board.css", "/board.js"}


@pytest.mark.parametrize("path", ["/", "/namespaces/research-vision", "/?q=nothing-has-this-name"])
def test_axe_finds_nothing_serious_in_light_and_dark(browser: Browser, board: RunningBoard, path: str) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.url + path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert seen.violations() == []
        page.set_viewport_size(NARROW)
        assert seen.violations() == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "something sticks out"


def test_axe_would_find_what_is_too_pale(browser: Browser, board: RunningBoard) -> None:
    with watched(browser, bypass_csp=True) as seen:
        seen.page.goto(f"{board.url}/namespaces/default")
        seen.page.add_style_tag(content="p { color: #ccc !important }")
        assert any("color-contrast" in each for each in seen.violations())


def test_the_overview_says_what_the_snapshot_does(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.url)
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="research-vision"))
        assert row.locator(".of-mode").inner_text().split() == ["warn", "by", "its", "label"]
        assert row.locator(".num b").inner_text() == "22"
        assert row.locator(".says").inner_text() == "9 workloads would be changed"
        assert row.locator(".ways").inner_text().split() == ["warn", "→", "to", "assist"]
        assert row.get_by_role("img").get_attribute("aria-label") == (
            "3 would break, 2 warned, 7 changed, 9 ready, 1 exempt"
        )
        widths = [float(rect.get_attribute("width").rstrip("%")) for rect in row.locator(".bar rect").all()]  # type: ignore[union-attr]
        assert widths == pytest.approx([100 * count / 21 for count in (9, 7, 2, 3)], abs=0.01)
        pinned = page.get_by_role("row").filter(has=page.get_by_role("link", name="ml-serving"))
        assert "pinned by the policy" in pinned.inner_text()
        invalid = page.get_by_role("row").filter(has=page.get_by_role("link", name="team-atlas"))
        assert 'the label gpugate.dev/mode="enforced" means nothing here' in invalid.inner_text()
        assert page.locator(".figure").inner_text() == "309 GPU workloads in 14 namespaces"
        facts = page.locator(".summary .facts").inner_text()
        for fact in ("gpu-pods 8f3a91c2", "2 Dec 2026, 04:10 UTC", "1,055 pods", rollout().cluster.server):
            assert fact in facts


def test_typing_filters_at_once(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.url)
        assert page.locator("[data-row]").count() == 14
        page.get_by_role("searchbox").press_sequentially("team-")
        page.get_by_text("2 namespaces of 14").wait_for()
        assert page.locator("[data-row] th a").all_inner_texts() == ["team-atlas", "team-borealis"]
        assert seen.path() == "/?q=team-"
        page.locator("select[name=mode]").select_option("warn")
        page.get_by_text("1 namespace of 14").wait_for()
        assert seen.path() == "/?q=team-&mode=warn"
        page.reload()  # the address holds the filter
        assert page.locator("[data-row] th a").all_inner_texts() == ["team-borealis"]
        page.get_by_role("searchbox").fill("no such thing")
        page.get_by_text("No namespace fits the filter.").wait_for()


def test_a_workload_is_found_and_drilled_down_to(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.url)
        page.get_by_role("searchbox").fill("embedder-1")
        page.locator("select[name=rule]").select_option("runtime-class")
        page.get_by_text("1 namespace of 14").wait_for()
        page.get_by_role("link", name="research-vision").click()
        assert seen.path() == "/namespaces/research-vision?q=embedder-1&rule=runtime-class"
        workload = page.locator("details.workload")
        assert workload.count() == 1
        assert workload.locator("summary > span").all_inner_texts() == [
            "✕would break", "Job embedder-1", "runtime-class", "2 pods",
        ]  # fmt: skip
        finding = workload.locator(".finding")
        assert finding.locator("dd").all_inner_texts() == [
            "spec.template.spec.runtimeClassName",
            'runtimeClassName is "runc", which hands out no GPUs',
            'set it to "nvidia"',
        ]
        page.get_by_role("link", name="Clear").click()
        assert page.locator("details.workload").count() == 22
        changed = page.locator("details.is-changed").first
        assert not changed.locator("pre").is_visible()
        changed.locator("summary").click()
        assert changed.locator("pre").inner_text() == (
            "+ spec.template.spec.runtimeClassName: nvidia\n"
            "+ spec.template.spec.tolerations:\n"
            "  - key: nvidia.com/gpu\n    operator: Equal\n    value: present\n    effect: NoSchedule\n"
        )


def test_everything_works_by_keyboard(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(board.url)
        page.keyboard.press("/")
        page.keyboard.type("batch-eval")
        page.get_by_text("1 namespace of 14").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/namespaces/batch-eval")
        for _ in range(3):
            page.keyboard.press("j")
        third = page.locator("details.workload").nth(2)
        assert third.locator("summary").evaluate("(each) => each === document.activeElement")
        assert third.get_attribute("open") is None
        page.keyboard.press("Enter")
        assert third.get_attribute("open") is not None
        page.keyboard.press("k")
        second = page.locator("details.workload").nth(1)
        assert second.locator("summary").evaluate("(each) => each === document.activeElement")
        page.keyboard.press("u")
        page.wait_for_url(f"{board.url}/")
        # The first stop of the tab key leads past what every page begins with.
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_the_theme_follows_the_system_until_another_is_chosen(browser: Browser, board: RunningBoard) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    with watched(browser, color_scheme="dark") as seen:
        page = seen.page
        page.goto(board.url)
        dark = background()
        toggle = page.get_by_role("button", name="Theme")
        assert toggle.inner_text() == "Theme: system"
        toggle.click()
        assert toggle.inner_text() == "Theme: light"
        light = background()
        assert light != dark
        page.goto(f"{board.url}/namespaces/recsys")
        assert background() == light
        page.keyboard.press("t")
        assert background() == dark


def test_without_javascript_it_filters_sorts_and_drills_down(browser: Browser, board: RunningBoard) -> None:
    with watched(browser, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(board.url)
        page.locator("select[name=state]").select_option("refused")
        page.locator("select[name=sort]").select_option("name")
        page.get_by_role("button", name="Apply").click()
        assert seen.path() == "/?q=&mode=&state=refused&rule=&sort=name"
        assert page.locator("[data-row] th a").all_inner_texts() == [
            "batch-eval", "genomics", "notebooks", "research-vision", "sandbox", "team-atlas",
        ]  # fmt: skip
        page.get_by_role("link", name="genomics").click()
        assert page.locator("details.workload").count() == 5  # the filter came along
        last = page.locator("details.workload").last
        assert not last.locator(".finding").first.is_visible()
        last.locator("summary").click()
        assert last.locator(".finding").first.is_visible()
        assert page.get_by_role("button", name="Theme").count() == 0
        page.get_by_role("link", name="All namespaces").click()
        page.get_by_role("link", name="would break").click()
        assert page.locator("[data-row]").count() == 6
        assert seen.outside(board.url) == []


def test_print_shows_every_finding_and_no_controls(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        page = seen.page
        page.goto(f"{board.url}/namespaces/research-vision")
        page.emulate_media(media="print")
        assert not page.get_by_role("searchbox").is_visible()
        assert not page.locator(".tools").is_visible()
        closed = page.locator("details.workload:not([open]) .finding").first
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details.workload:not([open])").count() == 0
        assert closed.count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details.workload:not([open])").count() == 19
        assert page.pdf()[:5] == b"%PDF-"


def test_print_without_javascript_shows_every_finding_too(browser: Browser, board: RunningBoard) -> None:
    with watched(browser, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{board.url}/namespaces/research-vision")
        closed = page.locator("details.workload:not([open]) .finding").first
        assert not closed.is_visible()
        page.emulate_media(media="print")
        assert closed.is_visible()


def test_what_could_not_be_read_is_said(browser: Browser, board: RunningBoard) -> None:
    with watched(browser) as seen:
        seen.page.goto(board.url)
        seen.page.get_by_text("Not everything could be read:").click()
        assert "old-team" in seen.page.locator(".errors li").inner_text()
