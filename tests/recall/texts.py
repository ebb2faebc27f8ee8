"""Records and questions made of a few words, for what must hold of every ranking."""

from collections.abc import Sequence

from hypothesis import strategies as st

from memoranda.recall.bm25 import Candidate, Statistics
from memoranda.text import speaker_of, terms

WORDS = ("refund", "march", "invoice", "anna", "boris", "late", "train", "고객", "환불", "3.14")
HOUR = 3_600_000


def candidate(
    id: str,
    text: str,
    *,
    seq: int = 0,
    at: int = 0,
    place: int = 0,
    thread: str | None = None,
) -> Candidate:
    found = terms(text)
    return Candidate(id, seq, at, found.counts, found.length, place, thread, speaker_of(text))


def statistics(candidates: Sequence[Candidate]) -> Statistics:
    frequencies: dict[str, int] = {}
    for one in candidates:
        for token in one.counts:
            frequencies[token] = frequencies.get(token, 0) + 1
    return Statistics(len(candidates), sum(one.length for one in candidates), frequencies)


texts = st.lists(st.sampled_from([*WORDS, "anna:", "boris:"]), min_size=1, max_size=8).map(" ".join)


@st.composite
def records(draw: st.DrawFn) -> list[Candidate]:
    """Records of two threads and of none, some at the same time."""
    said = draw(st.lists(texts, max_size=12))
    threads = draw(
        st.lists(st.sampled_from(["a", "b", None]), min_size=len(said), max_size=len(said))
    )
    return [
        candidate(
            f"r{place}", text, seq=place, at=place // 2 * (HOUR // 2), place=place, thread=thread
        )
        for place, (text, thread) in enumerate(zip(said, threads, strict=True))
    ]


questions = st.lists(st.sampled_from([*WORDS, "what", "in March 2023", "did"]), max_size=5).map(
    " ".join
)
