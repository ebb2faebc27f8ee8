"""Tampering with facts: what was proposed, decided, done and erased, and how it is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.ledger.entry import SALT_BYTES, Entry, body_digest
from memoranda.ledger.fact import unmarks_of
from tests.campaigns.tampering.adversary import NotHere, TamperedDatabase
from tests.campaigns.tampering.book import Book, Line
from tests.campaigns.tampering.deeds import Deed, at, both, of, tampering
from tests.campaigns.tampering.tables import Row
from tests.campaigns.tampering.worlds import WORLDS

FACTS = "facts"
SAYS: dict[str, Callable[[Any], Any]] = {
    "Proposal": lambda said: said["proposal"]["intent"]["body"].update(type="pay"),
    "Decision": lambda said: said["decision"].update(reasoning="the board wanted it"),
    "ExecutionBegun": lambda said: said.update(sources=["somebody-else"]),
    "EffectFinished": lambda said: said.update(result={"paid": True}),
    "Vote": lambda said: said.update(vote={}),
}
"""What somebody would have a fact say; nothing in the format speaks against it."""


def _is_of(row: Row, *types: str) -> bool:
    return any(f'"type":"{one}"'.encode() in row["body"] for one in types) and (
        decode(row["body"])["type"] in types
    )


def _some(db: TamperedDatabase, *types: str, until: int = 0) -> Row:
    """Some fact of these types, that is not one of the last entries."""
    last = db.size(WORLDS) - until
    return db.some_body(WORLDS, lambda row: row["seq"] < last and _is_of(row, *types))


def _some_type(db: TamperedDatabase) -> Row:
    there = [one for one in SAYS if any(_is_of(row, one) for row in db.rows(WORLDS, "bodies"))]
    return _some(db, db.pick(there))


def _edited(db: TamperedDatabase, row: Row, change: Callable[[Any], Any]) -> str:
    document = decode(row["body"])
    change(document)
    db.tables.change("bodies", db.where(row, "seq"), body=canonical_bytes(document))
    return str(document["type"])


def _forged(db: TamperedDatabase, seq: int, change: Callable[[Any], Any]) -> Book:
    """The journal after a fact says something else, with every hash that follows from it."""
    book = db.book(WORLDS)
    document = book.lines[seq].document
    change(document)
    book.lines[seq] = replace(book.lines[seq], body=canonical_bytes(document))
    return book


# -------------------------------------------------------------------------------- bodies


@tampering(FACTS)
def a_proposal_a_decision_an_execution_or_an_effect_is_edited(db: TamperedDatabase) -> Deed:
    row = _some_type(db)
    how = _edited(db, row, SAYS[decode(row["body"])["type"]])
    return both(WORLDS, *at(WORLDS, "body", row["seq"]), how=how)


@tampering(FACTS, database="checkpoint", export="checkpoint")
def one_of_these_is_edited_and_all_rehashed(db: TamperedDatabase) -> Deed:
    row = _some_type(db)
    how = decode(row["body"])["type"]
    db.pass_off(_forged(db, row["seq"], SAYS[how]))
    return Deed(WORLDS, of(WORLDS, "anchor", about="forked"), of(WORLDS, "anchor"), how=how)


@tampering(FACTS)
def a_snapshot_is_edited(db: TamperedDatabase) -> Deed:
    row = _some(db, "ExecutionSealed", "Branch")
    how = _edited(db, row, _otherwise)
    return both(WORLDS, *at(WORLDS, "body", row["seq"]), how=how)


@tampering(FACTS)
def a_snapshot_is_edited_and_all_rehashed(db: TamperedDatabase) -> Deed:
    """The state is another one, and its world still has the name of the old one."""
    row = _some(db, "ExecutionSealed", "Branch")
    book = _forged(db, row["seq"], _otherwise)
    if db.chance.random() < 0.5:  # a digest that fits a whole snapshot, too
        document = book.lines[row["seq"]].document
        kept = document["snapshot"]
        if "full" in kept:
            kept["sha256"] = sha256_hex(canonical_bytes(kept["full"]))
        book.lines[row["seq"]] = replace(book.lines[row["seq"]], body=canonical_bytes(document))
    db.pass_off(book)
    return both(WORLDS, *at(WORLDS, "world", row["seq"]))


def _otherwise(document: Any) -> None:
    kept = document["snapshot"]
    if "full" in kept:
        kept["full"]["data"]["mallory"] = 1
    else:
        kept["changes"].append(["set", ["data", "mallory"], 1])


@tampering(FACTS)
def an_execution_is_said_to_have_reached_another_world(db: TamperedDatabase) -> Deed:
    row = _some(db, "ExecutionSealed")
    other = decode(_some(db, "World")["body"])["world"]["worldId"]
    if decode(row["body"])["world"] == other:
        raise NotHere
    db.pass_off(_forged(db, row["seq"], lambda said: said.update(world=other)))
    return both(WORLDS, *at(WORLDS, "world", row["seq"]))


@tampering(FACTS)
def a_world_is_renamed(db: TamperedDatabase) -> Deed:
    row = _some(db, "World")
    db.pass_off(_forged(db, row["seq"], lambda said: said["world"].update(worldId=db.hash())))
    return both(WORLDS, *at(WORLDS, "world", row["seq"]))


@tampering(FACTS)
def the_body_of_a_fact_is_removed(db: TamperedDatabase) -> Deed:
    row = _some(db, *SAYS, "ExecutionSealed", "World", "EffectStarted")
    db.tables.remove("bodies", **db.where(row, "seq"))
    how = db.chance.choice(("the body", "with its marks"))
    if how == "with its marks":
        db.tables.remove("marks", **db.where(row, "seq"))
    return both(WORLDS, *at(WORLDS, "body", row["seq"]), how=how)


@tampering(FACTS)
def the_body_of_an_erasure_is_removed(db: TamperedDatabase) -> Deed:
    row = _some(db, "Erasure")
    db.tables.remove("bodies", **db.where(row, "seq"))
    return both(WORLDS, *at(WORLDS, "body", row["seq"]))


@tampering(FACTS)
def an_erased_fact_comes_back_from_a_backup(db: TamperedDatabase) -> Deed:
    erased = {
        seq: row["seq"]
        for row in db.rows(WORLDS, "bodies")
        if _is_of(row, "Erasure")
        for seq, _ in decode(row["body"])["erased"]
    }
    backup = db.clean.backup()
    with backup:
        old = db.pick(
            [
                row
                for row in backup.rows("bodies", journal=db.number(WORLDS))
                if row["seq"] in erased
            ]
        )
    db.tables.add("bodies", **old)
    return both(WORLDS, *at(WORLDS, "object", erased[old["seq"]]))


@tampering(FACTS)
def two_decisions_change_places(db: TamperedDatabase) -> Deed:
    decisions = [row for row in db.rows(WORLDS, "bodies") if _is_of(row, "Decision")]
    if len(decisions) < 2:
        raise NotHere
    one, other = db.chance.sample(decisions, 2)
    for here, there in ((one, other), (other, one)):
        db.tables.change("bodies", db.where(here, "seq"), salt=there["salt"], body=there["body"])
    return both(WORLDS, *at(WORLDS, "body", one["seq"], other["seq"]))


# ------------------------------------------------------------------------------ erasures


@tampering(FACTS)
def an_erasure_is_forged_for_what_is_still_there(db: TamperedDatabase) -> Deed:
    """An erasure is appended, but the body that it names was not taken."""
    row = _some(db, "ExecutionSealed", "Proposal")
    book = db.book(WORLDS)
    _append_erasure(db, book, [row["seq"]])
    db.pass_off(book)
    return both(WORLDS, *at(WORLDS, "object", len(book.lines) - 1))


@tampering(FACTS, database="nobody", export="nobody")
def a_fact_is_erased_in_secret_and_an_erasure_appended(db: TamperedDatabase) -> Deed:
    """Whoever can write the database can erase: it is in the history, under any name."""
    row = _some(db, "EffectFinished", "Vote", "Proposal")
    book = db.book(WORLDS)
    took = unmarks_of(book.lines[row["seq"]].document)
    _append_erasure(db, book, [row["seq"]], unmarks=[list(mark) for mark in took])
    book.lines[row["seq"]] = replace(book.lines[row["seq"]], salt=None, body=None)
    db.pass_off(book)
    return Deed(WORLDS)


@tampering(FACTS)
def an_execution_is_erased_without_what_was_made_from_it(db: TamperedDatabase) -> Deed:
    """A snapshot that is kept by changes shows that the one before it was there."""
    book = db.book(WORLDS)
    kept = {
        seq: line.document["snapshot"]["on"][-1]
        for seq, line in enumerate(book.lines)
        if line.body is not None and b'"on":[' in line.body and line.entry.kind == "execution"
    }
    seq = db.pick(sorted(kept))
    before = kept[seq]
    took = [list(mark) for mark in unmarks_of(book.lines[before].document)]
    _append_erasure(db, book, [before], unmarks=took)
    book.lines[before] = replace(book.lines[before], salt=None, body=None)
    db.pass_off(book)
    return both(WORLDS, *at(WORLDS, "world", seq))


def _append_erasure(
    db: TamperedDatabase, book: Book, seqs: list[int], unmarks: list[Any] | None = None
) -> None:
    document = {
        "type": "Erasure",
        "reason": "asked for",
        "cause": "user_request",
        "erased": [[seq, book.lines[seq].entry.body_digest] for seq in seqs],
        "marks": ["proposal/mallory"],
    } | ({"unmarks": unmarks} if unmarks else {})
    body, salt = canonical_bytes(document), db.chance.randbytes(SALT_BYTES)
    before = book.lines[-1].entry
    entry = Entry(len(book.lines), "erasure", before.at, "human:ada", body_digest(salt, body), "")
    book.lines.append(Line(entry, salt, body))


# --------------------------------------------------------------------------------- index


@tampering(FACTS, export="not in it")
def a_mark_is_deleted(db: TamperedDatabase) -> Deed:
    """What it named would no longer be found."""
    mark = db.some(db.rows(WORLDS, "marks"))
    db.tables.remove("marks", **db.where(mark, "name", "seq"))
    return Deed(WORLDS, of(WORLDS, "index"), how=mark["name"].partition("/")[0])


@tampering(FACTS, export="not in it")
def a_mark_is_edited(db: TamperedDatabase) -> Deed:
    mark = db.some(db.rows(WORLDS, "marks"))
    other = db.chance.choice(({"name": mark["name"] + "x"}, {"seq": mark["seq"] + 100_000}))
    db.tables.change("marks", db.where(mark, "name", "seq"), **other)
    return Deed(WORLDS, of(WORLDS, "index"), how=", ".join(other))


@tampering(FACTS, export="not in it")
def a_mark_is_added(db: TamperedDatabase) -> Deed:
    """A proposal that was decided would be open again."""
    row = _some(db, "Proposal")
    id = decode(row["body"])["proposal"]["proposalId"]
    mark = {"journal": row["journal"], "name": f"open/{id}", "seq": row["seq"]}
    if db.tables.rows("marks", **mark):
        raise NotHere
    db.tables.add("marks", **mark)
    return Deed(WORLDS, of(WORLDS, "index"))


@tampering(FACTS, export="not in it")
def the_head_of_a_branch_is_moved_back(db: TamperedDatabase) -> Deed:
    """The newest entry under the name of a branch is its head."""
    marks = [row for row in db.rows(WORLDS, "marks") if row["name"] == "branch/main"]
    if len(marks) < 2:
        raise NotHere
    newest = max(marks, key=lambda row: int(row["seq"]))
    db.tables.remove("marks", **db.where(newest, "name", "seq"))
    return Deed(WORLDS, of(WORLDS, "index"))


@tampering(FACTS, export="not in it")
def the_head_of_a_branch_is_moved_to_another_execution(db: TamperedDatabase) -> Deed:
    row = _some(db, "ExecutionSealed")
    name = f"branch/forged-{db.chance.randrange(9)}"
    db.tables.add("marks", journal=row["journal"], name=name, seq=row["seq"])
    return Deed(WORLDS, of(WORLDS, "index"))


@tampering(FACTS, export="not in it")
def what_an_execution_was_made_from_is_edited(db: TamperedDatabase) -> Deed:
    """When the memory that it used is erased, it would stay."""
    row = db.some(db.rows(WORLDS, "derivations"), lambda row: row["output"].startswith("execution"))
    where = db.where(row, "input", "output")
    db.tables.change("derivations", where, input=row["input"] + "x")
    return Deed(WORLDS, of(WORLDS, "index"))


# --------------------------------------------------------------------------------- whole


@tampering(FACTS, database="checkpoint", export="checkpoint")
def the_newest_worlds_are_rolled_back(db: TamperedDatabase) -> Deed:
    book = db.book(WORLDS)
    erasures = [seq for seq, line in enumerate(book.lines) if _erases(line)]
    size = db.chance.randrange(max(erasures, default=0) + 1, len(book.lines))
    del book.lines[size:]
    db.pass_off(book)
    return Deed(WORLDS, of(WORLDS, "anchor", about="rolled_back"), of(WORLDS, "anchor"))


def _erases(line: Line) -> bool:
    """Whether what it erased can't be brought back."""
    is_tombstone = line.entry.kind == "archive" and b'"status":"erased"' in (line.body or b"")
    return line.entry.kind == "erasure" or is_tombstone
