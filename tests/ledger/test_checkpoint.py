"""Checkpoints: the form of C2SP tlog-checkpoint, our origins, the directory over all scopes."""

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import EMPTY_ROOT, canonical_bytes
from memoranda.kernel.actors import MAX_LENGTH, check_scope
from memoranda.kernel.errors import InvalidCheckpoint, InvalidScope
from memoranda.ledger.anchor import ScopeHead, newest_heads, read_head
from memoranda.ledger.checkpoint import (
    MAX_SIZE,
    Checkpoint,
    Origin,
    directory_origin,
    parse_checkpoint,
    parse_origin,
    scope_origin,
    sign_checkpoint,
)
from memoranda.ledger.signed_note import Signature, SignedNote, verify_note
from memoranda.outside.keys import Ed25519Signer, verifiers
from tests.ledger.notes import checkpoints, signatures

ROOT = bytes(range(32))
ROOT_TEXT = base64.b64encode(ROOT).decode()

# The example of C2SP's tlog-checkpoint.md (c2sp.org/tlog-checkpoint).
SOFA = (
    "example.com/behind-the-sofa\n"
    "20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    "\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q"
    "1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
)

# ----------------------------------------------------------------------------- form


def test_the_example_of_the_specification_is_read() -> None:
    checkpoint, note = parse_checkpoint(SOFA)

    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.root.hex().startswith("0ac5186a91863e8e")
    assert [str(one) for one in note.signatures] == ["example.com/behind-the-sofa+033de0ae"]
    assert str(SignedNote(checkpoint.text, note.signatures)) == SOFA


@given(checkpoints(), signatures())
def test_a_checkpoint_is_read_as_it_was_written(
    checkpoint: Checkpoint, signed: tuple[Signature, ...]
) -> None:
    note = SignedNote(checkpoint.text, signed)

    assert parse_checkpoint(str(note)) == (checkpoint, note)


@given(checkpoints(), signatures(), st.data())
def test_a_mutated_checkpoint_is_read_or_refused_and_nothing_else(
    checkpoint: Checkpoint,
    signed: tuple[Signature, ...],
    data: st.DataObject,
) -> None:
    raw = bytearray(str(SignedNote(checkpoint.text, signed)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        read, note = parse_checkpoint(bytes(raw))
    except InvalidCheckpoint:
        return

    assert str(SignedNote(read.text, note.signatures)).encode() == bytes(raw)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("origin\n", "the text"),
        ("origin\n1\n", "the text"),
        (f"\n1\n{ROOT_TEXT}\n", "the origin"),
        (f"origin\n\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n01\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n00\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n-1\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n+1\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n1 \n{ROOT_TEXT}\n", "the size"),
        (f"origin\n1_0\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n٣\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n{MAX_SIZE + 1}\n{ROOT_TEXT}\n", "the size"),
        (f"origin\n{'9' * 5000}\n{ROOT_TEXT}\n", "the size"),
        ("origin\n1\n\n", "the root"),
        (f"origin\n1\n{ROOT_TEXT[:-1]}\n", "the root"),
        (f"origin\n1\n{ROOT_TEXT[:-4]}\n", "the root"),
        (f"origin\n1\n{ROOT.hex()}\n", "the root"),
        (f"origin\n1\n {ROOT_TEXT}\n", "the root"),
        (f"origin\n0\n{ROOT_TEXT}\n", "the root"),
        (f"origin\n1\n{ROOT_TEXT}\n\nmore\n", "line 4"),
        (f"origin\n1\n{ROOT_TEXT}\nmore", "the end of the text"),
    ],
)
def test_a_malformed_checkpoint_is_refused_with_the_place(text: str, where: str) -> None:
    with pytest.raises(InvalidCheckpoint) as caught:
        Checkpoint.parse(text)

    assert caught.value.where == where


