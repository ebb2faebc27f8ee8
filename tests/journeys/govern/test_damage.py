"""Damage is a break: logged once, refused as a fact until a re-audit accepts it by its entry."""

from typing import Any

import pytest

import memoranda
from memoranda import Memory, MemoryFilter
from memoranda.app.audit import export_scope, verify_database
from memoranda.identity import decode
from memoranda.journeys.audit.whole import Audit
from memoranda.kernel.errors import AuditRefused, ConformanceBroken, EntryDamaged, PolicyRefused
from memoranda.ledger.policy import Policy
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.conftest import Tampers
from tests.journeys.govern.judging import audited, breaks, fact
from tests.journeys.govern.reading import events

pytestmark = pytest.mark.rule("GOV-BREAK")


async def logged(memory: Memory[Any]) -> int:
    return sum(one["event_type"] == "conformance_break" for one in await events(memory))


def edited(tampers: Tampers, scope: str, old: bytes, new: bytes) -> int:
    """Somebody edits what is stored; the number of the entry."""
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        (row,) = [
            row for row in tables.rows("bodies", journal=journal["number"]) if old in row["body"]
        ]
        where = {"journal": row["journal"], "seq": row["seq"]}
        tables.change("bodies", where, body=row["body"].replace(old, new))
    return int(row["seq"])


def removed(tampers: Tampers, scope: str, seq: int, *names: str) -> None:
    """Somebody deletes what is stored of an entry."""
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        for name in names:
            tables.remove(name, journal=journal["number"], seq=seq)


# ------------------------------------------------------------------------------- finding


