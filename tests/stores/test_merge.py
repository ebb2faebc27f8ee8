"""What is prepared for the word index, before anything is written."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.ranking import Postings
from memoranda.stores.merge import ChunkRow, without_these
from memoranda.stores.postings import checked, packed

entries = st.lists(st.integers(0, 300), min_size=1, max_size=9, unique=True).map(sorted)


def _postings(seqs: list[int]) -> Postings:
    return Postings(np.array(seqs), np.full(len(seqs), 258, np.uint16))


@given(st.dictionaries(st.sampled_from("abc"), entries), st.sets(st.integers(0, 300)), st.data())
def test_what_is_left_has_everything_but_what_was_taken(
    held: dict[str, list[int]], others: set[int], data: st.DataObject
) -> None:
    rows = [
        ChunkRow(1, token, chunk)
        for token, seqs in held.items()
        for start in range(0, len(seqs), 3)
        for chunk in packed(_postings(seqs[start : start + 3]))
    ]
    pairs = [(seq, token) for token, seqs in held.items() for seq in seqs]
    taken = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    asked_for = [*taken, *((seq, token) for seq in others for token in held)]

    old, left = without_these(rows, asked_for)

    after = {row for row in rows if row not in old} | set(left)
    found = {(seq, row.token) for row in after for seq in checked(row.chunk).seqs.tolist()}
    assert found == set(pairs) - set(asked_for)
    assert set(old) <= set(rows)
    assert not set(old) & set(left)
