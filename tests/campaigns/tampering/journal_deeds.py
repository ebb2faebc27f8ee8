"""Tampering with a journal: its entries, bodies, head, tree, and all of it at once."""

from dataclasses import replace
from typing import Any

from memoranda.identity import canonical_bytes
from memoranda.ledger.entry import (
    SALT_BYTES,
    Entry,
    body_digest,
    entry_bytes,
    entry_hash,
)
from memoranda.ledger.tree import BLOCK
from tests.campaigns.tampering.adversary import OTHER_KEY, Pretender, TamperedDatabase
from tests.campaigns.tampering.book import Book, Line
from tests.campaigns.tampering.clean import KEY
from tests.campaigns.tampering.deeds import DIRECTORY, Deed, at, both, of, tampering

ENTRIES = "entries"
BODIES = "bodies"
WHOLE_JOURNAL = "the whole journal"
HEAD_AND_TREE = "head and tree"

# ------------------------------------------------------------------------------ entries


@tampering(ENTRIES)
def an_entry_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    body = db.some_body(scope, lambda row: 0 < row["seq"] < db.size(scope) - 2)
    seq = body["seq"]
    entry = db.entry(scope, seq)
    member = db.chance.choice(("actor", "at", "kind", "body_digest", "previous_entry_hash", "seq"))
    after = at(scope, "previous", seq + 1)
    match member:
        case "actor":
            changed, named = entry._replace(actor="human:mallory"), after
        case "at":
            changed, named = entry._replace(at=entry.at + db.chance.choice((-1, 1))), after
        case "kind":
            kind = "archive" if entry.kind == "create" else "create"
            changed, named = entry._replace(kind=kind), after
        case "body_digest":
            changed, named = entry._replace(body_digest=db.hash()), at(scope, "body", seq)
        case "previous_entry_hash":
            changed = entry._replace(previous_entry_hash=db.hash())
            named = at(scope, "previous", seq)
        case _:
            changed = entry._replace(seq=seq + db.chance.choice((-3, 5, 10**9)) + 2**20)
            named = at(scope, "seq", seq)
    db.edit_entry(scope, seq, entry_bytes(changed))
    return both(scope, *named, how=member)


