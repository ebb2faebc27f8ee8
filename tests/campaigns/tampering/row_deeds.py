"""Tampering with what follows from a journal: rows, tags, words, derivations, retries."""

from typing import Any

from memoranda.text.tokens import kind_of
from tests.campaigns.tampering.adversary import TamperedDatabase
from tests.campaigns.tampering.deeds import Deed, at, of, tampering
from tests.campaigns.tampering.index import documents_in, put_words, words_in, write_blocks

ROWS = "rows"
INDEX = "index"
MALLORY = kind_of(1, 3)
"""A word of an attacker's: once, in three."""
LEFT = "beside the journal"


# --------------------------------------------------------------------------------- rows


@tampering(ROWS, export="not in it")
def a_row_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["status"] != "erased")
    changes: dict[str, Any] = {
        "status": "archived" if row["status"] == "active" else "active",
        "created_at": row["created_at"] - 1,
        "updated_at": row["updated_at"] + 86_400_000,
        "valid_from": (row["valid_from"] or 0) + 1,
        "valid_to": None if row["valid_to"] else 2_000_000_000_000,
        "expires_at": (row["expires_at"] or 1_600_000_000_000) + 1,
        "subject": "somebody else",
        "seq": row["seq"] + 1,
        "since": row["since"] + 1,
        "number": row["number"] + 7,
    }
    column = db.chance.choice(sorted(changes))
    db.tables.change("versions", db.where(row, "id", "number"), **{column: changes[column]})
    seq = row["seq"] + (column == "seq")
    return Deed(scope, at(scope, "row", seq, about=row["id"]), how=column)


@tampering(ROWS, export="not in it")
def a_row_gets_another_id(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["status"] != "erased")
    db.tables.change("versions", db.where(row, "id", "number"), id=row["id"] + "-mallory")
    return Deed(scope, at(scope, "row", row["seq"], about="-mallory"))


