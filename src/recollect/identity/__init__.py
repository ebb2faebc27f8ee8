"""Room 2: what a value is, by its bytes: canonical JSON, sha256, frozen values, chain, Merkle tree."""
