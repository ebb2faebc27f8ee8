"""Notes and checkpoints for property tests."""

from hypothesis import strategies as st

from memoranda.identity import EMPTY_ROOT
from memoranda.ledger.checkpoint import MAX_SIZE, Checkpoint
from memoranda.ledger.signed_note import Signature, SignedNote

_CHARACTERS = st.characters(codec="utf-8", min_codepoint=0x20)


def lines() -> st.SearchStrategy[str]:
    """A line that is not empty: any text without control characters."""
    return st.text(_CHARACTERS, min_size=1, max_size=20)


def key_names() -> st.SearchStrategy[str]:
    """A name that can stand in a signature line."""
    letters = _CHARACTERS.filter(lambda one: one != "+" and not one.isspace())
    return st.text(letters, min_size=1, max_size=20)


def signatures() -> st.SearchStrategy[tuple[Signature, ...]]:
    """A few signatures, of no key in particular."""
    one = st.builds(
        Signature,
        key_names(),
        st.binary(min_size=4, max_size=4),
        st.binary(min_size=1, max_size=70),
    )
    return st.lists(one, max_size=4).map(tuple)


def notes() -> st.SearchStrategy[SignedNote]:
    """A text, empty lines included, signed or not."""
    texts = st.lists(st.text(_CHARACTERS, max_size=20), min_size=1, max_size=5)
    return st.builds(
        SignedNote, texts.map(lambda found: "".join(f"{line}\n" for line in found)), signatures()
    )


def checkpoints() -> st.SearchStrategy[Checkpoint]:
    """A checkpoint of any origin, some with extension lines."""
    roots = st.binary(min_size=32, max_size=32)
    extensions = st.lists(lines(), max_size=2).map(tuple)
    return st.one_of(
        st.builds(Checkpoint, lines(), st.integers(1, MAX_SIZE), roots, extensions),
        st.builds(Checkpoint, lines(), st.just(0), st.just(EMPTY_ROOT), extensions),
    )
