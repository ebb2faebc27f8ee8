"""What matching means, by examples and against an independent definition; and the index's forms."""

import re
from collections.abc import Sequence
from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.plans.items import GRAM, Match, MemoryItem, match, ranked, terms
from memoranda.stores.items import asked
from memoranda.testkit.items.opening import asked_sessions, at, item, keywords, queries
from memoranda.text import fold

# Without marks: these are in no example below, and `\w` is an independent word on the rest.
PLAIN = ("메모리", "메모", "c++", "C", "C++11", "api", "API key", "_x", "3.11", "🦜", "É", "++")


@pytest.mark.rule("ING-MATCH")
@pytest.mark.parametrize(
    ("keyword", "query", "expected"),
    [
        ("memory", "memory", Match(1, 1)),
        ("Memory", "my MEMORY!", Match(1, 1)),
        ("memory", "memory's", Match(1, 1)),
        ("memor", "memory", Match(0, 1)),
        ("emory", "memory", Match(0, 1)),
        ("memory", "memory_", Match(0, 1)),
        ("memory", "in-memory", Match(1, 1)),
        ("memory", "memory2", Match(0, 1)),
        ("memory", "memory2 memory", Match(1, 1)),
        ("memory", "mem ory", Match(0, 0)),
        ("메모리", "메모리를 지워", Match(1, 1)),
        ("메모리", "메모리에서는", Match(1, 1)),
        ("메모리에서", "메모리에서는", Match(1, 1)),
        ("메모리", "메모리입니다.", Match(1, 1)),
        ("메모리", "메모리을", Match(0, 1)),  # 을 stands behind consonants only
        ("메모리", "메모리카드", Match(0, 1)),
        ("메모리", "메모리카드를", Match(0, 1)),
        ("메모리", "메모리를2", Match(0, 1)),
        ("메모리", "장기메모리를", Match(0, 1)),
        ("장기 메모리", "장기 메모리를", Match(1, 1)),
        ("물", "물은?", Match(1, 1)),
        ("온", "온도", Match(0, 1)),
        ("API", "api는 뭐죠", Match(1, 1)),
        ("c++", "c++를", Match(1, 1)),
        ("15:00", "15:00에", Match(1, 1)),
        ("서버", normalize("NFD", "서버에서"), Match(1, 1)),
        ("메모리", "메모리 지워", Match(1, 1)),
        ("메모리", "장기 메모리", Match(1, 1)),
        ("메모리", "장기메모리", Match(0, 1)),
        ("메모리", normalize("NFD", "메모리"), Match(1, 1)),
        ("모", normalize("NFD", "몽"), Match(0, 0)),
        ("c++", "C++", Match(1, 1)),
        ("c++", "use c++.", Match(1, 1)),
        ("c++", "c+++", Match(1, 1)),
        ("c++", "c++11", Match(0, 1)),
        ("c++", "objc++", Match(0, 1)),
        ("c", "c++", Match(1, 1)),
        ("🦜", "🦜🦜", Match(1, 1)),
        ("❤", "❤️", Match(1, 1)),
        ("हिन्द", "हिन्दी", Match(0, 1)),
        ("x", "x̃", Match(0, 1)),
        ("STRASSE", "straße", Match(1, 1)),
        ("api", "\uff21\uff30\uff29", Match(1, 1)),
        ("aa", "aaa aa", Match(1, 1)),
        ("aba", "ababa", Match(0, 1)),
    ],
)
def test_a_keyword_and_a_query(keyword: str, query: str, expected: Match) -> None:
    assert match([keyword], query) == expected


@pytest.mark.rule("ING-MATCH")
def test_keywords_that_fold_to_the_same_count_once() -> None:
    assert match(["Memory", "MEMORY", normalize("NFD", "기억"), "기억"], "memory 기억") == (2, 2)
    assert match([], "memory") == (0, 0)


@pytest.mark.rule("ING-MATCH")
@given(
    words=st.lists(st.sampled_from(PLAIN), max_size=5),
    parts=st.lists(st.sampled_from((*PLAIN, " ", "를", "-", "s", "1", ".")), max_size=8),
)
def test_matching_is_what_look_arounds_say(words: Sequence[str], parts: Sequence[str]) -> None:
    query = "".join(parts)
    text = normalize("NFC", query.casefold())
    distinct = {normalize("NFC", word.casefold()) for word in words}

    # Of all words only 메모리 may stand before the one particle that occurs here.
    bounded = [
        w
        for w in distinct
        if re.search(rf"(?<!\w){re.escape(w)}(?!\w)", text)
        or (w != "메모" and re.search(rf"(?<!\w){re.escape(w)}를(?!\w)", text))
    ]
    occurring = [w for w in distinct if w in text]
    assert match(words, query) == (len(bounded), len(occurring))


