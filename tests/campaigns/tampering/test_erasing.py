"""What is damaged is erased like anything else: nothing of what it said before is left."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from memoranda.journeys.audit.export import export_log
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.log import read_log
from memoranda.ledger.validate_events import validate_log
from tests.campaigns.tampering.attacked import Attacked
from tests.handles import inside
from tests.journeys.intent.reading import said

pytestmark = [pytest.mark.anyio, pytest.mark.rule("GOV-FORGET")]

Damage = Callable[[Attacked, int], None]


def _forged(document: Any) -> None:
    document.update(id="other", statement="the moonlight is made of cheese", tags=["forged"])
    document.pop("subject", None)


def _edited(attacked: Attacked, seq: int) -> None:
    attacked.edit(seq, _forged)


DAMAGES: Final[dict[str, Damage]] = {
    "edited": _edited,
    "gone": Attacked.remove_body,
    "no JSON": lambda attacked, seq: attacked.overwrite(seq, b"{no json"),
    "empty": lambda attacked, seq: attacked.overwrite(seq, b""),
    "no object": lambda attacked, seq: attacked.overwrite(seq, b"[1]"),
}
SECRETS: Final = ("penicillin", "allergic", "health", "kimberley", "moonlight", "cheese", "forged")
"""Words, tags and the subject of what was said before, and of what was put in its place."""


@pytest.fixture(params=DAMAGES, ids=[name.replace(" ", "_") for name in DAMAGES])
def damage(request: pytest.FixtureRequest) -> Damage:
    return DAMAGES[request.param]


async def _filled(attacked: Attacked) -> int:
    """The entry of a record that is in every index, beside others."""
    async with attacked.opened() as memory:
        written = await memory.remember(
            "Allergic to penicillin",
            id="allergy",
            subject="kimberley",
            tags=["health"],
            source="doc/1",
        )
        await memory.remember("The door is blue", id="door", tags=["house"], source="doc/1")
        await memory.maintain.reindex()
    assert "penicillin" in attacked.everything()
    return written.seq


@pytest.mark.parametrize(
    "named", [{"id": "allergy"}, {"subject": "kimberley"}, {"whole_scope": True}]
)
async def test_nothing_of_what_was_damaged_is_left(
    attacked: Attacked, damage: Damage, named: dict[str, Any]
) -> None:
    seq = await _filled(attacked)
    damage(attacked, seq)

    async with attacked.opened() as memory:
        dry = await memory.erase(**named, reason="asked for", dry_run=True)
        certificate = await memory.erase(**named, reason="asked for")
        left = attacked.everything()

        assert not [word for word in SECRETS if word in left.lower()]
        assert await memory.get("allergy") is None
        *_, tombstone = await inside(memory).ledger.versions("allergy")
        assert tombstone.version[:3] == ("allergy", 2, "erased")
        assert dry.counts == certificate.counts
        assert certificate.counts.versions >= 1
        assert certificate.counts.tags == (2 if "whole_scope" in named else 1)
        assert certificate.counts.postings >= 3, "allergic, to, penicillin"
        assert certificate.tombstones[0].id == "allergy"
        again = await memory.erase("allergy", reason="again")
        assert again.tombstones == certificate.tombstones


async def test_what_was_damaged_stays_on_record(attacked: Attacked, damage: Damage) -> None:
    seq = await _filled(attacked)
    damage(attacked, seq)

    async with attacked.opened() as memory:
        await memory.erase("allergy", reason="asked for", dry_run=True)
        assert not (await memory.govern.status()).breaks, "a dry run writes nothing"
        await memory.erase("allergy", reason="asked for")

        (broken,) = (await inside(memory).scoped.conformance.rulebook.logged()).standing.values()
        assert broken.damages == {f"entry/{seq}"}
        report = await memory.verify()
        assert report.is_sound, "nothing is left that is not what was written"
        assert (await memory.govern.status()).breaks
        log = b"".join([line async for line in export_log(inside(memory).ledger)])
        assert validate_log(log) == []
        assert len(read_log(log).documents) >= 3


async def test_others_are_found_and_erased_as_before(attacked: Attacked, damage: Damage) -> None:
    seq = await _filled(attacked)
    damage(attacked, seq)

    async with attacked.opened() as memory:
        await memory.erase("allergy", reason="asked for")

        assert [one.id for one in await memory.list(text="door")] == ["door"]
        assert [one.id for one in await memory.recall("blue door", top_k=1)] == ["door"]
        certificate = await memory.erase("door", reason="likewise")
        assert (certificate.counts.tags, certificate.counts.objects) == (1, 1)
        assert "house" not in attacked.everything()


async def test_an_older_version_that_was_damaged_leaves_no_words(
    attacked: Attacked, damage: Damage
) -> None:
    seq = await _filled(attacked)
    async with attacked.opened() as memory:
        await memory.update("allergy", "Something else", tags=[])
        damage(attacked, seq)  # and only then the index is brought forward
    async with attacked.opened() as memory:
        await memory.list(text="something")
        certificate = await memory.erase("allergy", reason="asked for")

    assert certificate.counts.versions == 2
    left = attacked.everything().lower()
    assert not [word for word in SECRETS if word in left]


async def test_a_consolidation_that_was_damaged_goes_and_the_log_stays_valid(
    attacked: Attacked, damage: Damage
) -> None:
    async with attacked.opened() as memory:
        one = (await memory.remember("Kim likes tea", source="doc/1")).id
        two = (await memory.remember("Kim likes rice", source="doc/2")).id
        made: Any = await memory.govern.consolidate(
            [one, two], "Kim likes both", justification="same"
        )
    damage(attacked, made.seq)

    async with attacked.opened() as memory:
        await memory.erase(made.id, reason="asked for")

        log = b"".join([line async for line in export_log(inside(memory).ledger)])
        assert validate_log(log) == []
        (event,) = [e for e in read_log(log).documents if e["event_type"] == "consolidate"]
        assert sorted(event["input_ids"]) == sorted([one, two])
        assert (await memory.verify()).is_sound


async def test_what_is_damaged_is_not_read_by_anything_else(
    attacked: Attacked, damage: Damage
) -> None:
    seq = await _filled(attacked)
    damage(attacked, seq)

    async with attacked.opened() as memory:
        with pytest.raises(EntryDamaged) as caught:
            await memory.forget("allergy", reason="wrong")

    assert (caught.value.code, caught.value.entry) == ("store.entry_damaged", seq)


@pytest.mark.parametrize("body", [b"{no json", b"[1]", b"{}"])
async def test_a_whole_scope_goes_with_a_fact_that_nobody_can_read(
    attacked: Attacked, body: bytes
) -> None:
    await _filled(attacked)
    async with attacked.opened() as memory:
        await memory.recall("penicillin", top_k=1)
        (trace,) = await said(memory, "Trace")
    attacked.overwrite(trace.seq, body)

    async with attacked.opened() as memory:
        certificate = await memory.erase(whole_scope=True, reason="asked for")
        report = await memory.verify()

    left = attacked.everything().lower()
    assert not [word for word in SECRETS if word in left]
    assert certificate.counts.objects == 2
    assert report.is_sound, "nothing is left that is not what was written"


async def test_where_the_entry_is_lost_the_content_goes_and_the_journal_is_not_called_sound(
    attacked: Attacked,
) -> None:
    seq = await _filled(attacked)
    attacked.remove_entry(seq)

    async with attacked.opened() as memory:
        certificate = await memory.erase("allergy", reason="asked for")
        report = await memory.verify()

    assert certificate.counts.objects == 1
    left = attacked.everything().lower()
    assert not [word for word in SECRETS if word in left]
    assert not report.is_sound
    assert seq in {one.entry for one in report.report.damages.found}
