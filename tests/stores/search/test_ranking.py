"""A store ranks as the definition does: to the last bit, however far its index was brought."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.govern.objects import Remembered
from memoranda.kernel.clock import Randomness, SystemClock, TimeOrderedIds
from memoranda.kernel.errors import InvalidPatch, RecordError
from memoranda.ledger.derive import asks
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Scored, Statistics
from memoranda.recall.columns import GAP
from memoranda.recall.index import EVERYTHING
from memoranda.recall.question import ParsedQuestion, asked
from memoranda.recall.ranking import RankingMode, seeds_for
from memoranda.records.filter import MemoryFilter
from memoranda.testkit.strategies import FrozenClock, shared_fixtures
from memoranda.text import speaker_of, terms, terms_of, texts
from tests.handles import inside
from tests.handles import verb as verb_of
from tests.recall.oracle import Candidate, ranked, total_length
from tests.stores.search.conftest import Opens, merge, merge_all, merge_segments

WORDS = [
    "refund",
    "train",
    "march",
    "Anna:",
    "boris:",
    "고객은",
    "고객센터",
    "東京都",
    "v2.10",
    "the",
]
QUESTIONS = [
    "refund",
    "Anna's train in March 2023",
    "고객센터 refund",
    "東京 v2.10",
    "the",
    "boris",
    "",
]

text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
said = st.one_of(
    text,
    st.builds(lambda one, who: {"text": one, "speaker": who}, text, st.sampled_from(["Anna", 7])),
)
number = st.integers(0, 30)
outright = st.sampled_from(
    [
        {},
        {},
        {"thread": "talk:1"},
        {"thread": "talk", "speaker": "Boris the Third"},
        {"said_at": 1_679_000_000_000, "thread": "talk"},
        {"said_at": 1_679_000_000_000 + GAP // 2, "thread": "talk"},
        {"said_at": 5},
        {"indexed": False},
    ]
)
remember = st.tuples(
    st.just("remember"),
    said,
    st.sampled_from(["talk:1", "talk:1", "talk:2", None]),
    st.sampled_from([0, 1, GAP // 2, GAP + 1, -GAP]),
    st.sets(st.sampled_from(["a", "b"])),
    outright,
)
merging = st.tuples(st.just("merge"), st.sampled_from([1, 2, 5, 9]))
change = st.one_of(
    st.tuples(st.just("update"), number, said, outright),
    st.tuples(st.just("forget"), number),
    st.tuples(st.just("erase"), number),
    remember,
)
later = st.one_of(
    change,
    change,
    st.tuples(st.just("reinstate"), number),
    merging,
    st.tuples(st.just("segments")),
    st.tuples(st.just("reindex")),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Some objects, of which an index has a part, and what becomes of them then."""
    first = draw(st.lists(st.one_of(remember, remember, remember, merging), min_size=10))
    return [*first, ("merge", draw(st.integers(1, 20))), *draw(st.lists(later, min_size=6))]


withins = st.sampled_from(
    [
        EVERYTHING,
        MemoryFilter(tags=("a",)),
        MemoryFilter(tags=("a", "b")),
        MemoryFilter(created_after=0, created_before=10**13),
        MemoryFilter(tags=("b",), created_before=1_000),
        MemoryFilter(tags=("\x00",)),
    ]
)


async def take(memory: Memory[Any], clock: FrozenClock, ids: list[str], made: Any) -> None:
    """One step in the life of a memory; what can't be done to an object is not done."""
    match made:
        case ("remember", words, source, passes, tags, about):
            clock.advance(passes)
            kept = await memory.remember(words, source=source, tags=sorted(tags), **about)
            ids.append(kept.id)
        case ("merge", entries):
            await merge(memory, entries)
        case ("segments",):
            await merge_segments(memory)
        case ("reindex",):
            await memory.maintain.reindex()
        case ("update", number, words, about) if ids:
            with suppress(RecordError, InvalidPatch):
                await memory.update(ids[number % len(ids)], words, **about)
        case (verb, number) if ids:
            with suppress(RecordError):
                await verb_of(memory, verb)(ids[number % len(ids)], reason="a test")


