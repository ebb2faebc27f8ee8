"""The client of a witness: what it is answered is believed only if the witness's key signed it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memoranda.kernel.errors import (
    AnchorFailed,
    InvalidKey,
    InvalidOption,
    WitnessDisagrees,
    WitnessRefused,
)
from memoranda.ledger.anchor import Kept, KeptDamage, KeptNote
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.signed_note import COSIGNATURE, sign_note
from memoranda.outside.keys import Cosigner, Ed25519Signer
from memoranda.outside.witnesses import WitnessAnchor
from memoranda.testkit.strategies import FrozenClock
from tests.witnesses import LOG_KEY, ORIGIN, Log, WitnessFiles

SIGNER = Ed25519Signer("w1.example", bytes(32), COSIGNATURE)
Answers = Callable[[bytes], Awaitable[tuple[int, bytes]]]


@asynccontextmanager
async def liar(answers: Answers) -> AsyncIterator[str]:
    """A server that answers as it likes; it shows the URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        sizes = (
            line[15:] for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"
        )
        status, body = await answers(head + await reader.readexactly(int(next(sizes, b"0"))))
        form = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        writer.write(form % (status, len(body)) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def asked(url: str, **options: object) -> list[Kept]:
    anchor = WitnessAnchor(url, SIGNER.key, **options)  # type: ignore[arg-type]
    return [kept async for kept in anchor.read(ORIGIN)]


async def lines(note: str, signer: Ed25519Signer = SIGNER, clock: FrozenClock | None = None) -> str:
    """What a witness adds to a note."""
    text = parse_checkpoint(note).note.text
    signed = await sign_note(text, [Cosigner(signer, clock)])
    return "".join(one.line for one in signed.signatures)


# -------------------------------------------------------------------------- publish


async def test_a_log_that_grows_is_cosigned_and_the_proof_is_made_from_what_is_known(
    tmp_path: Path,
) -> None:
    files, log = WitnessFiles.make(tmp_path / "witness"), Log.of("a", "b", "c", "d")
    asked_from: list[int] = []

    async def proofs(old: int, /) -> object:
        asked_from.append(old)
        return await log.proof(old)

    async with files.served() as anchor:
        await anchor.publish(await log.note(1))
        (signature,) = await anchor.publish(await log.note(3), lambda old: log.proof(old, 3))
        again = WitnessAnchor(anchor.url, files.key)
        await again.publish(await log.note(), proofs)  # type: ignore[arg-type]
        (kept,) = [one async for one in anchor.read(ORIGIN)]

    assert (signature.name, signature.key_id) == (files.key.name, files.key.key_id)
    assert asked_from == [3], "it learned the size from the witness"
    assert isinstance(kept, KeptNote)
    assert parse_checkpoint(kept.text).checkpoint.size == 4


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (Log.of("a", "x"), "another root"),
        (Log.of("a", "x", "c"), "no beginning"),
        (Log.of("a"), "cut off"),
    ],
)
async def test_a_history_that_is_not_the_one_it_saw_is_named(
    tmp_path: Path, log: Log, said: str
) -> None:
    files = WitnessFiles.make(tmp_path / "witness")
    async with files.served() as anchor:
        await anchor.publish(await Log.of("a", "b").note())
        with pytest.raises(WitnessDisagrees) as caught:
            await WitnessAnchor(anchor.url, files.key).publish(await log.note(), log.proof)

    assert caught.value.code == "store.witness_disagrees"
    assert said in caught.value.why


async def test_what_it_does_not_cosign_is_named(tmp_path: Path) -> None:
    files = WitnessFiles.make(tmp_path / "witness")
    thief = Log(signer=Ed25519Signer("thief", bytes(32)), nodes=Log.of("a").nodes)
    async with files.served() as anchor:
        for log, said in ((Log.of("a", origin="other"), "--logs"), (thief, "no key")):
            with pytest.raises(WitnessRefused) as caught:
                await anchor.publish(await log.note())
            assert caught.value.code == "store.witness_refused"
            assert said in caught.value.why


OTHER = Ed25519Signer("w1.example", bytes([1] * 32), COSIGNATURE)


@pytest.mark.parametrize("kind", ["none", "text", "another key", "another text", "old", "future"])
async def test_a_wrong_cosignature_is_refused(kind: str) -> None:
    note, other = await Log.of("a").note(), await Log.of("b").note()
    clock = FrozenClock()
    then = FrozenClock(clock.at + (-700_000 if kind == "old" else 700_000))
    said = {
        "none": "",
        "text": "hello\n",
        "another key": await lines(note, OTHER, clock),
        "another text": await lines(other, SIGNER, clock),
    }.get(kind) or await lines(note, SIGNER, then)
    said = "" if kind == "none" else said

    async def answers(_: bytes) -> tuple[int, bytes]:
        return 200, said.encode()

    async with liar(answers) as url:
        with pytest.raises(WitnessRefused) as caught:
            await WitnessAnchor(url, SIGNER.key, clock=clock).publish(note)

    assert caught.value.code == "store.witness_refused"


