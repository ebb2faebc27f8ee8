"""Selectors made of others: each does one thing, says so in its name, and hides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter, ModelFailed
from memoranda.ledger.unit import Current
from memoranda.recall.selector import Chosen, Request, Selection, Selector, Sources
from memoranda.recall.selectors import Deduplicated, Filtered, Limited, WeighedByRecency
from tests.journeys.embeddings.conftest import asking
from tests.journeys.embeddings.listing import ListedSources

DAY = 86_400_000
AGENT = ActorRef(actor_id="librarian", kind="agent")


@dataclass(frozen=True)
class Given:
    """Picks what it was given."""

    chosen: Sequence[Chosen]
    failure: Exception | None = None
    name: str = "given"
    actor: ActorRef | None = AGENT

    async def select(self, request: Request, sources: Sources) -> Selection:
        del sources
        if self.failure is not None:
            raise self.failure
        return Selection(self.chosen[: request.top_k], (), ("a note",))


def record(id: str, score: float | None, text: str = "", days: int = 0) -> Chosen:
    body = canonical_bytes({"type": "MemoryObject", "id": id, "statement": text or id})
    at = asking("q").at - days * DAY
    found = Current(id, 1, "active", at, at, None, None, None, None, body)
    return Chosen("because", 0.5, id, score=score, found=found)


async def ids(selector: Selector, top_k: int = 5) -> list[str | None]:
    found = await selector.select(asking("q", top_k=top_k), ListedSources())
    assert found.notes == ("a note",)
    assert len(found.chosen) <= top_k
    return [one.id or one.world for one in found.chosen]


SEVERAL = Given([record(f"r{n}", 10.0 - n, days=n) for n in range(9)])


async def test_filtered_keeps_what_the_condition_holds_for() -> None:
    odd = Filtered(SEVERAL, lambda one: (one.score or 0) % 2 == 1, "what is odd")

    assert odd.name == "given, only what is odd"
    assert await ids(odd, top_k=2) == ["r1", "r3"]
    found = await odd.select(asking("q", top_k=2), ListedSources())
    assert [one.id for one in found.below] == ["r5", "r7"]


async def test_limited_gives_no_more_than_that() -> None:
    assert Limited(SEVERAL, 5).name == "given, limited to 5"
    assert await ids(Limited(SEVERAL, 2)) == ["r0", "r1"]
    assert await ids(Limited(SEVERAL, 7), top_k=3) == ["r0", "r1", "r2"]
    assert await ids(Limited(SEVERAL, 0)) == []


async def test_weighed_by_recency_lets_the_new_pass_the_old() -> None:
    weighed = WeighedByRecency(
        Given([record("old", 10, days=21), record("new", 4, days=0), record("week", 6, days=7)]),
        7 * DAY,
    )

    assert weighed.name == "given, weighed by recency (half after 1 week)"
    found = await weighed.select(asking("q"), ListedSources())
    assert [(one.id, one.score) for one in found.chosen] == [
        ("new", 4.0),
        ("week", 3.0),
        ("old", 2.5),
    ]
    assert [one.confidence for one in found.chosen] == [0.5, 0.5, 0.5]


async def test_what_has_no_time_comes_after_what_has_one() -> None:
    world = Chosen("because", 0.9, world="w", score=100.0)

    assert await ids(WeighedByRecency(Given([world, record("r", 1)]), DAY)) == ["r", "w"]


async def test_deduplicated_keeps_the_first_of_each_text() -> None:
    same = ["The refund", "the  REFUND", "caf\u00e9", "cafe\u0301", "the refund?"]
    chosen = [record(f"r{n}", 9.0 - n, text) for n, text in enumerate(same)]
    worlds = [Chosen("because", 0.5, world=f"w{n}") for n in range(2)]
    once = Deduplicated(Given([*chosen, *worlds]))

    assert once.name == "given, each text once"
    assert await ids(once, top_k=9) == ["r0", "r2", "r4", "w0", "w1"]


@given(st.lists(st.sampled_from(["a", "A", "b", "c"]), max_size=12))
async def test_what_was_deduplicated_once_stays_as_it_is(texts: list[str]) -> None:
    given_ones = Given([record(str(n), 1.0, text) for n, text in enumerate(texts)])
    once = Deduplicated(given_ones)

    assert await ids(Deduplicated(once), top_k=3) == await ids(once, top_k=3)


async def test_they_combine_and_their_names_read_on() -> None:
    both = Limited(Deduplicated(SEVERAL), 3)

    assert both.name == "given, each text once, limited to 3"
    assert both.actor == AGENT
    assert Filtered(both, lambda _: True, "everything").actor == AGENT
    assert WeighedByRecency(both, DAY).actor == AGENT
    assert await ids(both) == ["r0", "r1", "r2"]


@pytest.mark.parametrize(
    "made",
    [
        lambda inner: Limited(inner, 3),
        Deduplicated,
        lambda inner: WeighedByRecency(inner, DAY),
        lambda inner: Filtered(inner, lambda _: True, "everything"),
    ],
)
async def test_a_selection_that_failed_is_no_selection(made: object) -> None:
    failing = Given([], ModelFailed("toy", "it is asleep"))

    with pytest.raises(ModelFailed):
        await made(failing).select(asking("q"), ListedSources())  # type: ignore[operator]


@pytest.mark.parametrize("most", [-1, 1.5, True])
def test_a_limit_is_a_number_from_0(most: int) -> None:
    with pytest.raises(InvalidFilter):
        Limited(SEVERAL, most)


@pytest.mark.parametrize("half_after", [0, -1, 0.5])
def test_a_half_life_is_a_time(half_after: int) -> None:
    with pytest.raises(InvalidFilter):
        WeighedByRecency(SEVERAL, half_after)
