"""What follows a record takes over what is said of it, but not the sources of another statement."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import (
    IdempotencyConflict,
    InvalidObject,
    InvalidRecord,
    InvalidTime,
    ReasonMissing,
)
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.govern.judging import fact

pytestmark = pytest.mark.anyio

SAID = {
    "subject": "kim",
    "jurisdiction": "DE",
    "valid_from": 1_000,
    "valid_to": 9_000_000_000_000,
    "expires": 9_000_000_000_000,
    "tags": ["home"],
    "meta": {"by": "phone"},
}


async def follow(memory: Memory[Any], verb: str, id: str, text: str, **said: Any) -> str:
    """Update a record, or supersede it: the id of what says the text."""
    if verb == "update":
        return (await memory.update(id, text, **{"reason": "moved", **said})).id
    return (await memory.govern.supersede(id, text, **{"reason": "moved", **said}))[1].id


async def shown(memory: Memory[Any], id: str) -> dict[str, Any]:
    """The object under an id."""
    return await memory.journal.object(id)


VERBS = pytest.mark.parametrize("verb", ["update", "supersede"])


@VERBS
@pytest.mark.rule("GOV-FORGET")
async def test_what_is_said_of_a_record_passes_on(memory: Memory[Any], verb: str) -> None:
    first = await memory.remember("Kim lives in Rosenweg 7", **SAID)  # type: ignore[arg-type]
    before = await shown(memory, first.id)

    after = await shown(memory, await follow(memory, verb, first.id, "Kim lives in Tulpenweg 9"))

    for name in ("subject", "jurisdiction", "valid_from", "valid_to", "temporal_scope", "expires",
                 "tags", "meta"):  # fmt: skip
        assert after[name] == before[name], name
    assert (await memory.verify()).is_sound


async def test_who_supersedes_is_told_how_many_sources_were_dropped(memory: Memory[Any]) -> None:
    first = await memory.remember("Kim lives in Rosenweg 7", source=["letter/1", "letter/2"])

    old, second = await memory.govern.supersede(
        first.id, "Kim lives in Tulpenweg 9", reason="moved", source="letter/2"
    )
    _, third = await memory.govern.supersede(
        second.id, "Kim lives in Tulpenweg 10", reason="typing", keep_sources=True
    )

    assert [one.dropped_sources for one in (old, second, third)] == [0, 1, 0]


@VERBS
async def test_unless_something_else_is_said(memory: Memory[Any], verb: str) -> None:
    first = await memory.remember("Kim lives in Rosenweg 7", **SAID)  # type: ignore[arg-type]

    id = await follow(
        memory, verb, first.id, "Lee lives in Rosenweg 7",
        subject="lee", jurisdiction=None, valid_to=None, expires=None,
        tags=None, meta={"by": "fax"},
    )  # fmt: skip

    found = await memory.get(id)
    assert found is not None
    assert (found.subject, found.tags, found.meta) == ("lee", (), {"by": "fax"})
    assert (found.valid_from, found.valid_to, found.expires_at) == (1_000, None, None)
    assert "jurisdiction" not in await shown(memory, id)


@VERBS
async def test_what_is_said_wrongly_changes_nothing(memory: Memory[Any], verb: str) -> None:
    first = await memory.remember("Kim", valid_from=1_000)
    size = (await inside(memory).ledger.head()).size
    wrong: list[tuple[type[Exception], dict[str, Any]]] = [
        (InvalidObject, {"subject": " "}),
        (InvalidObject, {"jurisdiction": "x" * 513}),
        (InvalidTime, {"valid_to": 999}),
        (InvalidTime, {"valid_to": "tomorrow"}),
        (InvalidObject, {"source": {"name": "no uri"}}),
        (InvalidRecord, {"keep_sources": True, "source": "a"}),
    ]
    for error, said in wrong:
        with pytest.raises(error):
            await follow(memory, verb, first.id, "Kim again", **said)

    assert (await inside(memory).ledger.head()).size == size


# ---------------------------------------------------------------------------- sources


@VERBS
@pytest.mark.rule("GOV-CONS-5")
async def test_another_statement_has_the_sources_that_are_given_with_it(
    opens: Opens, memory: Memory[Any], verb: str
) -> None:
    law = await fact(opens, memory, "The law says X")

    id = await follow(memory, verb, law, "The moon is cheese")

    moon = await memory.get(id)
    assert moon is not None
    assert (moon.sources, moon.verdict, moon.trust) == ((), "Unanswered", "unreviewed")
    cited = await follow(memory, verb, id, "The moon is rock", source="moon/1")
    rock = await memory.get(cited)
    assert rock is not None
    assert [one["uri"] for one in rock.sources] == ["moon/1"]


@VERBS
async def test_sources_are_kept_for_a_reason_alone(memory: Memory[Any], verb: str) -> None:
    law = await memory.remember("The law says X", source=["law/1", "law/2"])

    id = await follow(
        memory, verb, law.id, "The law says: X", keep_sources=True, reason="a typing error"
    )

    kept = await memory.get(id)
    assert kept is not None
    assert [one["uri"] for one in kept.sources] == ["law/1", "law/2"]
    if verb == "update":
        with pytest.raises(ReasonMissing):
            await memory.update(id, "The law: X", keep_sources=True)


async def test_a_receipt_says_that_sources_were_dropped(memory: Memory[Any]) -> None:
    one = await memory.remember("The law says X", source=["law/1", "law/2"])
    assert one.dropped_sources == 0

    first = await memory.update(one.id, "Z", source="law/2", idempotency_key="k")
    again = await memory.update(one.id, "Z", source="law/2", idempotency_key="k")
    same = await memory.update(one.id, "Z")

    assert (first.dropped_sources, again, same.dropped_sources) == (1, first, 0)
    assert (await memory.get(one.id)).sources == ({"uri": "law/2"},)  # type: ignore[union-attr]


async def test_a_retry_that_says_something_else_is_another_request(memory: Memory[Any]) -> None:
    one = await memory.remember("x", subject="kim")
    await memory.update(one.id, "y", subject="lee", idempotency_key="k")

    with pytest.raises(IdempotencyConflict):
        await memory.update(one.id, "y", subject=None, idempotency_key="k")


@pytest.mark.parametrize("given", [None, "desk/9"], ids=["none", "another source"])
async def test_a_correction_stays_in_its_conversation(
    memory: Memory[Any], given: str | None
) -> None:
    chat = [
        (await memory.remember(text, source="chat/1")).id
        for text in ("what about the refund for the shoes?", "it takes 14 weeks")
    ]

    await memory.update(chat[1], "it takes 14 days", source=given, reason="a typing error")

    found = await memory.recall("refund shoes", top_k=2)
    assert {one.id for one in found} == set(chat)
    assert "next to a match" in next(one.reason for one in found if one.id == chat[1])
    assert (await memory.verify()).is_sound
    await memory.maintain.reindex()
    assert {one.id for one in await memory.recall("refund shoes", top_k=2)} == set(chat)


# ---------------------------------------------------------------------------- erasure


@pytest.mark.rule("GOV-FORGET")
async def test_a_person_goes_with_all_that_stands_in_the_place_of_what_was_said(
    memory: Memory[Any],
) -> None:
    one = (await memory.remember("Kim lives in Rosenweg 7", subject="kim")).id
    two = (await memory.govern.supersede(one, "Kim lives in Tulpenweg 9", reason="moved"))[1].id
    _, three = await memory.govern.supersede(
        two, "Kim lives in Elmweg 3", reason="moved", subject=None
    )
    await memory.govern.archive(two, reason="old")
    other = (await memory.remember("Kim was seen", subject="kim")).id
    _, lee = await memory.govern.supersede(other, "Lee was seen", reason="not Kim", subject="lee")
    made = await memory.remember("nobody")

    dry = await memory.erase(subject="kim", reason="asked for", dry_run=True)
    certificate = await memory.erase(subject="kim", reason="asked for")

    assert {t.id for t in certificate.tombstones} == {one, two, three.id, other}
    assert dry.counts == certificate.counts
    assert (certificate.counts.objects, certificate.counts.derived) == (4, 0)
    assert {found.id for found in await memory.list()} == {lee.id, made.id}
    assert (await memory.verify()).is_sound


async def test_a_record_goes_with_the_person_whom_any_version_named(memory: Memory[Any]) -> None:
    one = await memory.remember("Kim lives here", subject="kim")
    await memory.update(one.id, "somebody lives here", subject=None)

    assert (await memory.erase(subject="kim", reason="asked for")).counts.objects == 1


async def test_updates_of_records_drop_sources_too(opens: Opens) -> None:
    async with opens() as memory:
        one = await memory.remember({"a": 1}, source="law/1", subject="kim")
        await memory.records.update(one.id, {"a": 2})

        found = await memory.get(one.id)
        assert found is not None
        assert (found.sources, found.subject) == ((), "kim")