@pytest.mark.rule("ING-MATCH")
@given(session=asked_sessions("s1"), top_k=st.integers(0, 9), data=st.data())
def test_the_order_is_total_and_that_of_the_rule(
    session: tuple[Sequence[MemoryItem], Sequence[str]], top_k: int, data: st.DataObject
) -> None:
    items, (query, *_) = session
    found = ranked(items, query, top_k)
    shuffled = data.draw(st.permutations(items))

    assert ranked(shuffled, query, top_k) == found
    keys = [(match(one.keywords, query), one.timestamp, one.id) for one in found]
    for (before, time, id), (after, next_time, next_id) in pairwise(keys):
        assert (before, time) > (after, next_time) or (
            (before, time) == (after, next_time) and id < next_id
        )
    everything = ranked(items, query, len(items))
    assert found == everything[:top_k]
    missed = [one for one in items if one not in everything]
    said = {one.summary for one in everything}
    assert len(said) == len(everything)
    assert all(one.summary in said or not match(one.keywords, query).in_all for one in missed)


@pytest.mark.rule("ING-MATCH")
def test_words_with_particles_count_as_words() -> None:
    three = item("s1", "메모리", "이메일", "서버", timestamp=at(0))
    one = item("s1", "api", timestamp=at(9))
    two = item("s1", "api", "beta", timestamp=at(8))

    query = "메모리를 이메일로 서버에서 api 볼까"
    assert ranked([one, two, three], query, 1) == [three]


@pytest.mark.rule("ING-MATCH")
def test_of_equal_summaries_only_the_newest_is_found() -> None:
    old, new = (item("s1", "api", summary="Same.", timestamp=at(n)) for n in (0, 9))
    other = item("s1", "api", summary="Other.", timestamp=at(5))

    assert ranked([old, new, other], "api", 2) == [new, other]


@pytest.mark.rule("ING-MATCH")
def test_two_keywords_as_parts_do_not_outweigh_one_as_a_word() -> None:
    word = item("s1", "메모리", timestamp=at(0))
    parts = item("s1", "메모", "모리", "장기", timestamp=at(9))

    assert ranked([parts, word], "메모리 장기간", 2) == [word, parts]


# ------------------------------------------------------------- the forms that databases compare


@pytest.mark.rule("ING-MATCH")
@given(words=st.lists(keywords(), max_size=6), query=queries())
def test_databases_that_compare_the_three_forms_count_as_the_definition_does(
    words: Sequence[str], query: str
) -> None:
    grams, folded, marked, before = asked(query)
    looked_at = [term for term in terms(words) if term.gram in set(grams)]
    occurring = [term for term in looked_at if term.folded in folded]

    bounded = [
        term
        for term in occurring
        if term.marked in marked or any(one.endswith(term.marked) for one in before)
    ]
    assert Match(len(bounded), len(occurring)) == match(words, query)


@given(st.text(), st.text())
def test_so_they_do_for_any_text(keyword: str, query: str) -> None:
    if not fold(keyword):
        return
    for text in (query, query + keyword, keyword + query, f"{query} {keyword}\u0000{query}"):
        grams, folded, marked, before = asked(text)
        (term,) = terms([keyword])
        if "\u0000" in keyword:
            continue
        is_found = term.gram in set(grams) and term.folded in folded
        is_bounded = term.marked in marked or any(one.endswith(term.marked) for one in before)
        assert Match(int(is_found and is_bounded), int(is_found)) == match([keyword], text)


@given(queries())
def test_a_query_is_looked_up_by_few_grams_and_by_texts_that_databases_take(query: str) -> None:
    grams, folded, marked, before = asked(query)

    assert len(set(grams)) == len(grams) <= GRAM * len(folded)
    for text in (*grams, folded, marked, *before):
        assert "\u0000" not in text
        text.encode()


@pytest.mark.rule("ING-KEYWORDS")
@given(st.lists(keywords(), max_size=6))
def test_what_is_indexed_are_the_keywords_and_no_others(words: Sequence[str]) -> None:
    assert {term.folded for term in terms(words)} == {fold(word) for word in words}
