"""What can be done to an export, and what a verifier must find.

Each damage takes the sample of journals.py and gives an export. Its findings are the checks of
docs/format.md with the places, in the order of the walk. A verifier must agree on the first; what
follows from it may be told in another way.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.verify.journals import Journal, Signer, canonical, canonical_line, sample

Finding = tuple[str, int | None]
OTHER = Journal(id="f" * 32)
FORGER = Signer(seed=b"x" * 32)


@dataclass(frozen=True)
class Damage:
    name: str
    make: Callable[[], bytes]
    findings: list[Finding]


DAMAGES: list[Damage] = []


def damage(*findings: Finding) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    def keep(make: Callable[[], bytes]) -> Callable[[], bytes]:
        DAMAGES.append(Damage(make.__name__, make, list(findings)))
        return make

    return keep


def edited(place: int, old: str, new: str) -> bytes:
    """The export after a text in the line of an entry was replaced."""
    lines = sample().lines()
    text = lines[place + 1].decode()
    assert old in text
    lines[place + 1] = text.replace(old, new, 1).encode()
    return b"".join(lines)


def kept(place: int, **changes: Any) -> bytes:
    """The export after the line of an entry was written anew."""
    journal = sample()
    lines = journal.lines()
    one = journal.kept[place]
    members = {"entry": one.entry, "salt": one.salt, "body": one.body} | changes
    members = {name: value for name, value in members.items() if value is not ...}
    lines[place + 1] = canonical_line(**members)
    return b"".join(lines)


def arranged(change: Callable[[list[bytes]], None]) -> bytes:
    """The export after its lines were arranged anew."""
    lines = sample().lines()
    change(lines)
    return b"".join(lines)


def header(**changes: Any) -> bytes:
    def change(lines: list[bytes]) -> None:
        lines[0] = canonical_line(**json.loads(lines[0]) | changes)

    return arranged(change)


def end(note: Any) -> bytes:
    def change(lines: list[bytes]) -> None:
        lines[-1] = canonical_line(type="end", checkpoint=note)

    return arranged(change)


# ------------------------------------------------------------------------------------- entries


@damage(("previous", 4), ("root", None))
def an_actor_edited() -> bytes:
    return edited(3, "agent:support", "agent:sup-ort")


@damage(("root", None))
def the_last_entry_edited() -> bytes:
    return edited(11, "agent:support", "agent:sup-ort")


@damage(("previous", 0), ("previous", 1), ("root", None))
def the_genesis_edited() -> bytes:
    return kept(0, entry=canonical(sample().kept[0].members | {"previous_entry_hash": "0" * 64}))


@damage(("body", 3), ("previous", 4), ("root", None))
def the_digest_edited() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"body_digest": "0" * 64}))


@damage(("seq", 3), ("previous", 4), ("root", None))
def the_number_edited() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"seq": 999}))


@damage(("time", 3), ("previous", 4), ("root", None))
def the_time_set_back() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"at": 0}))


@damage(("time", 4))
def a_journal_in_which_time_goes_back() -> bytes:
    def ahead(seq: int, members: dict[str, Any]) -> None:
        members["at"] += 10**9 * (seq == 3)

    return sample().rechained(ahead).export()


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_that_is_not_canonical() -> bytes:
    return kept(3, entry=sample().kept[3].entry.replace(",", ", "))


@damage(("form", 9), ("previous", 10), ("root", None))
def an_actor_escaped_otherwise() -> bytes:
    return kept(9, entry=sample().kept[9].entry.replace('\\"keep', "\\u0022keep"))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_with_a_key_twice() -> bytes:
    return kept(3, entry=sample().kept[3].entry.replace('"v":1', '"v":1,"v":1'))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_with_another_member() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"w": 1}))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_with_a_float() -> bytes:
    return kept(3, entry=sample().kept[3].entry.replace('"seq":3', '"seq":3.0'))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_with_nan() -> bytes:
    return kept(3, entry=sample().kept[3].entry.replace('"seq":3', '"seq":NaN'))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_of_an_unknown_kind() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"kind": "forget"}))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_entry_of_another_version() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"v": 2}))


@damage(("form", 3), ("previous", 4), ("root", None))
def an_actor_without_a_kind() -> bytes:
    return kept(3, entry=canonical(sample().kept[3].members | {"actor": "support"}))


def said(**changes: Any) -> bytes:
    """A journal whose first entry was written with other members; its hashes are right."""

    def change(seq: int, members: dict[str, Any]) -> None:
        if seq == 0:
            members.update(changes)

    return sample().rechained(change).export()


@damage(("form", 0))
def an_actor_without_an_id() -> bytes:
    return said(actor="agent:")


@damage(("form", 0))
def an_actor_that_is_no_text() -> bytes:
    return said(actor=["agent:support"])


@damage(("form", 0))
def a_time_before_1970() -> bytes:
    return said(at=-1)


@damage(("form", 0))
def a_time_that_is_no_whole_number() -> bytes:
    return said(at=0.5)


@damage(("form", 0))
def a_time_that_is_no_number() -> bytes:
    return said(at=True)


@damage(("form", 0))
def a_time_that_no_double_holds() -> bytes:
    return said(at=2**53)


@damage(("form", 3), ("root", None))
def an_entry_with_a_lone_surrogate() -> bytes:
    return edited(3, "agent:support", "agent:\\ud800")


# --------------------------------------------------------------------------------------- bodies


@damage(("body", 3))
def a_body_edited() -> bytes:
    return edited(3, "a said", "a sang")


@damage(("body", 3))
def a_salt_edited() -> bytes:
    return kept(3, salt="0" * 32)


@damage(("form", 3))
def a_salt_missing() -> bytes:
    return kept(3, salt=None)


@damage(("form", 3), ("form", 3))  # the line has another form, and a body no salt
def a_salt_left_out() -> bytes:
    return kept(3, salt=...)


@damage(("form", 3))
def a_salt_in_capitals() -> bytes:
    return kept(3, salt=str(sample().kept[3].salt).upper())


@damage(("form", 3))
def a_body_missing() -> bytes:
    return kept(3, body=None)


@damage(("object", None))
def a_body_erased_without_a_tombstone() -> bytes:
    return kept(7, salt=None, body=None)


@damage(("body", 0))
def the_body_of_a_policy_erased() -> bytes:
    return kept(0, salt=None, body=None)


@damage(("object", 8))
def a_version_between_erased_without_a_tombstone() -> bytes:
    return kept(3, salt=None, body=None)


def back(*places: int) -> bytes:
    """The export after some of the bodies that were erased came back."""
    journal, whole = sample(), sample(erased=False)
    for place in places:
        journal.kept[place] = whole.kept[place]
    return journal.export()


@damage(("object", 4))
def the_first_of_two_erased_bodies_back() -> bytes:
    return back(4)


@damage(("object", 5), ("object", 5))  # it follows what is gone, and a tombstone follows it
def the_second_of_two_erased_bodies_back() -> bytes:
    return back(5)


@damage(("object", 4))
def all_erased_bodies_back() -> bytes:
    return back(4, 5)


@damage(("form", 3), ("body", 3))
def a_body_that_is_not_json() -> bytes:
    return kept(3, body="{")


@damage(("form", 3), ("body", 3))
def a_body_with_a_lone_surrogate_escaped() -> bytes:
    return kept(3, body=str(sample().kept[3].body).replace("a said", "\\ud800"))


@damage(("form", 3))
def a_body_with_a_lone_surrogate() -> bytes:
    return edited(3, "a said", "\\ud800")


@damage(("form", 3))
def a_body_that_is_no_object() -> bytes:
    return sample().with_body(3, lambda _: "[]").export()


@damage(("form", 1), ("object", 3))
def a_body_that_is_not_canonical() -> bytes:
    # the digest of version 1 is another one now: version 2 supersedes what is gone
    return sample().with_body(1, lambda body: canonical(body).replace(":", ": ", 1)).export()


@damage(("form", 10))
def a_body_with_a_key_twice() -> bytes:
    return sample().with_body(10, lambda _: '{"type":"R","type":"R"}').export()


@damage(("form", 10))
def a_body_with_a_float_written_otherwise() -> bytes:
    return sample().with_body(10, lambda _: '{"number":1.50,"type":"R"}').export()


@damage(("form", 10))
def a_body_with_an_integer_that_no_double_holds() -> bytes:
    return sample().with_body(10, lambda _: '{"number":9007199254740993,"type":"R"}').export()


@damage(("form", 10))
def a_body_with_infinity() -> bytes:
    return sample().with_body(10, lambda _: '{"number":Infinity,"type":"R"}').export()


@damage(("form", 10))
def a_body_with_a_number_beyond_a_double() -> bytes:
    return sample().with_body(10, lambda _: '{"number":1e999,"type":"R"}').export()


@damage(("form", 10))
def a_body_sorted_by_code_points() -> bytes:
    return sample().with_body(10, lambda _: '{"type":"R","\ufb33":1,"\U0001f600":2}').export()


@damage(("form", 10))
def a_body_nested_too_deeply() -> bytes:
    deep = "[" * 128 + "]" * 128
    return sample().with_body(10, lambda _: f'{{"deep":{deep},"type":"R"}}').export()


@damage(("form", 10))
def a_body_nested_without_measure() -> bytes:
    return sample().with_body(10, lambda _: "[" * 200_000).export()


# -------------------------------------------------------------------------------------- objects


def ruled(place: int, **changes: Any) -> bytes:
    """A journal that was written with a body that breaks a rule; its hashes are right."""

    def change(body: dict[str, Any]) -> None:
        body.update(changes)
        for name in [name for name, value in changes.items() if value is ...]:
            del body[name]

    return sample().with_body(place, change).export()


@damage(("object", 8))
def a_broken_chain_of_versions() -> bytes:
    return ruled(8, supersedes="sha256:" + "0" * 64)


@damage(("object", 8))
def a_version_that_supersedes_nothing() -> bytes:
    return ruled(8, supersedes=...)


@damage(("object", 8))
def a_version_left_out() -> bytes:
    return ruled(8, version="4")


@damage(("object", 8))
def a_version_again() -> bytes:
    return ruled(8, version="2")


@damage(("object", 8))
def a_version_that_is_a_number() -> bytes:
    return ruled(8, version=3)


@damage(("object", 8))
def a_version_with_a_leading_zero() -> bytes:
    return ruled(8, version="03")


@damage(("object", 7))
def a_first_version_that_is_not_1() -> bytes:
    return ruled(7, version="2", supersedes="sha256:" + "0" * 64)


@damage(("object", 8))
def a_missing_reason() -> bytes:
    return ruled(8, reason=...)


@damage(("object", 9))
def a_blank_reason() -> bytes:
    return ruled(9, reason=" \n\u3000")


@damage(("object", 8))
def an_invalidation_that_archives() -> bytes:
    return ruled(8, status="archived")


@damage(("object", 9))
def an_archival_without_a_status() -> bytes:
    return ruled(9, status=...)


@damage(("object", 7))
def a_creation_with_a_status() -> bytes:
    return ruled(7, status="active")


@damage(("object", 7))
def an_object_with_its_integrity_hash() -> bytes:
    return ruled(7, integrity_hash={"algo": "sha256", "digest": "0" * 64})


@damage(("object", 7))
def an_object_without_sources() -> bytes:
    return ruled(7, source_refs=...)


@damage(("object", 7))
def an_object_without_a_time_of_validity() -> bytes:
    return ruled(7, temporal_scope=...)


@damage(("object", 7))
def an_object_of_an_unknown_verdict() -> bytes:
    return ruled(7, verdict_type=["Factual"])


@damage(("object", 7))
def an_object_of_a_verdict_that_is_none() -> bytes:
    return ruled(7, verdict_type="True")


@damage(("object", 7))
def an_object_of_an_unknown_statement_type() -> bytes:
    return ruled(7, statement_type="Rumour")


@damage(("object", 7))
def an_object_without_a_verdict() -> bytes:
    return ruled(7, verdict_type=...)


@damage(("object", 7))
def an_object_that_says_nothing() -> bytes:
    return ruled(7, statement="")


@damage(("object", 7))
def an_object_without_an_applicability_scope() -> bytes:
    return ruled(7, applicability_scope=...)


@damage(("object", 8))
def a_status_that_is_none() -> bytes:
    return ruled(8, status="forgotten")


@damage(("object", 8))
def a_reason_that_is_no_text() -> bytes:
    return ruled(8, reason=5)


@damage(("object", 6))
def a_tombstone_that_supersedes_no_hash() -> bytes:
    return ruled(6, supersedes="sha256:gone")


@damage(("object", 7))
def a_timestamp_that_is_no_time() -> bytes:
    return ruled(7, timestamp="yesterday")


@damage(("object", 7))
def a_timestamp_of_no_day() -> bytes:
    return ruled(7, timestamp="2026-02-29T00:00:00Z")


@damage(("object", 7))
def a_timestamp_elsewhere() -> bytes:
    return ruled(7, timestamp="2026-11-16T02:17:29+01:00")


@damage(("object", 7))
def a_beginning_that_is_no_time() -> bytes:
    return ruled(7, valid_from=1_763_257_839_123)


@damage(("object", 7))
def an_expiry_that_is_no_time() -> bytes:
    return ruled(7, expires="never")


@damage(("object", 7))
def an_age_that_is_no_number() -> bytes:
    return ruled(7, created_ms="1763257839123")


@damage(("object", 7))
def a_subject_that_is_no_text() -> bytes:
    return ruled(7, subject=7)


@damage(("object", 7))
def tags_that_are_no_list() -> bytes:
    return ruled(7, tags=5)


@damage(("object", 7))
def a_tag_that_is_no_text() -> bytes:
    return ruled(7, tags=["a", 5])


@damage(("object", 7))
def a_path_to_embed_that_is_no_text() -> bytes:
    return ruled(7, embed=[""])


@damage(("object", 7))
def inputs_that_name_nothing() -> bytes:
    return ruled(7, inputs=[{"version": "1"}])


@damage(("object", 7))
def a_source_that_is_a_number() -> bytes:
    return ruled(7, source_refs=[1])


@damage(("object", 7))
def a_source_without_a_uri() -> bytes:
    return ruled(7, source_refs=[{"uri": "a:b"}, {"anchor": "p. 1"}])


@damage(("object", 7))
def a_format_that_is_none() -> bytes:
    return ruled(7, format="yaml")


@damage(("object", 7))
def data_that_is_not_json() -> bytes:
    return ruled(7, format="json", statement="{not JSON")


@damage(("object", 7))
def data_that_is_not_canonical() -> bytes:
    return ruled(7, format="json", statement='{"b":1, "a":2}')


@damage(("object", 10))
def a_body_without_a_type() -> bytes:
    return ruled(10, type=...)


@damage(("object", 10))
def maintenance_of_an_object() -> bytes:
    return ruled(10, type="MemoryObject")


# ---------------------------------------------------------------------------------------- lines


@damage(
    ("seq", 3), ("previous", 3), ("object", 7), ("size", None), ("root", None)
)  # version 2 of a is gone, too
def a_line_deleted() -> bytes:
    return arranged(lambda lines: lines.__delitem__(4))


@damage(("seq", 0), ("previous", 0), ("size", None), ("root", None))
def the_first_line_deleted() -> bytes:
    return arranged(lambda lines: lines.__delitem__(1))


@damage(
    ("seq", 4), ("previous", 4), ("object", 4), ("size", None), ("root", None)
)  # version 2 of a comes twice
def a_line_doubled() -> bytes:
    return arranged(lambda lines: lines.insert(5, lines[4]))


@damage(("seq", 4), ("previous", 4), ("time", 4), ("previous", 5), ("size", None), ("root", None))
def a_line_inserted() -> bytes:
    foreign = Journal()
    foreign.add("maintenance", {"type": "Nothing"})
    return arranged(lambda lines: lines.insert(5, foreign.kept[0].line()))


@damage(("seq", 10), ("previous", 10), ("previous", 11), ("time", 11), ("root", None))
def two_lines_swapped() -> bytes:
    def swap(lines: list[bytes]) -> None:
        lines[11], lines[12] = lines[12], lines[11]

    return arranged(swap)


@damage(("size", None), ("root", None))
def the_tail_cut_off() -> bytes:
    return arranged(lambda lines: lines.__delitem__(slice(9, 13)))


@damage(("root", None))
def the_tail_cut_off_and_the_header_changed() -> bytes:
    journal = sample()
    end = journal.lines()[-1]
    del journal.kept[9:]
    return b"".join([*journal.lines()[:-1], end])


@damage(("form", None), ("size", None))
def the_file_cut_off_between_lines() -> bytes:
    return b"".join(sample().lines()[:9])


@damage(("form", 8), ("form", None), ("size", None))
def the_file_cut_off_within_an_entry() -> bytes:
    lines = sample().lines()
    return b"".join(lines[:9]) + lines[9][:100]


@damage(("form", None))
def the_file_cut_off_within_the_end() -> bytes:
    return sample().export()[:-20]


@damage(("form", None))
def the_last_line_feed_cut_off() -> bytes:
    return sample().export()[:-1]


@damage(("form", None))
def lines_after_the_end() -> bytes:
    return sample().export() + b"{}\n" * 3


@damage(("form", None), ("form", None), ("size", None))
def a_header_alone() -> bytes:
    return sample().lines()[0].replace(b'"v":1', b'"v":2')


@damage(("form", None))
def nothing() -> bytes:
    return b""


@damage(("form", None), ("form", 0), ("form", 1), ("form", None))
def something_else() -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\xff"


@damage(("form", 3), ("root", None))
def a_line_that_is_not_utf8() -> bytes:
    return arranged(lambda lines: lines.__setitem__(4, lines[4].replace(b"a said", b"\xff")))


@damage(("form", 3), ("root", None))
def a_line_with_a_key_twice() -> bytes:
    return arranged(lambda lines: lines.__setitem__(4, b'{"entry":"",' + lines[4][1:]))


@damage(("form", 3))
def a_line_with_another_member() -> bytes:
    return kept(3, note="hidden")


@damage(("form", 3), ("root", None))
def a_line_of_another_kind() -> bytes:
    return arranged(lambda lines: lines.__setitem__(4, b"{}\n"))


@damage(("form", 3))
def an_empty_line() -> bytes:
    return arranged(lambda lines: lines.insert(4, b"\n"))


@damage(("form", 3), ("root", None))
def an_entry_that_is_no_string() -> bytes:
    return kept(3, entry={"seq": 3})


# ------------------------------------------------------------------------- header, end and root


@damage(("size", None))
def the_size_of_the_header_changed() -> bytes:
    return header(size=13)


@damage(("form", None))
def the_size_of_the_header_a_float() -> bytes:
    return arranged(lambda lines: lines.__setitem__(0, lines[0].replace(b":12}", b":12.0}")))


@damage(("previous", 0), ("root", None))
def the_origin_of_the_header_changed() -> bytes:
    return header(origin=OTHER.origin)


@damage(("form", None))
def the_scope_of_the_header_changed() -> bytes:
    return header(scope="billing")


@damage(("form", None))
def the_origin_of_the_header_no_origin() -> bytes:
    return header(origin="memoranda/1/support")


@damage(("form", None))
def the_header_gone() -> bytes:
    return arranged(lambda lines: lines.__delitem__(0))


@damage(("root", None))
def a_checkpoint_of_another_origin() -> bytes:
    journal = Journal(id="f" * 32, kept=sample().kept)
    return end(journal.note())


@damage(("root", None))
def a_checkpoint_of_another_size() -> bytes:
    return end(sample().note(11))


@damage(("root", None))
def a_checkpoint_of_another_root() -> bytes:
    return end(sample().rechained(lambda _, members: members.update(at=1)).note())


@damage(("form", None))
def a_checkpoint_that_is_none() -> bytes:
    return end("memoranda\n12\n")


@damage(("form", None))
def a_checkpoint_that_is_no_string() -> bytes:
    return end({"size": 12})


@damage(("form", None))
def a_checkpoint_with_loose_bits() -> bytes:
    note = sample().note()
    place = note.rindex("=") - 1
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return end(note[:place] + letters[letters.index(note[place]) + 1] + note[place + 1 :])


# --------------------------------------------------------------- what needs a checkpoint or a key


def rewritten() -> Journal:
    """Everything written anew with another statement, all hashes right."""

    def other(body: dict[str, Any]) -> None:
        body["statement"] = "d says nothing"

    return sample().with_body(7, other)


def shortened() -> Journal:
    """The newest entries taken away, and nothing left of them."""
    journal = sample()
    del journal.kept[9:]
    return journal


def lengthened() -> Journal:
    """A journal that went on since."""
    journal = sample()
    journal.add("maintenance", {"type": "Reindexed"})
    return journal
