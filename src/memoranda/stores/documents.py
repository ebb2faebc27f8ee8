"""What recall knows of documents besides their words, as both databases store it: in blocks.

A block has the documents among 1,024 entries: for each its place there, the class of its length,
the number of its thread and of its speaker in the lists at the end, and when it was said; all
little-endian. So a million of them are read in a moment, and one is taken out without touching
many others.
"""

import struct
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from memoranda.ledger.snapshot import StoredDocument
from memoranda.recall.arrays import np
from memoranda.recall.columns import Columns
from memoranda.stores.postings import ChunkDamaged

BLOCK_BITS: Final = 10
_PLACE: Final = (1 << BLOCK_BITS) - 1
_HEAD: Final = struct.Struct("<HHq")
_LONG: Final = 0x8000
_SHORT: Final = 0xFFFF_FFFF
"""Milliseconds between the first and the last of a block that fit into four bytes."""
_ROW: Final = [
    ("place", "<u2"),
    ("length", "u1"),
    ("asks", "u1"),
    ("thread", "<u2"),
    ("speaker", "<u2"),
]
_BETWEEN: Final = "\n"


def block_of(seq: int) -> int:
    return seq >> BLOCK_BITS


def packed(rows: Sequence[StoredDocument]) -> bytes:
    """The documents of a block, which come by their entry."""
    threads = {"": 0}
    speakers = {"": 0}
    table = np.zeros(len(rows), _ROW)
    for number, (seq, _, thread, speaker, length, is_question) in enumerate(rows):
        table[number] = (
            seq & _PLACE,
            length,
            is_question,
            threads.setdefault(thread, len(threads)),
            speakers.setdefault(speaker, len(speakers)),
        )
    first = min(row.said_at for row in rows)
    times = np.array([row.said_at - first for row in rows], np.uint64)
    is_long = int(times.max()) > _SHORT
    names = [*list(threads)[1:], *list(speakers)[1:]]
    head = _HEAD.pack(len(rows) | (_LONG if is_long else 0), len(threads) - 1, first)
    body = table.tobytes() + times.astype("<u8" if is_long else "<u4").tobytes()
    return head + body + _BETWEEN.join(names).encode()


class DocumentBlock:
    """The documents of a block as columns; ChunkDamaged if the bytes can't be a block."""

    def __init__(self, number: int, body: bytes) -> None:
        try:
            size, threads, first = _HEAD.unpack_from(body)
            time = np.dtype("<u8" if size & _LONG else "<u4")
            size &= ~_LONG
            table = np.frombuffer(body, _ROW, size, _HEAD.size)
            at = _HEAD.size + table.nbytes
            self.times = np.frombuffer(body, time, size, at).astype(np.int64) + first
            names = body[at + size * time.itemsize :].decode().split(_BETWEEN)
        except (ValueError, struct.error) as wrong:
            raise ChunkDamaged(f"a block of documents can't be read: {wrong}") from None
        self.seqs = table["place"].astype(np.int64) + (number << BLOCK_BITS)
        self.lengths, self.asks = table["length"], table["asks"] != 0
        self.threads, self.speakers = table["thread"], table["speaker"]
        self.thread_names = ["", *names[:threads]]
        self.speaker_names = ["", *names[threads:]]
        last = (int(self.threads.max(initial=0)), int(self.speakers.max(initial=0)))
        if last[0] >= len(self.thread_names) or last[1] >= len(self.speaker_names):
            raise ChunkDamaged("a block of documents names nobody that it lists")

    def rows(self) -> list[StoredDocument]:
        return [
            StoredDocument(
                seq, time, self.thread_names[thread], self.speaker_names[speaker], length, asks
            )
            for seq, time, thread, speaker, length, asks in zip(
                self.seqs.tolist(),
                self.times.tolist(),
                self.threads.tolist(),
                self.speakers.tolist(),
                self.lengths.tolist(),
                self.asks.tolist(),
                strict=True,
            )
        ]


def columns_of(rows: Iterable[tuple[int, bytes]]) -> Columns:
    """The columns of all blocks of a scope, which come in order."""
    found = Columns()
    blocks = [DocumentBlock(number, body) for number, body in rows]
    threads: dict[str, int] = {}
    speakers: dict[str, int] = {}
    in_thread, by_speaker = [], []
    for block in blocks:
        numbers = [threads.setdefault(name, len(threads)) for name in block.thread_names]
        in_thread.append(np.array(numbers)[block.threads])
        numbers = [speakers.setdefault(name, len(speakers)) for name in block.speaker_names]
        by_speaker.append(np.array(numbers)[block.speakers])
    if blocks:
        found.add_all(
            np.concatenate([block.seqs for block in blocks]),
            np.concatenate([block.times for block in blocks]),
            (list(threads), np.concatenate(in_thread)),
            (list(speakers), np.concatenate(by_speaker)),
            np.concatenate([block.lengths for block in blocks]),
            np.concatenate([block.asks for block in blocks]),
        )
    return found


def changed(
    stored: Iterable[tuple[int, bytes]], gone: Collection[int], added: Iterable[StoredDocument]
) -> dict[int, bytes]:
    """Blocks without some entries and with others; an empty one has no bytes."""
    blocks = {
        number: {row.seq: row for row in DocumentBlock(number, body).rows()}
        for number, body in stored
    }
    for seq in gone:
        blocks.setdefault(block_of(seq), {}).pop(seq, None)
    for row in added:
        blocks.setdefault(block_of(row.seq), {})[row.seq] = row
    return {
        number: packed([rows[seq] for seq in sorted(rows)]) if rows else b""
        for number, rows in blocks.items()
    }
