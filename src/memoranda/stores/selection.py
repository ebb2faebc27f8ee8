"""A filter as SQL, written once for both databases (MEM-FILTER).

Only fixed pieces are joined; whatever a caller gave is a parameter. Conditions on data and meta
are only narrowed down by SQL (`stores.narrowing`), and so is the thread, of what is not in the
index yet: whoever reads the rows passes them through `fitting`.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memoranda.identity.canonical import thread_digest
from memoranda.kernel.json import storable
from memoranda.ledger.snapshot import INDEX_FORM
from memoranda.ledger.unit import Current
from memoranda.recall.index import fits
from memoranda.records.filter import MemoryFilter, Position
from memoranda.stores.narrowing import Search, narrowing
from memoranda.stores.statements import Statement


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the two engines differ.

    A list of ids as one parameter, 'no limit', how a body is joined to its version and how it is
    searched, what stands before a table's name, and a tag as it stands in the index of tags.
    `long_tags` says which of them are digests there, with the tag itself in the column `whole`;
    none, if it is empty. `looked_up` takes the place of `joined` where a list of ids or of entries
    is given, if it isn't empty.
    """

    id_in_list: str
    list_parameter: Callable[[Sequence[str]], object]
    no_limit: int | None
    joined: str
    search: Search
    looked_up: str = ""
    schema: str = ""
    journal: str = "number"
    tag: str = "?"
    long_tags: str = ""


@dataclass(frozen=True, slots=True)
class SelectStatement:
    """A SELECT of the columns of a `Current`, and its parameters in their order."""

    sql: str
    parameters: list[object]


ROW: Final = (
    "v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"
    " v.expires_at, v.subject"
)
"""The version of an object: what a `Current` begins with."""
COLUMNS: Final = f"{ROW}, v.seq, e.entry, b.salt, b.body"
"""What `stores.compared` makes a `Current` of: its version, and what its body is compared with."""
WITH_ENTRY: Final = Statement(
    "LEFT JOIN bodies b ON b.place = (v.journal << 40 | v.seq)"
    " LEFT JOIN entries e ON e.place = (v.journal << 40 | v.seq)",
    "LEFT JOIN memoranda.entries e ON e.journal = v.journal AND e.seq = v.seq"
    " CROSS JOIN LATERAL (SELECT e.salt, e.body) AS b",
)
"""Joins its entry and its body to a version; where either is missing, that shows."""
PLACED: Final = "v.since, " + COLUMNS
"""The same with its place in the order of writing: a row for `Compared.placed`."""
AFTER_ALL: Final = "\U0010ffff" * 600
"""More of the last character than an id can have: whatever begins so stands before it."""
FEW: Final = 1_000
"""So many candidates are looked up one by one; of more, all is gone through in its order."""
_WHOLE_TAG: Final = "coalesce(x.whole, x.tag)"
_NAMES: Final = {"x.id": "id", "x.tag": "tag", _WHOLE_TAG: "tag"}
# What is in the index of threads, and all that is in no index yet, or in one that is of no use.
_IN_THREAD: Final = (
    "(v.seq IN (SELECT h.seq FROM {schema}threads h WHERE h.journal = ? AND h.thread = ?)"
    " OR v.seq >= (SELECT CASE WHEN j.tokenizer = ? THEN j.indexed ELSE 0 END"
    " FROM {schema}journals j WHERE j.{number} = ?))"
)
_DIRECTION: Final = {"asc": " ASC", "desc": " DESC"}
_BEYOND: Final = {"asc": " > ", "desc": " < "}
_TIME: Final = {"createdAt": "created_at", "updatedAt": "updated_at"}


