"""The vectors of others, where shared/data stands beside the repo; skipped with a reason else."""

import json
import struct
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rfc8785

from memoranda.identity import canonical_bytes, decode, verify_consistency, verify_inclusion
from memoranda.kernel.errors import InvalidProof
from memoranda.kernel.json import parse

Shared = Callable[[str], Path]


def test_jcs_documents_have_their_canonical_bytes(shared: Shared) -> None:
    inputs = sorted((shared("jcs") / "files" / "input").glob("*.json"))

    assert inputs
    for document in inputs:
        folder, name = document.parents[1], document.stem
        raw = canonical_bytes(parse(document.read_bytes()))
        assert raw == (folder / "output" / document.name).read_bytes(), name
        assert raw == bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text()), name
        assert canonical_bytes(decode(raw)) == raw, name


def test_jcs_numbers_have_their_canonical_digits(shared: Shared) -> None:
    lines = (shared("jcs") / "numbers.txt").read_text().split()

    assert lines
    for line in lines:
        bits, _, text = line.partition(",")
        number = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0]
        assert canonical_bytes(number) == rfc8785.dumps(number) == text.encode(), bits
        assert canonical_bytes({"n": [number]}) == b'{"n":[%s]}' % text.encode(), bits
        assert canonical_bytes(decode(text.encode())) == text.encode(), bits


def test_every_inclusion_case_has_its_verdict(shared: Shared) -> None:
    wrong, verdicts = judged(shared("merkle") / "inclusion", included)

    assert not wrong
    assert verdicts == {True, False}


def test_every_consistency_case_has_its_verdict(shared: Shared) -> None:
    wrong, verdicts = judged(shared("merkle") / "consistency", consistent)

    assert not wrong
    assert verdicts == {True, False}


def judged(folder: Path, verify: Callable[[Any], None]) -> tuple[list[str], set[bool]]:
    """The files whose case has another verdict than the listed one, and all verdicts given."""
    verdicts = {}
    wrong = []
    for file in sorted(folder.rglob("*.json")):
        case = json.loads(file.read_bytes())
        verdicts[file] = refused(verify, case)
        if verdicts[file] != case["wantErr"]:
            wrong.append(str(file))
    return wrong, set(verdicts.values())


def refused(verify: Callable[[Any], None], case: Any) -> bool:
    try:
        verify(case)
    except InvalidProof as refusal:
        return refusal.code == "input.proof"
    return False


def included(case: Any) -> None:
    verify_inclusion(
        leaf=b64decode(case["leafHash"] or ""),
        index=case["leafIdx"],
        size=case["treeSize"],
        proof=[b64decode(found) for found in case["proof"] or []],
        root=b64decode(case["root"] or ""),
    )


def consistent(case: Any) -> None:
    verify_consistency(
        old_size=case["size1"],
        new_size=case["size2"],
        proof=[b64decode(found) for found in case["proof"] or []],
        old_root=b64decode(case["root1"] or ""),
        new_root=b64decode(case["root2"] or ""),
    )
