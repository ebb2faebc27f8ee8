"""The console in a real browser: what it looks like, runs, and can be done without a mouse."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import memoranda
from memoranda.surfaces import sample
from memoranda.surfaces.story import MANAGER
from tests.surfaces.console.browser import (
    CONTRAST,
    IS_LONG,
    NAMELESS,
    NARROW,
    WIDE,
    chromium,
    needs_browser,
    opened,
)
from tests.surfaces.console.conftest import tell
from tests.surfaces.console.corpus import CORPUS, MARK
from tests.surfaces.http.serving import process

pytestmark = needs_browser
DOCS = Path(__file__).parents[3] / "docs" / "console"
LISTS = ("/", "/memories", "/recalls", "/worlds", "/inbox", "/turns", "/journal", "/people",
         "/erasure")  # fmt: skip
SHOTS = {
    "overview": ("/", WIDE, "light"),
    "recall": ("how does Kim", WIDE, "light"),
    "inbox": ("/inbox", (1280, 620), "dark"),
    "phone": ("/", NARROW, "light"),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def paths(page: Page, address: str) -> list[str]:
    """The lists, and the first of what each leads to."""
    found = list(LISTS)
    for path, pattern in (
        ("/recalls", r"/recall\?"),
        ("/worlds", r"/world\?"),
        ("/inbox", r"/proposal\?"),
        ("/turns", r"/turn\?"),
    ):
        page.goto(address + path)
        links = page.eval_on_selector_all("main a", "all => all.map((a) => a.href)")
        found += [link.removeprefix(address) for link in links if re.search(pattern, link)][:1]
    return [
        *found,
        "/memory?id=kim/refunds",
        "/memories?at=30",
        "/person?id=customer:kim",
        "/person/used?id=customer:seoyeon",
        "/entry?seq=9",
        "/login",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "phone"])
def test_every_page_fits_its_screen_and_can_be_read(
    browser: Browser, address: str, size: tuple[int, int], scheme: str
) -> None:
    language = "ko-KR" if (size == WIDE) == (scheme == "dark") else "en-US"
    with opened(browser, size, scheme, language) as (page, complaints):
        for path in paths(page, address) if IS_LONG else LISTS[:5]:
            page.goto(address + path)

            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, path
            assert page.evaluate(CONTRAST) == [], path
            assert page.evaluate(NAMELESS) == [], path
            assert page.locator("h1").count() == 1, path
        assert complaints == []


def test_the_page_checks_a_proof_itself_and_sees_a_forged_entry(
    browser: Browser, address: str
) -> None:
    with opened(browser) as (page, complaints):
        page.goto(f"{address}/entry?seq=9")
        expect(page.locator("#checked")).to_contain_text("checked by this page")
        forged = page.content().replace('data-actor="agent:support"', 'data-actor="agent:other"')
        page.route("**/entry?seq=9", lambda route: route.fulfill(
            body=forged, content_type="text/html"))  # fmt: skip
        page.goto(f"{address}/entry?seq=9")
        expect(page.locator("#checked")).to_contain_text("does not lead to this root")
        assert complaints == []


def test_the_overview_verifies_itself_and_names_what_was_forged(
    browser: Browser, address: str
) -> None:
    with opened(browser) as (page, _):
        page.goto(address)
        expect(page.locator("#verification")).to_contain_text("Sound")
        page.get_by_text("Another scope").click()
        page.get_by_label("Scope", exact=True).fill(sample.FORGED_SCOPE)
        page.get_by_role("button", name="Go", exact=True).click()
        expect(page.locator("#verification")).to_contain_text("Damaged")
        expect(page.locator("#verification")).to_contain_text("not the body")
        page.goto(f"{address}/journal")
        expect(page.locator("#entries")).to_contain_text("damaged")
        expect(page.locator("#entries")).to_contain_text("A refund of 700 EUR")


def test_an_answer_can_be_given_without_a_mouse(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    told = tell(url)
    named = ("-s", sample.SCOPE, "--actor", MANAGER)
    runs = ("--app", "memoranda.surfaces.sample:app_of")
    with process(url, *named, *runs, folder=tmp_path) as (address, _), opened(browser) as (page, _):
        page.goto(f"{address}/inbox")
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()
        focused = "document.activeElement.name"
        while page.evaluate(focused) != "reason":
            page.keyboard.press("Tab")
        page.keyboard.type("it is in the notice")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/proposal?**")
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement.value") != "run":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_contain_text("completed")
    with memoranda.open_sync(url, scope=sample.SCOPE) as memory:
        assert memory.worlds.standing(told.waiting).status == "completed"


def test_a_journal_is_followed_live_and_memory_is_looked_at_as_it_was(
    browser: Browser, address: str, told_file: Path
) -> None:
    with opened(browser) as (page, complaints):
        page.goto(f"{address}/journal")
        page.get_by_role("button", name="Follow live").click()
        with memoranda.open_sync(told_file, scope=sample.SCOPE, actor="agent:support") as memory:
            memory.remember("<b>just said</b>", id="live")
        expect(page.locator("#entries tr.fresh").first).to_contain_text("<b>just said</b>")

        page.goto(f"{address}/memory?id=kim/refunds")
        page.locator("#at").focus()
        page.keyboard.press("Home")
        expect(page.locator("#seen")).to_contain_text("paid back to the card")

        page.goto(f"{address}/memories")
        page.locator("#at").focus()
        page.keyboard.press("Home")
        expect(page.locator("#found")).to_contain_text("what was known at entry 0")
        expect(page.locator("#at")).to_be_focused()
        expect(page).to_have_url(re.compile(r"at=0"))
        assert complaints == []


def test_a_question_finds_without_a_new_page_and_a_world_is_replayed(
    browser: Browser, address: str
) -> None:
    with opened(browser) as (page, complaints):
        page.goto(f"{address}/memories")
        page.evaluate("window.__same__ = true")
        page.get_by_role("searchbox").fill("how does Kim want a refund?")
        page.keyboard.press("Enter")
        expect(page.locator("#found")).to_contain_text("Kim prefers a voucher")
        expect(page).to_have_url(re.compile(r"q=how"))
        page.goto(f"{address}/worlds")
        page.locator(".steps a.mono").first.click()
        page.get_by_role("button", name="Replay").click()
        expect(page.locator("#replayed")).to_contain_text("identical world")
        assert complaints == []


def test_nothing_that_was_remembered_runs(browser: Browser, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    with memoranda.open_sync(url, actor="agent:x") as memory:
        for number, text in enumerate(CORPUS):
            memory.remember(text, id=f"{number}{text[:60]}", source=text, tags=[text],
                            subject=text, reason=text)  # fmt: skip
            memory.recall(text, top_k=3)
        ids = [one.id for one in memory.list()]
        subjects = [one.subject or "" for one in memory.list()]
    with process(url, folder=tmp_path) as (address, _), opened(browser) as (page, complaints):
        some = slice(None) if IS_LONG else slice(0, 6)
        for path in (
            *LISTS,
            *(f"/memory?id={quote(id, safe='')}" for id in ids[some]),
            *(f"/person?id={quote(one, safe='')}" for one in subjects[some]),
            *(f"/memories?q={quote(text, safe='')}" for text in CORPUS[some]),
            *(f"/entry?seq={number}" for number in range(6)),
            "/recalls",
        ):
            page.goto(address + path)
            assert page.evaluate(f"window.{MARK}") is None, path
            for link in page.eval_on_selector_all("a", "all => all.map((a) => a.protocol)"):
                assert link == "http:", path
        assert complaints == []


@pytest.mark.skipif(not IS_LONG, reason="`make browser` makes the screenshots of docs/")
def test_the_screenshots_of_the_docs_are_made(browser: Browser, address: str) -> None:
    DOCS.mkdir(exist_ok=True)
    for name, (path, size, scheme) in SHOTS.items():
        with opened(browser, size, scheme) as (page, _):
            if path.startswith("/"):
                page.goto(address + path)
            else:
                page.goto(f"{address}/recalls")
                page.get_by_text(path).last.click()
            if path == "/":
                expect(page.locator("#verification")).to_contain_text("Sound")
            page.screenshot(path=DOCS / f"{name}.png")
        assert (DOCS / f"{name}.png").stat().st_size <= 150_000, name
