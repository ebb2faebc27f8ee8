"""The witness over real HTTP: every status of C2SP tlog-witness, limits, races, kills."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memoranda.app.witness import opened_witness
from memoranda.kernel.errors import AnchorFailed, DependencyMissing, InvalidKey, InvalidOption
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.signed_note import check_signatures
from memoranda.outside.keys import Ed25519Signer, rotate_key, verifiers
from memoranda.outside.witnesses import WitnessAnchor
from memoranda.stores.sqlite.witnessed import WitnessedFile
from memoranda.surfaces import witness as surface
from memoranda.testkit.strategies import FrozenClock
from tests.patience import PATIENCE, eventually
from tests.witnesses import LOG_KEY, ORIGIN, Log, WitnessFiles, WitnessProcess


class Asked:
    """A witness that is asked in plain HTTP."""

    def __init__(self, anchor: WitnessAnchor, client: httpx2.AsyncClient) -> None:
        self.anchor = anchor
        self.client = client

    async def post(self, body: bytes | AsyncIterator[bytes]) -> httpx2.Response:
        return await self.client.post(f"{self.anchor.url}/add-checkpoint", content=body)

    async def newest(self, origin: str = ORIGIN) -> httpx2.Response:
        return await self.client.get(f"{self.anchor.url}/checkpoint", params={"origin": origin})

    def signers(self, note: str, lines: str) -> list[str]:
        """Whose cosignatures these lines are, under the known key."""
        signed = parse_checkpoint(f"{parse_checkpoint(note).note.text}\n{lines}").note
        assert self.anchor.key is not None
        return [str(one) for one in check_signatures(signed, verifiers([self.anchor.key])).signed]


@pytest.fixture
def files(tmp_path: Path) -> WitnessFiles:
    return WitnessFiles.make(tmp_path / "witness")


@asynccontextmanager
async def asking(files: WitnessFiles) -> AsyncIterator[Asked]:
    async with files.served() as anchor, httpx2.AsyncClient(trust_env=False) as client:
        yield Asked(anchor, client)


@pytest.fixture
async def witness(files: WitnessFiles) -> AsyncIterator[Asked]:
    async with asking(files) as asked:
        yield asked


# ------------------------------------------------------------------------- statuses


async def test_what_extends_is_cosigned_and_remembered(witness: Asked, files: WitnessFiles) -> None:
    log = Log.of("a", "b", "c")
    for old, size in ((0, 1), (1, 3), (3, 3)):
        answer = await witness.post(await log.request(old, size))

        assert (answer.status_code, answer.headers["content-type"]) == (200, surface.PLAIN)
        name = f"{files.key.name}+{files.key.key_id.hex()}"
        assert witness.signers(await log.note(size), answer.text) == [name]
        newest = parse_checkpoint((await witness.newest()).text)
        assert newest.checkpoint.size == size
        known = verifiers([LOG_KEY.key, files.key])
        assert len(check_signatures(newest.note, known).signed) == 2


async def test_a_new_journal_may_begin_anywhere(witness: Asked) -> None:
    log = Log.of("a", "b", "c")

    assert (await witness.post(await log.request(0, 3))).status_code == 200


@pytest.mark.parametrize("old", [0, 1, 4])
async def test_another_size_is_a_conflict_that_names_the_known_one(
    witness: Asked, old: int
) -> None:
    log = Log.of("a", "b", "c", "d", "e")
    await witness.post(await log.request(0, 2))

    answer = await witness.post(await log.request(old, 5))

    assert (answer.status_code, answer.text) == (409, "2\n")
    assert answer.headers["content-type"] == "text/x.tlog.size"


async def test_an_old_checkpoint_that_is_sent_again_is_a_conflict(witness: Asked) -> None:
    log = Log.of("a", "b", "c")
    first = await log.request(0, 1)
    await witness.post(first)
    await witness.post(await log.request(1, 3))

    for replayed in (first, await log.request(1, 1)):
        answer = await witness.post(replayed)
        assert (answer.status_code, answer.text) == (409, "3\n")


async def test_another_root_of_the_known_size_is_a_conflict(
    witness: Asked, caplog: pytest.LogCaptureFixture
) -> None:
    await witness.post(await Log.of("a", "b").request(0))

    answer = await witness.post(await Log.of("a", "x").request(2))

    assert (answer.status_code, answer.text) == (409, "2\n")
    assert await Log.of("a", "x").note() in caplog.text, "it is kept as evidence"


async def test_a_proof_that_does_not_hold_is_unprocessable(witness: Asked) -> None:
    await witness.post(await Log.of("a", "b").request(0))

    answer = await witness.post(await Log.of("a", "x", "c").request(2))

    assert (answer.status_code, answer.text.partition(":")[0]) == (422, "input.proof")
    assert parse_checkpoint((await witness.newest()).text).checkpoint.size == 2


async def test_an_old_size_beyond_the_checkpoint_is_a_bad_request(witness: Asked) -> None:
    log = Log.of("a", "b", "c")
    await witness.post(await log.request(0, 3))

    body = (await log.request(0, 2)).replace(b"old 0", b"old 3")

    assert (await witness.post(body)).status_code == 400


async def test_an_unknown_log_is_not_found(witness: Asked) -> None:
    answer = await witness.post(await Log.of("a", origin="other.example/log").request(0))

    assert (answer.status_code, answer.text.partition(":")[0]) == (404, "input.log_unknown")
    assert (await witness.newest("memoranda/0193-a/never")).status_code == 404
    assert (await witness.newest("")).status_code == 404


async def test_what_no_known_key_has_signed_is_forbidden(witness: Asked) -> None:
    log = Log.of("a")
    thief = Log(signer=Ed25519Signer(LOG_KEY.name, bytes(32)), nodes=log.nodes)
    body = await log.request(0)
    unsigned = body[: body.rindex(b"\n\n") + 2]
    forged = body.replace(b"\n1\n", b"\n2\n")

    for refused in (await thief.request(0), unsigned, forged):
        answer = await witness.post(refused)
        assert (answer.status_code, answer.text.partition(":")[0]) == (403, "input.signature")
    assert (await witness.newest()).status_code == 404, "nothing was remembered"


@pytest.mark.parametrize("body", [b"", b"old 0\n\n", b"\xff", b"old 0\n" + b"A" * 200, b"\0" * 99])
async def test_what_is_no_request_is_a_bad_one(witness: Asked, body: bytes) -> None:
    answer = await witness.post(body)

    assert (answer.status_code, answer.text.partition(":")[0]) == (400, "input.checkpoint")


async def test_other_methods_and_paths_are_refused(witness: Asked) -> None:
    url = witness.anchor.url

    assert (await witness.client.get(f"{url}/add-checkpoint")).status_code == 405
    assert (await witness.client.delete(f"{url}/checkpoint")).status_code == 405
    assert (await witness.client.get(f"{url}/")).status_code == 404


async def test_when_it_can_not_remember_it_does_not_cosign(files: WitnessFiles) -> None:
    log = Log.of("a")
    with opened_witness(**files.named, clock=None) as opened:
        async with surface.serving(opened) as (url, _), httpx2.AsyncClient(trust_env=False) as to:
            witness = Asked(WitnessAnchor(url, files.key), to)
            assert isinstance(opened.memory, WitnessedFile)
            opened.memory.close()
            answer = await witness.post(await log.request(0))

    assert (answer.status_code, answer.text.partition(":")[0]) == (503, "store.closed")


# --------------------------------------------------------------------------- limits


async def test_a_request_that_is_too_long_is_not_read(witness: Asked) -> None:
    assert (await witness.post(b"a" * (surface.MOST_BYTES + 1))).status_code == 413


async def test_a_request_that_never_ends_is_given_up(
    witness: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surface, "SECONDS", 0.05)
    host, port = witness.anchor.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 99\r\n\r\nold 0\n")
    async with asyncio.timeout(PATIENCE):
        answer = await reader.readline()
    writer.close()

    assert answer == b"HTTP/1.1 408 Request Timeout\r\n"


async def test_a_port_in_use_is_named(files: WitnessFiles) -> None:
    async with files.served() as anchor:
        port = int(anchor.url.rpartition(":")[2])
        with pytest.raises(InvalidOption) as caught:
            async with surface.serving(Any, port=port):  # type: ignore[arg-type]
                pass

    assert caught.value.code == "input.option"
    assert str(port) in str(caught.value)


async def test_without_the_extra_it_says_what_to_install(
    files: WitnessFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    with pytest.raises(DependencyMissing) as caught:
        async with files.served():
            pass

    assert caught.value.code == "store.dependency_missing"
    assert "memoranda[server]" in str(caught.value)


# ----------------------------------------------------------------------------- keys


async def test_after_a_rotation_both_keys_cosign(files: WitnessFiles) -> None:
    rotated = rotate_key(files.folder / "key", files.folder / "ring")
    log = Log.of("a")
    async with asking(files) as witness:
        answer = await witness.post(await log.request(0))

    note = parse_checkpoint(f"{parse_checkpoint(await log.note()).note.text}\n{answer.text}").note
    signed = check_signatures(note, verifiers([rotated.new, rotated.old])).signed
    assert len(signed) == 2


async def test_a_key_that_signs_checkpoints_is_no_witness_s(tmp_path: Path) -> None:
    files = WitnessFiles.make(tmp_path / "witness")
    (files.folder / "key").write_text(f"{LOG_KEY.secret_text()}\n")

    with pytest.raises(InvalidKey) as caught:
        async with files.served():
            pass
    assert caught.value.code == "input.key"


async def test_what_it_says_of_a_journal_is_cosigned_when_it_is_asked(files: WitnessFiles) -> None:
    clock, log = FrozenClock(), Log.of("a")
    async with files.served(clock) as anchor:
        await anchor.publish(await log.note())
        clock.advance(10_000_000)
        (kept,) = [one async for one in anchor.read(ORIGIN)]

    assert type(kept).__name__ == "KeptNote", "an answer that was cosigned long ago is refused"


# ---------------------------------------------------------------------------- races


async def test_of_histories_that_race_it_cosigns_one(witness: Asked) -> None:
    common = ["a", "b", "c"]
    logs = [Log.of(*common, *(f"{number}-{step}" for step in range(5))) for number in range(4)]
    roots: dict[int, set[bytes]] = {}

    async def push(log: Log) -> None:
        size = 0
        for wanted in range(1, 9):
            answer = await witness.post(await log.request(size, wanted))
            if answer.status_code == 409 and (known := int(answer.text)) <= wanted:
                answer = await witness.post(await log.request(known, wanted))
            if answer.status_code == 200:
                size = wanted
                checkpoint = parse_checkpoint(await log.note(wanted)).checkpoint
                roots.setdefault(wanted, set()).add(checkpoint.root)

    await asyncio.gather(*(push(log) for log in logs for _ in range(2)))

    assert max(roots) == 8
    assert {len(found) for found in roots.values()} == {1}, "two roots of a size were cosigned"


# ---------------------------------------------------------------------------- kills


async def pushed(log: Log, anchor: WitnessAnchor, size: int) -> int:
    """How much of a log is cosigned, one entry after the other, when the witness is killed."""
    while True:
        size += 1
        try:
            await anchor.publish(await log.note(size), lambda old, size=size: log.proof(old, size))
        except AnchorFailed:
            return size - 1


async def killed(files: WitnessFiles, log: Log, cosigned: int) -> int:
    process = await asyncio.to_thread(WitnessProcess, files)
    known = [_size(one) async for one in process.anchor.read(ORIGIN)]
    assert (known or [0])[0] >= cosigned
    pushing = asyncio.create_task(pushed(log, process.anchor, cosigned))
    await eventually(lambda: process.anchor._known.get(ORIGIN, 0) >= cosigned + 20)
    await asyncio.to_thread(process.end)
    return await pushing


async def test_a_kill_forgets_nothing_that_was_cosigned(files: WitnessFiles) -> None:
    log, cosigned = Log.of(*map(str, range(1_000))), 0
    for _ in range(3):
        cosigned = await killed(files, log, cosigned)
    memory = WitnessedFile(files.named["memory"])
    newest = await memory.newest(ORIGIN)
    memory.close()

    assert newest is not None
    assert newest.size in (cosigned, cosigned + 1), "the last one may be saved and not answered"
    assert cosigned >= 60


def _size(kept: Any) -> int:
    return parse_checkpoint(kept.text).checkpoint.size


DIES = """
import asyncio, os, sys
from memoranda.app.witness import opened_witness
from memoranda.outside.keys import Cosigner
async def sign(self, text):
    os._exit(9)
Cosigner.sign = sign
logs, key, memory = sys.argv[1:]
with opened_witness(logs=logs, key_file=key, memory=memory) as witness:
    asyncio.run(witness.add_checkpoint(sys.stdin.buffer.read()))
"""


async def test_a_crash_between_saving_and_cosigning_is_made_good_by_asking_again(
    files: WitnessFiles,
) -> None:
    log = Log.of("a", "b")
    ended = subprocess.run(  # noqa: ASYNC221, S603 - our own program, and it ends at once
        [sys.executable, "-c", DIES, *map(str, files.named.values())],
        input=await log.request(0),
        check=False,
        env=os.environ,
    )
    assert ended.returncode == 9

    async with asking(files) as witness:
        assert (await witness.post(await Log.of("x", "y").request(0))).text == "2\n"
        assert (await witness.post(await Log.of("x", "y").request(2))).status_code == 409
        assert (await witness.post(await log.request(2))).status_code == 200
