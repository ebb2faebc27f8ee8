"""A reason repeats words of the question that the record has, and nothing of its neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode

WORDS = ("apple", "bread", "cider", "dates", "elder", "figs")

texts = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([0, 1, 2_000_000, 4_000_000]),
    ),
    max_size=12,
)


@pytest.mark.rule("GOV-FORGET")
@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
def test_a_reason_has_only_words_that_the_record_itself_has(
    said: list[tuple[str, str | None, int]], words: list[str]
) -> None:
    at = 0
    documents = []
    for number, (text, thread, later) in enumerate(said):
        at += later
        documents.append(of_text(f"r{number:02}", number, text, at, thread))
    threads = {one.thread: [two.id for two in documents if two.thread == one.thread]
               for one in documents}  # fmt: skip
    thread_of = {one.id: one.thread for one in documents}

    for found in Corpus(documents).find(RankingMode.CONTEXT, asked(" ".join(words)), limit=None):
        own = said[int(found.id[1:])][0].split()
        shown = found.reason.readable(created_at=found.created_at)
        assert [word for word in WORDS if word in shown] == [
            word for word in WORDS if word in own and word in found.reason.matched
        ]
        in_thread = threads[thread_of[found.id]]
        for distance in found.reason.next_to:
            near = in_thread[in_thread.index(found.id) + distance]
            assert set(said[int(near[1:])][0].split()) & set(words)