@tampering(ENTRIES)
def an_entry_is_no_longer_one(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq = db.inside(scope)
    raw = entry_bytes(db.entry(scope, seq))
    forms = {
        "another member": raw[:-1] + b',"w":1}',
        "a space": raw.replace(b'"v":1', b'"v": 1'),
        "no member": raw.replace(b',"v":1', b""),
        "another kind": raw.replace(b'"kind":"', b'"kind":"un'),
        "another version": raw.replace(b'"v":1', b'"v":2'),
        "cut off": raw[: db.chance.randrange(1, len(raw))],
        "empty": b"",
        "a float": raw.replace(b'"v":1', b'"v":1.0'),
        "not UTF-8": raw.replace(b'"actor":"', b'"actor":"\xff'),
        "not JSON": b"deleted by nobody",
        "a shorthand of no kind": b"\x63" + db.chance.randbytes(80) + b"human:ada",
        "a shorthand of no actor": b"\x01" + db.chance.randbytes(80) + b"\xff:\xff",
    }
    how = db.chance.choice(sorted(forms))
    db.edit_entry(scope, seq, forms[how])
    return both(scope, *at(scope, "form", seq), how=how)


@tampering(ENTRIES, export="checkpoint")
def the_last_entry_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq = db.size(scope) - 1
    db.edit_entry(scope, seq, entry_bytes(db.entry(scope, seq)._replace(actor="human:mallory")))
    return Deed(scope, of(scope, "head"), of(scope, "anchor"))


@tampering(ENTRIES)
def an_entry_is_deleted(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq = db.inside(scope)
    number = db.number(scope)
    db.tables.remove("entries", journal=number, seq=seq)
    how = db.chance.choice(("the entry", "with its body", "with body and row"))
    if how != "the entry":
        db.tables.remove("bodies", journal=number, seq=seq)
    if how == "with body and row":
        db.tables.remove("versions", journal=number, seq=seq)
    return both(scope, *at(scope, "seq", seq), how=how)


@tampering(ENTRIES)
def an_entry_is_deleted_and_those_after_it_move_up(db: TamperedDatabase) -> Deed:
    """Everything but the hashes is made to fit: places, rows, head and size."""
    scope = db.scope()
    seq = db.inside(scope)
    book = db.book(scope)
    del book.lines[seq]
    _stored_unhashed(db, book)
    return Deed(scope, at(scope, "previous", seq), at(scope, "previous", seq))


@tampering(ENTRIES)
def an_entry_is_inserted_and_those_after_it_move_down(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq = db.inside(scope, first=1)
    book = db.book(scope)
    book.lines.insert(seq, _forged(db, book.lines[seq - 1].entry, seq))
    _stored_unhashed(db, book)
    return Deed(scope, at(scope, "previous", seq + 1), at(scope, "previous", seq + 1))


@tampering(ENTRIES)
def an_entry_is_put_far_behind_the_end(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    size = db.size(scope)
    far = size + db.chance.choice((1, 5, 10**6))
    forged = _forged(db, db.entry(scope, size - 1), far)
    db.tables.add("entries", journal=db.number(scope), seq=far, entry=entry_bytes(forged.entry))
    return Deed(scope, at(scope, "seq", size) + of(scope, "head"), of(scope, "size"))


@tampering(ENTRIES)
def two_entries_change_places(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    one, other = sorted(db.chance.sample(range(db.size(scope) - 1), 2))
    number = db.number(scope)
    for table, columns in (("entries", ("entry",)), ("bodies", ("salt", "body"))):
        found = [db.tables.rows(table, journal=number, seq=seq) for seq in (one, other)]
        for seq, rows in zip((one, other), reversed(found), strict=True):
            db.tables.remove(table, journal=number, seq=seq)
            for row in rows:
                values = {name: row[name] for name in columns}
                db.tables.add(table, journal=number, seq=seq, **values)
    return Deed(scope, at(scope, "seq", one, other), at(scope, "seq", one))


@tampering(ENTRIES)
def an_entry_of_another_scope_is_put_into_its_place(db: TamperedDatabase) -> Deed:
    scope, other = db.two_scopes()
    seq = db.chance.randrange(1, min(db.size(scope), db.size(other)) - 1)
    db.edit_entry(scope, seq, entry_bytes(db.entry(other, seq)))
    return both(scope, *at(scope, "previous", seq))


def _forged(db: TamperedDatabase, before: Entry, seq: int) -> Line:
    """An entry that follows another one as it should, about an object that nobody made."""
    document = _invented(db, seq)
    body, salt = canonical_bytes(document), db.chance.randbytes(SALT_BYTES)
    previous = entry_hash(entry_bytes(before)).hex()
    entry = Entry(seq, "create", before.at, "human:ada", body_digest(salt, body), previous)
    return Line(entry, salt, body, {"seq": seq})


def _invented(db: TamperedDatabase, seq: int) -> dict[str, Any]:
    return {
        "applicability_scope": None,
        "created_ms": 1_750_000_000_000 + seq,
        "id": f"invented-{db.chance.randrange(2**32)}",
        "source_refs": [],
        "statement": "Mallory may see everything",
        "statement_type": "UserProvidedStatement",
        "tags": ["red"],
        "temporal_scope": "unknown",
        "timestamp": "2025-06-15T15:06:40.000Z",
        "type": "MemoryObject",
        "updated_ms": 1_750_000_000_000 + seq,
        "valid_from": None,
        "valid_to": None,
        "verdict_type": "Factual",
        "version": "1",
    }


def _stored_unhashed(db: TamperedDatabase, book: Book) -> None:
    """Store a journal whose entries moved without their bytes being changed."""
    raws = [entry_bytes(line.entry) for line in book.lines]
    book.rechain()
    book.store(db.tables)
    for seq, raw in enumerate(raws):
        db.tables.change("entries", {"journal": book.number, "seq": seq}, entry=raw)
    head = entry_hash(raws[-1])
    db.tables.change("journals", {"number": book.number}, head=head)


# ------------------------------------------------------------------------------- bodies


@tampering(BODIES)
def a_body_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    body = db.some_body(scope)
    content = body["body"]
    place = db.chance.randrange(1, len(content) - 1)
    flipped = bytes([content[place] ^ 0x01 if content[place] > 0x21 else 0x23])
    db.tables.change(
        "bodies", db.where(body, "seq"), body=content[:place] + flipped + content[place + 1 :]
    )
    return both(scope, *at(scope, "body", body["seq"]))


@tampering(BODIES)
def a_statement_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    body = db.some_body(scope, lambda row: b'"type":"MemoryObject"' in row["body"])
    content = body["body"].replace(b'"statement":"', b'"statement":"not ')
    db.tables.change("bodies", db.where(body, "seq"), body=content)
    return both(scope, *at(scope, "body", body["seq"]))


@tampering(BODIES)
def a_salt_is_changed(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    body = db.some_body(scope)
    db.tables.change("bodies", db.where(body, "seq"), salt=db.chance.randbytes(SALT_BYTES))
    return both(scope, *at(scope, "body", body["seq"]))


@tampering(BODIES)
def bytes_move_from_a_body_to_its_salt(db: TamperedDatabase) -> Deed:
    """All bytes are there, in their order: it matters where the salt ends."""
    scope = db.scope()
    body = db.some_body(scope)
    whole = body["salt"] + body["body"]
    cut = db.chance.choice((0, 1, 15, 17, 20, 40))
    db.tables.change("bodies", db.where(body, "seq"), salt=whole[:cut], body=whole[cut:])
    seq = body["seq"]
    return Deed(scope, at(scope, "body", seq), at(scope, "form", seq), how=f"{cut} bytes of salt")


@tampering(BODIES)
def two_bodies_change_places(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    one, other = db.chance.sample(db.rows(scope, "bodies"), 2)
    for here, there in ((one, other), (other, one)):
        db.tables.change("bodies", db.where(here, "seq"), salt=there["salt"], body=there["body"])
    return both(scope, *at(scope, "body", one["seq"], other["seq"]))


@tampering(BODIES)
def a_body_moves_to_another_scope(db: TamperedDatabase) -> Deed:
    scope, other = db.two_scopes()
    here, there = db.some_body(scope), db.some_body(other)
    db.tables.change("bodies", db.where(here, "seq"), salt=there["salt"], body=there["body"])
    return both(scope, *at(scope, "body", here["seq"]))


@tampering(BODIES)
def a_body_is_removed(db: TamperedDatabase) -> Deed:
    """It looks like an erasure, but the row still says what it said."""
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["is_newest"] and row["status"] != "erased")
    db.tables.remove("bodies", **db.where(row, "seq"))
    return Deed(scope, at(scope, "row", row["seq"], about=row["id"]), of(scope, "object"))


@tampering(BODIES)
def an_object_is_erased_and_nothing_says_so(db: TamperedDatabase) -> Deed:
    """All bodies of an object are gone and its rows say erased, but there is no tombstone."""
    scope = db.scope()
    some = db.some_version(scope, lambda row: row["is_newest"] and row["status"] != "erased")
    rows = [row for row in db.rows(scope, "versions") if row["id"] == some["id"]]
    for row in rows:
        _erase(db, row)
    _untag(db, scope, some["id"])
    seqs = [row["seq"] for row in rows]
    return Deed(scope, at(scope, "object", *seqs), of(scope, "object"))


@tampering(BODIES)
def a_version_between_is_erased_and_nothing_says_so(db: TamperedDatabase) -> Deed:
    """What an object said for a while is gone; in an export, what followed it follows nothing."""
    scope = db.scope()
    some = db.some_version(scope, lambda row: not row["is_newest"] and row["status"] != "erased")
    _erase(db, some)
    (after,) = db.tables.rows("versions", **db.where(some, "id") | {"number": some["number"] + 1})
    return Deed(scope, at(scope, "object", some["seq"]), at(scope, "object", after["seq"]))


@tampering(BODIES)
def something_else_is_put_where_a_body_was_erased(db: TamperedDatabase) -> Deed:
    scope = _with_erasures(db)
    row = _erased(db, scope)
    salt, body = db.chance.randbytes(SALT_BYTES), canonical_bytes(_invented(db, row["seq"]))
    db.tables.add("bodies", **db.where(row, "seq"), salt=salt, body=body)
    return both(scope, *at(scope, "body", row["seq"]))


@tampering(BODIES)
def an_erased_body_comes_back_from_a_backup(db: TamperedDatabase) -> Deed:
    scope, row, old = _once_there(db)
    db.tables.add("bodies", **old)
    named = at(scope, "object", row["seq"])
    return Deed(scope, at(scope, "row", row["seq"], about=row["id"]), named)


@tampering(BODIES)
def an_erased_body_comes_back_with_its_row(db: TamperedDatabase) -> Deed:
    """Whoever kept a backup has body, salt and row, and every hash fits."""
    scope, row, old = _once_there(db)
    db.tables.add("bodies", **old)
    backup = db.clean.backup()
    with backup:
        (before,) = backup.rows("versions", journal=row["journal"], seq=row["seq"])
    db.tables.remove("versions", **db.where(row, "id", "number"))
    db.tables.add("versions", **before | {"is_newest": False})
    return both(scope, *at(scope, "object", row["seq"]))


@tampering(BODIES)
def the_body_of_a_policy_or_a_break_is_removed(db: TamperedDatabase) -> Deed:
    """Only what is about an object is ever erased; without its body a break would not stand."""
    scope = db.scope()
    notice = db.some_notice(scope)
    db.tables.remove("bodies", **db.where(notice, "seq"))
    return both(scope, *at(scope, "body", notice["seq"]))


def _erase(db: TamperedDatabase, row: dict[str, Any]) -> None:
    db.tables.remove("bodies", **db.where(row, "seq"))
    db.tables.change(
        "versions", db.where(row, "id", "number"), status="erased", created_at=0, updated_at=0,
        valid_from=None, valid_to=None, expires_at=None, subject=None,
    )  # fmt: skip


def _untag(db: TamperedDatabase, scope: str, id: str) -> None:
    db.tables.remove("tags", journal=db.number(scope), id=id)


def _with_erasures(db: TamperedDatabase) -> str:
    scopes = [scope for scope in db.clean.now.sizes if scope != DIRECTORY]
    return db.pick([scope for scope in scopes if _erasures(db, scope)])


def _erasures(db: TamperedDatabase, scope: str) -> list[dict[str, Any]]:
    there = {row["seq"] for row in db.rows(scope, "bodies")}
    return [row for row in db.rows(scope, "versions") if row["seq"] not in there]


def _erased(db: TamperedDatabase, scope: str) -> dict[str, Any]:
    return db.some(_erasures(db, scope))


def _once_there(db: TamperedDatabase) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """An erased version whose content a backup still has: its scope, its row, its body."""
    found = []
    backup = db.clean.backup()
    with backup:
        for scope in db.journals:
            for row in _erasures(db, scope):
                where = db.where(row, "seq")
                found += [(scope, row, old) for old in backup.rows("bodies", **where)]
    return db.pick(found)


# ------------------------------------------------------------------------ head and tree


@tampering(HEAD_AND_TREE)
def the_size_in_the_head_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    size = db.size(scope)
    said = max(0, size + db.chance.choice((-size, -7, -1, 1, 3, 10**6)))
    db.tables.change("journals", {"scope": scope}, size=said)
    return Deed(scope, of(scope, "head"), of(scope, "size"), how=f"{said - size:+}")


@tampering(HEAD_AND_TREE, export="not in it")
def the_hash_in_the_head_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.tables.change("journals", {"scope": scope}, head=db.chance.randbytes(32))
    return Deed(scope, of(scope, "head"))


@tampering(HEAD_AND_TREE, database="nobody", export="not in it")
def the_time_in_the_head_is_edited(db: TamperedDatabase) -> Deed:
    """The next entries would be of that time, if it is later than now."""
    scope = db.scope()
    db.tables.change("journals", {"scope": scope}, head_at=2**45)
    return Deed(scope)


@tampering(HEAD_AND_TREE)
def a_node_of_the_tree_is_edited(db: TamperedDatabase) -> Deed:
    scope = _with_nodes(db)
    node = db.some(db.rows(scope, "nodes"))
    db.tables.change("nodes", db.where(node, "level", "number"), hash=db.chance.randbytes(32))
    return Deed(scope, of(scope, "tree"), of(scope, "root"))


@tampering(HEAD_AND_TREE, export="not in it")
def a_node_of_the_tree_is_deleted(db: TamperedDatabase) -> Deed:
    scope = _with_nodes(db)
    node = db.some(db.rows(scope, "nodes"))
    db.tables.remove("nodes", **db.where(node, "level", "number"))
    return Deed(scope, of(scope, "tree"))


@tampering(HEAD_AND_TREE, export="not in it")
def a_node_is_added_to_the_tree(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    level, number = db.chance.choice(((8, db.size(scope) // BLOCK), (16, 0), (24, 3), (7, 0)))
    db.tables.add(
        "nodes", journal=db.number(scope), level=level, number=number, hash=db.chance.randbytes(32)
    )
    return Deed(scope, of(scope, "tree"), how=f"level {level}")


def _with_nodes(db: TamperedDatabase) -> str:
    return db.pick([scope for scope in db.clean.now.sizes if db.rows(scope, "nodes")])


# -------------------------------------------------------------------- the whole journal


@tampering(WHOLE_JOURNAL)
def the_tail_is_cut_and_the_head_left(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    number, size = db.number(scope), db.size(scope)
    cut = db.chance.randrange(1, size // 2)
    for seq in range(size - cut, size):
        for table in ("entries", "bodies", "versions"):
            db.tables.remove(table, journal=number, seq=seq)
    return Deed(scope, of(scope, "head"), of(scope, "size"), how=f"{cut} entries")


@tampering(WHOLE_JOURNAL, export="checkpoint")
def the_tail_is_cut_with_head_and_rows(db: TamperedDatabase) -> Deed:
    """The checkpoints in the database and its directory still tell of it."""
    scope = db.scope()
    book = _cut(db, scope, below=db.clean.then.sizes[scope])
    db.pass_off(book, keeps_notes=True, keeps_directory=True)
    return Deed(scope, of(scope, "root", "directory"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def the_tail_is_cut_with_everything_that_tells_of_it(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    book = _cut(db, scope, below=db.size(scope))
    db.pass_off(book)
    return Deed(scope, of(scope, "anchor", about="rolled_back"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="nobody", export="nobody", kept="older")
def what_is_newer_than_the_kept_checkpoint_is_cut(db: TamperedDatabase) -> Deed:
    """How often checkpoints are published is how much is at risk."""
    scope = db.scope()
    book = _cut(db, scope, below=db.size(scope), above=db.clean.then.sizes[scope])
    db.pass_off(book)
    return Deed(scope)


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def the_journal_is_emptied(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    book = db.book(scope)
    book.lines.clear()
    db.pass_off(book)
    return Deed(scope, of(scope, "anchor", about="rolled_back"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, export="checkpoint")
def it_is_rewritten_and_rehashed_but_not_the_directory(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.pass_off(_rewritten(db, scope), keeps_directory=True)
    return Deed(scope, of(scope, "directory", about="forked"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def it_is_rewritten_and_rehashed_with_everything(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.pass_off(_rewritten(db, scope))
    return Deed(scope, of(scope, "anchor", about="forked"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def the_newest_version_is_taken_back_and_all_rehashed(db: TamperedDatabase) -> Deed:
    """As if an object had never been changed, forgotten or archived."""
    scope = db.scope()
    newest = db.some_version(
        scope,
        lambda row: row["is_newest"] and row["number"] > 1 and row["status"] != "erased",
    )
    book = db.book(scope)
    del book.lines[newest["seq"]]
    db.pass_off(book)
    return Deed(scope, of(scope, "anchor"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def an_entry_is_put_between_and_all_rehashed(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq = db.inside(scope, first=1)
    book = db.book(scope)
    book.lines.insert(seq, _forged(db, book.lines[seq - 1].entry, seq))
    db.pass_off(book)
    return Deed(scope, of(scope, "anchor", about="forked"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL)
def it_is_rewritten_with_an_older_time(db: TamperedDatabase) -> Deed:
    """Backdated, with all hashes right: time goes back where it was done."""
    scope = db.scope()
    seq = db.inside(scope, first=1)
    book = db.book(scope)
    line = book.lines[seq]
    before = book.lines[seq - 1].entry.at
    book.lines[seq] = replace(line, entry=line.entry._replace(at=before - 86_400_000))
    db.pass_off(book)
    return both(scope, *at(scope, "time", seq))


@tampering(WHOLE_JOURNAL)
def it_is_rewritten_with_a_statement_of_no_format(db: TamperedDatabase) -> Deed:
    """All hashes are right, but what is said to be JSON is none: a reader would break on it."""
    scope = db.scope()
    newest = {row["seq"] for row in db.rows(scope, "versions") if row["is_newest"]}
    body = db.some_body(
        scope,
        lambda row: (
            _is_plain(row["body"])
            and row["seq"] in newest
            and b'"format":"json"' in row["body"]
            and b'"status"' not in row["body"]
        ),
    )
    book = db.book(scope)
    document = book.lines[body["seq"]].document
    book.rewrite_body(body["seq"], document | {"statement": "{not JSON"})
    db.pass_off(book)
    return both(scope, *at(scope, "object", body["seq"]))


@tampering(WHOLE_JOURNAL, exports_signed="pretended")
def it_is_rewritten_and_signed_as_if_with_the_known_key(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.pass_off(_rewritten(db, scope), hands=[Pretender()])
    return Deed(scope, of(scope, "signature"), of(scope, "signature"), also=(DIRECTORY,))


@tampering(WHOLE_JOURNAL, database="checkpoint", exports_signed="other")
def it_is_rewritten_and_signed_with_another_key(db: TamperedDatabase) -> Deed:
    """An auditor who asks the export for the known key's signature sees that there is none."""
    scope = db.scope()
    db.pass_off(_rewritten(db, scope), hands=[OTHER_KEY])
    return Deed(scope, of(scope, "anchor", about="forked"), of(scope, "signature"))


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def it_is_rewritten_and_signed_with_the_stolen_key(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.pass_off(_rewritten(db, scope), hands=[KEY])
    return Deed(scope, of(scope, "anchor", about="forked"), of(scope, "anchor"))


@tampering(WHOLE_JOURNAL, database="nobody", export="nobody")
def an_entry_is_appended_by_nobody(db: TamperedDatabase) -> Deed:
    """Whoever can write the database can write to it: entries have no signatures of their own."""
    scope = db.scope()
    book = db.book(scope)
    book.lines.append(_forged(db, book.lines[-1].entry, len(book.lines)))
    db.pass_off(book)
    return Deed(scope)


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def a_backup_is_put_back(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    return Deed(scope, of(scope, "anchor", about="rolled_back"), of(scope, "anchor"), restores=True)


@tampering(WHOLE_JOURNAL, database="checkpoint", export="checkpoint")
def a_backup_is_put_back_and_written_on(db: TamperedDatabase) -> Deed:
    """Two histories from one beginning, each of them right in itself: a split view."""
    scope = db.scope()
    return Deed(
        scope,
        of(scope, "anchor", about="forked"),
        of(scope, "anchor"),
        restores=True,
        goes_on=True,
    )


def _cut(db: TamperedDatabase, scope: str, *, below: int, above: int = 1) -> Book:
    book = db.book(scope)
    size = db.chance.randrange(above, below)
    # What was erased later was still there when the journal ended here: an attacker without a
    # backup can't bring it back, and cuts where no tombstone goes.
    while any(_is_tombstone(line) for line in book.lines[size:]):
        size += 1
    del book.lines[size:]
    return book


def _is_tombstone(line: Line) -> bool:
    is_there = line.entry.kind == "archive" and line.body is not None
    return is_there and line.document["status"] == "erased"


def _rewritten(db: TamperedDatabase, scope: str) -> Book:
    """A journal of which one statement says something else, from there on with all that follows."""
    body = db.some_body(scope, lambda row: _is_plain(row["body"]))
    book = db.book(scope)
    seq = body["seq"]
    document = book.lines[seq].document
    said = "Mallory may see everything"
    if document.get("format") == "json":
        said = '{"mallory":"everything"}'
    book.rewrite_body(seq, document | {"statement": said})
    return book


def _is_plain(body: bytes) -> bool:
    return b'"type":"MemoryObject"' in body and b'"status":"erased"' not in body
