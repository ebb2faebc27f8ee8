"""A journal in an attacker's hands: read whole, changed at will, and made consistent again.

This is the strongest that someone with the database alone can do: every hash, the head, the nodes
of the tree, rows, tags, the checkpoints that are kept with the journal and what the directory says
of it are computed anew. What is left to notice it is a checkpoint that was kept elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from memoranda.identity import canonical_bytes, decode
from memoranda.identity.merkle import Frontier, leaf_hash
from memoranda.kernel.errors import InvalidInput
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.derive import document_row, inputs_of, row_of, searched_text, tags_of
from memoranda.ledger.entry import (
    FACT_KINDS,
    Entry,
    body_digest,
    entry_bytes,
    entry_hash,
    genesis,
    read_entry,
)
from memoranda.ledger.fact import derivations_of, marks_of, unmarks_of
from memoranda.ledger.object import data_of, integrity_digest, status_of
from memoranda.ledger.snapshot import INDEX_FORM, StoredDocument
from memoranda.ledger.tree import BLOCK, node_of
from memoranda.text import Terms, terms
from memoranda.text.tokens import LENGTHS, class_of, kind_of
from tests.campaigns.tampering.index import words_in, write_documents, write_words
from tests.campaigns.tampering.tables import Row, Tables


class Hand(Protocol):
    """Signs what an attacker writes."""

    def line(self, text: str) -> str:
        """A signature line for a checkpoint's text."""
        ...


@dataclass(frozen=True)
class Line:
    """An entry, its body if it is there, and the row that stands for it if there is one."""

    entry: Entry
    salt: bytes | None
    body: bytes | None
    row: Row | None = None

    @property
    def document(self) -> Any:
        """What the body says."""
        assert self.body is not None
        return decode(self.body)


