"""Tampering with what is said about journals: their names, their checkpoints, their directory."""

from base64 import b64encode

from memoranda.identity import canonical_bytes, decode
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from tests.campaigns.tampering.adversary import OTHER_KEY, Pretender, TamperedDatabase
from tests.campaigns.tampering.book import relist, renote
from tests.campaigns.tampering.deeds import DIRECTORY, WHOLE, Deed, Named, at, of, tampering

NAMES = "names"
CHECKPOINTS = "checkpoints"
IN_DIRECTORY = "the directory"

# -------------------------------------------------------------------------------- names


@tampering(NAMES)
def two_scopes_change_origins(db: TamperedDatabase) -> Deed:
    scope, other = db.two_scopes()
    _swap(db, scope, other, "origin")
    named = (*at(scope, "previous", 0), *at(other, "previous", 0))
    return Deed(scope, named, at(scope, "previous", 0))


@tampering(NAMES)
def two_scopes_change_names(db: TamperedDatabase) -> Deed:
    """Whoever opens one gets the other's memory; both journals are right in themselves."""
    scope, other = db.two_scopes()
    _swap(db, scope, other, "scope")
    return Deed(scope, (*of(scope, "head"), *of(other, "head")), of(scope, "form"))


@tampering(NAMES)
def a_scope_gets_another_name(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    name = "mallory's"
    db.tables.change("journals", {"scope": scope}, scope=name)
    return Deed(name, of(name, "head"), of(name, "form"))


@tampering(NAMES)
def a_scope_gets_another_origin(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    origin = db.journals[scope]["origin"]
    forged = origin.replace(origin.split("/")[1], db.chance.randbytes(16).hex())
    db.tables.change("journals", {"scope": scope}, origin=forged)
    named = (*at(scope, "previous", 0), *of(scope, "root"), *of(WHOLE, "directory"))
    return Deed(scope, named, at(scope, "previous", 0))


@tampering(NAMES, database="checkpoint", export="checkpoint")
def a_journal_is_rewritten_under_another_origin(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    book = db.book(scope)
    old = book.origin
    book.origin = old.replace(old.split("/")[1], db.chance.randbytes(16).hex())
    db.tables.change("journals", {"scope": scope}, origin=book.origin)
    book.rechain()
    book.store(db.tables)
    renote(db.tables, book)
    directory = db.book(DIRECTORY)
    for seq, line in enumerate(directory.lines):
        document = line.document
        if document["origin"] == old:
            document |= {"origin": book.origin, "root": book.roots[document["size"]].hex()}
            directory.rewrite_body(seq, document)
    directory.rechain()
    directory.store(db.tables, rows=False)
    renote(db.tables, directory)
    return Deed(scope, of(WHOLE, "anchor"), of(scope, "anchor"))


def _swap(db: TamperedDatabase, scope: str, other: str, column: str) -> None:
    """By way of a third value: no two journals may have the same."""
    one, two = db.journals[scope], db.journals[other]
    db.tables.change("journals", {"number": one["number"]}, **{column: "in between"})
    db.tables.change("journals", {"number": two["number"]}, **{column: one[column]})
    db.tables.change("journals", {"number": one["number"]}, **{column: two[column]})


# -------------------------------------------------------------------------- checkpoints


@tampering(CHECKPOINTS, export="not in it")
def two_scopes_change_checkpoints(db: TamperedDatabase) -> Deed:
    scope, other = db.two_scopes()
    one, two = db.some(db.rows(scope, "checkpoints")), db.some(db.rows(other, "checkpoints"))
    db.tables.change("checkpoints", db.where(one, "size"), note=two["note"])
    db.tables.change("checkpoints", db.where(two, "size"), note=one["note"])
    return Deed(scope, (*of(scope, "root"), *of(other, "root")))


@tampering(CHECKPOINTS, export="not in it")
def a_checkpoint_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some(db.rows(scope, "checkpoints"))
    origin, size, root, *rest = row["note"].split("\n")
    texts = {
        "root": [origin, size, b64encode(db.chance.randbytes(32)).decode(), "", ""],
        "size": [origin, str(int(size) + db.chance.choice((-1, 1, 10**6))), root, "", ""],
        "origin": [origin + "x", size, root, "", ""],
        "form": [origin, size, "no root", *rest],
        "nothing left": [""],
    }
    how = db.chance.choice(sorted(texts))
    db.tables.change("checkpoints", db.where(row, "size"), note="\n".join(texts[how]))
    return Deed(scope, of(scope, "root"), how=how)


@tampering(CHECKPOINTS, export="not in it")
def a_signature_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some(db.rows(scope, "checkpoints"))
    text = parse_checkpoint(row["note"]).checkpoint.text
    note = text + "\n" + Pretender().line(text)
    db.tables.change("checkpoints", db.where(row, "size"), note=note)
    return Deed(scope, of(scope, "signature"))


@tampering(CHECKPOINTS, export="not in it")
def a_checkpoint_of_a_future_is_added(db: TamperedDatabase) -> Deed:
    """It says that entries are gone which there never were."""
    scope = db.scope()
    size = db.size(scope) + db.chance.randrange(1, 100)
    text = Checkpoint(db.journals[scope]["origin"], size, db.chance.randbytes(32)).text
    note = text + "\n" + OTHER_KEY.line(text)
    db.tables.add("checkpoints", journal=db.number(scope), size=size, note=note, at=0)
    return Deed(scope, of(scope, "root", about="rolled_back"))


@tampering(CHECKPOINTS, database="nobody", export="not in it")
def a_checkpoint_is_deleted(db: TamperedDatabase) -> Deed:
    """Those in the database are copies: what counts are those that were kept elsewhere."""
    scope = db.scope()
    db.tables.remove("checkpoints", **db.where(db.some(db.rows(scope, "checkpoints")), "size"))
    return Deed(scope)


@tampering(CHECKPOINTS, database="nobody", export="not in it")
def a_signature_is_taken_away(db: TamperedDatabase) -> Deed:
    """It is unsigned then, which every report says; that it once was signed it can't say."""
    scope = db.scope()
    row = db.some(db.rows(scope, "checkpoints"))
    note = parse_checkpoint(row["note"]).checkpoint.text + "\n"
    db.tables.change("checkpoints", db.where(row, "size"), note=note)
    return Deed(scope)


# ---------------------------------------------------------------------------- directory


@tampering(IN_DIRECTORY, export="not in it")
def a_scope_is_dropped(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    db.drop(scope)
    return Deed(scope, of(WHOLE, "directory", about=scope))


@tampering(IN_DIRECTORY, database="checkpoint", export="not in it", kept="directory")
def a_scope_is_dropped_from_the_directory_as_well(db: TamperedDatabase) -> Deed:
    """One checkpoint of the directory, kept elsewhere, tells; whose it was it can't say."""
    scope = db.scope()
    _forget(db, db.drop(scope))
    return Deed(scope, of(DIRECTORY, "anchor"))


@tampering(IN_DIRECTORY, database="checkpoint", export="not in it")
def a_scope_is_dropped_of_which_a_checkpoint_was_kept(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    origin = db.drop(scope)
    _forget(db, origin)
    return Deed(scope, of(WHOLE, "anchor", about=origin))


@tampering(IN_DIRECTORY, export="not in it")
def a_scope_is_dropped_and_the_bodies_that_name_it(db: TamperedDatabase) -> Deed:
    """The directory's chain, tree and checkpoints stay as they are, also those kept elsewhere."""
    scope = db.scope()
    origin = db.drop(scope)
    seqs = []
    for row in db.rows(DIRECTORY, "bodies"):
        if decode(row["body"])["origin"] == origin:
            db.tables.remove("bodies", **db.where(row, "seq"))
            seqs.append(row["seq"])
    named = [Named(check, seq, part) for seq in seqs for check, part in _MISSING]
    return Deed(scope, tuple(named))


_MISSING = (("body", DIRECTORY), ("directory", WHOLE))


@tampering(IN_DIRECTORY, database="checkpoint", export="not in it", kept="directory")
def a_scope_is_dropped_and_the_directory_with_it(db: TamperedDatabase) -> Deed:
    """A copy of some scopes has no directory either, until it is opened."""
    scope = db.scope()
    db.drop(scope)
    origin = db.drop(DIRECTORY)
    return Deed(scope, of(WHOLE, "anchor", about=origin))


@tampering(IN_DIRECTORY, database="checkpoint", export="not in it")
def every_scope_is_dropped(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    for name in db.journals:
        db.drop(name)
    return Deed(scope, of(WHOLE, "anchor", about=db.journals[scope]["origin"]))


@tampering(IN_DIRECTORY, export="not in it")
def a_head_in_the_directory_is_edited(db: TamperedDatabase) -> Deed:
    row = db.some(db.rows(DIRECTORY, "bodies"))
    document = decode(row["body"]) | {"root": db.hash()}
    db.tables.change("bodies", db.where(row, "seq"), body=canonical_bytes(document))
    return Deed(DIRECTORY, at(DIRECTORY, "body", row["seq"]), also=tuple(db.journals))


@tampering(IN_DIRECTORY, export="not in it")
def a_head_in_the_directory_is_forged_and_all_rehashed(db: TamperedDatabase) -> Deed:
    """So that a journal that is whole looks as if it had been rewritten, or cut."""
    scope = db.scope()
    book = db.book(DIRECTORY)
    origin = db.journals[scope]["origin"]
    seq = max(n for n, line in enumerate(book.lines) if line.document["origin"] == origin)
    document = book.lines[seq].document
    how = db.chance.choice(("root", "size"))
    changed = {"root": db.hash()} if how == "root" else {"size": document["size"] + 5}
    book.rewrite_body(seq, document | changed)
    book.rechain()
    book.store(db.tables, rows=False)
    renote(db.tables, book)
    return Deed(scope, of(scope, "directory"), how=how)


@tampering(IN_DIRECTORY, database="checkpoint", export="not in it", kept="directory")
def the_newest_heads_are_cut_from_the_directory(db: TamperedDatabase) -> Deed:
    book = db.book(DIRECTORY)
    del book.lines[db.chance.randrange(1, len(book.lines)) :]
    book.rechain()
    book.store(db.tables, rows=False)
    renote(db.tables, book)
    return Deed(DIRECTORY, of(DIRECTORY, "anchor", about="rolled_back"))


@tampering(IN_DIRECTORY, export="not in it")
def an_entry_of_the_directory_is_deleted(db: TamperedDatabase) -> Deed:
    seq = db.chance.randrange(db.size(DIRECTORY) - 1)
    for table in ("entries", "bodies"):
        db.tables.remove(table, journal=db.number(DIRECTORY), seq=seq)
    return Deed(DIRECTORY, at(DIRECTORY, "seq", seq), also=tuple(db.journals))


def _forget(db: TamperedDatabase, origin: str) -> None:
    directory = db.book(DIRECTORY)
    relist(db.tables, directory, None, gone=origin)
    renote(db.tables, directory)
