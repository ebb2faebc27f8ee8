"""Data that a plan shows to a model: in a frame, under a tag that is a hash of all of it."""

from collections.abc import Sequence

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.text.frame import TAG_DIGITS, Quoted, encodable, in_frame


def framed(shown: Sequence[Quoted]) -> str:
    """The frame with its tag (`text.frame`); the same data have the same."""
    whole = [[encodable(text) for text in (one.text, one.origin or "", *one.said)] for one in shown]
    return in_frame(shown, sha256_hex(canonical_bytes(whole))[:TAG_DIGITS])