# -------------------------------------------------------------------------- the definition


class Defined(NamedTuple):
    """All that is active, as the definition of the rankings sees it."""

    candidates: list[Candidate]
    statistics: Statistics
    tags: dict[str, set[str]]
    created: dict[str, int]

    @classmethod
    async def of(cls, memory: Memory[Any]) -> "Defined":
        found = [
            (one, await inside(memory).ledger.versions(one.id))
            for one in await memory.list(include=["expired", "false"])
            if one.is_indexed
        ]
        found.sort(key=lambda pair: (cls.said_at(pair[0]), pair[1][-1].seq))
        places: dict[str | None, int] = {}
        candidates = []
        for one, versions in found:
            first = decode(versions[0].body or b"")["source_refs"]  # it stays in its thread
            thread = one.thread or (first[0]["uri"] if first else None)
            places[thread] = places.get(thread, 0) + 1
            data = one.data
            who = data.get("speaker") if isinstance(data, dict) else None
            speaker = (
                speaker_of(data)
                if isinstance(data, str)
                else frozenset(terms(who).counts)
                if isinstance(who, str)
                else frozenset[str]()
            )
            speaker = speaker if one.speaker is None else frozenset(terms(one.speaker).counts)
            counted = terms_of(data)
            seq = versions[-1].seq
            candidates.append(
                Candidate(
                    one.id, seq, cls.said_at(one), counted.counts, counted.length, places[thread],
                    thread, speaker, asks("\n".join(texts(data))),
                )
            )  # fmt: skip
        frequencies: dict[str, int] = {}
        for candidate in candidates:
            for token in candidate.counts:
                frequencies[token] = frequencies.get(token, 0) + 1
        length = total_length(candidate.length for candidate in candidates)
        statistics = Statistics(len(candidates), length, frequencies)
        tags = {one.id: set(one.tags) for one, _ in found}
        return cls(candidates, statistics, tags, {one.id: one.created_at for one, _ in found})

    @staticmethod
    def said_at(one: Remembered[Any]) -> int:
        return one.created_at if one.said_at is None else one.said_at

    def within(self, within: MemoryFilter) -> list[Candidate]:
        return [
            one
            for one in self.candidates
            if self.tags[one.id].issuperset(within.tags or ())
            and (within.created_after is None or self.created[one.id] >= within.created_after)
            and (within.created_before is None or self.created[one.id] <= within.created_before)
        ]

    def ranked(
        self, mode: RankingMode, wanted: ParsedQuestion, limit: int, within: MemoryFilter
    ) -> list[Scored]:
        looked_at = self.within(within)
        return ranked(
            mode, wanted, looked_at, self.statistics, among=seeds_for(limit), scope=self.candidates
        )

    def hits(self, mode: RankingMode, wanted: ParsedQuestion, within: MemoryFilter) -> int:
        by = RankingMode.KEYWORD if mode is RankingMode.KEYWORD else RankingMode.FULL_TEXT
        return len(ranked(by, wanted, self.within(within), self.statistics))


def made(current: Current, scored: Scored) -> tuple[str, Scored]:
    return current.id, scored


