"""The anchor in a file: nothing that was acknowledged is lost, what broke off is seen."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.identity import sha256_hex
from memoranda.kernel.errors import AnchorFailed, InvalidCheckpoint
from memoranda.ledger.anchor import Anchor, Kept, KeptDamage, KeptNote
from memoranda.ledger.checkpoint import Checkpoint, sign_checkpoint
from memoranda.ledger.signed_note import SignedNote
from memoranda.outside import anchors, files
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.keys import Ed25519Signer
from memoranda.testkit.strategies import shared_fixtures
from tests.patience import PATIENCE

ROOT = bytes(range(32))


def note(size: int, origin: str = "memoranda/0193-a/support") -> str:
    return str(SignedNote(Checkpoint(origin, size, ROOT).text))


NOTES = [note(size) for size in range(1, 4)]


async def everything(anchor: Anchor, origin: str | None = None) -> list[Kept]:
    return [kept async for kept in anchor.read(origin)]


def texts(kept: list[Kept]) -> list[str]:
    return [one.text for one in kept if isinstance(one, KeptNote)]


def damage(kept: list[Kept]) -> list[str]:
    return [one.what for one in kept if isinstance(one, KeptDamage)]


@pytest.fixture
def anchor(tmp_path: Path) -> FileAnchor:
    return FileAnchor(tmp_path / "anchor.txt")


# ---------------------------------------------------------------------- write and read


async def test_many_notes_are_kept_in_their_order_and_the_disk_is_waited_for_once(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await anchor.publish(NOTES[0])
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)

    assert await anchor.publish_all(NOTES[1:]) == [()] * len(NOTES[1:])

    assert texts(await everything(anchor)) == NOTES
    assert len(synced) == 1


async def test_of_many_notes_none_is_kept_if_one_is_none(anchor: FileAnchor) -> None:
    with pytest.raises(InvalidCheckpoint) as caught:
        await anchor.publish_all([NOTES[0], "no checkpoint"])

    assert caught.value.code == "input.checkpoint"
    assert not anchor.path.exists()


def test_two_anchors_of_one_file_are_the_same(tmp_path: Path) -> None:
    one, same, other = (FileAnchor(tmp_path / name) for name in ("a", "a", "b"))

    assert {one, same} == {one}
    assert one != other


async def test_what_was_published_is_read_in_order(anchor: FileAnchor) -> None:
    for one in NOTES:
        assert await anchor.publish(one) == ()

    assert texts(await everything(anchor)) == NOTES


async def test_a_signed_note_comes_back_byte_for_byte(anchor: FileAnchor) -> None:
    signers = [Ed25519Signer.generate("a"), Ed25519Signer.generate("b")]
    signed = str(await sign_checkpoint(Checkpoint("origin", 1, ROOT), signers))
    await anchor.publish(signed)

    assert texts(await everything(anchor)) == [signed]


async def test_the_notes_of_one_origin_are_read_alone(anchor: FileAnchor) -> None:
    mine, other = NOTES[0], note(1, "memoranda/0193-a/support2")
    await anchor.publish(other)
    await anchor.publish(mine)

    assert texts(await everything(anchor, "memoranda/0193-a/support")) == [mine]
    assert texts(await everything(anchor, "memoranda/0193-a")) == []


async def test_many_notes_are_read_a_few_at_a_time(anchor: FileAnchor) -> None:
    sizes = range(1, 2 * anchors._AT_ONCE + 2)
    record = NOTES[0].encode()
    await anchor.publish(NOTES[0])
    anchor.path.write_bytes(anchor.path.read_bytes() * len(sizes))

    assert texts(await everything(anchor)) == [record.decode()] * len(sizes)


async def test_reading_stops_where_writing_was_when_it_began(anchor: FileAnchor) -> None:
    await anchor.publish(NOTES[0])
    reading = anchor.read()
    first = await anext(reading)
    await anchor.publish(NOTES[1])

    assert [first, *[kept async for kept in reading]] == [await anext(anchor.read())]


async def test_what_is_no_checkpoint_is_not_kept(anchor: FileAnchor) -> None:
    for text in ("", "origin\n1\n\n", NOTES[0] + "x", f"{NOTES[0][:-1]}= an extension\n\n"):
        with pytest.raises(InvalidCheckpoint):
            await anchor.publish(text)

    assert not anchor.path.exists()


async def test_a_file_that_is_not_there_can_not_be_read(anchor: FileAnchor) -> None:
    with pytest.raises(AnchorFailed) as caught:
        await everything(anchor)

    assert caught.value.code == "store.anchor_failed"


async def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(AnchorFailed):
        await FileAnchor(tmp_path / "not mounted" / "anchor.txt").publish(NOTES[0])

    assert list(tmp_path.iterdir()) == []


def test_an_anchor_beside_the_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data" / "below")
    database = tmp_path / "data" / "memory.db"

    for path in ("data/anchor.txt", "data/below/anchor.txt", "link/anchor.txt"):
        with pytest.raises(AnchorFailed):
            FileAnchor(tmp_path / path, database=database)
    assert FileAnchor(tmp_path / "anchor.txt", database=database).name.endswith("anchor.txt")


# ------------------------------------------------------------------------------- damage


async def whole_file(anchor: FileAnchor) -> bytes:
    for one in NOTES:
        await anchor.publish(one)
    return anchor.path.read_bytes()


async def test_a_cut_at_any_byte_loses_the_last_note_only_and_is_reported(
    anchor: FileAnchor,
) -> None:
    whole = await whole_file(anchor)
    second_end = 2 * len(whole) // 3

    for end in range(second_end + 1, len(whole)):
        anchor.path.write_bytes(whole[:end])
        kept = await everything(anchor)

        assert (texts(kept), damage(kept)) == (NOTES[:2], ["torn"])


async def test_after_a_cut_at_any_byte_the_next_note_is_whole(anchor: FileAnchor) -> None:
    whole = await whole_file(anchor)
    second_end = 2 * len(whole) // 3

    for end in range(second_end, len(whole) + 1):
        anchor.path.write_bytes(whole[:end])
        await anchor.publish(NOTES[0])
        await anchor.publish(NOTES[1])
        kept = await everything(anchor)

        assert anchor.path.read_bytes().startswith(whole[:end]), "nothing is taken back"
        # Where only the last newline was missing, the note itself was whole.
        rest = NOTES[2:] if end >= len(whole) - 1 else []
        assert texts(kept) == [*NOTES[:2], *rest, *NOTES[:2]]
        assert damage(kept) == ([] if rest or end == second_end else ["torn"])


async def test_damage_is_shown_whatever_the_origin(anchor: FileAnchor) -> None:
    whole = await whole_file(anchor)
    anchor.path.write_bytes(whole[:-1])

    assert damage(await everything(anchor, "nobody's")) == ["torn"]


async def test_a_note_that_was_edited_is_damaged_and_the_others_are_read(
    anchor: FileAnchor,
) -> None:
    whole = await whole_file(anchor)
    anchor.path.write_bytes(whole.replace(b"\n2\n", b"\n9\n"))
    kept = await everything(anchor)

    assert (texts(kept), damage(kept)) == ([NOTES[0], NOTES[2]], ["damaged"])


async def test_a_note_that_never_ends_is_damaged_and_not_kept_in_memory(
    anchor: FileAnchor,
) -> None:
    await anchor.publish(NOTES[0])
    endless = b"x" * 20_000_000 + b"\n= " + b"0" * 64 + b"\n"
    anchor.path.write_bytes(endless + anchor.path.read_bytes())
    tracemalloc.start()
    try:
        kept = await everything(anchor)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (texts(kept), damage(kept)) == (NOTES[:1], ["damaged"])
    assert peak < 6_000_000


async def test_what_looks_like_an_end_inside_a_long_line_is_none(anchor: FileAnchor) -> None:
    text = b"x" * anchors._LONGEST_READ + b"= torn\n"
    anchor.path.write_bytes(text + b"= " + sha256_hex(text).encode() + b"\n")

    assert texts(await everything(anchor)) == [text.decode()]


async def test_an_empty_note_is_passed_on_to_be_refused(anchor: FileAnchor) -> None:
    anchor.path.write_bytes(b"= " + sha256_hex(b"").encode() + b"\n")

    assert texts(await everything(anchor)) == [""]
    assert await everything(anchor, "origin") == []


@settings(shared_fixtures, max_examples=100)
@given(st.data())
async def test_no_bytes_crash_a_reader(tmp_path: Path, data: st.DataObject) -> None:
    anchor = FileAnchor(tmp_path / "mutated.txt")
    anchor.path.unlink(missing_ok=True)
    raw = bytearray(await whole_file(anchor))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 90))] = data.draw(st.binary(max_size=3))
    anchor.path.write_bytes(raw)

    kept = await everything(anchor)

    assert set(texts(kept)) <= set(NOTES), "what is read is what was written"


# -------------------------------------------------------------------------- concurrency

WRITER = """
import asyncio, sys
from memoranda.ledger.checkpoint import Checkpoint, sign_checkpoint
from memoranda.outside import files
from memoranda.outside.anchors import FileAnchor

