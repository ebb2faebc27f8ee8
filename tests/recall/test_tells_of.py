"""A reason names the records whose words it repeats: all of them, and no others."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.asking import asked
from recollect.recall.corpus import Corpus, of_text
from recollect.recall.ranking import Mode

WORDS = ("apple", "bread", "cider", "dates", "elder", "figs")

texts = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([0, 1, 2_000_000, 4_000_000]),
    ),
    max_size=12,
)


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
def test_a_word_nearby_stands_in_the_record_that_is_named_so_far_away(
    said: list[tuple[str, str | None, int]], words: list[str]
) -> None:
    at = 0
    documents = []
    for number, (text, thread, later) in enumerate(said):
        at += later
        documents.append(of_text(f"r{number:02}", number, text, at, thread))
    by_id = {one.id: one for one in documents}
    threads = {one.thread: [two.id for two in documents if two.thread == one.thread]
               for one in documents}  # fmt: skip

    for found in Corpus(documents).find(Mode.CONTEXT, asked(" ".join(words)), limit=None):
        own, told = by_id[found.id], []
        for near in found.reason.nearby:
            (other,) = near.ids
            assert near.word in said[int(other[1:])][0].split()
            assert by_id[other].thread == own.thread is not None
            beside = threads[own.thread]
            assert beside.index(other) - beside.index(own.id) == near.distance != 0
            told.append(other)
        assert found.reason.tells_of == tuple(dict.fromkeys(told))
