"""Where an entry is stored: one number for its journal and its sequence number."""

from typing import Final

SEQ_BITS: Final = 40
"""How many bits of a place are the sequence number; above them is the journal's."""


SEQ: Final = (1 << SEQ_BITS) - 1
"""The bits of a place that are the sequence number."""


def place(journal: int, seq: int) -> int:
    """The place of an entry."""
    return journal << SEQ_BITS | seq