def selection(
    filter: MemoryFilter,
    journal: int,
    dialect: Dialect,
    *,
    after: Position | None = None,
    columns: str = PLACED,
    among: object = None,
) -> SelectStatement | None:
    """The SQL for a filter on the active objects of a journal, or None when nothing can match.

    A filter by tag walks the tag's own index, which lies in order of creation; others walk the
    index of the time that they order by. Either stops at the limit, and begins after a position.
    `among` is a list, as PostgreSQL has it, of all entries that may fulfil the conditions on
    content, if they were looked for before.
    """
    ids, tags = filter.ids, list(dict.fromkeys(filter.tags or ()))
    given = [*tags, filter.id_prefix, filter.tag_prefix, filter.subject, filter.thread]
    if (
        filter.limit == 0
        or (ids is not None and not ids)
        or not all(storable(text or "") for text in given)
    ):
        return None
    by_tag = bool(tags) and ids is None
    walked = "t" if by_tag else "v"
    tag_table = dialect.schema + "tags"
    where = [walked + ".journal = ?"]
    parameters: list[object] = [journal]

    def demand(condition: str, parameter: object) -> None:
        where.append(condition)
        parameters.append(parameter)

    if by_tag:
        where.append("v.journal = t.journal AND v.id = t.id AND v.is_newest")
        demand("t.tag = " + dialect.tag, tags.pop(0))
    else:
        where.append("v.is_newest AND v.status = 'active'")
    joined, listed = dialect.joined, among
    if ids is not None:
        possible = dialect.list_parameter([id for id in dict.fromkeys(ids) if storable(id)])
        if dialect.looked_up and among is None:
            listed = possible
        else:
            demand(dialect.id_in_list, possible)
    if listed is not None:
        joined = dialect.looked_up.format(column="id" if among is None else "seq")
        parameters[:0] = [listed, journal]
    for condition, given_value in (
        (walked + ".created_at >= ?", filter.created_after),
        (walked + ".created_at <= ?", filter.created_before),
        ("v.updated_at >= ?", filter.updated_after),
        ("v.updated_at <= ?", filter.updated_before),
        ("v.subject = ?", filter.subject),
    ):
        if given_value is not None:
            demand(condition, given_value)
    if filter.id_prefix is not None:
        where.append("v.id >= ? AND v.id < ?")
        parameters += [filter.id_prefix, filter.id_prefix + AFTER_ALL]
    if filter.tag_prefix is not None:
        # IS TRUE: else PostgreSQL would begin with these, and sort all of them.
        where.append(f"(v.id IN ({_tagged('x.id', dialect)})) IS TRUE")
        parameters += _tag_range(filter.tag_prefix, journal, dialect)
    if filter.thread is not None:
        where.append(_IN_THREAD.format(schema=dialect.schema, number=dialect.journal))
        parameters += [journal, thread_digest(filter.thread), INDEX_FORM, journal]
    if among is None and (narrowed := narrowing(filter.conditions, dialect.search)):
        where.append(narrowed.sql)
        parameters += narrowed.parameters
    has_tag = (
        f"EXISTS (SELECT 1 FROM {tag_table} x WHERE x.journal = v.journal AND x.tag = {dialect.tag}"  # noqa: S608 - both are ours
        " AND x.created_at = v.created_at AND x.since = v.since)"
    )
    for tag in tags:
        demand(has_tag, tag)

    keys = _order(filter, walked)
    if after is not None:
        where.append(f"({', '.join(keys)}){_BEYOND[filter.order]}({', '.join('?' * len(keys))})")
        parameters += after[-len(keys) :]
    page = _page(filter, dialect)
    sql = "".join([
        "SELECT ", columns, " FROM ",
        tag_table + " t CROSS JOIN " if by_tag else "", joined,
        " WHERE ", " AND ".join(where),
        " ORDER BY ", ", ".join(key + _DIRECTION[filter.order] for key in keys),
        page.sql,
    ])  # fmt: skip
    return SelectStatement(sql, parameters + page.parameters)


def _page(filter: MemoryFilter, dialect: Dialect) -> SelectStatement:
    """Which of the rows are asked for; who looks at bodies cuts the pages then."""
    if filter.asks_for_content:
        return SelectStatement("", [])
    limit = dialect.no_limit if filter.limit is None else filter.limit
    return SelectStatement(" LIMIT ? OFFSET ?", [limit, filter.offset])


