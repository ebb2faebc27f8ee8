"""Records and questions made of a few words, for what must hold of every ranking."""

from collections.abc import Iterable

from hypothesis import strategies as st

from memoranda.recall.bm25 import Scored
from memoranda.recall.corpus import Corpus, Document, of_text
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode

WORDS = ("refund", "march", "invoice", "anna", "boris", "late", "train", "고객", "환불", "3.14")
HOUR = 3_600_000


def record(id: str, text: str, *, seq: int = 0, at: int = 0, thread: str | None = None) -> Document:
    return of_text(id, seq, text, at, thread)


def ranked(
    mode: RankingMode,
    wanted: ParsedQuestion,
    documents: Iterable[Document],
    limit: int | None = None,
) -> list[Scored]:
    """What is found among some records, the best first."""
    return Corpus(documents).find(mode, wanted, limit=limit)


texts = st.lists(st.sampled_from([*WORDS, "anna:", "boris:"]), min_size=1, max_size=8).map(" ".join)


@st.composite
def records(draw: st.DrawFn) -> list[Document]:
    """Records of two threads and of none, some at the same time, not all in the order of time."""
    said = draw(st.lists(texts, max_size=12))
    placed = st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 6))
    places = draw(st.lists(placed, min_size=len(said), max_size=len(said)))
    return [
        record(f"r{number}", text, seq=3 * number, at=time * (HOUR // 2), thread=thread)
        for number, (text, (thread, time)) in enumerate(zip(said, places, strict=True))
    ]


questions = st.lists(st.sampled_from([*WORDS, "what", "in March 2023", "did"]), max_size=5).map(
    " ".join
)
