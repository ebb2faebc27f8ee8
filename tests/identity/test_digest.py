"""The one hash."""

from memoranda.identity import sha256, sha256_hex

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_sha256_is_that_of_fips_180() -> None:
    assert sha256_hex(b"abc") == ABC
    assert sha256(b"abc") == bytes.fromhex(ABC)
