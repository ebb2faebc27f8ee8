"""A filter as SQL, written once for both databases (MEM-FILTER).

Only fixed pieces are joined; whatever a caller gave is a parameter. Conditions on data and meta
are not for SQL: bodies are stored as a codec writes them. Nor is the thread, of what is not in the
index yet. Whoever reads the rows passes them through `fitting`.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from memoranda.identity.threads import thread_digest
from memoranda.kernel.json import storable
from memoranda.ledger.unit import INDEX_FORM, Current
from memoranda.recall.fitting import fits
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the two engines differ.

    A list of ids as one parameter, 'no limit', what stands before a table's name, how a body is
    joined to its version, and a tag as it stands in the index of tags. `long_tags` says which of
    them are digests there, with the tag itself in the column `whole`; none, if it is empty.
    """

    id_in_list: str
    list_parameter: Callable[[Sequence[str]], object]
    no_limit: int | None
    joined: str
    schema: str = ""
    tag: str = "?"
    long_tags: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """A SELECT of the columns of a `Current`, and its parameters in their order."""

    sql: str
    parameters: list[object]


COLUMNS: Final = (
    "v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"
    " v.expires_at, v.subject, v.seq, e.entry, b.salt, b.body"
)
"""What `stores.compared` makes a `Current` of: its version, and what its body is compared with."""
PLACED: Final = "v.since, " + COLUMNS
"""The same with its place in the order of writing: a row for `Compared.placed`."""
_AFTER_ALL: Final = "\U0010ffff" * 600
"""More of the last character than an id can have: whatever begins so stands before it."""
_WHOLE_TAG: Final = "coalesce(x.whole, x.tag)"
_NAMES: Final = {"x.id": "id", "x.tag": "tag", _WHOLE_TAG: "tag"}
# What is in the index of threads, and all that is in no index yet, or in one that is of no use.
_IN_THREAD: Final = (
    "(v.seq IN (SELECT h.seq FROM {schema}threads h WHERE h.journal = ? AND h.thread = ?)"
    " OR v.seq >= (SELECT CASE WHEN j.tokenizer = ? THEN j.indexed ELSE 0 END"
    " FROM {schema}journals j WHERE j.number = ?))"
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
) -> Selection | None:
    """The SQL for a filter on the active objects of a journal, or None when nothing can match.

    A filter by tag walks the tag's own index, which lies in order of creation; others walk the
    index of the time that they order by. Either stops at the limit, and begins after a position.
    """
    ids, tags = filter.ids, list(dict.fromkeys(filter.tags or ()))
    given = [*tags, filter.id_prefix, filter.tag_prefix, filter.subject, filter.thread]
    if filter.limit == 0 or not all(storable(text or "") for text in given):
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
    if ids is not None:
        possible = [id for id in ids if storable(id)]
        demand(dialect.id_in_list, dialect.list_parameter(possible))
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
        demand("v.id >= ?", filter.id_prefix)
        demand("v.id < ?", filter.id_prefix + _AFTER_ALL)
    if filter.tag_prefix is not None:
        where.append(f"v.id IN ({_tagged('x.id', dialect)})")
        parameters += _tag_range(filter.tag_prefix, journal, dialect)
    if filter.thread is not None:
        where.append(_IN_THREAD.format(schema=dialect.schema))
        parameters += [journal, thread_digest(filter.thread), INDEX_FORM, journal]
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
    limit, offset = filter.limit, filter.offset
    if filter.asks_for_content:  # pages are cut by whoever looks at the bodies
        limit, offset = None, 0
    parameters += [dialect.no_limit if limit is None else limit, offset]
    sql = "".join([
        "SELECT ", columns, " FROM ",
        tag_table + " t CROSS JOIN " if by_tag else "", dialect.joined,
        " WHERE ", " AND ".join(where),
        " ORDER BY ", ", ".join(key + _DIRECTION[filter.order] for key in keys),
        " LIMIT ? OFFSET ?",
    ])  # fmt: skip
    return Selection(sql, parameters)


def _order(filter: MemoryFilter, walked: str) -> list[str]:
    """The columns that a filter orders by: of a position, the last ones."""
    if filter.order_by not in _TIME:
        return [walked + ".since"]
    table = "v" if filter.order_by == "updatedAt" else walked
    return [f"{table}.{_TIME[filter.order_by]}", walked + ".since"]


def counting(chosen: Selection) -> Selection:
    """How many rows a SELECT has."""
    return Selection(f"SELECT count(*), '' FROM ({chosen.sql}) AS n", chosen.parameters)  # noqa: S608 - ours


def tag_counts(prefix: str, journal: int, dialect: Dialect) -> Selection | None:
    """The tags of a journal that begin so, each with how many active objects have it, in order."""
    if not storable(prefix):
        return None
    inner = _tagged(_WHOLE_TAG if dialect.long_tags else "x.tag", dialect)
    sql = f"SELECT n.tag, count(*), '' FROM ({inner}) AS n GROUP BY n.tag ORDER BY n.tag"  # noqa: S608 - ours
    return Selection(sql, _tag_range(prefix, journal, dialect))


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
    once = [journal, prefix, prefix + _AFTER_ALL]
    return [*once, *once] if dialect.long_tags else [*once]


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


def cut(filter: MemoryFilter, found: Sequence[Current]) -> Sequence[Current]:
    """The same, of what was all read already."""
    if not filter.asks_for_content:
        return found
    fit = [one for one in found if fits(filter, one)]
    return fit[filter.offset : None if filter.limit is None else filter.offset + filter.limit]