@tampering(ROWS, export="not in it")
def a_row_is_deleted(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some(db.rows(scope, "versions"))
    db.tables.remove("versions", **db.where(row, "id", "number"))
    return Deed(scope, at(scope, "row", row["seq"]))


@tampering(ROWS, export="not in it")
def the_rows_of_an_object_are_deleted(db: TamperedDatabase) -> Deed:
    """The object is gone for whoever asks, and its journal still tells of it."""
    scope = db.scope()
    some = db.some(db.rows(scope, "versions"))
    rows = [row for row in db.rows(scope, "versions") if row["id"] == some["id"]]
    for row in rows:
        db.tables.remove("versions", **db.where(row, "id", "number"))
    db.tables.remove("tags", journal=db.number(scope), id=some["id"])
    return Deed(scope, at(scope, "row", *[row["seq"] for row in rows]))


@tampering(ROWS, export="not in it")
def a_row_is_added_without_an_entry(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["status"] == "active" and row["is_newest"])
    seq = db.size(scope) + db.chance.choice((0, 1, 2**40 + 3))
    db.tables.add("versions", **row | {"id": "invented", "number": 1, "seq": seq})
    return Deed(scope, at(scope, "row", seq, about="invented"))


@tampering(ROWS, export="not in it")
def a_second_row_stands_for_an_entry(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["status"] == "active" and row["is_newest"])
    db.tables.add("versions", **row | {"id": "zz-invented", "number": 1})
    return Deed(scope, at(scope, "row", row["seq"], about="zz-invented"))


@tampering(ROWS, export="not in it")
def a_row_stands_for_an_entry_that_is_about_no_object(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    notice = db.some_notice(scope)
    row = db.some_version(scope, lambda row: row["status"] == "active")
    seq = notice["seq"]
    db.tables.add("versions", **row | {"id": "invented", "number": 1, "seq": seq})
    return Deed(scope, at(scope, "row", seq, about="invented"))


@tampering(ROWS, export="not in it")
def a_row_moves_to_another_scope(db: TamperedDatabase) -> Deed:
    scope, other = db.two_scopes()
    row = db.some_version(scope, lambda row: row["status"] == "active")
    db.tables.remove("versions", **db.where(row, "id", "number"))
    db.tables.add("versions", **row | {"journal": db.number(other)})
    named = (*at(scope, "row", row["seq"]), *at(other, "row", row["seq"], about=row["id"]))
    return Deed(scope, named)


@tampering(ROWS, export="not in it")
def what_was_put_away_is_active_again(db: TamperedDatabase) -> Deed:
    """Only the flag of the row: what was forgotten would be returned again."""
    scope = db.scope()
    row = db.some_version(
        scope, lambda row: row["is_newest"] and row["status"] in ("invalidated", "archived")
    )
    db.tables.change("versions", db.where(row, "id", "number"), status="active")
    return Deed(scope, at(scope, "row", row["seq"], about=row["id"]))


@tampering(ROWS, export="not in it")
def the_version_before_is_the_newest_again(db: TamperedDatabase) -> Deed:
    """The row of an invalidation is taken away, and the version before it is marked the newest."""
    scope = db.scope()
    row = db.some_version(
        scope, lambda row: row["is_newest"] and row["status"] in ("invalidated", "archived")
    )
    db.tables.remove("versions", **db.where(row, "id", "number"))
    before = {"journal": row["journal"], "id": row["id"], "number": row["number"] - 1}
    db.tables.change("versions", before, is_newest=True)
    return Deed(scope, at(scope, "row", row["seq"]))


@tampering(ROWS, export="not in it")
def another_version_is_marked_as_the_newest(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["number"] > 1 and row["is_newest"])
    number = db.chance.randrange(1, row["number"])
    older = {"journal": row["journal"], "id": row["id"], "number": number}
    db.tables.change("versions", older, is_newest=True)
    (marked,) = db.tables.rows("versions", **older)
    seqs = [marked["seq"]]
    how = db.chance.choice(("beside the newest", "instead of the newest"))
    if how == "instead of the newest":
        db.tables.change("versions", db.where(row, "id", "number"), is_newest=False)
        seqs.append(row["seq"])
    return Deed(scope, at(scope, "row", *seqs, about=row["id"]), how=how)


@tampering(ROWS, export="not in it")
def no_version_is_marked_as_the_newest(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["is_newest"])
    db.tables.change("versions", db.where(row, "id", "number"), is_newest=False)
    return Deed(scope, at(scope, "row", row["seq"], about=row["id"]))


# -------------------------------------------------------------------------------- index


@tampering(INDEX, export="not in it")
def a_tag_is_edited(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    tag = db.some(db.rows(scope, "tags"))
    moved = [(name, tag[name] + 1) for name in ("created_at", "since")]
    column, value = db.chance.choice((("tag", "violet"), *moved))
    db.tables.change("tags", db.where(tag, "tag", "created_at", "id"), **{column: value})
    return Deed(scope, of(scope, "tag", about=tag["id"]), how=column)


@tampering(INDEX, export="not in it")
def a_tag_is_deleted(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    tag = db.some(db.rows(scope, "tags"))
    db.tables.remove("tags", **db.where(tag, "tag", "created_at", "id"))
    return Deed(scope, of(scope, "tag", about=tag["id"]))


@tampering(INDEX, export="not in it")
def a_tag_is_added(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: row["is_newest"])
    added = {name: row[name] for name in ("journal", "created_at", "since", "id")}
    db.tables.add("tags", tag="vip", **added)
    return Deed(scope, of(scope, "tag", about=row["id"]))


@tampering(INDEX, export="not in it")
def a_word_is_taken_from_the_index(db: TamperedDatabase) -> Deed:
    """Who searches for it does not find the object any more."""
    scope = db.scope()
    seq, words = db.some_words(scope)
    taken = {db.chance.choice(sorted(words))} if db.chance.random() < 0.5 else set(words)
    left = {token: kind for token, kind in words.items() if token not in taken}
    put_words(db.tables, db.number(scope), seq, left)
    return Deed(scope, at(scope, "index", seq), how=f"{len(taken)} words")


@tampering(INDEX, export="not in it")
def a_word_is_added_to_the_index(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq, words = db.some_words(scope)
    put_words(db.tables, db.number(scope), seq, words | {"mallory": MALLORY})
    return Deed(scope, at(scope, "index", seq))


@tampering(INDEX, export="not in it")
def a_count_in_the_index_is_changed(db: TamperedDatabase) -> Deed:
    """Who asks for the word finds the object before others, or after them."""
    scope = db.scope()
    seq, words = db.some_words(scope)
    token = db.chance.choice(sorted(words))
    other = (words[token] + (db.chance.randrange(1, 255) << 8)) % (1 << 16)
    put_words(db.tables, db.number(scope), seq, words | {token: other})
    return Deed(scope, at(scope, "index", seq), how="a count")


@tampering(INDEX, export="not in it")
def a_length_in_the_index_is_changed(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    seq, words = db.some_words(scope)
    token = db.chance.choice(sorted(words))
    other = words[token] ^ db.chance.randrange(1, 256)
    put_words(db.tables, db.number(scope), seq, words | {token: other})
    return Deed(scope, at(scope, "index", seq), how="a length")


@tampering(INDEX, export="not in it")
def what_the_index_counts_is_changed(db: TamperedDatabase) -> Deed:
    """Every weight of the scope would be another one."""
    scope = db.scope()
    journal = db.journals[scope]
    column = db.chance.choice(("documents", "length"))
    other = journal[column] + db.chance.choice((-1, 1, 1_000))
    db.tables.change("journals", {"scope": scope}, **{column: other})
    return Deed(scope, of(scope, "index"), how=column)


@tampering(INDEX, export="not in it")
def a_segment_of_the_index_is_moved(db: TamperedDatabase) -> Deed:
    """What lies in it would not be found, or be looked for where it is not."""
    scope = db.scope()
    segment = db.some(db.rows(scope, "segments"))
    column = db.chance.choice(("first", "until", "number"))
    other = segment[column] + (1_000 if column == "number" else db.chance.choice((1, 100)))
    db.tables.change("segments", db.where(segment, "number"), **{column: other})
    return Deed(scope, of(scope, "index"), how=column)


@tampering(INDEX, export="not in it")
def an_object_is_taken_out_of_its_thread(db: TamperedDatabase) -> Deed:
    """What was said before it and after it would count for others."""
    scope = db.scope()
    row = db.some(db.rows(scope, "threads"))
    if db.chance.random() < 0.5:
        db.tables.remove("threads", **db.where(row, "thread", "seq"))
        return Deed(scope, of(scope, "index"), how="threads")
    known = documents_in(db.tables, db.number(scope))
    left = [one._replace(thread="") if one.seq == row["seq"] else one for one in known]
    write_blocks(db.tables, db.number(scope), left)
    return Deed(scope, of(scope, "index"), how="documents")


@tampering(INDEX, export="not in it")
def an_object_is_put_into_another_thread(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some(db.rows(scope, "threads"))
    if db.chance.random() < 0.5:
        db.tables.add("threads", **row | {"thread": "of mallory"})
        return Deed(scope, of(scope, "index"), how="added")
    known = documents_in(db.tables, db.number(scope))
    one = db.chance.choice(known)
    changes: dict[str, Any] = {
        "thread": "of mallory",
        "speaker": "mallory",
        "length": one.length + 1,
        "said_at": one.said_at + 1,
        "is_question": not one.is_question,
    }
    column = db.chance.choice(sorted(changes))
    left = [found for found in known if found != one]
    write_blocks(db.tables, db.number(scope), [*left, one._replace(**{column: changes[column]})])
    return Deed(scope, of(scope, "index"), how=column)


@tampering(INDEX, export="not in it")
def two_entries_change_words(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    index = words_in(db.tables, db.number(scope))
    one, words = db.some_words(scope)
    other = db.pick([seq for seq in sorted(index) if index[seq] != words])
    for seq, found in ((one, index[other]), (other, words)):
        put_words(db.tables, db.number(scope), seq, found)
    return Deed(scope, at(scope, "index", one, other))


@tampering(INDEX, export="not in it")
def what_was_put_away_is_found_by_its_words(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    row = db.some_version(scope, lambda row: not row["is_newest"] or row["status"] != "active")
    put_words(db.tables, row["journal"], row["seq"], {"mallory": MALLORY})
    return Deed(scope, at(scope, "index", row["seq"]))


@tampering(INDEX, export="not in it")
def the_index_is_said_to_reach_elsewhere(db: TamperedDatabase) -> Deed:
    scope = db.scope()
    journal = db.journals[scope]
    first = min(words_in(db.tables, journal["number"]))
    said = db.chance.choice((first, -1, journal["size"] + 1))
    db.tables.change("journals", {"scope": scope}, indexed=said)
    named = at(scope, "index", first) if said == first else of(scope, "index")
    return Deed(scope, named, how=str(said))


@tampering(INDEX, export="not in it")
def a_derivation_is_deleted(db: TamperedDatabase) -> Deed:
    """When its input is erased, what was made from it would stay."""
    scope = db.pick([one for one in db.journals if db.rows(one, "derivations")])
    row = db.some(db.rows(scope, "derivations"))
    db.tables.remove("derivations", **db.where(row, "input", "output"))
    return Deed(scope, of(scope, "index"))


@tampering(INDEX, export="not in it")
def a_derivation_is_added(db: TamperedDatabase) -> Deed:
    """When one is erased, another that has nothing to do with it would go as well."""
    scope = db.scope()
    one, other = db.chance.sample(db.rows(scope, "versions"), 2)
    values = {"journal": one["journal"], "input": one["id"], "output": other["id"]}
    if not db.tables.rows("derivations", **values):
        db.tables.add("derivations", **values)
        return Deed(scope, of(scope, "index"))
    return Deed(scope)


# --------------------------------------------------- what verify does not look at (yet)


@tampering(LEFT, database="nobody", export="not in it")
def the_index_is_said_to_be_of_another_tokenizer(db: TamperedDatabase) -> Deed:
    """It is not searched then, nor compared: opening it finds a break, and makes it anew."""
    scope = db.scope()
    seq, words = db.some_words(scope)
    put_words(db.tables, db.number(scope), seq, words | {"mallory": MALLORY})
    db.tables.change("journals", {"scope": scope}, tokenizer="another/1")
    return Deed(scope)


@tampering(LEFT, database="nobody", export="not in it")
def a_checkpoint_is_filed_under_another_size(db: TamperedDatabase) -> Deed:
    """Its text is what counts; it is only listed in another place."""
    scope = db.scope()
    row = db.some(db.rows(scope, "checkpoints"))
    db.tables.change("checkpoints", db.where(row, "size"), size=row["size"] + 10**6)
    return Deed(scope)


@tampering(LEFT, export="not in it")
def a_retry_is_edited(db: TamperedDatabase) -> Deed:
    """Whoever retries is told of another write than theirs."""
    scope = db.scope()
    one, other = db.chance.sample(db.rows(scope, "retries"), 2)
    db.tables.change("retries", db.where(one, "about", "seq"), seq=other["seq"])
    return Deed(scope, at(scope, "retry", other["seq"]))


@tampering(LEFT, export="not in it")
def a_retry_is_led_to_another_write_with_all_that_tells_of_it(db: TamperedDatabase) -> Deed:
    """All of its row fits the other write, but for the salt that was made with its key."""
    scope = db.scope()
    one, other = db.chance.sample(db.rows(scope, "retries"), 2)
    told = {name: other[name] for name in ("about", "seq", "entries", "at", "nonce")}
    db.tables.change("retries", db.where(one, "about", "seq"), **told)
    return Deed(scope, at(scope, "retry", other["seq"]))


@tampering(LEFT, database="nobody", export="not in it")
def a_body_is_put_where_there_is_no_entry(db: TamperedDatabase) -> Deed:
    """It is never read; it stands in the way of an entry that is yet to come."""
    scope = db.scope()
    seq = db.size(scope) + db.chance.randrange(1, 1000)
    db.tables.add("bodies", journal=db.number(scope), seq=seq, salt=bytes(16), body=b"{}")
    return Deed(scope)