def test_extension_lines_are_kept_and_signed_over() -> None:
    checkpoint, _ = parse_checkpoint(f"origin\n1\n{ROOT_TEXT}\nhead abc\n— of theirs\n\n")

    assert checkpoint.extensions == ("head abc", "— of theirs")
    assert checkpoint.text.endswith("\nhead abc\n— of theirs\n")


def test_an_extension_line_is_one_line() -> None:
    with pytest.raises(InvalidCheckpoint):
        Checkpoint("origin", 1, ROOT, ("a\nb",))


async def test_a_checkpoint_is_signed_and_verified() -> None:
    signer = Ed25519Signer.generate("example.org/memory")
    note = await sign_checkpoint(Checkpoint("origin", 1, ROOT), [signer])

    verify_note(parse_checkpoint(str(note)).note, verifiers([signer.key]))


async def test_an_unsigned_checkpoint_becomes_a_signed_one_by_appending() -> None:
    checkpoint = Checkpoint("origin", 0, EMPTY_ROOT)
    unsigned = await sign_checkpoint(checkpoint)
    signed = await sign_checkpoint(checkpoint, [Ed25519Signer.generate("a")])

    assert not parse_checkpoint(str(unsigned)).note.signatures
    assert str(signed).startswith(str(unsigned))


# -------------------------------------------------------------------------- origins


def scopes() -> st.SearchStrategy[str]:
    def is_scope(text: str) -> bool:
        try:
            return bool(check_scope(text))
        except InvalidScope:
            return False

    return st.text(min_size=1, max_size=MAX_LENGTH).filter(is_scope)


@given(scopes())
def test_an_origin_tells_its_scope_and_holds_no_space_and_no_plus(scope: str) -> None:
    origin = scope_origin("0193-a", scope)

    assert parse_origin(origin) == Origin("0193-a", scope)
    assert origin.isascii()
    assert not set(origin) & {" ", "+"}
    assert origin.count("/") == 2


def test_the_directory_has_the_origin_of_the_database() -> None:
    assert directory_origin("0193-a") == "memoranda/0193-a"
    assert parse_origin("memoranda/0193-a") == Origin("0193-a", None)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "memoranda",
        "memoranda/",
        "memoranda//support",
        "memoranda/a/",
        "memoranda/a/b/c",
        "memoranda/a/%20b",
        "memoranda/a/%ff",
        "memoranda/a/%62",
        "memoranda/a/b+c",
        "memoranda/a b/c",
        "example.com/a/b",
    ],
)
def test_an_origin_that_we_would_not_write_is_refused(origin: str) -> None:
    with pytest.raises(InvalidCheckpoint) as caught:
        parse_origin(origin)

    assert caught.value.where == "the origin"


# ------------------------------------------------------------------------ directory

HEAD = ScopeHead("é", "memoranda/0193-a/%C3%A9", 2, ROOT)


def test_a_head_has_one_body_and_is_read_back_from_it() -> None:
    assert read_head(HEAD.body) == HEAD
    assert HEAD.body == canonical_bytes(
        {"type": "ScopeHead", "scope": "é", "origin": HEAD.origin, "size": 2, "root": ROOT.hex()}
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        HEAD.body.replace(b"ScopeHead", b"SomeHead"),
        HEAD.body.replace(b'"size":2', b'"size":"2"'),
        HEAD.body.replace(ROOT.hex().encode(), b"00"),
        HEAD.body.replace(ROOT.hex().encode(), b"x" * 64),
    ],
)
def test_a_body_that_names_no_head_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidCheckpoint):
        read_head(body)


def test_the_directory_tells_the_last_head_of_each_journal() -> None:
    later, other = replace(HEAD, size=3), replace(HEAD, origin="memoranda/0193-b/a", scope="a")

    assert newest_heads([HEAD.body, other.body, later.body]) == {
        HEAD.origin: later,
        other.origin: other,
    }


def test_a_head_claims_what_its_journal_was() -> None:
    assert HEAD.claim.checkpoint == Checkpoint(HEAD.origin, 2, ROOT)
