"""Random JSON values, records and filters, for hypothesis, and how they are tried on a store.

Ids, tags and times are drawn from small pools, so that filters hit what records have and ties
are common. The pools are in disorder for a database that sorts by locale, by case or by UTF-16.
"""

from dataclasses import dataclass
from typing import Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from memoranda.kernel.json import MAX_INTEGER
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput

IDS: Final = ("a", "B", "b", "Z", "ä", "a\u0308", "한", "\uff5e", "🦜", "10", "9", "a b", "%", "_")
TAGS: Final = ("red", "Red", "réd", "빨강", "🟥", "r%", "r_", "it's")
TIMES: Final = (-MAX_INTEGER, -1, 0, 1, 2, 3, 1_700_000_000_000, MAX_INTEGER)

shared_fixtures: Final = settings(
    max_examples=40,
    deadline=None,  # a database on a busy machine takes its time
    suppress_health_check=[
        HealthCheck.too_slow,  # likewise
        HealthCheck.function_scoped_fixture,
    ],
)
"""For a test whose examples share its fixtures on purpose: each example makes a scope, a session
or a record of its own in the store that they share."""

_FLOATS: Final = (0.5, 1.0, -0.0, 1e16, 1e20, 1e21, -1e300, 1e-7, 5e-324, 0.1 + 0.2)


def texts(max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts that every store can hold: no U+0000, no lone surrogate."""
    return st.text(
        st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=max_size
    )


def json_values(max_leaves: int = 8) -> st.SearchStrategy[Any]:
    """Any JSON value that memoranda keeps, a few levels deep."""
    keys = st.one_of(st.sampled_from(["한국어", "🦜", "\uff5e", "", "a"]), texts())
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-MAX_INTEGER, MAX_INTEGER),
        st.sampled_from(_FLOATS),
        st.floats(allow_nan=False, allow_infinity=False),
        texts(),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)
        ),
        max_leaves=max_leaves,
    )


def json_objects(max_leaves: int = 8) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects, as meta is one."""
    return st.dictionaries(texts(), json_values(max_leaves), max_size=3)


def tag_lists() -> st.SearchStrategy[list[str]]:
    """Tags as they are given: in any order, perhaps twice, perhaps none."""
    return st.lists(st.sampled_from(TAGS), max_size=4)


def record_inputs() -> st.SearchStrategy[MemoryRecordInput[Any]]:
    """Records to be created, whose id and times are all given: what is kept can be foretold."""
    return st.builds(
        MemoryRecordInput[Any],
        id=st.sampled_from(IDS),
        data=json_values(max_leaves=4),
        created_at=st.sampled_from(TIMES),
        updated_at=st.sampled_from(TIMES),
        tags=st.none() | tag_lists(),
        meta=st.none() | json_objects(max_leaves=2),
    )


def record_lists(max_size: int = 12) -> st.SearchStrategy[list[MemoryRecordInput[Any]]]:
    """Several records, no two with one id."""
    return st.lists(record_inputs(), max_size=max_size, unique_by=lambda given: given.id)


def filters() -> st.SearchStrategy[MemoryFilter]:
    """Filters with any of the seed's keys, over the same pools."""
    times = st.none() | st.sampled_from(TIMES)
    return st.builds(
        MemoryFilter,
        ids=st.none() | st.lists(st.sampled_from((*IDS, "nowhere")), max_size=8),
        tags=st.none() | st.lists(st.sampled_from((*TAGS, "nowhere")), max_size=2),
        created_after=times,
        created_before=times,
        limit=st.none() | st.integers(0, 6),
        offset=st.integers(0, 4),
        order_by=st.sampled_from(["createdAt", "updatedAt"]),
        order=st.sampled_from(["asc", "desc"]),
    )


def own_filters() -> st.SearchStrategy[MemoryFilter]:
    """The same with any of the keys that our own stores know beyond the seed's."""
    times = st.none() | st.sampled_from(TIMES)
    return st.builds(
        lambda filter, own: MemoryFilter.model_validate({**filter.model_dump(), **own}),
        filters(),
        st.fixed_dictionaries(
            {},
            optional={
                "updatedAfter": times,
                "updatedBefore": times,
                "idPrefix": st.sampled_from(["", *(id[:1] for id in IDS), "nowhere"]),
                "tagPrefix": st.sampled_from(["", *(tag[:1] for tag in TAGS), "nowhere"]),
                "where": wheres(),
                "orderBy": st.sampled_from(["createdAt", "updatedAt", "entry"]),
            },
        ),
    )


def wheres() -> st.SearchStrategy[dict[str, Any]]:
    """Conditions on data and meta that some records fulfil and others don't."""
    paths = st.sampled_from(["data", "data.a", "data.b", "data.a.b", "meta.a", "meta"])
    scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "", "a"])
    ordered = st.integers(-2, 2) | st.sampled_from([0.5, "", "a"])
    wanted = (
        scalars
        | st.builds(dict, st.tuples(st.tuples(st.sampled_from(["$eq", "$ne"]), scalars)))
        | st.builds(
            dict,
            st.tuples(st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), ordered)),
        )
        | st.builds(dict, st.tuples(st.tuples(st.just("$in"), st.lists(scalars, max_size=3))))
        | st.builds(dict, st.tuples(st.tuples(st.just("$exists"), st.booleans())))
    )
    return st.dictionaries(paths, wanted, max_size=2)


# ------------------------------------------------------------------------------------------------
# Time that stands still and ids that count: what makes a test say the same thing twice.


@dataclass(slots=True)
class FrozenClock:
    """A clock that moves only when it is told to."""

    at: int = 1_700_000_000_000

    def now_ms(self) -> int:
        """The time that was set."""
        return self.at

    def advance(self, milliseconds: int) -> None:
        """Let this much time pass."""
        self.at += milliseconds


@dataclass(slots=True)
class CountedIds:
    """Ids that count from 1, padded, so that they rise as texts as well."""

    prefix: str = "id-"
    made: int = 0

    def new_id(self) -> str:
        """The next id."""
        self.made += 1
        return f"{self.prefix}{self.made:06}"
