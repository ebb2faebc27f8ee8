"""Histories that were recorded long ago come out as they did: a change that breaks one fails."""

from collections.abc import Callable
from pathlib import Path

import pytest

import memoranda
from examples.refunds.shop import Books, Refund, shop
from memoranda.kernel.errors import InvalidProof
from memoranda.worlds.action import ActionContext, Merge
from memoranda.worlds.domain import Domain
from tests.handles import opened

HISTORIES = sorted(Path(__file__).parent.glob("*.ndjson"))
FIRST = Path(__file__).parent / "refunds-1.ndjson"


async def verdicts(file: Path, domain: Domain) -> list[tuple[str, str | None]]:
    return [(replay.verdict, replay.why) async for replay in memoranda.replay_export(file, domain)]


def test_there_is_a_history() -> None:
    assert FIRST in HISTORIES


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.stem)
async def test_a_recorded_history_comes_out_as_it_did(file: Path) -> None:
    found = await verdicts(file, shop)

    assert found
    assert [why for verdict, why in found if verdict != "same"] == []


async def test_a_history_has_what_failed_and_every_branch() -> None:
    replays = [one async for one in memoranda.replay_export(FIRST, shop)]

    assert len(replays) == 6
    assert len({one.execution_key for one in replays}) == 6


def changed(how: str) -> Domain:
    """The shop as somebody changed it."""
    domain = Domain("shop", "1", state=Books)

    @domain.action(input=Refund)
    async def refund(ctx: ActionContext[Refund]) -> Merge | None:
        asked = ctx.input
        if asked.ticket in ctx.state["paid"]:
            return None
        pay = {"customer": asked.customer, "amount": asked.amount, "how": how}
        receipt = await ctx.effect("pay", lambda **_: "never called", **pay)
        return Merge("paid", {asked.ticket: {**pay, "receipt": receipt}})

    return domain


async def test_a_changed_action_is_found_where_it_matters() -> None:
    found = await verdicts(FIRST, changed("card"))

    (why,) = [why for verdict, why in found if verdict == "differs"]
    assert str(why).startswith("refund: effect 1 (pay), arguments: expected")


def grown() -> Domain:
    """The shop with one more action, and so with another schema."""
    domain = Domain("shop", "2", state=Books)
    domain.action(input=Refund)(shop.find_action("refund").function)

    @domain.action
    def close(ctx: ActionContext[None]) -> None:
        """Another one."""

    assert domain.schema_hash != shop.schema_hash
    return domain


async def test_an_action_that_is_added_alters_nothing() -> None:
    assert {verdict for verdict, _ in await verdicts(FIRST, grown())} == {"same"}


async def test_a_handle_replays_what_was_run_under_an_older_schema(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/shop.db"
    async with opened(url, domain=shop) as memory:
        run = await memory.act("refund", {"ticket": "t1", "customer": "ann", "amount": 1})

    async with opened(url, domain=grown()) as memory:
        assert [one.verdict async for one in memory.worlds.replay_branch()] == ["same"]
        assert (await memory.worlds.replay(str(run.world))).is_same


async def test_an_action_that_is_gone_is_a_difference() -> None:
    found = await verdicts(FIRST, Domain("shop", "1", state=Books))

    assert {verdict for verdict, _ in found} == {"differs"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: ["[]", *lines[1:]],
        lambda lines: ["no JSON", *lines[1:]],
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: [line.replace("a voucher", "a vulture") for line in lines],
        lambda lines: [*lines[:-4], lines[-1]],
    ],
    ids=["no export", "no JSON", "an entry is missing", "a body was changed", "cut off"],
)
async def test_what_is_no_sound_export_is_refused(
    damage: Callable[[list[str]], list[str]], tmp_path: Path
) -> None:
    lines = FIRST.read_text().splitlines()
    damaged = damage([*lines])
    assert damaged != lines
    file = tmp_path / "damaged.ndjson"
    file.write_text("\n".join(damaged) + "\n")

    with pytest.raises(InvalidProof):
        await verdicts(file, shop)
