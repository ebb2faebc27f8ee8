"""A filter as SQL, written once for both databases (MEM-FILTER).

Only fixed pieces are joined; whatever a caller gave is a parameter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.kernel.json import storable
from recollect.records.filter import MemoryFilter


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the two engines differ.

    A list of ids as one parameter, 'no limit', what stands before a table's name, how a body is
    joined to its version, and a tag as it stands in the index of tags.
    """

    id_in_list: str
    list_parameter: Callable[[Sequence[str]], object]
    no_limit: int | None
    joined: str
    schema: str = ""
    tag: str = "?"


@dataclass(frozen=True, slots=True)
class Selection:
    """A SELECT of the columns of a `Current`, and its parameters in their order."""

    sql: str
    parameters: list[object]


COLUMNS: Final = (
    "v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"
    " v.expires_at, v.subject, b.body"
)
_DIRECTION: Final = {"asc": " ASC, ", "desc": " DESC, "}
_TIME: Final = {"createdAt": "created_at", "updatedAt": "updated_at"}


def selection(filter: MemoryFilter, journal: int, dialect: Dialect) -> Selection | None:
    """The SQL for a filter on the active objects of a journal, or None when nothing can match.

    A filter by tag walks the tag's own index, which lies in order of creation; others walk the
    index of the time that they order by. Either stops at the limit.
    """
    ids, tags = filter.ids, list(dict.fromkeys(filter.tags or ()))
    if filter.limit == 0 or not all(storable(tag) for tag in tags):
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
    has_tag = (
        f"EXISTS (SELECT 1 FROM {tag_table} x WHERE x.journal = v.journal AND x.tag = {dialect.tag}"  # noqa: S608 - both are ours
        " AND x.created_at = v.created_at AND x.id = v.id)"
    )
    for tag in tags:
        demand(has_tag, tag)

    time = ("v." if filter.order_by == "updatedAt" else walked + ".") + _TIME[filter.order_by]
    parameters += [dialect.no_limit if filter.limit is None else filter.limit, filter.offset]
    sql = "".join([
        "SELECT ", COLUMNS, " FROM ",
        tag_table + " t CROSS JOIN " if by_tag else "", dialect.joined,
        " WHERE ", " AND ".join(where),
        " ORDER BY ", time, _DIRECTION[filter.order], walked, ".id ASC",
        " LIMIT ? OFFSET ?",
    ])  # fmt: skip
    return Selection(sql, parameters)