async def check(
    memory: Memory[Any], questions: Sequence[str], limit: int, within: MemoryFilter
) -> None:
    defined = await Defined.of(memory)
    ledger: Any = inside(memory).ledger
    size = (await ledger.head()).size
    for question in questions:
        wanted = asked(question, at=1_690_000_000_000)
        for mode in RankingMode:
            ranking = await ledger.rank(mode, wanted, made, limit=limit, below=2, within=within)
            expected = defined.ranked(mode, wanted, limit, within)
            assert ranking.made == [(one.id, one) for one in expected[:limit]]
            assert ranking.below == expected[limit : limit + 2]
            assert ranking.hits == defined.hits(mode, wanted, within)
            assert ranking.size == size


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks, segments and seeds of a few: what takes a million records happens with thirty."""
    monkeypatch.setattr("memoranda.stores.postings.CHUNK", 3)
    monkeypatch.setattr("memoranda.stores.postings.FANOUT", 2)
    monkeypatch.setattr("memoranda.stores.merge.CHUNKS_AT_ONCE", 3)
    monkeypatch.setattr("memoranda.stores.tail.AT_ONCE", 3)
    monkeypatch.setattr("memoranda.stores.documents.BLOCK_BITS", 2)
    monkeypatch.setattr("memoranda.stores.documents._PLACE", 3)
    monkeypatch.setattr("memoranda.recall.ranking.SEEDS", 4)


@pytest.mark.usefixtures("in_small")
@settings(shared_fixtures, max_examples=25)
@given(
    steps=histories(),
    questions=st.lists(st.sampled_from(QUESTIONS), min_size=2, max_size=3, unique=True),
    limit=st.integers(0, 6),
    within=withins,
)
async def test_a_store_ranks_as_the_definition_does(
    opens: Opens, steps: list[Any], questions: list[str], limit: int, within: MemoryFilter
) -> None:
    clock, ids = FrozenClock(), list[str]()
    scope = TimeOrderedIds(SystemClock(), Randomness()).new_id()
    async with opens(scope, clock=clock) as memory:
        for one in steps:
            await take(memory, clock, ids, one)
        await check(memory, questions, limit, within)
        assert (await memory.verify()).report.damages.found == []
        await merge_all(memory)
        await check(memory, questions, limit, within)
        assert (await memory.verify()).report.damages.found == []


@pytest.mark.usefixtures("in_small")
@pytest.mark.parametrize("settled", [512, 0], ids=["as they come", "in order"])
async def test_what_stands_around_a_hit_is_what_is_active_now(
    opens: Opens, monkeypatch: pytest.MonkeyPatch, settled: int
) -> None:
    """Neighbours that go, come and change before they are merged count as if they had been."""
    monkeypatch.setattr("memoranda.recall.columns.SETTLED", settled)
    clock = FrozenClock()
    async with opens(clock=clock) as memory:
        ids = []
        for n in range(14):
            clock.advance(1)
            said = "Anna: refund" if n in {5, 13} else f"boris: filler {n}"
            tags = ["a"] if n % 2 else []
            ids.append((await memory.remember(said, source="talk:1", tags=tags)).id)
        await merge_all(memory)
        for n in (6, 7, 3):
            await memory.forget(ids[n], reason="a test")
        await memory.update(ids[4], "Anna: another word")
        await memory.update(ids[8], "boris: refund of the train")
        clock.advance(1)
        await memory.remember("boris: the last", source="talk:1", tags=["a"])

        for limit in (1, 5, 20):
            for within in (EVERYTHING, MemoryFilter(tags=("a",))):
                await check(memory, ["refund", "boris refund train"], limit, within)
        ledger: Any = inside(memory).ledger
        ranking = await ledger.rank(RankingMode.CONTEXT, asked("refund"), made, limit=20)
        assert len(ranking.made) > ranking.hits, "neighbours are found"


@pytest.mark.usefixtures("in_small")
async def test_nothing_is_lost_while_segments_are_merged(opens: Opens) -> None:
    async with opens() as memory:
        for n in range(12):
            words = " ".join(WORDS[n % 7 : n % 7 + 1 + n % 5])
            await memory.remember(f"{words} n{n} m{n % 3}", source="talk:1")
            await merge(memory, 1)
        await merge_all(memory)
        steps = 0
        while await merge_segments(memory):
            steps += 1
            assert (await memory.verify()).report.damages.found == []
        await check(memory, ["refund m1", "n7 train"], 5, EVERYTHING)
        assert steps > 2, "it takes several"
