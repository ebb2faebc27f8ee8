"""Signed notes: the form of C2SP signed-note, proved on public vectors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidCheckpoint, InvalidKey, InvalidSignature
from memoranda.ledger.signed_note import (
    MAX_BYTES,
    MAX_SIGNATURES,
    Signature,
    SignedNote,
    VerifierKey,
    check_signatures,
    from_base64,
    parse_note,
    sign_note,
    to_base64,
    verify_note,
)
from memoranda.outside.keys import Ed25519Signer, verifiers
from tests.ledger.notes import key_names, notes

# From the documentation of golang.org/x/mod/sumdb/note (The Go Authors, BSD-3-Clause).
NEUMANN_PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
NEUMANN_PUBLIC = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NEUMANN_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
NEUMANN_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb"
    "6KE6RyyBwJnAM=\n"
)
ENOCH_LINE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33"
    "WWd1RvMc+QQ=\n"
)
NEUMANN_NOTE = f"{NEUMANN_TEXT}\n{NEUMANN_LINE}"

# From the README of yaglo/signed_note, an implementation in Elixir.
FOO_PUBLIC = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
FOO_NOTE = (
    "This is an example message.\n\n"
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuw"
    "HjG1Yu72IneyaQM=\n"
)


# ------------------------------------------------------------------------- vectors


async def test_we_sign_what_go_signs() -> None:
    note = await sign_note(NEUMANN_TEXT, [Ed25519Signer.parse(NEUMANN_PRIVATE)])

    assert str(note) == NEUMANN_NOTE


@pytest.mark.parametrize(
    ("note", "key"), [(NEUMANN_NOTE, NEUMANN_PUBLIC), (FOO_NOTE, FOO_PUBLIC)], ids=["go", "elixir"]
)
def test_we_verify_what_others_signed(note: str, key: str) -> None:
    report = verify_note(parse_note(note), verifiers([VerifierKey.parse(key)]))

    assert report.standing == "signed"
    assert key.startswith(str(report.signed[0]) + "+")


def test_the_signature_of_an_unknown_key_is_not_looked_at() -> None:
    note = parse_note(NEUMANN_NOTE + ENOCH_LINE)
    report = verify_note(note, verifiers([VerifierKey.parse(NEUMANN_PUBLIC)]))

    assert [one.name for one in report.signed] == ["PeterNeumann"]
    assert [one.name for one in report.unknown] == ["EnochRoot"]


# As the Go package's own test does: every part of the key, and every byte of it one higher.
def test_every_mangled_public_key_is_refused() -> None:
    whole = NEUMANN_PUBLIC
    cut = [whole[i:j] for i in range(len(whole)) for j in range(i, len(whole) + 1)]
    changed = [whole[:i] + chr(ord(whole[i]) + 1) + whole[i + 1 :] for i in range(len(whole))]

    for text in [*cut, *changed, whole + "\n", whole + "=", whole.replace("c74f", "C74F")]:
        if text != whole:
            with pytest.raises(InvalidKey):
                VerifierKey.parse(text)


def test_every_cut_of_a_private_key_is_refused_without_showing_it() -> None:
    secret = NEUMANN_PRIVATE.rpartition("+")[2]

    for end in range(len(NEUMANN_PRIVATE)):
        with pytest.raises(InvalidKey) as caught:
            Ed25519Signer.parse(NEUMANN_PRIVATE[:end])

        assert secret[:6] not in str(caught.value)


@pytest.mark.parametrize(
    "change", [("c74f20a3", "c74f20a4"), ("PeterNeumann", "PeterNeumanN"), ("+AYEK", "+AYEL")]
)
def test_a_private_key_whose_parts_do_not_belong_together_is_refused(
    change: tuple[str, str],
) -> None:
    with pytest.raises(InvalidKey):
        Ed25519Signer.parse(NEUMANN_PRIVATE.replace(*change))


def test_a_private_key_has_its_text_form_again_and_does_not_show_it() -> None:
    signer = Ed25519Signer.parse(NEUMANN_PRIVATE)

    assert signer.secret_text() == NEUMANN_PRIVATE
    assert str(signer.key) == NEUMANN_PUBLIC
    assert repr(signer) == f"Ed25519Signer({NEUMANN_PUBLIC})"


def test_a_key_of_another_type_is_refused() -> None:
    # The public ECDSA key of Sigstore's log rekor.sigstore.dev.
    ecdsa = (
        "rekor.sigstore.dev+c0d23d6a+AjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNhtmPtrWm3U1eQXBogSMdGvXwBc"
        "K5AW5i0hrZLOC96l+smGNM7nwZ4QvFK/4sueRoVj//QP22Ni4Qt9DPfkWLc="
    )

    with pytest.raises(InvalidKey) as caught:
        VerifierKey.parse(ecdsa)

    assert "signature type 02" in caught.value.why


# --------------------------------------------------------------------------- form


@given(notes())
def test_a_note_is_read_as_it_was_written(note: SignedNote) -> None:
    assert parse_note(str(note)) == note
    assert parse_note(str(note).encode()) == note


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        ("", "the end of the text"),
        ("a\n", "the end of the text"),
        ("a", "the end of the text"),
        ("a\n\n— n AAAAAAE=", "the last line"),
        ("a\n\nn AAAAAAE=\n", "signature 1"),
        ("a\n\n- n AAAAAAE=\n", "signature 1"),
        ("a\n\n— nAAAAAAE=\n", "signature 1"),
        ("a\n\n—  AAAAAAE=\n", "signature 1"),
        ("a\n\n— n+m AAAAAAE=\n", "signature 1"),
        ("a\n\n— n\u3000m AAAAAAE=\n", "signature 1"),
        ("a\n\n— n AAAAAA==\n", "signature 1"),
        ("a\n\n— n AAAAAAF=\n", "signature 1"),
        ("a\n\n— n AAAAAAE\n", "signature 1"),
        ("a\n\n— n AAAA AAE=\n", "signature 1"),
        ("a\n\n— n AAAAAAE= \n", "signature 1"),
        ("a\n\n— n ÄÄÄÄÄÄE=\n", "signature 1"),
        ("a\r\n\n— n AAAAAAE=\n", "character 1"),
        ("a\n\n— n\x00 AAAAAAE=\n", "character 6"),
        ("a\ud800\n\n", "byte 1"),
        (b"a\xff\n\n", "byte 1"),
        ("a\n\n" + "— n AAAAAAE=\n" * (MAX_SIGNATURES + 1), "the signatures"),
        ("a" * MAX_BYTES + "\n\n", f"byte {MAX_BYTES}"),
    ],
)
def test_a_malformed_note_is_refused_with_the_place(raw: str | bytes, where: str) -> None:
    with pytest.raises(InvalidCheckpoint) as caught:
        parse_note(raw)

    assert caught.value.code == "input.checkpoint"
    assert caught.value.where == where


def test_sixteen_signatures_and_more_are_accepted() -> None:
    assert len(parse_note("a\n\n" + "— n AAAAAAE=\n" * MAX_SIGNATURES).signatures) == 100


@given(notes(), st.data())
def test_a_mutated_note_is_read_or_refused_and_nothing_else(
    note: SignedNote, data: st.DataObject
) -> None:
    raw = bytearray(str(note).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        read = parse_note(bytes(raw))
    except InvalidCheckpoint:
        return

    assert str(read).encode() == bytes(raw), "what is accepted is written in one way only"


@given(st.binary(max_size=80))
def test_base64_has_one_form(raw: bytes) -> None:
    assert from_base64(to_base64(raw)) == raw


@given(st.text(max_size=20))
def test_text_that_is_not_base64_is_none(text: str) -> None:
    raw = from_base64(text)

    assert raw is None or to_base64(raw) == text


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "a\nb", "a\x1fb", "\ud800"])
def test_a_name_that_no_line_could_hold_is_refused(name: str) -> None:
    with pytest.raises(InvalidKey):
        VerifierKey(name, bytes(32))


# ----------------------------------------------------------------------- verifying


@given(key_names(), st.binary(min_size=32, max_size=32))
def test_a_public_key_is_read_as_it_was_written(name: str, public: bytes) -> None:
    key = VerifierKey(name, public)

    assert VerifierKey.parse(str(key)) == key


async def test_a_known_keys_signature_that_fails_refuses_the_note() -> None:
    good, other = Ed25519Signer.generate("a"), Ed25519Signer.generate("b")
    note = await sign_note("one\n", [good, other])
    forged = SignedNote("two\n", note.signatures)
    keys = verifiers([good.key])

    assert check_signatures(note, keys).standing == "signed"
    assert check_signatures(forged, keys).standing == "failed"
    with pytest.raises(InvalidSignature) as caught:
        verify_note(forged, keys)
    assert caught.value.code == "input.signature"
    assert caught.value.signer == f"a+{good.key_id.hex()}"


async def test_one_good_signature_does_not_save_a_note_with_a_failed_one() -> None:
    good, other = Ed25519Signer.generate("a"), Ed25519Signer.generate("b")
    note = await sign_note("one\n", [good])
    mixed = note.with_signatures([Signature("b", other.key_id, bytes(64))])

    report = check_signatures(mixed, verifiers([good.key, other.key]))

    assert [one.name for one in report.signed] == ["a"]
    assert [one.name for one in report.failed] == ["b"]
    assert report.standing == "failed"


async def test_every_line_of_a_known_key_is_verified_repeated_ones_too() -> None:
    signer = Ed25519Signer.generate("a")
    note = await sign_note("one\n", [signer])
    twice = parse_note(str(note) + Signature("a", signer.key_id, b"x" * 64).line)

    assert check_signatures(twice, verifiers([signer.key])).standing == "failed"


async def test_a_key_of_the_same_name_and_another_id_is_unknown() -> None:
    signer, namesake = Ed25519Signer.generate("a"), Ed25519Signer.generate("a")
    note = await sign_note("one\n", [namesake])

    assert check_signatures(note, verifiers([signer.key])).standing == "foreign"
    with pytest.raises(InvalidSignature):
        verify_note(note, verifiers([signer.key]))


async def test_a_note_that_nobody_signed_says_so() -> None:
    note = await sign_note("one\n", [])

    assert str(note) == "one\n\n"
    assert check_signatures(note, []).standing == "unsigned"
    with pytest.raises(InvalidSignature):
        verify_note(note, [])


def test_two_known_keys_of_one_name_and_id_are_refused() -> None:
    key = VerifierKey.parse(NEUMANN_PUBLIC)

    with pytest.raises(InvalidKey):
        check_signatures(SignedNote("a\n"), [*verifiers([key]), *verifiers([key])])


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=70))
def test_no_public_key_and_no_signature_crash_a_verifier(public: bytes, signature: bytes) -> None:
    (verifier,) = verifiers([VerifierKey("a", public)])

    assert verifier.verify(b"one\n", signature) is False
