"""A filter as SQL, written once for both databases (MEM-FILTER).

Only fixed pieces are joined; whatever a caller gave is a parameter. Conditions on data and meta
are not for SQL: bodies are stored as a codec writes them. Whoever reads the rows passes them
through `fitting`.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from memoranda.identity import decode
from memoranda.kernel.json import storable
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter
from memoranda.records.where import holds


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the two engines differ.

    A list of ids as one parameter, 'no limit', what stands before a table's name, how a body is
    joined to its version, a tag as it stands in the index of tags, and that tag as it was given.
    """

    id_in_list: str
    list_parameter: Callable[[Sequence[str]], object]
    no_limit: int | None
    joined: str
    schema: str = ""
    tag: str = "?"
    whole_tag: str = "x.tag"


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
_AFTER_ALL: Final = "\U0010ffff" * 600
"""More of the last character than an id can have: whatever begins so stands before it."""
_DIRECTION: Final = {"asc": " ASC", "desc": " DESC"}
_TIME: Final = {"createdAt": "created_at", "updatedAt": "updated_at"}


def selection(filter: MemoryFilter, journal: int, dialect: Dialect) -> Selection | None:
    """The SQL for a filter on the active objects of a journal, or None when nothing can match.

    A filter by tag walks the tag's own index, which lies in order of creation; others walk the
    index of the time that they order by. Either stops at the limit.
    """
    ids, tags = filter.ids, list(dict.fromkeys(filter.tags or ()))
    given = [*tags, filter.id_prefix or "", filter.tag_prefix or "", filter.subject or ""]
    if filter.limit == 0 or not all(map(storable, given)):
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
    if filter.created_after is not None:
        demand(walked + ".created_at >= ?", filter.created_after)
    if filter.created_before is not None:
        demand(walked + ".created_at <= ?", filter.created_before)
    if filter.updated_after is not None:
        demand("v.updated_at >= ?", filter.updated_after)
    if filter.updated_before is not None:
        demand("v.updated_at <= ?", filter.updated_before)
    if filter.subject is not None:
        demand("v.subject = ?", filter.subject)
    if filter.id_prefix is not None:
        demand("v.id >= ?", filter.id_prefix)
        demand("v.id < ?", filter.id_prefix + _AFTER_ALL)
    if filter.tag_prefix is not None:
        where.append(
            f"v.id IN (SELECT x.id FROM {tag_table} x WHERE x.journal = ?"  # noqa: S608 - ours
            f" AND {dialect.whole_tag} >= ? AND {dialect.whole_tag} < ?)"
        )
        parameters += [journal, filter.tag_prefix, filter.tag_prefix + _AFTER_ALL]
    has_tag = (
        f"EXISTS (SELECT 1 FROM {tag_table} x WHERE x.journal = v.journal AND x.tag = {dialect.tag}"  # noqa: S608 - both are ours
        " AND x.created_at = v.created_at AND x.since = v.since)"
    )
    for tag in tags:
        demand(has_tag, tag)

    direction = _DIRECTION[filter.order]
    time = ("v." if filter.order_by == "updatedAt" else walked + ".") + _TIME[filter.order_by]
    limit, offset = filter.limit, filter.offset
    if filter.conditions:  # pages are cut by whoever looks at the bodies
        limit, offset = None, 0
    parameters += [dialect.no_limit if limit is None else limit, offset]
    sql = "".join([
        "SELECT ", COLUMNS, " FROM ",
        tag_table + " t CROSS JOIN " if by_tag else "", dialect.joined,
        " WHERE ", " AND ".join(where),
        " ORDER BY ", time, direction, ", ", walked, ".since", direction,
        " LIMIT ? OFFSET ?",
    ])  # fmt: skip
    return Selection(sql, parameters)


async def fitting(
    filter: MemoryFilter, found: AsyncGenerator[Current, None]
) -> AsyncGenerator[Current, None]:
    """The page that a filter asks for, of what SQL found: what it can't look at is looked at."""
    passed, end = 0, None if filter.limit is None else filter.offset + filter.limit
    async with aclosing(found):
        async for current in found:
            if not filter.conditions:
                yield current
                continue
            if passed == end:
                return
            document = decode(current.body)
            if holds(filter.conditions, data_of(document), document.get("meta")):
                passed += 1
                if passed > filter.offset:
                    yield current
