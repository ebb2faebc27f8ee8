"""MemoryObjects come into a scope as they were said, untrusted; all of a file, or nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.audit.export import export_log, export_objects
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import ImportRefused, InvalidLog
from memoranda.ledger.log import read_log
from memoranda.ledger.object import sealed, unsealed
from memoranda.ledger.validate_events import validate_log
from tests.fixtures import Opens
from tests.handles import inside

pytestmark = [pytest.mark.anyio, pytest.mark.rule("GOV-OBJECT")]


async def objects_of(memory: Memory[Any]) -> bytes:
    return b"".join([line async for line in export_objects(inside(memory).ledger)])


async def log_of(memory: Memory[Any]) -> bytes:
    return b"".join([line async for line in export_log(inside(memory).ledger)])


def documents(lines: bytes) -> list[dict[str, Any]]:
    return [decode(line) for line in lines.splitlines()]


def written(*given: dict[str, Any]) -> bytes:
    """Objects as lines, each with the hash that it has."""
    return b"".join(canonical_bytes(sealed(one)) + b"\n" for one in given)


async def life(opens: Opens, memory: Memory[Any]) -> None:
    """One of everything that an object can go through."""
    one = await memory.remember("The law says X", source="law/1", subject="kim", tags=["a"],
                                meta={"n": 1}, valid_from=1_000, valid_to=9_000)  # fmt: skip
    two = await memory.remember({"k": [1, None]}, source="law/2", id="two")
    await memory.update(one.id, "The law says: X", source="law/3", reason="typing")
    async with opens(actor="human:judge") as judge:
        await judge.govern.revise(one.id, reason="looked up", verdict="Factual")
    made = await memory.govern.consolidate([one.id, two.id], "Both", justification="so")
    assert isinstance(made, Receipt)
    await memory.forget(two.id, reason="wrong", cause="correction")
    await memory.govern.reinstate(two.id, reason="right")
    await memory.govern.supersede(two.id, "another", reason="better", source="law/4")
    await memory.govern.archive(two.id, reason="old")
    gone = await memory.remember("a secret of Lee")
    await memory.erase(gone.id, reason="asked for")


HERE = {"trust", "integrity_hash", "supersedes", "inputs"}
"""What an object has from where it stands."""
OWN = {"event_id", "timestamp", "actor", "prev_hash", "new_hash", "supersedes", "reconstruction"}
"""What an event has from the journal that it stands in."""


def without(lines: bytes, names: set[str]) -> list[dict[str, Any]]:
    return [{k: v for k, v in one.items() if k not in names} for one in documents(lines)]


@pytest.mark.rule("GOV-LOG")
async def test_what_is_exported_and_imported_is_the_same(
    opens: Opens, memory: Memory[Any], scope: str
) -> None:
    await life(opens, memory)
    first, log = await objects_of(memory), await log_of(memory)
    assert b"a secret" not in first
    async with opens(scope=f"{scope}-b", actor="human:b") as other:
        report = await other.journal.import_objects(first)
        second, second_log = await objects_of(other), await log_of(other)
        assert (report.lines, report.objects, report.refused) == (len(first.splitlines()), 4, [])
        assert without(second, HERE) == without(first, HERE)
        assert {one["trust"] for one in documents(second)} == {"untrusted"}
        kept = [event for event in without(log, OWN) if event["reason"] != "[erased]"]
        erased = {one["memory_object_id"] for one in documents(log) if one.get("erasure")}
        kept = [event for event in kept if event["memory_object_id"] not in erased]
        assert without(second_log, OWN) == kept
        assert validate_log(second_log, objects=documents(second)) == []
        assert (await other.verify()).is_sound
        assert [one.data for one in await other.list()] != []
    async with opens(scope=f"{scope}-c", actor="human:b") as third:
        await third.journal.import_objects(second, log=second_log)

        assert await objects_of(third) == second  # byte for byte: there is nothing left to change
        assert without(await log_of(third), {"event_id"}) == without(second_log, {"event_id"})
        found = await third.recall("another", top_k=3)
        assert {one.trust for one in found} == {"untrusted"}
        assert len(await third.recall("another", top_k=3, verified_only=True)) == 0


async def test_an_object_of_others_gets_a_version_a_trust_and_a_nonce(memory: Memory[Any]) -> None:
    theirs = {
        "id": "theirs", "type": "MemoryObject", "statement": "The moon is rock",
        "statement_type": "SourceStatement", "verdict_type": "Factual",
        "source_refs": [{"uri": "moon/1"}], "timestamp": "2026-02-15T10:22:31Z",
        "valid_from": None, "valid_to": None, "temporal_scope": "unknown",
        "jurisdiction": None, "applicability_scope": None, "version": "2.1-beta",
    }  # fmt: skip

    report = await memory.journal.import_objects(written(theirs))

    (kept,) = documents(await objects_of(memory))
    assert report.versions == 1
    assert (kept["version"], kept["trust"], len(kept["nonce"])) == ("1", "untrusted", 20)
    assert {name: kept[name] for name in theirs if name != "version"} == {
        name: member for name, member in theirs.items() if name != "version"
    }
    assert (await memory.verify()).is_sound


Change = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, Change] = {
    "no JSON": lambda _: b"{",
    "no object": lambda _: b"[]",
    "a wrong hash": lambda one: canonical_bytes({**one, "statement": "another"}),
    "no hash": lambda one: canonical_bytes(unsealed(one)),
    "Factual without a source": lambda one: written(
        {**unsealed(one), "verdict_type": "Factual", "source_refs": []}
    ),
    "a member that nobody knows": lambda one: written({**unsealed(one), "colour": "red"}),
    "an id of ours": lambda one: written({**unsealed(one), "id": "trace/1"}),
    "an id that can't be": lambda one: written({**unsealed(one), "id": "x" * 600}),
    "erased": lambda one: written({**unsealed(one), "status": "erased", "reason": "r"}),
    "forgotten from the beginning": lambda one: written(
        {**unsealed(one), "status": "invalidated", "reason": "r"}
    ),
    "another version of the first, which follows nothing": lambda one: written(
        {**unsealed(one), "id": "first"}
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_comes_in_if_a_line_is_refused_and_leniently_the_others_do(
    memory: Memory[Any], fault: str, opens: Opens, scope: str
) -> None:
    await memory.remember("one", id="first")
    await memory.remember("two", id="second")
    first, second = documents(await objects_of(memory))
    lines = [written(unsealed(first)), FAULTS[fault](second), b"", written(
        {**unsealed(second), "id": "third"})]  # fmt: skip
    file = b"\n".join(line.rstrip(b"\n") for line in lines)
    async with opens(scope=f"{scope}-b") as other:
        await other.remember("what is logged at a handle's first write is there", id="before")
        size = (await inside(other).ledger.head()).size
        with pytest.raises(ImportRefused) as caught:
            await other.journal.import_objects(file)
        assert (caught.value.code, caught.value.line) == ("input.import", 2)
        assert (await inside(other).ledger.head()).size == size

        dry = await other.journal.import_objects(file, lenient=True, dry_run=True)
        assert (await inside(other).ledger.head()).size == size
        report = await other.journal.import_objects(file, lenient=True)

        assert [one.line for one in report.refused] == [2]
        assert (dry.objects, dry.refused) == (report.objects, report.refused)
        assert {one.id for one in await other.list()} == {"before", "first", "third"}
        assert (await other.verify()).is_sound


async def test_what_is_there_is_not_touched(memory: Memory[Any]) -> None:
    await memory.remember("one", id="first")
    lines = await objects_of(memory)

    with pytest.raises(ImportRefused):
        await memory.journal.import_objects(lines)
    report = await memory.journal.import_objects(lines, lenient=True)

    assert (report.versions, len(report.refused)) == (0, 1)
    assert len(documents(await objects_of(memory))) == 1


async def test_what_follows_a_refused_version_is_refused(
    memory: Memory[Any], opens: Opens, scope: str
) -> None:
    await memory.remember("one", id="first")
    await memory.update("first", "two")
    await memory.update("first", "three")
    one, _, three = (await objects_of(memory)).splitlines()
    async with opens(scope=f"{scope}-b") as other:
        report = await other.journal.import_objects(one + b"\n{}\n" + three, lenient=True)

        assert [each.line for each in report.refused] == [2, 3]
        assert (await other.get("first")).data == "one"  # type: ignore[union-attr]


async def test_a_log_that_is_of_other_objects_is_refused(
    memory: Memory[Any], opens: Opens, scope: str
) -> None:
    await memory.remember("one", id="first")
    objects = await objects_of(memory)
    await memory.remember("two", id="second")
    others = documents(await log_of(memory))[1:]
    async with opens(scope=f"{scope}-b") as other:
        size = (await inside(other).ledger.head()).size
        with pytest.raises(InvalidLog):
            await other.journal.import_objects(objects, log=others)
        assert (await inside(other).ledger.head()).size == size

        report = await other.journal.import_objects(objects, log=others, lenient=True)
        assert (report.versions, len(report.log) > 0) == (1, True)


async def test_an_import_is_untrusted_and_can_be_approved(
    memory: Memory[Any], opens: Opens, scope: str
) -> None:
    await memory.remember("one", id="first")
    lines = await objects_of(memory)
    async with (
        opens(scope=f"{scope}-b", actor="agent:a") as other,
        opens(scope=f"{scope}-b", actor="human:h") as human,
    ):
        (receipt,) = (await other.journal.import_objects(lines)).receipts
        await human.govern.approve(receipt.id, reason="looked at")

        assert (await other.get("first")).trust == "approved"  # type: ignore[union-attr]
        assert len(read_log(await log_of(other)).documents) == 2
