"""The next version of an ordinary object is written piece by piece, and is like any other."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.about import said_of_new
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.provenance import of_new
from memoranda.kernel.clock import Randomness
from memoranda.ledger import passages
from memoranda.ledger.unit import Current, Draft
from memoranda.records.table import Content, Note, Row
from memoranda.testkit.strategies import json_values

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
TIMES = st.integers(0, 250_000_000_000_000)
TAGS = st.none() | st.lists(TEXTS).map(tuple)
ACTORS = st.sampled_from(["human:kim", "agent:support"])


def drafts(scope: str) -> Drafts:
    """Such that two of them draw the same."""
    numbers = count()
    return Drafts(scope, Randomness(lambda size: bytes(next(numbers) % 256 for _ in range(size))))


class General(Drafts):
    """Writes every version by its document."""

    def _is_ordinary(self, before: Any) -> bool:
        del before
        return False


def current(draft: Draft) -> Current:
    assert draft.version is not None
    return Current(*draft.version, draft.body)


@given(
    scope=TEXTS,
    id=TEXTS,
    first=json_values(),
    then=json_values(),
    tags=st.tuples(TAGS, TAGS),
    times=st.tuples(TIMES, TIMES, TIMES, TIMES),
    actors=st.tuples(ACTORS, ACTORS),
    reasons=st.tuples(st.none() | TEXTS, st.none() | TEXTS),
)
def test_it_has_the_bytes_of_the_document_that_follows(
    *,
    scope: str,
    id: str,
    first: Any,
    then: Any,
    tags: tuple[Any, Any],
    times: tuple[int, int, int, int],
    actors: tuple[str, str],
    reasons: tuple[str | None, str | None],
) -> None:
    made: list[list[Draft]] = []
    for kind in (Drafts, General):
        writes = drafts(scope)
        writes.__class__ = kind
        content = Content(canonical_bytes(first), tags[0], None)
        row = Row(id, times[0], times[1], content)
        new = current(writes.created(row, Note(actors[0], times[2], reasons[0])))
        after = Content(canonical_bytes(then), tags[1], None)
        note = Note(actors[1], times[3], reasons[1])
        edited = writes.edited(new, decode(new.body), after, note)
        replaced = writes.replaced(current(edited), content, note, said_of_new({}))
        gone = writes.invalidated(
            current(replaced), note._replace(reason="it is over"), "user_request"
        )
        made.append([edited, replaced, gone])

    quick, general = ([draft._replace(first=None) for draft in some] for some in made)
    assert quick == general
    for draft in made[0]:
        assert draft.first is not None
        assert draft.first.shorthand == passages.pack(draft.body)
        assert passages.unpack(draft.first.shorthand) == draft.body


@pytest.mark.parametrize(
    "about",
    [
        {"source": "https://example.org"},
        {"subject": "kim"},
        {"valid_from": 1},
        {"thread": "t"},
        {"indexed": False},
        {"embed": []},
        {"applicability_scope": None},
        {"statement_type": "DerivedStatement", "source": "a:b"},
        {"meta": {"a": 1}},
    ],
)
def test_what_is_said_of_an_object_makes_it_no_ordinary_one(about: dict[str, Any]) -> None:
    writes = drafts("s")
    said = said_of_new(about)
    meta = canonical_bytes(about["meta"]) if "meta" in about else None
    row = Row("a", 1, 1, Content(b'"text"', None, meta))
    new = current(writes.created(row, Note("human:kim", 1, None), of_new(said)))

    then = Content(b'"another"', None, meta)
    edited = writes.edited(new, decode(new.body), then, Note("human:kim", 2, None))

    assert edited.first is None
    members = {"subject", "thread", "indexed", "embed", "meta", "applicability_scope"}
    for name in members & about.keys():
        assert decode(edited.body)[name] == about[name]
