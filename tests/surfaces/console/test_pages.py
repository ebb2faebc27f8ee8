"""The pages as they are sent: what is on them, for whom, and what another site can't do."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import memoranda
from memoranda.errors import EntryDamaged
from memoranda.kernel.access import RIGHTS
from memoranda.surfaces import sample
from memoranda.surfaces.console.pages import erasure, worlds
from memoranda.surfaces.console.routes import PAGES, console_routes
from memoranda.surfaces.console.shown import KINDS, TONES, environment
from memoranda.surfaces.console.words import table_of
from memoranda.surfaces.story import MANAGER
from tests.surfaces.console.conftest import FROM_HERE, Pages
from tests.surfaces.console.corpus import CORPUS
from tests.surfaces.http.serving import served

LISTS = ("/", "/memories", "/recalls", "/worlds", "/inbox", "/turns", "/journal", "/people")
LINK = re.compile(r'href="(/[^"#]*)')


# ------------------------------------------------------------------------------- showing


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_every_page_of_an_empty_scope_says_what_to_do_next(
    pages: Pages, language: str
) -> None:
    headers = {"accept-language": language}
    for path in (*LISTS, "/erasure", "/login"):
        text = await pages.shown(path, headers=headers)

        assert f'<html lang="{language}">' in text
        assert 'class="nothing"' in text or path == "/login", path


async def test_every_link_on_every_page_of_the_story_leads_somewhere(full: Pages) -> None:
    waiting = [*LISTS, "/erasure"]
    seen: set[str] = set()
    while waiting and len(seen) < 150:
        path = waiting.pop(0)
        bare = path.partition("?")[0]
        if path in seen or "GET" not in PAGES.get(bare, {}) or bare == "/journal/tail":
            continue
        seen.add(path)
        text = await full.shown(path)
        waiting += [link.replace("&amp;", "&") for link in LINK.findall(text)]

    reached = {path.partition("?")[0] for path in seen}
    assert reached >= {*LISTS, "/memory", "/recall", "/original", "/world", "/proposal", "/turn",
                       "/entry", "/person", "/erasure"}  # fmt: skip


async def test_a_recall_is_explained_with_what_was_left_out(full: Pages) -> None:
    assert full.told is not None
    text = await full.shown(f"/recall?id={quote(full.told.recall)}")

    assert "how does Kim prefer to be paid back?" in text
    assert "Kim prefers a voucher, because it is worth more" in text
    assert "left out" in text
    assert "verified" in text


async def test_the_list_shows_what_was_known_at_an_entry(full: Pages) -> None:
    then = await full.shown("/memories?at=6")

    assert "to be paid back to the card" in then
    assert "This is what was known at entry 6" in then
    assert "because it is worth more" not in then
    assert "This is what was known" not in await full.shown("/memories?at=100000")


async def test_a_person_s_page_leads_to_what_they_were_in(full: Pages) -> None:
    await full.post("/recalls", {"query": "nothing of hers"})
    used = await full.shown("/person/used?id=customer:seoyeon")
    kim = await full.shown("/person/used?id=customer:kim")

    assert "/person/used?id=customer%3Aseoyeon" in await full.shown("/person?id=customer:seoyeon")
    assert "is there a lamp of batch 7 in the parcel" in used
    assert 'href="/turn?id=' in used
    assert full.told is not None
    assert full.told.waiting in used
    assert full.told.waiting not in kim
    assert "how does Kim prefer to be paid back?" in kim
    assert 'href="/turn?id=' not in kim


async def test_older_worlds_and_erasures_are_reached_page_by_page(
    full: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "STEPS", 2)
    newest = await full.shown("/worlds")
    branch = await full.shown("/worlds?branch=what-if")

    assert 'href="/worlds?steps=4"' in newest
    assert "the branch main begins" not in newest
    assert "the branch main begins" in await full.shown("/worlds?steps=8")
    assert "/worlds?branch=main" not in branch
    monkeypatch.setattr(worlds, "BRANCHES", 1)
    assert "/worlds?branch=what-if" in await full.shown("/worlds")
    assert (await full.get("/worlds?branch=nowhere")).status_code == 404

    monkeypatch.setattr(erasure, "LATELY", 1)
    text = await full.shown("/erasure")
    older = re.search(r'href="(/erasure\?before=\d+)"', text)
    assert older is not None
    assert "asked us to" in text + await full.shown(older[1])


async def test_damage_is_named_and_the_rest_is_shown(told_file: Path) -> None:
    options: dict[str, Any] = {"mounts": console_routes}
    async with served(f"sqlite:///{told_file}", scope=sample.FORGED_SCOPE, **options) as door:
        pages = Pages(door)
        entry = await pages.shown("/entry?seq=2")
        memories = await pages.shown("/memories")
        then = await pages.shown("/memories?at=2")
        async with memoranda.connect(f"sqlite:///{told_file}") as database:
            forged = await database.scope(sample.FORGED_SCOPE).journal.entries(1, limit=1)
            with pytest.raises(EntryDamaged):
                await database.scope(sample.FORGED_SCOPE).list()
        one = await pages.shown(f"/memory?id={(forged[0].body or {})['id']}")

    for text in (entry, memories, then):
        assert "its body is not the one that was written" in text
        assert sample.FORGED not in text
    assert "A refund of 700 EUR was approved" in memories
    assert "The customer prefers email" in memories
    assert "A refund of 700 EUR was approved" not in then
    assert "The customer prefers email" in one


async def test_what_was_erased_is_on_no_page(full: Pages) -> None:
    for path in (
        *LISTS,
        "/erasure",
        "/person?id=customer:bo",
        "/recalls",
        "/journal?family=memory",
    ):
        assert "Busan" not in await full.shown(path), path


async def test_a_page_says_who_may_look_at_it_and_runs_nothing_inline(full: Pages) -> None:
    answer = await full.get("/memory?id=kim/refunds")

    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=", answer.text)


async def test_texts_are_shown_as_texts(pages: Pages) -> None:
    service = pages.service
    principal = await service.principal(None)
    memory = service.memory(principal)
    for number, text in enumerate(CORPUS):
        subject = text.split("\n")[0]
        await memory.remember(text, id=f"{number}{subject}", source=text, tags=[text],
                              subject=subject, reason=text)  # fmt: skip
    await memory.recall(CORPUS[0], top_k=5)
    found = await memory.list(limit=200)
    paths = [*LISTS, f"/memories?q={quote(CORPUS[1])}", "/erasure?subject=" + quote(CORPUS[3])]
    paths += [f"/memory?id={quote(one.id, safe='')}" for one in found]
    paths += [f"/person?id={quote(one.subject or '', safe='')}" for one in found]
    paths += [f"/entry?seq={number}" for number in range(4)]
    for path in paths:
        text = await pages.shown(path)
        for piece in ("<script>window", "<img src=x", "<svg onload", "<iframe", "<b>right", "49{"):
            assert piece not in text, (path, piece)


# ------------------------------------------------------------------------ who may do what


async def test_who_has_no_key_where_one_is_needed_is_asked_for_it(pages: Pages) -> None:
    made = await pages.door.database.keys.create(
        scope=sample.SCOPE, actor="human:lee", rights=RIGHTS
    )
    asked = await pages.get("/memories")
    wrong = await pages.post("/login", {"key": made.key[:-1] + "x"})
    right = await pages.post("/login", {"key": made.key})
    cookie = right.headers["set-cookie"]

    assert (asked.status_code, asked.headers["location"]) == (303, "/login")
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    assert (right.status_code, right.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Secure" not in cookie
    over_tls = await pages.door.ask("POST", "/login", data={"key": made.key},
                                    headers={"origin": "https://localhost"})  # fmt: skip
    assert "; Secure" in over_tls.headers["set-cookie"]
    assert "human:lee" in await pages.shown("/", headers={"cookie": cookie.partition(";")[0]})


async def test_what_a_key_may_not_do_is_neither_shown_nor_done(full: Pages) -> None:
    assert full.told is not None
    keys = full.door.database.keys
    made = await keys.create(scope=sample.SCOPE, actor="human:guest", rights=["read"])
    headers = {**FROM_HERE, "cookie": f"memoranda_key={made.key}"}
    shown = {path: await full.shown(path, headers=headers) for path in (
        "/", "/memories", "/memory?id=kim/refunds", "/inbox", "/person?id=customer:kim",
        f"/proposal?id={full.told.waiting}")}  # fmt: skip

    for path, text in shown.items():
        for form in ('value="approve"', 'value="forget"', 'value="correct"', 'name="data"',
                     "/erasure"):  # fmt: skip
            assert form not in text, (path, form)
    for path, sent in (
        ("/memory/change", {"id": "kim/refunds", "do": "forget", "reason": "x"}),
        ("/memories", {"data": "x"}),
        ("/proposal", {"id": full.told.waiting, "do": "approve", "reason": "x"}),
        ("/erasure", {"subject": "customer:kim", "reason": "x", "do": "erase",
                      "confirm": "customer:kim"}),
    ):  # fmt: skip
        assert (await full.post(path, sent, headers=headers)).status_code == 403, path


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
async def test_a_form_of_another_site_does_nothing(full: Pages, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    for path, methods in PAGES.items():
        if "POST" in methods:
            answer = await full.post(path, {"id": "kim/refunds", "do": "forget", "reason": "x"},
                                     headers=headers)  # fmt: skip
            assert answer.status_code == 403, path
    assert "Kim prefers a voucher" in await full.shown("/memories")


async def test_a_person_approves_and_runs_what_an_agent_wants(full: Pages) -> None:
    assert full.told is not None
    id = full.told.waiting
    client = full.door.client
    lee = await full.door.database.keys.create(scope=sample.SCOPE, actor=MANAGER, rights=RIGHTS)
    client.headers["cookie"] = f"memoranda_key={lee.key}"

    assert "lamp of batch 7" in await full.shown("/inbox")
    assert (await full.post("/proposal", {"id": id, "do": "approve", "reason": "yes"})).is_redirect
    assert "Run it now" in await full.shown(f"/proposal?id={id}")
    assert (await full.post("/proposal", {"id": id, "do": "run"})).is_redirect
    assert "completed" in await full.shown(f"/proposal?id={id}")


async def test_an_erasure_is_counted_first_and_needs_the_name_once_more(full: Pages) -> None:
    form = {"subject": "customer:kim", "reason": "asked"}
    dry = await full.post("/erasure", {**form, "do": "dry"})
    hasty = await full.post("/erasure", {**form, "do": "erase", "confirm": "kim"})
    done = await full.post("/erasure", {**form, "do": "erase", "confirm": "customer:kim"})

    assert "This would go" in dry.text
    assert hasty.status_code == 400
    assert "Certificate of erasure" in done.text
    assert "Kim prefers" not in await full.shown("/memories")


async def test_a_person_is_exported_whole(full: Pages) -> None:
    answer = await full.get("/person/export?id=customer:kim")

    lines = answer.text.splitlines()
    assert len(lines) == 2
    assert all('"subject":"customer:kim"' in line for line in lines)
    assert "attachment" in answer.headers["content-disposition"]


@pytest.mark.parametrize("path", ["/memory?id=nowhere", "/entry?seq=x", "/world?id=nowhere",
                                  "/turn?id=nowhere", "/memories?cursor=x"])  # fmt: skip
async def test_what_is_not_there_is_said_on_a_page(full: Pages, path: str) -> None:
    answer = await full.get(path)

    assert answer.status_code in (400, 404)
    assert answer.headers["content-type"].startswith("text/html")
    assert "Traceback" not in answer.text


async def test_whoever_needs_no_key_may_look_at_another_scope(full: Pages) -> None:
    answer = await full.post("/scope", {"scope": "elsewhere"})
    cookie = answer.headers["set-cookie"].partition(";")[0]

    text = await full.shown("/", headers={"cookie": cookie})
    assert "elsewhere" in text
    assert not await full.door.database.exists("elsewhere")


# ------------------------------------------------------------------------------- the words


def test_korean_has_every_text_of_the_templates() -> None:
    made = environment()
    table = table_of("ko")
    asked = set()
    for name in made.list_templates():
        source, *_ = made.loader.get_source(made, name)  # type: ignore[union-attr]
        said = re.findall(r"words\(\s*(?:\"((?:[^\"\\]|\\.)+)\"|'([^']+)')", source)
        asked |= {(one or other).replace('\\"', '"') for one, other in said}
        asked |= set(re.findall(r'p\.badge\(words, "[^"]+", "([^"]+)"', source))
    asked |= {*TONES, *(label for _, _, label in KINDS.values())}

    assert len(asked) > 250
    assert asked - table.keys() == set()
    for english, korean in table.items():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", korean)), english


async def test_the_copy_that_was_forged_is_found_out(told_file: Path) -> None:
    async with memoranda.connect(f"sqlite:///{told_file}") as database:
        whole = await database.scope(sample.SCOPE).verify()
        forged = await database.scope(sample.FORGED_SCOPE).verify()

    assert whole.is_sound
    assert next((one.check, one.seq) for one in forged.report.damages.found) == ("body", 2)