async def test_damage_that_verify_finds_is_logged_once_and_stops_factual_use(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await fact(opens, memory, "the limit is 100 euro")
    first = edited(tampers, scope, b"looked it up", b"made it up")

    async with opens() as memory:
        assert await breaks(memory) == [], "nobody has looked yet"
        for _ in range(3):
            found = await memory.verify()
            assert (found.is_sound, found.recorded) == (False, True)
        (why,) = await breaks(memory)
        with pytest.raises(ConformanceBroken):
            await memory.list(factual=True)
    async with opens() as memory:
        await memory.verify()
        assert len(await breaks(memory)) == await logged(memory) == 1
        assert f"body at entry {first}" in why


async def test_damage_that_a_recall_finds_is_a_break(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await memory.remember("the limit is 100 euro")
    seq = edited(tampers, scope, b"is 100", b"is 900")

    async with opens() as memory:
        for _ in range(2):
            found = await memory.recall("limit", top_k=1)
            assert not any(item.verified for item in found.items)
        (why,) = await breaks(memory)

    assert f"body at entry {seq}" in why


async def test_the_command_line_s_verify_records_what_it_finds(
    opens: Opens, url: str, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await memory.remember("the limit is 100 euro")
    edited(tampers, scope, b"is 100", b"is 900")

    (silent,) = (await verify_database(url, scopes=[scope])).scopes
    (told,) = (await verify_database(url, scopes=[scope], record=True)).scopes

    assert (silent.is_sound, silent.recorded) == (False, None)
    assert (told.is_sound, told.recorded) == (False, True)
    async with opens() as memory:
        assert len(await breaks(memory)) == 1


@pytest.mark.parametrize(
    "url", [pytest.param("postgres", marks=pytest.mark.backend("postgres"))], indirect=True
)
async def test_who_can_t_write_reports_damage_and_says_that_it_is_not_on_record(
    opens: Opens, url: str, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await memory.remember("the limit is 100 euro")
        size = (await inside(memory).ledger.head()).size
    edited(tampers, scope, b"is 100", b"is 900")
    last = await _edited_model(opens)
    joined = "&" if "?" in url else "?"
    read_only = f"{url}{joined}options=-c%20default_transaction_read_only%3Don"

    (found,) = (await verify_database(read_only, scopes=[scope], record=True)).scopes
    assert (found.is_sound, found.recorded) == (False, False)
    async with memoranda.open(read_only, scope=scope, models={"chat": "2"}) as memory:
        assert (await memory.verify()).recorded is False
        assert len(await breaks(memory)) == 2, "the model, and the damage"
        with pytest.raises(ConformanceBroken):
            await memory.list(factual=True)
    async with opens() as memory:
        assert await breaks(memory) == [], "nothing was written"
        assert (await inside(memory).ledger.head()).size == last > size


async def _edited_model(opens: Opens) -> int:
    """The scope declares a model; how many entries it has then."""
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("y")
        return int((await inside(memory).ledger.head()).size)


# ---------------------------------------------------------- what stands can't be wiped


async def test_a_break_stands_whatever_is_deleted_that_follows_from_the_entries(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("x")
    async with opens(models={"chat": "2"}) as memory:
        (why,) = await breaks(memory)
        await memory.remember("y")
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        for name in ("versions", "tags", "marks", "derivations", "checkpoints", "retries"):
            tables.remove(name, journal=journal["number"])

    async with opens() as memory:
        assert why in await breaks(memory)


async def test_a_break_whose_own_words_were_damaged_stands_all_the_same(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("x")
    async with opens(models={"chat": "2"}) as memory:
        await memory.remember("y")
        (seq,) = [
            one.seq for one in (await inside(memory).scoped.conformance.state()).standing.values()
        ]
    removed(tampers, scope, seq, "bodies")

    for _ in range(2):
        async with opens() as memory:
            assert len(await breaks(memory)) == 2, "the break, and that its body is gone"
            with pytest.raises(ConformanceBroken):
                await memory.list(factual=True)
    async with opens() as memory:
        await audited(memory, accept=[seq])
        assert await breaks(memory) == []


async def test_a_log_that_lost_its_end_is_one_break_however_often_it_is_opened(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        kept = await fact(opens, memory, "the limit is 100 euro")
        await memory.remember("the last word")
        last = (await inside(memory).ledger.head()).size - 1
    removed(tampers, scope, last, "entries", "bodies")

    for _ in range(5):
        async with opens() as memory:
            assert len(await breaks(memory)) == 1
            await memory.remember("life goes on")
    async with opens() as memory:
        assert await logged(memory) == 1
        (why,) = await breaks(memory)
        await memory.verify()
        found = await logged(memory)
        await memory.verify()
        assert await logged(memory) == found, "what follows from it is logged once, too"
        await audited(memory, accept=[last, "index", "root"])
        assert await breaks(memory) == []
        assert await memory.get(kept, factual=True) is not None
    async with opens() as memory:
        assert await breaks(memory) == [], "what was accepted is not found again"
        await memory.remember_many(["and on"] * 300)
    async with opens() as memory:
        assert await breaks(memory) == []
        assert await memory.get(kept, factual=True) is not None

    assert f"entry {last}" in why


# ----------------------------------------------------------------------- the re-audit


async def test_a_re_audit_accepts_damage_by_its_entry_and_lifts_the_rest(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        whole = await fact(opens, memory, "the limit is 500 euro")
        hurt = await fact(opens, memory, "the price is 100 euro")
        (seq,) = [past.seq for past in (await inside(memory).ledger.versions(hurt))[-1:]]
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        where = {"journal": journal["number"], "seq": seq}
        (row,) = tables.rows("bodies", **where)
        tables.change("bodies", where, body=row["body"].replace(b"is 100", b"is 900"))

    async with opens(actor="human:auditor") as memory:
        report = await memory.verify()
        with pytest.raises(AuditRefused) as caught:
            await memory.govern.record_audit("audit/1", report=report, reason="looked at")
        assert caught.value.code == "record.audit_refused"
        assert str(seq) in str(caught.value)
        with pytest.raises(AuditRefused):
            await memory.govern.record_audit(
                "audit/1", report=report, reason="looked at", accept=[seq, seq + 999]
            )
        assert len(await breaks(memory)) == 1

        await memory.govern.record_audit("audit/1", report=report, reason="looked at", accept=[seq])

        assert await breaks(memory) == []
        assert await memory.get(whole, factual=True) is not None
        with pytest.raises(EntryDamaged):
            await memory.get(hurt, factual=True)
        found = await memory.recall("euro", top_k=5)
        assert {item.id: item.verified for item in found.items}.get(hurt, False) is False
        assert {item.id: item.verified for item in found.items}[whole] is True
        again = await memory.verify()
        assert (again.is_sound, again.recorded) == (False, True)
        assert await breaks(memory) == [], "it was accepted, once and for all"
        await memory.govern.record_audit("audit/2", report=again, reason="and nothing new")
        await memory.erase(hurt, reason="it can't be read any more")
        assert [one.id for one in await memory.list(factual=True)] == [whole]
        assert [one.id for one in await memory.list(text="euro", factual=True)] == [whole]


async def test_what_a_re_audit_rests_on_stands_in_the_journal(opens: Opens) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("x")
    async with opens(models={"chat": "2"}) as memory:
        report = await memory.verify()
        receipt = await memory.govern.record_audit("audit/1", report=report, reason="looked at")
        (stored,) = await inside(memory).ledger.entries_at([receipt.size - 1])

    assert stored.body is not None
    document = decode(stored.body)
    assert document["report"] == {
        "size": report.report.size,
        "root": report.report.root.hex(),
        "damages": 0,
    }
    assert len(document["breaks"]) == 1


async def test_a_report_that_is_not_of_the_present_journal_is_refused(
    opens: Opens, url: str, scope: str
) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("x")
    async with memoranda.open(url, scope=f"{scope}-other") as other:
        await other.remember("x")
        foreign = await other.verify()
    async with opens(models={"chat": "2"}) as memory:
        old = await memory.verify()
        await memory.remember("something else")

        async def refused(report: Audit) -> str:
            with pytest.raises(AuditRefused) as caught:
                await memory.govern.record_audit("audit/1", report=report, reason="looked at")
            return str(caught.value)

        assert "verify again" in await refused(old)
        assert "verify again" in await refused(foreign)
        assert len(await breaks(memory)) == 1
        await audited(memory)
        assert await breaks(memory) == []


async def test_a_break_that_came_after_the_report_stands(opens: Opens) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("w")
    async with opens(models={"chat": "2"}) as memory:
        report = await memory.verify()
        async with opens(models={"chat": "3"}) as other:
            await other.verify()  # which logs what was found at opening
        await memory.govern.record_audit("audit/1", report=report, reason="looked at")
        (why,) = await breaks(memory)

    assert "chat 3" in why


async def test_what_was_mended_and_is_damaged_again_is_a_break_again(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await memory.remember_many([f"number {n}" for n in range(600)])
        await memory.maintain.reindex()

    for turn in (1, 2):
        with tampers() as tables:
            (journal,) = tables.rows("journals", scope=scope)
            tables.remove("postings", journal=journal["number"])
        async with opens() as memory:
            assert await breaks(memory) == []
            await memory.verify()
            await memory.verify()
            assert len(await breaks(memory)) == 1
            assert await logged(memory) == turn
            await memory.maintain.reindex()
            await audited(memory)
            assert await breaks(memory) == []


async def test_an_agent_can_t_record_a_re_audit_unless_the_policy_lets_it(opens: Opens) -> None:
    async with opens(models={"chat": "1"}) as memory:
        await memory.remember("w")
    allowed = Policy("oversight", 2, {"maker_may_judge": False, "agents_may_audit": True})
    async with opens(models={"chat": "2"}, actor="agent:support") as memory:
        with pytest.raises(AuditRefused):
            await audited(memory)
        with pytest.raises(PolicyRefused) as caught:
            await memory.govern.change_policy(allowed, reason="I say so")
        assert caught.value.code == "record.policy_refused"
        assert len(await breaks(memory)) == 1
        async with opens(actor="human:boss") as boss:
            await boss.govern.change_policy(allowed, reason="it may")
        await audited(memory)
        assert await breaks(memory) == []


async def test_why_tells_without_proofs_where_an_entry_is_gone(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        lost = await memory.remember("lost", id="lost")
        await memory.remember("left", id="left")
        assert (await memory.why("left")).proof is not None
    removed(tampers, scope, lost.size - 1, "entries")

    async with opens() as memory:
        why = await memory.why("left")
        assert (why.parts[0].known["content"], why.proof) == ("left", None)


@pytest.mark.rule("R-2", "GOV-LOG")
async def test_what_is_not_as_it_was_written_is_exported_under_no_new_hash(
    opens: Opens, url: str, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        await memory.remember("the limit is 100", id="limit")
        await memory.remember("a secret", id="gone")
        await memory.erase("gone", reason="asked for")
    before = [decode(line) async for line in export_scope(url, scope, "log")]
    seq = edited(tampers, scope, b"is 100", b"is 900")

    with pytest.raises(EntryDamaged) as caught:
        [line async for line in export_scope(url, scope, "objects")]
    after = [decode(line) async for line in export_scope(url, scope, "log")]

    assert (caught.value.entry, caught.value.code) == (seq, "store.entry_damaged")
    damaged = [one for one in after if one not in before]
    assert [one["memory_object_id"] for one in damaged] == ["[damaged]"]
    assert damaged[0].get("new_hash") is None


async def test_an_object_that_is_gone_and_was_not_erased_is_not_passed_over(
    opens: Opens, url: str, scope: str, tampers: Tampers
) -> None:
    async with opens() as memory:
        kept = await memory.remember("something")
    removed(tampers, scope, kept.size - 1, "bodies")

    with pytest.raises(EntryDamaged):
        [line async for line in export_scope(url, scope, "objects")]


async def test_ids_counts_and_tags_read_no_body(opens: Opens, scope: str, tampers: Tampers) -> None:
    async with opens() as memory:
        one = await memory.remember("the limit is 100 euro", tags=["limit/eu"], subject="kim")
    edited(tampers, scope, b"is 100", b"is 900")

    async with opens() as memory:
        filter = MemoryFilter(tag_prefix="limit/", subject="kim")
        assert await memory.records.ids(filter) == [one.id]
        assert await memory.records.count(filter) == 1
        assert await memory.records.tags("limit/") == {"limit/eu": 1}
        with pytest.raises(EntryDamaged):
            await memory.records.query(filter)


@pytest.mark.parametrize("selector", ["context", "recent"])
async def test_a_recall_by_conditions_says_what_it_could_not_judge(
    opens: Opens, scope: str, tampers: Tampers, selector: str
) -> None:
    async with opens() as memory:
        await memory.remember({"limit": "100 euro"})
        whole = await memory.remember({"limit": "200 euro"})
    edited(tampers, scope, b"100 euro", b"900 euro")

    async with opens() as memory:
        where = {"data.limit": {"$exists": True}}
        found = await memory.recall("limit", top_k=5, selector=selector, where=where)

    assert (found.outcome, [item.id for item in found]) == ("degraded", [whole.id])
