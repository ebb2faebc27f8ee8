"""What binds a retry to the write that it is answered with.

A key stands in no entry. So the salt of the first entry that is written with one is made of the
key, the request and a nonce, and the nonce is kept with the key: whoever leads the key to another
entry would have to find a nonce that gives the salt of that one.
"""

from collections.abc import Sequence

from memoranda.identity import sha256
from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import SALT_BYTES
from memoranda.ledger.unit import Draft


def key_digest(key: str) -> bytes:
    """The digest that is stored for a key, which may be too long for an index."""
    return sha256(key.encode())


def bound_salt(nonce: bytes, digest: bytes, fingerprint: bytes) -> bytes:
    """The salt of the first entry of a unit with the key of this digest."""
    return sha256(nonce + digest + fingerprint)[:SALT_BYTES]


def bound(key: RetryKey | None, drafts: Sequence[Draft]) -> Sequence[Draft]:
    """The drafts of a unit with this key; those that are bound already stay as they are."""
    if key is None or not drafts or drafts[0].nonce:
        return drafts
    first = drafts[0]
    salt = bound_salt(first.salt, key_digest(key.key), key.fingerprint)
    return [first._replace(salt=salt, nonce=first.salt), *drafts[1:]]


def check_bound(seq: int, nonce: bytes, key: RetryKey, salt: bytes | None) -> None:
    """Refuse a retry that is answered with an entry of another salt, or of none.

    An erased entry has none, but no retry is answered with it: that was erased along with it.
    """
    if salt != bound_salt(nonce, key_digest(key.key), key.fingerprint):
        raise EntryDamaged(seq, "retry", "a retry is answered with it that is not its own")