async def test_signatures_of_others_in_its_answer_are_left_out() -> None:
    note = await Log.of("a").note()

    async def answers(_: bytes) -> tuple[int, bytes]:
        return 200, (await lines(note, OTHER) + await lines(note)).encode()

    async with liar(answers) as url:
        (signature,) = await WitnessAnchor(url, SIGNER.key).publish(note)
        assert await WitnessAnchor(url).publish(note) == (), "no key, nothing is believed"

    assert signature.key_id == SIGNER.key_id


@pytest.mark.parametrize("answer", [(409, b"no size\n"), (500, b""), (302, b""), (409, b"1\n")])
async def test_an_answer_of_no_witness_is_refused(answer: tuple[int, bytes]) -> None:
    log = Log.of("a", "b")

    async def answers(raw: bytes) -> tuple[int, bytes]:
        if answer == (409, b"1\n"):  # it says another size each time it is asked
            return 409, b"0\n" if b"old 1" in raw else b"1\n"
        return answer

    async with liar(answers) as url:
        with pytest.raises(WitnessRefused) as caught:
            await WitnessAnchor(url, SIGNER.key).publish(await log.note(), log.proof)

    assert caught.value.code == "store.witness_refused"


# ----------------------------------------------------------------------------- down


async def test_a_witness_that_is_down_or_silent_is_named() -> None:
    given_up, ended = asyncio.Event(), asyncio.Event()

    async def silent(_: bytes) -> tuple[int, bytes]:
        await given_up.wait()
        ended.set()
        return 200, b""

    async with liar(silent) as url:
        with pytest.raises(AnchorFailed) as caught:
            await asked(url, seconds=0.05)
        given_up.set()
        await ended.wait()
        assert "0.05 s" in caught.value.why
    with pytest.raises(AnchorFailed) as down:
        await asked(url)
    assert (down.value.code, down.value.anchor) == ("store.anchor_failed", url)
    assert "can't be reached" in down.value.why


@pytest.mark.parametrize("answer", [(500, b""), (200, b"\xff"), (200, b"a" * 1_000_001)])
async def test_an_answer_that_is_no_note_is_no_checkpoint(answer: tuple[int, bytes]) -> None:
    async def answers(_: bytes) -> tuple[int, bytes]:
        return answer

    async with liar(answers) as url:
        with pytest.raises(AnchorFailed) as caught:
            await asked(url)

    assert caught.value.code == "store.anchor_failed"


# ----------------------------------------------------------------------------- read


@pytest.mark.parametrize("kind", ["uncosigned", "another key", "another text", "old", "no note"])
async def test_what_nothing_shows_that_the_witness_says_it_now_is_not_believed(kind: str) -> None:
    note, clock = await Log.of("a").note(), FrozenClock()
    said = {
        "uncosigned": note,
        "another key": note + await lines(note, OTHER, clock),
        "another text": note + await lines(await Log.of("b").note(), SIGNER, clock),
        "old": note + await lines(note, SIGNER, FrozenClock(clock.at - 700_000)),
        "no note": "hello",
    }[kind]

    async def answers(_: bytes) -> tuple[int, bytes]:
        return 200, said.encode()

    async with liar(answers) as url:
        (kept,) = await asked(url, clock=clock)

    assert isinstance(kept, KeptDamage)
    assert kept.what == "not_cosigned"


async def test_of_a_journal_that_it_does_not_know_it_says_nothing(tmp_path: Path) -> None:
    async with WitnessFiles.make(tmp_path / "witness").served() as anchor:
        assert [one async for one in anchor.read(ORIGIN)] == []
        with pytest.raises(AnchorFailed) as caught:
            [one async for one in anchor.read()]

    assert caught.value.code == "store.anchor_failed"


# ---------------------------------------------------------------------------- named


def test_a_witness_is_named_by_its_url_and_its_key() -> None:
    named = WitnessAnchor.parse(f"https://w1.example/w/#{SIGNER.key}")

    assert (named.url, named.name, named.key) == (*["https://w1.example/w"] * 2, SIGNER.key)
    assert WitnessAnchor.parse("http://127.0.0.1:1").key is None
    for wrong in ("", "w1.example", "ftp://w1.example", "http://", "http://w:x"):
        with pytest.raises(InvalidOption) as caught:
            WitnessAnchor.parse(wrong)
        assert caught.value.code == "input.option"
    for wrong in ("http://w#", "http://w#key", f"http://w#{LOG_KEY.key}"):
        with pytest.raises(InvalidKey) as refused:
            WitnessAnchor.parse(wrong)
        assert refused.value.code == "input.key"
