"""Words and meaning in one order: readable, honest about what failed, never silently half."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import CapabilityMissing, InvalidFilter, ModelFailed, StoreUnavailable
from memoranda.recall.hybrid import Hybrid, above_the_last, depth_of, together
from memoranda.recall.selector import Chosen
from tests.journeys.embeddings.conftest import asking
from tests.journeys.embeddings.listing import ListedSources


def by_words(id: str, score: float, confidence: float = 0.3) -> Chosen:
    return Chosen(f'matched "{id}"', confidence, id, score=score)


def by_meaning(id: str, similarity: float) -> Chosen:
    reason = f"near in meaning ({similarity:.2f}); 2 days before"
    return Chosen(reason, similarity / 10, id, score=similarity, seq=7)


async def test_what_both_found_says_both() -> None:
    sources = ListedSources([by_words("refund", 9.0)], [by_meaning("refund", 0.831)])

    found = await Hybrid().select(asking("refund"), sources)

    (one,) = found.chosen
    assert one.reason == 'matched "refund"; near in meaning (0.83)'
    assert one.confidence == 0.3
    assert one.seq == 7
    assert found.notes == ()


async def test_what_only_one_found_says_that() -> None:
    sources = ListedSources([by_words("a", 9.0)], [by_meaning("b", 0.6), by_meaning("c", 0.5)])

    found = await Hybrid().select(asking("refund"), sources)

    assert [(one.id, one.reason) for one in found.chosen] == [
        ("a", 'matched "a"'),
        ("b", "near in meaning (0.60); 2 days before"),
        ("c", "near in meaning (0.50); 2 days before"),
    ]
    assert [one.confidence for one in found.chosen] == [0.3, 0.06, 0.05]


async def test_near_in_meaning_decides_where_words_are_close() -> None:
    words = [by_words("a", 9.0), by_words("b", 8.9), by_words("c", 1.0)]
    near = [by_meaning("c", 0.9), by_meaning("b", 0.8), by_meaning("d", 0.1)]

    found = await Hybrid().select(asking("refund"), ListedSources(words, near))

    assert [one.id for one in found.chosen] == ["b", "a", "c", "d"]


LISTS = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 10), min_size=1)


@given(LISTS, LISTS)
def test_a_lead_of_more_than_a_ninth_is_never_overturned(
    words: dict[str, float], near: dict[str, float]
) -> None:
    found = [
        str(one.id)
        for one in together(
            [by_words(id, score) for id, score in words.items()],
            [by_meaning(id, score) for id, score in near.items()],
        )
    ]

    best = max(words.values())
    for ahead, score in words.items():
        for behind in found:
            if score - words.get(behind, 0) > best / 9 * 1.000001:
                assert found.index(ahead) < found.index(behind)
    assert set(found) == {*words, *near}


@given(LISTS)
def test_without_the_one_list_the_order_is_that_of_the_other(scores: dict[str, float]) -> None:
    order = sorted(scores, key=lambda id: (-scores[id], id))
    alone = together([by_words(id, score) for id, score in scores.items()], [])

    assert [one.id for one in alone] == order
    lowest = min(scores.values())
    near = [by_meaning(id, score) for id, score in scores.items()]
    meant = [str(one.id) for one in together([], near)]
    assert sorted(meant) == sorted(scores)
    assert [id for id in meant if scores[id] > lowest] == [
        id for id in order if scores[id] > lowest
    ]


def test_similarities_count_from_the_lowest_of_the_list() -> None:
    assert above_the_last([("a", 0.75), ("b", 0.5)]) == [("a", 0.25), ("b", 0.0)]
    assert above_the_last([("a", 0.5), ("b", 0.5)]) == [("a", 1.0), ("b", 1.0)]
    assert above_the_last([]) == []


async def test_an_embedder_that_fails_leaves_the_words_and_a_note() -> None:
    failure = ModelFailed("toy/1", "it is asleep")
    sources = ListedSources([by_words("a", 1.0)], failure=failure, notes=["so it goes"])

    found = await Hybrid().select(asking("refund"), sources)

    assert [one.id for one in found.chosen] == ["a"]
    assert found.notes == ("so it goes", f"found by words alone: {failure}")


async def test_without_an_embedder_there_is_no_such_selector() -> None:
    with pytest.raises(CapabilityMissing):
        await Hybrid().select(
            asking("refund"), ListedSources(failure=CapabilityMissing("embeddings"))
        )


async def test_a_store_that_fails_is_no_embedder_that_fails() -> None:
    with pytest.raises(StoreUnavailable):
        await Hybrid().select(
            asking("refund"), ListedSources(failure=StoreUnavailable("db", "it is gone"))
        )


@pytest.mark.parametrize(
    ("missing", "note"),
    [(1, "1 record has no embedding yet"), (9, "9 records have no embedding yet")],
)
async def test_what_has_no_embedding_yet_is_said(missing: int, note: str) -> None:
    found = await Hybrid().select(asking("refund"), ListedSources(missing=missing))

    assert found == ([], [], (note,))


async def test_of_what_was_known_then_there_are_words_only() -> None:
    sources = ListedSources([by_words("a", 1.0)], [by_meaning("b", 1.0)])

    found = await Hybrid().select(asking("refund", as_of=7), sources)

    assert [one.id for one in found.chosen] == ["a"]
    assert found.notes == ("found by words alone: embeddings are kept of what is current only",)
    assert sources.asked == [("context", 50)]


async def test_what_is_not_sure_enough_is_left_out_and_what_is_below_the_line_is_told() -> None:
    words = [by_words(f"w{n}", 10 - n) for n in range(9)]
    sources = ListedSources(words, [by_meaning("near", 0.9)])

    found = await Hybrid().select(asking("refund", top_k=2, min_confidence=0.2), sources)

    assert [one.id for one in found.chosen] == ["w0", "w1"]
    assert [one.id for one in found.below] == ["w2", "w3", "w4"]


async def test_both_lists_are_looked_at_deeper_than_asked() -> None:
    sources = ListedSources()

    await Hybrid().select(asking("refund", top_k=20), sources)

    assert sources.asked == [("nearest", 100), ("context", 100)]
    assert [depth_of(top_k) for top_k in (0, 1, 10, 11)] == [0, 50, 50, 55]


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_is_a_part(weight: float) -> None:
    with pytest.raises(InvalidFilter):
        Hybrid(weight)
