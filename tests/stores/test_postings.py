"""Postings as they are stored, and the segments that they lie in."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.ranking import Postings
from memoranda.stores.postings import (
    BLOCK_BITS,
    CHUNK,
    FANOUT,
    Chunk,
    Segment,
    checked,
    chunks_by_token,
    due,
    joined,
    next_number,
    packed,
    postings_in,
    without,
    wrong,
)

BLOCK = 1 << BLOCK_BITS
Found = list[tuple[int, int]]

kinds = st.integers(0, 2**16 - 1)
numbers = st.one_of(st.integers(0, 2 * CHUNK), st.integers(0, 2**40 - 1))
postings = st.dictionaries(numbers, kinds, max_size=600).map(lambda found: sorted(found.items()))


def arrays(found: Found) -> Postings:
    seqs, kinds = [seq for seq, _ in found], [kind for _, kind in found]
    return Postings(np.array(seqs, np.int64), np.array(kinds, np.uint16))


def unpacked(chunks: Iterable[Chunk]) -> Found:
    read = (checked(chunk) for chunk in chunks)
    return [pair for some in read for pair in zip(*(part.tolist() for part in some), strict=True)]


@given(postings)
def test_what_is_packed_is_read_again(found: Found) -> None:
    chunks = packed(arrays(found))

    assert unpacked(chunks) == found
    assert [chunk.first for chunk in chunks] == sorted({chunk.first for chunk in chunks})


def test_full_chunks_are_full_and_no_chunk_crosses_a_block() -> None:
    found = [(seq, 257) for seq in range(BLOCK - CHUNK - 1, BLOCK + 1)]

    chunks = packed(arrays(found))

    assert [chunk.first for chunk in chunks] == [BLOCK - CHUNK - 1, BLOCK - 1, BLOCK]


def test_the_form_is_the_same_on_every_machine() -> None:
    assert packed(arrays([(65_537, 0x0102), (65_792, 0x0304)])) == [
        Chunk(65_537, bytes.fromhex("0100 0001 0201 0403"))
    ]


@given(postings, st.integers(1, 40))
def test_chunks_are_read_together_whatever_their_order(found: Found, size: int) -> None:
    parts = [found[start : start + size] for start in range(0, len(found), size)]
    chunks = [chunk for part in parts for chunk in packed(arrays(part))]

    if chunks:
        assert packed(postings_in(chunks[::-1])) == packed(arrays(found))


@given(postings, st.integers(1, 40))
def test_chunks_that_are_joined_are_those_of_all_postings(found: Found, size: int) -> None:
    parts = [found[start : start + size] for start in range(0, len(found), size)]
    chunks = [chunk for part in parts for chunk in packed(arrays(part))]

    if chunks:
        assert joined(chunks) == packed(arrays(found))


@given(postings)
def test_the_words_of_documents_become_the_chunks_of_their_postings(found: Found) -> None:
    documents = [(seq, {"a": kind >> 8, "b": 300}, kind & 255) for seq, kind in found]

    chunks = list(zip(*chunks_by_token(documents), strict=True))

    by_token = {
        token: [Chunk(first, body) for named, first, body in chunks if named == token]
        for token in "ab"
    }
    assert [named for named, _, _ in chunks] == sorted(named for named, _, _ in chunks)
    assert by_token["a"] == packed(arrays(found))
    most = [(seq, 255 << 8 | kind & 255) for seq, kind in found]
    assert by_token["b"] == packed(arrays(most))


@given(postings, st.data())
def test_some_postings_are_taken_out_and_no_other(found: Found, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from([*found, (2**40, 0)])))
    seqs = {seq for seq, _ in chosen}

    left = [after for chunk in packed(arrays(found)) for after in without(chunk, seqs)]

    assert unpacked(left) == [posting for posting in found if posting[0] not in seqs]


@pytest.mark.parametrize(
    "chunk",
    [
        Chunk(0, b""),
        Chunk(0, b"\0\0\0"),
        Chunk(1, bytes(4)),
        Chunk(-65_536, bytes(4)),
        Chunk(1, bytes.fromhex("0100 0100 0101 0101")),
        Chunk(2, bytes.fromhex("0200 0100 0101 0101")),
        Chunk(
            0, b"".join(n.to_bytes(2, "little") for n in range(CHUNK + 1)) + bytes(2 * CHUNK + 2)
        ),
    ],
)
def test_what_is_no_chunk_is_refused(chunk: Chunk) -> None:
    with pytest.raises(ValueError, match="a chunk"):
        checked(chunk)


# ------------------------------------------------------------------------------ segments


def merged_all(segments: list[Segment]) -> list[Segment]:
    """The segments once nothing is left to merge."""
    while (merge := due(segments)) is not None:
        segments = [one for one in [*segments, merge.into] if one not in merge.of]
        segments = list(dict.fromkeys(segments))
    return segments


@given(st.lists(st.integers(1, 300), max_size=200))
def test_segments_of_batches_stay_few_and_follow_each_other(batches: list[int]) -> None:
    segments: list[Segment] = []
    end = 0
    for size in batches:
        segments.append(Segment(next_number(segments), end, end + size, 0))
        end += size
        segments = merged_all(segments)

        assert wrong(segments, end) is None
    levels = [one.level for one in segments]
    assert levels == sorted(levels, reverse=True)
    assert all(levels.count(level) < FANOUT for level in levels)


def test_a_merge_that_was_begun_comes_first() -> None:
    segments = [Segment(number + 1, number, number + 1, 0) for number in range(2 * FANOUT)]
    begun = due(segments)
    assert begun is not None
    assert not begun.is_begun

    again = due([*segments, begun.into])

    assert again == begun._replace(is_begun=True)
    assert wrong([*segments, begun.into], 2 * FANOUT) is None
    halfway = [begun.into, *segments[3:]]
    assert due(halfway) == begun._replace(of=segments[3:FANOUT], is_begun=True)
    assert wrong(halfway, 2 * FANOUT) is None


@pytest.mark.parametrize(
    "segments",
    [
        [],
        [Segment(1, 0, 9, 0)],
        [Segment(1, 1, 10, 0)],
        [Segment(1, 0, 5, 0), Segment(2, 6, 10, 0)],
        [Segment(1, 0, 5, 0), Segment(2, 4, 10, 0)],
        [Segment(1, 0, 10, 0), Segment(2, 10, 10, 0)],
        [Segment(1, 0, 10, 2), Segment(2, 0, 5, 0)],
    ],
)
def test_segments_that_leave_out_or_repeat_entries_are_wrong(segments: list[Segment]) -> None:
    assert wrong(segments, 10) is not None
