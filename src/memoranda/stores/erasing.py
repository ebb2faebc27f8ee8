"""What a unit of work asks of names and of whatever goes with an erasure, in its transaction."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.attachments import Holdings, counted_once
from memoranda.ledger.fact import named_entries
from memoranda.ledger.unit import (
    NOTICE,
    Expected,
    Found,
    NamedEntry,
    NamedFacts,
    Unit,
    recorded_in,
)
from memoranda.stores.compared import Compared
from memoranda.stores.reading import NEWEST_NOTICE
from memoranda.stores.statements import (
    Integers,
    Portions,
    Procedure,
    Statement,
    Texts,
    ask,
    shared,
)

_FACTS_AT_ONCE: Final = 256
NAMES_AT_ONCE: Final = 1_000

_NEWEST: Final = "(SELECT max(m.seq) FROM {} m WHERE m.journal = :journal AND m.name = {})"
_MOVED: Final = Statement(
    "SELECT n.value FROM json_each(:names) n WHERE :seqs ->> n.fullkey IS NOT "  # noqa: S608 - ours
    + _NEWEST.format("marks", "n.value")
    + " LIMIT 1",
    "SELECT n.name FROM unnest(:names, :seqs) AS n (name, seq) WHERE n.seq IS DISTINCT FROM "  # noqa: S608 - ours
    + _NEWEST.format("memoranda.marks", "n.name")
    + " LIMIT 1",
)
# OFFSET 0 keeps the lookup of each name apart: joined, they might be looked for among all.
_FACTS: Final = Statement(
    """
    SELECT n.value, e.entry, b.body FROM json_each(:names) n
    CROSS JOIN marks m ON m.journal = :journal AND m.name = n.value
    JOIN entries e ON e.place = (m.journal << 40 | m.seq)
    JOIN bodies b ON b.place = e.place ORDER BY n.key, m.seq
    """,
    """
    SELECT o.name, o.entry, o.body FROM unnest(:names) AS n (name) CROSS JOIN LATERAL (
      SELECT m.name, m.seq, e.entry, e.body FROM memoranda.marks m
      JOIN memoranda.entries e ON e.journal = m.journal AND e.seq = m.seq
      WHERE m.journal = :journal AND m.name = n.name AND e.body IS NOT NULL OFFSET 0
    ) AS o
    ORDER BY o.name, o.seq
    """,
)
_NAMES_AFTER: Final = shared(
    "SELECT DISTINCT m.name FROM {marks} m WHERE m.journal = :journal AND m.name > :last"
    " ORDER BY m.name LIMIT :most"
)


def check_expected(expects: Sequence[Expected]) -> Procedure[None]:
    """MarkMoved where the newest entry of a name is another one than expected."""
    of_marks = [expected for expected in expects if expected.name != NOTICE]
    if of_marks:
        names = Texts(name for name, _ in of_marks)
        moved = yield ask(_MOVED, names=names, seqs=Integers(seq for _, seq in of_marks))
        if moved:
            raise MarkMoved(moved[0][0])
    if len(of_marks) < len(expects):
        ((newest,),) = yield ask(NEWEST_NOTICE)
        if any(name == NOTICE and seq != newest for name, seq in expects):
            raise MarkMoved(NOTICE)


def facts_of(names: Sequence[str], compared: Compared) -> Procedure[list[NamedFacts]]:
    """The facts under each of these names that have a body; a name without any is left out."""
    entries: dict[str, list[NamedEntry]] = {}

    def take(rows: Sequence[Any]) -> None:
        for name, *stored in rows:
            entries.setdefault(name, []).extend(named_entries([compared.stored(*stored)]))

    yield Portions(_FACTS, {"names": Texts(names)}, _FACTS_AT_ONCE, take)
    return [NamedFacts(name, entries[name]) for name in names if entries.get(name)]


def names_after(last: str) -> Procedure[list[str]]:
    """Some names of the journal after one, in their order; none at the end."""
    rows = yield ask(_NAMES_AFTER, last=last, most=NAMES_AT_ONCE)
    return [name for (name,) in rows]


# ------------------------------------------------------------------------------------------------
# What a database holds of objects besides their versions, counted for a unit that erases them.

_HELD: Final = shared("""
SELECT 'derivations', d.output, count(*) FROM {derivations} d
WHERE d.journal = :journal AND d.output IN :ids GROUP BY d.output
UNION ALL
SELECT 'vectors', v.id, count(*) FROM {versions} v
JOIN {vectors} x ON x.journal = v.journal AND x.seq = v.seq
WHERE v.journal = :journal AND v.id IN :ids GROUP BY v.id
""")
_OF_CYCLES: Final = shared("""
SELECT 'recordings', r.cycle, 1 FROM {recordings} r
WHERE r.journal = :journal AND r.cycle IN :ids
UNION ALL
SELECT 'items', o.cycle, count(*) FROM {item_origins} o
JOIN {memories} i ON i.journal = o.journal AND i.session = o.session AND i.id = o.id
WHERE o.journal = :journal AND o.cycle IN :ids GROUP BY o.cycle
""")
# The postings of each session are read once, however many of its cycles are asked for; from there
# each leads to its item's cycle by a key.
KEYWORDS: Final = Statement(
    """
    SELECT 'keywords', o.cycle, count(*) FROM (
      SELECT DISTINCT session FROM item_origins
      WHERE journal = :journal AND cycle IN (SELECT value FROM json_each(:ids))
    ) s
    CROSS JOIN item_keywords k ON k.journal = :journal AND k.session = s.session
    CROSS JOIN item_postings p ON p.keyword = k.number
    CROSS JOIN item_origins o ON o.journal = :journal AND o.session = s.session AND o.id = p.id
    WHERE o.cycle IN (SELECT value FROM json_each(:ids)) GROUP BY o.cycle
    """,
    """
    SELECT 'keywords', c.cycle, count(*) FROM (
      SELECT DISTINCT o.session FROM memoranda.item_origins o
      WHERE o.journal = :journal AND o.cycle = ANY (:ids)
    ) AS s
    JOIN memoranda.item_keywords k ON k.journal = :journal AND k.session = s.session
    JOIN memoranda.item_postings p ON p.journal = :journal AND p.keyword = k.number
    CROSS JOIN LATERAL (
      SELECT o.cycle FROM memoranda.item_origins o
      WHERE o.journal = :journal AND o.session = k.session AND o.id = p.id OFFSET 0
    ) AS c
    GROUP BY c.cycle
    """,
)


def holdings_of(
    unit: Unit,
    there: Sequence[Found],
    retries: Sequence[Collection[bytes]],
    postings: Mapping[str, int],
) -> Procedure[list[Holdings]]:
    """What else is held of each of these, and goes with it: its retries and postings are given."""
    cycles = recorded_in(unit, there)
    counts: Counter[tuple[str, str]] = Counter()
    asked: list[tuple[Statement, Sequence[str]]] = [(_HELD, [each.id for each in there])]
    if any(cycles):
        asked += [(_OF_CYCLES, cycles), (KEYWORDS, cycles)]
    for statement, ids in asked:
        rows = yield ask(statement, ids=Texts(ids))
        counts.update({(kind, id): count for kind, id, count in rows})
    return [
        Holdings(
            postings.get(each.id, 0),
            keys,
            counts["derivations", each.id],
            counts["recordings", cycle],
            counts["items", cycle],
            counts["keywords", cycle],
            counts["vectors", each.id],
        )
        for each, keys, cycle in zip(there, counted_once(retries), cycles, strict=True)
    ]
