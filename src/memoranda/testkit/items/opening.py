"""The one thing that a store's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol
from unicodedata import normalize

import pytest
from hypothesis import strategies as st

from memoranda.kernel.clock import Randomness, format_time, random_uuid
from memoranda.plans.items import ItemStore, MemoryItem
from memoranda.testkit import fresh_scope


class OpenItems(Protocol):
    """Opens the items of one session in one scope: what the fixture `open_items` gives.

    Handles on one session see the same items, at once and one after the other; handles on two
    sessions, or on the same session of two scopes, see nothing of each other. Scopes are always
    new: the database may be shared by all tests.
    """

    def __call__(self, scope: str, session_ref: str) -> AbstractAsyncContextManager[ItemStore]:
        """A handle on the session, open inside `async with`."""
        ...


@pytest.fixture
def session_ref() -> str:
    """The session of this test."""
    return fresh_scope()


@pytest.fixture
async def items(open_items: OpenItems, scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
    """A handle on the session of this test."""
    async with open_items(scope, session_ref) as opened:
        yield opened


@pytest.fixture
async def twin(open_items: OpenItems, scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
    """A second handle on the session of this test."""
    async with open_items(scope, session_ref) as opened:
        yield opened


@pytest.fixture
async def stranger(open_items: OpenItems, scope: str) -> AsyncIterator[ItemStore]:
    """A handle on another session of the same scope."""
    async with open_items(scope, f"another than {scope}") as opened:
        yield opened


# ------------------------------------------------------------------------------------------------
# Words that the tests share: an item to give, and random items and queries.

START: Final = 1_790_000_000_000

_RANDOMNESS: Final = Randomness()

WORDS: Final = (
    "메모리", "메모", "장기메모리", "모리", "한", "대한민국", "ㅋㅋ", "記憶", "メモリ",
    "c++", "C", "c#", "C++11", ".net", "++", "node.js", "api", "API key", "apiary", "_private",
    "3", "3.11", "42", "straße", "STRASSE", "É", "résumé", "İstanbul", "ﬁle", "\uff21\uff30\uff29",
    "🦜", "👍", "👍🏽", "❤", "❤️", "👩‍💻", "x̃", "x", "हिन्दी", "हिन्द", "new york",
    "it's", "it\u2019s",
)  # fmt: skip
"""What keywords and queries are made of: each is a part of another one, or looks like it."""

BETWEEN: Final = ("", " ", "", " ", "-", "+", ".", "_", "를", "은 ", "s", "\n", "\u00ad", "\u0301")


def item(session_ref: str, *keywords: str, **members: object) -> MemoryItem:
    """An item of a session; what does not matter is the same for all, but for id and summary."""
    id = new_id()
    return MemoryItem.model_validate(
        {
            "id": id,
            "sessionRef": session_ref,
            "timestamp": at(0),
            "summary": f"They talked about {id}.",
            "keywords": list(keywords),
            **members,
        }
    )


def new_id() -> str:
    """An id that was never used."""
    return random_uuid(_RANDOMNESS)


def at(minute: int) -> str:
    """So many minutes after some moment, as a timestamp."""
    return format_time(START + minute * 60_000)


async def save_all(store: ItemStore, *items: MemoryItem) -> None:
    """Save the items, one after the other."""
    for each in items:
        await store.save(each)


async def found(store: ItemStore, query: str, top_k: int = 1_000) -> list[str]:
    """The ids of what a query finds, in its order."""
    return [each.id for each in await store.search(query, top_k)]


# ---------------------------------------------------------------------------- at random


def _spelt(word: str) -> st.SearchStrategy[str]:
    """A word as somebody may type it: composed or not, in any case."""
    forms = (word, word.upper(), word.lower(), normalize("NFD", word), normalize("NFC", word))
    return st.sampled_from(forms)


def keywords(words: Sequence[str] = WORDS) -> st.SearchStrategy[str]:
    """A keyword: one of the words, or two of them joined."""
    spelt = st.sampled_from(words).flatmap(_spelt)
    return spelt | st.builds(lambda a, b: a + b, spelt, spelt)


def queries(words: Sequence[str] = WORDS) -> st.SearchStrategy[str]:
    """A query in which the words stand alone, run together, or follow anything else.

    A query may hold what no keyword can: U+0000, or half of a pair of surrogates.
    """
    spelt = st.sampled_from(words).flatmap(_spelt)
    between = st.sampled_from((*BETWEEN, "\u0000", "\ud83e")) | st.text(max_size=2)
    parts = st.lists(st.tuples(between, spelt), max_size=6)
    return st.builds(lambda pairs, end: "".join(a + b for a, b in pairs) + end, parts, between)


def sessions_items(
    session_ref: str, words: Sequence[str] = WORDS, max_size: int = 8
) -> st.SearchStrategy[Sequence[MemoryItem]]:
    """The items of a session: several are of the same moment, and several say the same."""
    strategy = st.builds(
        lambda given, minute, members: item(session_ref, *given, timestamp=at(minute), **members),
        st.lists(keywords(words), max_size=5),
        st.integers(0, 2),
        st.sampled_from(({}, {}, {}, {"summary": "They talked."})),
    )
    return st.lists(strategy, max_size=max_size)


def asked_sessions(
    session_ref: str,
) -> st.SearchStrategy[tuple[Sequence[MemoryItem], Sequence[str]]]:
    """The items of a session and some queries, of a few words: most queries find something."""
    pools = st.lists(st.sampled_from(WORDS), min_size=2, max_size=5)
    return pools.flatmap(
        lambda words: st.tuples(
            sessions_items(session_ref, words), st.lists(queries(words), min_size=1, max_size=5)
        )
    )