@dataclass
class Book:
    """All lines of one journal. After changes: `rechain`, then `store`."""

    number: int
    origin: str
    lines: list[Line]
    opened_at: int = 0
    roots: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, tables: Tables, number: int) -> "Book":
        """A journal as it is stored."""
        (journal,) = tables.rows("journals", number=number)
        bodies = {row["seq"]: row for row in tables.rows("bodies", journal=number)}
        rows = {row["seq"]: row for row in tables.rows("versions", journal=number)}
        lines = []
        for stored in tables.rows("entries", journal=number):
            seq = stored["seq"]
            body = bodies.get(seq, {})
            lines.append(
                Line(read_entry(stored["entry"]), body.get("salt"), body.get("body"), rows.get(seq))
            )
        return cls(number, journal["origin"], lines, journal["opened_at"])

    # ---------------------------------------------------------------------- changing

    def rewrite_body(self, seq: int, document: Any) -> None:
        """Put another document into an entry; whatever names its hash later names the new one."""
        renamed: dict[bytes, bytes] = {}
        body = canonical_bytes(document)
        self._put(seq, body, renamed)
        for later in range(seq + 1, len(self.lines)):
            old = self.lines[later].body
            if old is None:
                continue
            new = old
            for before, after in renamed.items():
                new = new.replace(before, after)
            if new != old:
                self._put(later, new, renamed)

    def _put(self, seq: int, body: bytes, renamed: dict[bytes, bytes]) -> None:
        line = self.lines[seq]
        assert line.body is not None
        renamed[integrity_digest(line.body).encode()] = integrity_digest(body).encode()
        self.lines[seq] = replace(line, body=body)

    def rechain(self, *, keeps_digests: bool = False) -> None:
        """Number, chain and hash everything anew; what did not change keeps its bytes."""
        before = genesis(self.origin)
        frontier = Frontier()
        for seq, line in enumerate(self.lines):
            body = line.body
            if body is not None and b'"type":"Fingerprint"' in body:
                body = self._refreshed(body)
            digest = line.entry.body_digest
            if body is not None and line.salt is not None and not keeps_digests:
                digest = body_digest(line.salt, body)
            entry = line.entry._replace(seq=seq, previous_entry_hash=before, body_digest=digest)
            row = None if line.row is None else line.row | {"seq": seq}
            self.lines[seq] = Line(entry, line.salt, body, row)
            raw = entry_bytes(entry)
            before = entry_hash(raw).hex()
            frontier, _ = frontier.append(leaf_hash(raw))
            self.roots[seq + 1] = frontier.root()

    def _refreshed(self, body: bytes) -> bytes:
        """A journal tells its own roots in the fingerprints of what it rests on: those as well."""
        document = decode(body)
        log = document.get("log")
        if log is not None and log["size"] in self.roots:
            log["root"] = self.roots[log["size"]].hex()
        return canonical_bytes(document)

    # ----------------------------------------------------------------------- storing

    def store(self, tables: Tables, *, rows: bool = True) -> None:
        """Write all of it: entries, bodies, nodes, head, and what follows from them."""
        number = self.number
        cleared = ("entries", "bodies", "nodes", "retries")  # nobody misses a retry
        for table in (*cleared, "versions", "tags", "derivations", "marks") if rows else cleared:
            tables.remove(table, journal=number)
        leaves = []
        for seq, line in enumerate(self.lines):
            raw = entry_bytes(line.entry)
            leaves.append(leaf_hash(raw))
            tables.add("entries", journal=number, seq=seq, entry=raw)
            if line.body is not None:
                tables.add("bodies", journal=number, seq=seq, salt=line.salt, body=line.body)
        for node in range(len(leaves) // BLOCK):
            hashed = node_of(leaves[node * BLOCK : (node + 1) * BLOCK])
            tables.add("nodes", journal=number, level=8, number=node, hash=hashed)
        last = entry_bytes(self.lines[-1].entry) if self.lines else None
        head = bytes.fromhex(genesis(self.origin)) if last is None else entry_hash(last)
        at = self.lines[-1].entry.at if self.lines else self.opened_at
        tables.change("journals", {"number": number}, size=len(leaves), head=head, head_at=at)
        if rows:
            self._store_rows(tables)
        else:
            index = words_in(tables, number)
            tables.change("journals", {"number": number}, indexed=len(leaves))
            write_words(tables, number, index)

    def _store_rows(self, tables: Tables) -> None:
        rows = [row for seq in range(len(self.lines)) if (row := self._row(seq)) is not None]
        tables.change(
            "journals", {"number": self.number}, indexed=len(self.lines), tokenizer=INDEX_FORM
        )
        newest = {row["id"]: row["number"] for row in sorted(rows, key=lambda row: row["number"])}
        words: dict[int, Terms] = {}
        known: list[StoredDocument] = []
        before: dict[str, Row] = {}
        for row in rows:
            is_newest = newest[row["id"]] == row["number"]
            last = before.get(row["id"])
            is_going_on = last is not None and last["status"] == row["status"] == "active"
            row = row | {"since": last["since"] if last and is_going_on else row["seq"]}  # noqa: PLW2901 - the whole row
            before[row["id"]] = row
            tables.add("versions", **row | {"is_newest": is_newest})
            body = self.lines[row["seq"]].body
            for source in _inputs(body):
                derived = {"journal": self.number, "input": source, "output": row["id"]}
                tables.add("derivations", **derived)
            if is_newest and body is not None:
                document = decode(body)
                if status_of(document) == "active":
                    words[row["seq"]], own = _words(document, row["seq"])
                    known += own
                for tag in tags_of(decode(body)):
                    tables.add(
                        "tags",
                        journal=self.number,
                        tag=tag,
                        created_at=row["created_at"],
                        since=row["since"],
                        id=row["id"],
                    )
        self._store_facts(tables)
        self._store_index(tables, words, known)

    def _store_index(
        self, tables: Tables, words: Mapping[int, Terms], known: Sequence[StoredDocument]
    ) -> None:
        """The words of what is active, what they count, and in which threads it stands."""
        length = sum(LENGTHS[class_of(found.length)] for found in words.values())
        tables.change("journals", {"number": self.number}, documents=len(words), length=length)
        index = {
            seq: {token: kind_of(count, found.length) for token, count in found.counts.items()}
            for seq, found in words.items()
        }
        write_words(tables, self.number, index)
        write_documents(tables, self.number, known)

    def _store_facts(self, tables: Tables) -> None:
        """The names of facts, and what they were made from."""
        marks, derived = set[tuple[str, int]](), set[tuple[str, str]]()
        for seq, line in enumerate(self.lines):
            if line.entry.kind in FACT_KINDS and line.body is not None:
                marks |= set(marks_of(line.document, seq))
                marks -= set(unmarks_of(line.document))
                derived |= set(derivations_of(line.document))
        for name, seq in sorted(marks):
            tables.add("marks", journal=self.number, name=name, seq=seq)
        for source, output in sorted(derived):
            tables.add("derivations", journal=self.number, input=source, output=output)

    def _row(self, seq: int) -> Row | None:
        line = self.lines[seq]
        if line.row is None or line.body is None:
            return line.row
        version = row_of(line.document)._asdict()
        return {"journal": self.number, "seq": seq, "is_newest": False, **version}


def _inputs(body: bytes | None) -> Sequence[str]:
    try:
        return inputs_of(body)
    except (InvalidInput, TypeError, AttributeError, KeyError):
        return ()


def _words(document: Any, seq: int) -> tuple[Terms, Sequence[StoredDocument]]:
    try:
        data = data_of(document)
        text = searched_text(document, data)
        found = terms(text)
        row = document_row(document, data, seq, text, found.length)
    except InvalidInput:  # a document of an attacker's, that says it is what it is not
        return Terms({}, 0), ()
    return found, () if row is None else (row,)


def renote(tables: Tables, book: Book, hands: Sequence[Hand] = ()) -> None:
    """Make the checkpoints that are kept with a journal fit it; those that are too long go."""
    for kept in tables.rows("checkpoints", journal=book.number):
        where = {"journal": book.number, "size": kept["size"]}
        size = parse_checkpoint(kept["note"]).checkpoint.size
        if size > len(book.lines):
            tables.remove("checkpoints", **where)
        else:
            note = signed(book, size, hands)
            tables.change("checkpoints", where, note=note)


def signed(book: Book, size: int, hands: Sequence[Hand] = ()) -> str:
    """A checkpoint of a journal that was rechained."""
    text = Checkpoint(book.origin, size, book.roots[size]).text
    return text + "\n" + "".join(hand.line(text) for hand in hands)


def relist(tables: Tables, directory: Book, book: Book | None, gone: str = "") -> None:
    """Make the directory say of a journal what is so now; of one that is gone, nothing."""
    origin = gone if book is None else book.origin
    lines = []
    for line in directory.lines:
        document = line.document
        if document["origin"] == origin:
            if book is None or document["size"] > len(book.lines):
                continue
            document["root"] = book.roots[document["size"]].hex()
            line = replace(line, body=canonical_bytes(document))  # noqa: PLW2901
        lines.append(line)
    directory.lines = lines
    directory.rechain()
    directory.store(tables, rows=False)
