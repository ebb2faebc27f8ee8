"""Checkpoints are made after so many entries, after so much time, and at the end."""

import asyncio
from typing import Any

from memoranda import Memory
from memoranda.app.audit import verify_database
from memoranda.journeys.audit.checkpoints import Seal, root_at
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from tests.fixtures import Opens
from tests.handles import inside
from tests.patience import PATIENCE


async def newest(memory: Memory[Any]) -> Checkpoint | None:
    notes = await inside(memory).ledger.notes()
    return parse_checkpoint(notes[0]).checkpoint if notes else None


async def first_made(memory: Memory[Any]) -> Checkpoint:
    """The first checkpoint, as soon as it is there: it is made beside the writers."""
    async with asyncio.timeout(PATIENCE):
        while (made := await newest(memory)) is None:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)
    return made


async def test_one_is_made_after_so_many_entries(opens: Opens) -> None:
    async with opens(seal=Seal(every_entries=3, every_seconds=3_600)) as memory:
        await memory.remember_many(["one"])
        assert await newest(memory) is None
        await memory.remember_many(["two", "three"])

        made = await first_made(memory)

        head = await inside(memory).ledger.head()
        assert (made.origin, made.size) == (head.origin, head.size)
        assert made.root == await root_at(inside(memory).ledger, made.size)


async def test_one_is_made_after_so_much_time(opens: Opens) -> None:
    async with opens(seal=Seal(every_entries=1_000, every_seconds=0.02)) as memory:
        receipt = await memory.remember("one")

        assert (await first_made(memory)).size == receipt.size


async def test_one_is_made_at_the_end_and_none_where_nothing_came(opens: Opens) -> None:
    async with opens() as memory:
        receipt = await memory.remember("one")
    async with opens() as memory:
        made = await newest(memory)
        assert made is not None
        assert made.size == receipt.size
        before = await inside(memory).ledger.notes()
    async with opens() as memory:
        assert await inside(memory).ledger.notes() == before


async def test_the_directory_names_every_scope_that_has_one(opens: Opens, url: str) -> None:
    names = [f"named-{number}-{id(opens)}" for number in range(2)]
    for name in names:
        async with opens(scope=name) as memory:
            await memory.remember("one")

    found = await verify_database(url, scopes=names)

    assert found.is_sound
    for audit in found.scopes:
        said = [one.where for one in audit.findings if one.verdict == "agrees"]
        assert f"the directory, of {audit.scope!r}" in said


async def test_nothing_is_signed_without_a_key(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("one")
    async with opens() as memory:
        (found,) = (await memory.verify()).findings
        assert found.standing == "unsigned"
