"""What anchors tell about a journal: by size, by root, by signature; every finding has a name."""

from collections.abc import AsyncIterator, Sequence
from typing import Literal

import pytest

from memoranda.identity import (
    NodeList,
    consistency_proof,
    frontier_at,
    leaf_hash,
    verify_consistency,
)
from memoranda.kernel.errors import AnchorFailed, InvalidProof
from memoranda.ledger.anchor import (
    Anchor,
    ConsistencyProofs,
    Finding,
    History,
    Kept,
    KeptDamage,
    KeptNote,
    ScopeHead,
    compare,
    settle,
)
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint, sign_checkpoint
from memoranda.ledger.signed_note import Signature, Signer, Verifier, verify_note
from memoranda.outside.keys import Ed25519Signer, verifiers

ORIGIN = "memoranda/0193-a/support"
SIGNER = Ed25519Signer.generate("example.org/memory")
KNOWN = verifiers([SIGNER.key])


def journal(*entries: str) -> NodeList:
    nodes = NodeList()
    for entry in entries:
        nodes.append(leaf_hash(entry.encode()))
    return nodes


def history(nodes: NodeList, origin: str = ORIGIN) -> History:
    return History(origin, nodes.frontier.size, lambda size: frontier_at(size, nodes).root())


def checkpoint(nodes: NodeList, origin: str = ORIGIN) -> Checkpoint:
    return Checkpoint(origin, nodes.frontier.size, nodes.frontier.root())


async def kept(checkpoint: Checkpoint, *signers: Signer) -> KeptNote:
    return KeptNote("the anchor", str(await sign_checkpoint(checkpoint, signers)))


def found(one: Kept, now: NodeList, known: Sequence[Verifier] = KNOWN) -> Finding:
    (finding,) = compare([one], history(now), known)
    return finding


# ------------------------------------------------------------------------ by size, root


@pytest.mark.parametrize("then", [[], ["a"], ["a", "b"], ["a", "b", "c"]])
async def test_a_journal_that_grew_agrees_with_every_checkpoint_of_it(then: list[str]) -> None:
    finding = found(await kept(checkpoint(journal(*then)), SIGNER), journal("a", "b", "c"))

    assert (finding.verdict, finding.standing, finding.is_alarm) == ("agrees", "signed", False)


async def test_a_journal_that_lost_its_tail_was_rolled_back() -> None:
    finding = found(await kept(checkpoint(journal("a", "b", "c")), SIGNER), journal("a", "b"))

    assert (finding.verdict, finding.is_alarm) == ("rolled_back", True)
    assert "had 3 entries, and has 2" in finding.why


async def test_a_journal_that_was_rewritten_at_the_same_length_is_forked() -> None:
    finding = found(await kept(checkpoint(journal("a", "b")), SIGNER), journal("a", "x"))

    assert (finding.verdict, finding.is_alarm) == ("forked", True)


async def test_a_journal_that_was_rewritten_and_went_on_is_forked() -> None:
    then, now = journal("a", "b"), journal("x", "b", "c", "d")

    assert found(await kept(checkpoint(then), SIGNER), now).verdict == "forked"


async def test_a_rewriting_with_the_stolen_key_is_still_forked() -> None:
    old, new = checkpoint(journal("a", "b")), checkpoint(journal("a", "x"))
    findings = list(
        compare(
            [await kept(old, SIGNER), await kept(new, SIGNER)], history(journal("a", "x")), KNOWN
        )
    )

    assert [finding.verdict for finding in findings] == ["forked", "agrees"]


async def test_a_checkpoint_of_another_journal_is_named() -> None:
    finding = found(
        await kept(checkpoint(journal("a"), "memoranda/0193-a/other"), SIGNER), journal("a")
    )

    assert (finding.verdict, finding.is_alarm) == ("other_origin", True)


async def test_a_tail_that_is_newer_than_the_anchor_is_not_seen() -> None:
    then = await kept(checkpoint(journal("a")), SIGNER)

    # Entries b and c were written and cut off again; the anchor only ever saw a.
    assert found(then, journal("a")).verdict == "agrees"


# ------------------------------------------------------------------------ by signature


@pytest.mark.parametrize(
    ("entries", "verdict"), [(["a"], "agrees"), ([], "rolled_back"), (["x"], "forked")]
)
async def test_an_unsigned_checkpoint_tells_the_same_and_says_that_it_is_unsigned(
    entries: list[str], verdict: str
) -> None:
    finding = found(await kept(checkpoint(journal("a"))), journal(*entries))

    assert (finding.verdict, finding.standing) == (verdict, "unsigned")
    assert str(finding).endswith("(unsigned)")