files.LOCK_SECONDS = float(sys.argv[3])  # between three who write and one who never stops reading

async def main():
    anchor = FileAnchor(sys.argv[1])
    for size in range(1, 31):
        note = await sign_checkpoint(Checkpoint(sys.argv[2], size, bytes(32)))
        await anchor.publish(str(note))

asyncio.run(main())
"""


async def test_processes_that_write_at_once_mix_no_notes(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", PATIENCE)
    command = [sys.executable, "-c", WRITER]
    writers = [
        subprocess.Popen([*command, str(anchor.path), f"writer {number}", str(PATIENCE)])  # noqa: ASYNC220, S603 - our own code
        for number in range(3)
    ]
    while any(writer.poll() is None for writer in writers):
        if anchor.path.exists():
            assert damage(await everything(anchor)) == [], "a reader sees no half of a note"

    assert [writer.returncode for writer in writers] == [0, 0, 0]
    for number in range(3):
        found = texts(await everything(anchor, f"writer {number}"))
        assert [int(one.split("\n")[1]) for one in found] == list(range(1, 31))


async def test_a_lock_that_is_never_given_back_is_an_error_not_a_hang(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await anchor.publish(NOTES[0])
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)

    with anchor.path.open("rb") as other, files.locked(other.fileno()):
        with pytest.raises(AnchorFailed) as caught:
            await anchor.publish(NOTES[1])
        with pytest.raises(AnchorFailed):
            await everything(anchor)

    assert "another process" in caught.value.why


async def test_a_full_disk_is_reported_and_the_next_note_is_whole(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await anchor.publish(NOTES[0])
    real = os.write

    def full(descriptor: int, data: memoryview) -> int:
        if len(data) > 60:
            return real(descriptor, data[:50])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(AnchorFailed) as caught:
            await anchor.publish(NOTES[1])
    await anchor.publish(NOTES[2])
    kept = await everything(anchor)

    assert caught.value.why == "No space left on device"
    assert (texts(kept), damage(kept)) == ([NOTES[0], NOTES[2]], ["torn"])


async def test_what_was_not_synced_is_not_acknowledged(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    await anchor.publish(NOTES[0])  # the folder is synced with the first one
    monkeypatch.setattr(os, "fsync", fails)

    with pytest.raises(AnchorFailed):
        await anchor.publish(NOTES[1])


async def test_a_new_files_name_is_synced_with_its_folder(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(anchors, "sync_folder", synced.append)
    await anchor.publish(NOTES[0])
    await anchor.publish(NOTES[1])

    assert synced == [anchor.path.parent]


async def test_a_first_note_that_broke_off_does_not_spare_the_sync_of_the_name(
    anchor: FileAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    anchor.path.write_bytes(b"half a note")
    monkeypatch.setattr(anchors, "sync_folder", synced.append)
    await anchor.publish(NOTES[0])

    assert synced == [anchor.path.parent]
