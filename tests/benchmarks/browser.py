"""The site in a real browser, opened from its files: skipped where there is none.

    pip install --editable ".[browser]"                  and Chromium, a package of the system
    python -m pytest -q tests/benchmarks/browser.py

Every page is opened several times, so this takes some ten minutes.
"""

import shutil

import pytest
from test_site import builds, site  # noqa: F401  (fixtures)

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser, site):  # noqa: F811
    """A page that notes errors and requests that leave the folder."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.faults = []
    page.on(
        "console", lambda m: page.faults.append(m.text) if m.type in ("error", "warning") else 0
    )
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    left = "net::ERR_ABORTED"  # the page was left before its pictures had come
    page.on("requestfailed", lambda r: r.failure == left or page.faults.append(f"failed: {r.url}"))
    inside = (site.as_uri() + "/", "data:")
    page.on(
        "request", lambda r: r.url.startswith(inside) or page.faults.append(f"outside: {r.url}")
    )
    page.folder = site
    yield page
    context.close()


def test_every_page_opens_without_a_fault_and_fits_a_phone(tab):
    tab.set_viewport_size({"width": 390, "height": 800})
    wider = {}
    for path in sorted(tab.folder.glob("*.html")):
        tab.goto(path.as_uri())
        if tab.evaluate(WIDER) > 0:
            wider[path.name] = tab.evaluate(WIDER)
    assert tab.faults == []
    assert wider == {}


def test_every_player_goes_to_its_end_and_back(tab):
    for path in sorted(tab.folder.glob("[0-9]*.html")):
        tab.goto(path.as_uri())
        for player in tab.locator("[data-film]").all():
            player.scroll_into_view_if_needed()
            player.and_(tab.locator("[data-ready]")).wait_for()
            step, back = player.locator("button.step"), player.locator("button.back")
            first, steps = player.locator(".film-words").inner_text(), 0
            pictures = {player.locator(".film-picture").inner_html()}
            while step.is_enabled():
                step.click()
                steps += 1
                pictures.add(player.locator(".film-picture").inner_html())
            assert steps == int(player.locator(".film-step").get_attribute("max")) > 0
            assert len(pictures) > 1
            while back.is_enabled():
                back.click()
                steps -= 1
            assert steps == 0
            assert player.locator(".film-words").inner_text() == first
            for setting in player.locator(".film-setting").all():
                setting.press("End")
                value = setting.get_attribute("aria-valuetext")
                assert setting.locator("xpath=following-sibling::output").inner_text() == value
            player.locator("button.play").click()
            assert player.locator("button.play").inner_text() == "Stop"
            player.locator("button.play").click()
    assert tab.faults == []


@pytest.mark.parametrize(
    ("query", "kind", "words"),
    [
        ("IRHD 8.46", "statement", "svm-41"),
        ("irhd eq 8.46", "statement", "svm-41"),
        ("kmeans_plus_plus", "code", "kmeans_plus_plus"),
    ],
)
def test_the_search_finds(query, kind, words, tab):
    tab.goto((tab.folder / "index.html").as_uri())
    tab.fill("#query", query)
    found = tab.locator("#results li")
    found.first.wait_for()
    assert any(text.startswith(kind) and words in text for text in found.all_inner_texts())
    if kind == "statement":
        assert found.first.inner_text().startswith(f"{kind} {words}")
        tab.press("#query", "Enter")
        tab.wait_for_url("**/statements_svm.html#svm-41")
    else:
        tab.press("#query", "Escape")
        assert found.count() == 0
    assert tab.faults == []


def test_numbers_are_whole_numbers(tab):
    tab.goto((tab.folder / "index.html").as_uri())
    tab.focus("#query")
    tab.wait_for_function("entries !== null")
    texts = {"a": "irhd 18.46", "b": "irhd 8.460", "c": "isml 8.46 irhd 3", "d": "irhd 8.46"}
    entries = [["statement", name, text, "#"] for name, text in texts.items()]
    tab.evaluate("addIndex", entries)
    tab.fill("#query", "IRHD 8.46")
    assert tab.locator("#results a").all_inner_texts() == ["d"]


def test_the_scheme_is_remembered(tab):
    tab.goto((tab.folder / "index.html").as_uri())
    tab.click("#scheme")
    assert tab.evaluate("document.documentElement.dataset.scheme") == "dark"
    tab.goto((tab.folder / "errata.html").as_uri())
    assert tab.evaluate("document.documentElement.dataset.scheme") == "dark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_a_screen_reader(scheme, tab):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab.emulate_media(color_scheme=scheme)
    found = {}
    for path in sorted(tab.folder.glob("*.html")):
        tab.goto(path.as_uri())
        violations = axe.run(tab).response["violations"]
        if violations:
            found[path.name] = [(v["id"], v["nodes"][0]["html"][:200]) for v in violations]
    assert found == {}