async def test_a_checkpoint_that_only_strangers_signed_says_so() -> None:
    stranger = Ed25519Signer.generate("example.org/memory")
    finding = found(await kept(checkpoint(journal("a")), stranger), journal("a"))

    assert (finding.verdict, finding.standing) == ("agrees", "foreign")


async def test_a_known_keys_signature_that_fails_is_believed_in_nothing() -> None:
    note = (await kept(checkpoint(journal("a")), SIGNER)).text
    forged = checkpoint(journal("a", "b")).text + note[note.index("\n\n") + 1 :]
    finding = found(KeptNote("the anchor", forged), journal("a", "b"))

    assert (finding.verdict, finding.standing) == ("bad_signature", "failed")
    assert finding.is_alarm


async def test_a_finding_names_who_signed() -> None:
    finding = found(await kept(checkpoint(journal("a")), SIGNER), journal("a"))

    assert str(finding).endswith(f"(signed by example.org/memory+{SIGNER.key_id.hex()})")


# ------------------------------------------------------------------------ what is no claim


def test_what_is_no_checkpoint_is_malformed() -> None:
    finding = found(KeptNote("the anchor", "origin\n1\n\n"), journal("a"))

    assert (finding.verdict, finding.standing, finding.is_alarm) == ("malformed", None, True)
    assert str(finding).startswith("the anchor: malformed: ")


@pytest.mark.parametrize(("what", "alarms"), [("torn", False), ("damaged", True)])
def test_damage_of_the_anchor_is_passed_on(
    what: Literal["torn", "damaged"], *, alarms: bool
) -> None:
    finding = found(KeptDamage("the anchor", what, "why"), journal("a"))

    assert (finding.verdict, finding.why, finding.is_alarm) == (what, "why", alarms)


# ------------------------------------------------------------------------ the directory


def test_a_scope_that_vanished_whole_is_missing() -> None:
    nodes = journal("a")
    origin = "memoranda/0193-a/one"
    claim = ScopeHead("one", origin, nodes.frontier.size, nodes.frontier.root()).claim

    there = settle(claim, origin, nodes.frontier.size, nodes.frontier.root())
    gone = settle(claim, origin, None, None)

    assert there.verdict == "agrees"
    assert (gone.verdict, gone.is_alarm) == ("missing", True)


# ------------------------------------------------------------------------ a witness fits


class Witness:
    """A simulator of C2SP tlog-witness: keeps the newest checkpoint, cosigns what grew from it."""

    name = "the witness"

    def __init__(self, trusted: Sequence[Verifier]) -> None:
        self.key = Ed25519Signer.generate("witness.example")
        self._trusted = trusted
        self._newest: Checkpoint | None = None
        self._notes: list[str] = []

    async def publish(
        self, note: str, /, proofs: ConsistencyProofs | None = None
    ) -> tuple[Signature, ...]:
        read, signed = parse_checkpoint(note)
        verify_note(signed, self._trusted)
        if self._newest is not None:
            if proofs is None or read.size < self._newest.size:
                raise AnchorFailed(self.name, "409")
            try:
                verify_consistency(
                    old_size=self._newest.size,
                    new_size=read.size,
                    proof=await proofs(self._newest.size),
                    old_root=self._newest.root,
                    new_root=read.root,
                )
            except InvalidProof:
                raise AnchorFailed(self.name, "422") from None
        self._newest = read
        self._notes.append(note)
        return ((await sign_checkpoint(read, [self.key])).signatures[0],)

    async def read(self, origin: str | None = None, /) -> AsyncIterator[Kept]:
        del origin
        for number, note in enumerate(self._notes):
            yield KeptNote(f"note {number}", note)


async def published(anchor: Anchor, nodes: NodeList) -> tuple[Signature, ...]:
    async def proofs(old_size: int, /) -> Sequence[bytes]:
        return consistency_proof(old_size, nodes.frontier.size, nodes)

    note = await sign_checkpoint(checkpoint(nodes), [SIGNER])
    return await anchor.publish(str(note), proofs)


async def test_a_witness_fits_the_port_and_its_signature_joins_the_note() -> None:
    witness, nodes = Witness(KNOWN), journal("a")
    await published(witness, nodes)
    nodes.append(leaf_hash(b"b"))
    cosigned = await published(witness, nodes)

    note = (await sign_checkpoint(checkpoint(nodes), [SIGNER])).with_signatures(cosigned)

    report = verify_note(note, [*KNOWN, *verifiers([witness.key.key])])
    assert [one.name for one in report.signed] == ["example.org/memory", "witness.example"]


async def test_a_witness_refuses_what_did_not_grow_from_what_it_saw() -> None:
    witness = Witness(KNOWN)
    await published(witness, journal("a", "b"))

    for rewritten in (journal("a", "x"), journal("a", "x", "c"), journal("a")):
        with pytest.raises(AnchorFailed):
            await published(witness, rewritten)