def _order(filter: MemoryFilter, walked: str) -> list[str]:
    if filter.order_by not in _TIME:
        return [walked + ".since"]
    table = "v" if filter.order_by == "updatedAt" else walked
    return [f"{table}.{_TIME[filter.order_by]}", walked + ".since"]


def counting(chosen: SelectStatement) -> SelectStatement:
    """How many rows a SELECT has."""
    return SelectStatement(f"SELECT count(*), '' FROM ({chosen.sql}) AS n", chosen.parameters)  # noqa: S608 - ours


def tag_counts(prefix: str, journal: int, dialect: Dialect) -> SelectStatement | None:
    """The tags of a journal that begin so, each with how many active objects have it, in order."""
    if not storable(prefix):
        return None
    inner = _tagged(_WHOLE_TAG if dialect.long_tags else "x.tag", dialect)
    sql = f"SELECT n.tag, count(*), '' FROM ({inner}) AS n GROUP BY n.tag ORDER BY n.tag"  # noqa: S608 - ours
    return SelectStatement(sql, _tag_range(prefix, journal, dialect))


def _tagged(column: str, dialect: Dialect) -> str:
    """A column of the rows of tags that begin with a prefix, found by the index of tags."""
    rows = f"SELECT {column} AS {_NAMES[column]} FROM {dialect.schema}tags x WHERE x.journal = ?"  # noqa: S608 - ours
    if not dialect.long_tags:
        return f"{rows} AND x.tag >= ? AND x.tag < ?"
    return (
        f"{rows} AND x.whole IS NULL AND x.tag >= ? AND x.tag < ?"
        f" UNION ALL {rows} AND {dialect.long_tags} AND x.whole >= ? AND x.whole < ?"
    )


def _tag_range(prefix: str, journal: int, dialect: Dialect) -> list[object]:
    once = [journal, prefix, prefix + AFTER_ALL]
    return [*once, *once] if dialect.long_tags else [*once]


def few_tagged(filter: MemoryFilter, journal: int, dialect: Dialect) -> SelectStatement | None:
    """The ids of what has a tag that begins as a filter asks, up to one more than a few.

    None if it doesn't ask for that, or in vain.
    """
    prefix = filter.tag_prefix
    if prefix is None or not storable(prefix):
        return None
    sql = f"SELECT n.id, '' FROM ({_tagged('x.id', dialect)}) AS n LIMIT {FEW + 1}"  # noqa: S608 - ours
    return SelectStatement(sql, _tag_range(prefix, journal, dialect))


def by_id(filter: MemoryFilter, tagged: Sequence[str]) -> MemoryFilter:
    """The same filter for what has a tag that begins as it asks: by id if these are but a few.

    To go through everything in its order pays if much of it fits, and is slow if little does.
    """
    if len(tagged) > FEW:
        return filter
    ids = set(tagged) if filter.ids is None else set(tagged) & set(filter.ids)
    return filter.model_copy(update={"tag_prefix": None, "ids": sorted(ids)})


async def fitting(
    filter: MemoryFilter, found: AsyncGenerator[Current, None]
) -> AsyncGenerator[Current, None]:
    """The page that a filter asks for, of what SQL found: what it can't look at is looked at."""
    passed, end = 0, None if filter.limit is None else filter.offset + filter.limit
    async with aclosing(found):
        async for current in found:
            if not filter.asks_for_content:
                yield current
                continue
            if passed == end:
                return
            if fits(filter, current):
                passed += 1
                if passed > filter.offset:
                    yield current


def page_of(filter: MemoryFilter, found: Iterable[Current]) -> Iterator[Current]:
    """The same, of what is read as it is asked for."""
    if not filter.asks_for_content:
        return iter(found)
    end = None if filter.limit is None else filter.offset + filter.limit
    return islice((current for current in found if fits(filter, current)), filter.offset, end)
