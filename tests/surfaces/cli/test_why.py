"""``memoranda why``: a tree for people, all of it as JSON."""

from typing import Any

import pytest

from tests.surfaces.cli.command import Command
from tests.surfaces.cli.shops import KNOWN, LARGE, LEE, SHOP, acted


@pytest.fixture
def paid(memoranda: Command) -> dict[str, Any]:
    """A refund that a human approved, and that rests on a memory."""
    memoranda.json("remember", "kim prefers a voucher", "--id", "pref", "--tag", "kim")
    id = acted(memoranda, LARGE, "--reason", "lost")["proposalId"]
    memoranda.json("approve", id, "--reason", "the carrier says so", *LEE)
    assert memoranda("run", id, *SHOP, *KNOWN).exit_code == 0
    (head,) = memoranda.json("worlds", "branches")
    return {"proposal": id, "execution": f"{id}:1", "world": head["world"]}


def parts(why: dict[str, Any]) -> list[dict[str, Any]]:
    return [why, *(one for part in why.get("parts", []) for one in parts(part))]


@pytest.mark.parametrize("what", ["world", "execution", "proposal"])
def test_a_tree_names_who_asked_who_approved_and_what_was_known(
    memoranda: Command, paid: dict[str, Any], what: str
) -> None:
    shown = memoranda.text("why", paid[what])

    assert shown.startswith(f"{what} {paid[what]}")
    for told in ("human:7", "human:lee", "the carrier says so", "kim prefers a voucher", "lost"):
        assert told in shown
    assert "memory pref" in shown
    assert "unchanged" in shown
    assert "effect 1 pay" in shown
    assert not any(line.endswith(" ") for line in shown.splitlines())


def test_every_proof_is_a_line_and_whole_as_json(memoranda: Command, paid: dict[str, Any]) -> None:
    found = parts(memoranda.json("why", paid["world"]))
    proofs = [one["proof"] for one in found if "proof" in one]

    assert {one["what"] for one in found} >= {"world", "execution", "proposal", "decision"}
    assert all(proof["holds"] for proof in proofs)
    shown = memoranda.text("why", paid["world"])
    lines = [line for line in shown.splitlines() if "proved under the root" in line]
    assert len(lines) == len(proofs)


def test_what_became_of_a_memory_since_is_told(memoranda: Command, paid: dict[str, Any]) -> None:
    memoranda.json("update", "pref", "kim prefers cash")

    shown = memoranda.text("why", paid["world"])
    assert "kim prefers a voucher" in shown
    assert "superseded by version 2" in shown
    memoranda.json("forget", "pref", "--reason", "wrong")
    assert "invalidated (version 3)" in memoranda.text("why", paid["world"])


def test_a_record_has_its_versions_and_what_was_made_from_it(
    memoranda: Command, paid: dict[str, Any]
) -> None:
    found = memoranda.json("why", "pref")

    assert found["what"] == "record"
    assert paid["execution"] in [one["id"] for one in parts(found)]
    assert "kim prefers a voucher" in memoranda.text("why", "pref")


def test_what_is_not_there_is_exit_3(memoranda: Command) -> None:
    memoranda.json("remember", "x")

    memoranda.refused("why", "nothing", status=3)
