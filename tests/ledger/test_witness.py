"""What a witness signs and agrees to: the forms of C2SP, and that it knows one history."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import EMPTY_ROOT
from memoranda.kernel.errors import (
    CheckpointConflict,
    InvalidCheckpoint,
    InvalidKey,
    InvalidProof,
    LogUnknown,
    MemorandaError,
)
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.signed_note import (
    COSIGNATURE,
    Signature,
    SignedNote,
    VerifierKey,
    check_signatures,
)
from memoranda.ledger.witness import (
    MOST_HASHES,
    Cosigned,
    KnownLogs,
    check_extends,
    cosignature,
    parse_request,
    request_text,
    split_cosignature,
)
from memoranda.outside.keys import Cosigner, Ed25519Signer, verifiers
from memoranda.testkit.strategies import FrozenClock
from tests.witnesses import LOG_KEY, ORIGIN, Log

# A checkpoint of a public log, as it was served: signed by the log, cosigned by public witnesses.
PUBLIC_NOTE = """\
arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3\
urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI7\
5MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u\
5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5\
XeU/zZ0WBxtqB0DrAWfBw==
"""
PUBLIC_KEYS = (
    "arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f",
    "witness1.smartit.nu/witness1+a48c820f+BPSFWg9G6KPiO7QPryYO5Xq4oYJJ+kAvLKLSimDhoxMO",
    "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2",
)

# -------------------------------------------------------------------- cosignatures


def test_cosignatures_of_public_witnesses_verify() -> None:
    known = verifiers(map(VerifierKey.parse, PUBLIC_KEYS))

    report = check_signatures(parse_checkpoint(PUBLIC_NOTE).note, known)

    assert {signature.name for signature in report.signed} == {one.name for one in known}
    assert report.failed == ()
    at = {split_cosignature(one.signature) for one in report.signed if len(one.signature) == 72}
    assert {found and found[0] for found in at} == {0x6A122120}


def test_a_cosignature_of_another_text_fails() -> None:
    known = verifiers(map(VerifierKey.parse, PUBLIC_KEYS))
    other = PUBLIC_NOTE.replace("1432088532", "1432088531")

    report = check_signatures(parse_checkpoint(other).note, known)

    assert len(report.failed) == len(known)


async def test_a_cosigner_signs_its_time_and_only_its_own_kind_of_key() -> None:
    clock = FrozenClock()
    signer = Ed25519Signer("w", bytes(32), b"\x04")
    cosigner = Cosigner(signer, clock)
    text = "a\n1\n" + "A" * 43 + "=\n"
    raw = await cosigner.sign(text.encode())
    (known,) = verifiers([signer.key])

    assert known.verify(text.encode(), raw)
    assert split_cosignature(raw) == (clock.at // 1000, raw[8:])
    assert not known.verify(text.encode(), cosignature(clock.at // 1000 + 1, raw[8:]))
    assert not known.verify(text.encode(), raw[8:])
    assert not known.verify(text.encode(), b"\xff" + raw[1:])
    assert Ed25519Signer("w", bytes(32)).key_id != cosigner.key_id
    with pytest.raises(InvalidKey) as caught:
        Cosigner(Ed25519Signer("w", bytes(32)))
    assert caught.value.code == "input.key"


# ---------------------------------------------------------------------- requests


@given(st.integers(0, 2**63 - 1), st.lists(st.binary(min_size=32, max_size=32), max_size=63))
def test_a_request_is_read_as_it_was_written(old: int, proof: Sequence[bytes]) -> None:
    note = str(SignedNote(Checkpoint(ORIGIN, 5, bytes(32)).text, (Signature("a", bytes(4), b"s"),)))

    read = parse_request(request_text(old, proof, note).encode())

    assert (read.old_size, read.proof, str(read.noted.note)) == (old, proof, note)


NOTE = Checkpoint(ORIGIN, 5, bytes(32)).text + "\n"
HASH = "A" * 43 + "="


@pytest.mark.parametrize(
    "body",
    [
        "",
        "old 0\n",
        NOTE,
        f"old\n\n{NOTE}",
        f"new 0\n\n{NOTE}",
        f"old 00\n\n{NOTE}",
        f"old -1\n\n{NOTE}",
        f"old  1\n\n{NOTE}",
        f"old \u0661\n\n{NOTE}",
        f"old {10**30}\n\n{NOTE}",
        f"old 1\r\n\n{NOTE}",
        f"old 1\nAAAA\n\n{NOTE}",
        f"old 1\n{HASH} \n\n{NOTE}",
        f"old 1\n{'A' * 42}B=\n\n{NOTE}",
        "old 1\n" + f"{HASH}\n" * (MOST_HASHES + 1) + f"\n{NOTE}",
        "old 1\n\nno checkpoint\n\n",
        "old 1\n\n" + NOTE.replace("5", "05"),
    ],
)
def test_what_is_no_request_is_refused(body: str) -> None:
    with pytest.raises(InvalidCheckpoint) as caught:
        parse_request(body.encode())

    assert caught.value.code == "input.checkpoint"


# ------------------------------------------------------------------------- the rule


async def cosigned(log: Log, size: int) -> Cosigned:
    checkpoint, note = parse_checkpoint(await log.note(size))
    return Cosigned(checkpoint.size, checkpoint.root, str(note))


async def judged(log: Log, known: Cosigned | None, old: int, size: int) -> str | None:
    try:
        check_extends(parse_request(await log.request(old, size)), known)
    except MemorandaError as refused:
        return type(refused).__name__
    return None


async def test_only_what_extends_what_is_known_is_agreed_to() -> None:
    log, other = Log.of("a", "b", "c", "d"), Log.of("a", "x", "c", "d")
    two = await cosigned(log, 2)

    assert await judged(log, None, 0, 2) is None
    assert await judged(log, two, 2, 4) is None
    assert await judged(log, two, 2, 2) is None
    assert await judged(log, two, 0, 4) == CheckpointConflict.__name__
    assert await judged(log, two, 1, 4) == CheckpointConflict.__name__
    assert await judged(log, two, 1, 1) == CheckpointConflict.__name__
    assert await judged(log, None, 1, 2) == CheckpointConflict.__name__
    assert await judged(log, two, 2, 1) == InvalidCheckpoint.__name__
    assert await judged(other, two, 2, 2) == CheckpointConflict.__name__
    assert await judged(other, two, 2, 4) == InvalidProof.__name__


async def test_the_empty_log_is_extended_without_a_proof() -> None:
    log = Log.of("a")
    empty = Cosigned(0, EMPTY_ROOT, "")

    assert await judged(log, None, 0, 0) is None
    assert await judged(log, empty, 0, 0) is None
    assert await judged(log, empty, 0, 1) is None
    raw = request_text(0, [bytes(32)], await log.note())
    for known in (None, empty):
        with pytest.raises(InvalidProof) as caught:
            check_extends(parse_request(raw.encode()), known)
        assert caught.value.code == "input.proof"


@given(st.data())
def test_no_order_of_requests_makes_a_witness_agree_to_two_roots_of_a_size(
    data: st.DataObject,
) -> None:
    """Histories that part at chance's places, each with honest and forged proofs."""
    lengths = st.lists(st.sampled_from("ab"), min_size=1, max_size=6)
    logs = [Log.of(*data.draw(lengths)) for _ in range(3)]
    roots: dict[int, bytes] = {}
    known: Cosigned | None = None
    for _ in range(data.draw(st.integers(1, 12))):
        log, liar = data.draw(st.sampled_from(logs)), data.draw(st.sampled_from(logs))
        size = data.draw(st.integers(0, log.nodes.frontier.size))
        old = data.draw(st.sampled_from([0, size, 0 if known is None else known.size]))
        told = min(size, liar.nodes.frontier.size)
        proof = asyncio.run(liar.proof(min(old, told), told))
        raw = request_text(old, proof, asyncio.run(log.note(size)))
        request = parse_request(raw.encode())
        try:
            check_extends(request, known)
        except MemorandaError:
            continue
        new = request.noted.checkpoint
        assert roots.setdefault(new.size, new.root) == new.root
        assert known is None or new.size >= known.size
        known = Cosigned(new.size, new.root, "")


# ------------------------------------------------------------------------- its logs


def test_a_log_is_known_by_its_origin_or_by_how_it_begins() -> None:
    other = Ed25519Signer("other", bytes(32)).key
    logs = KnownLogs.parse(
        f"# ours\n\nmemoranda/ {LOG_KEY.key}\na log {other}\na log {LOG_KEY.key}\n"
    )

    assert logs.keys("memoranda/0193/x") == (LOG_KEY.key,)
    assert logs.keys("a log") == (other, LOG_KEY.key)
    for origin in ("memoranda", "a log/x", "a", ""):
        with pytest.raises(LogUnknown) as caught:
            logs.keys(origin)
        assert caught.value.code == "input.log_unknown"


@pytest.mark.parametrize(
    "line",
    [
        "memoranda/",
        f" {LOG_KEY.key}",
        "memoranda/ key",
        f"memoranda/ {Ed25519Signer('w', bytes(32), COSIGNATURE).key}",
    ],
)
def test_a_line_that_names_no_log_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        KnownLogs.parse(f"\n{line}\n")

    assert caught.value.code == "input.key"
    assert "line 2" in str(caught.value)
