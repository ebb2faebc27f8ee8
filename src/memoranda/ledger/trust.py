"""How far a statement is trusted: untrusted < unreviewed < approved.

Trust is set by the door through which a statement came, never by its text. What is made of others
has the lowest trust of them; only an approval raises it, by somebody who took no part.
"""

from collections.abc import Collection, Iterable
from typing import Final, get_args

from memoranda.identity import Frozen
from memoranda.kernel.errors import ApprovalRefused
from memoranda.kernel.given import is_blank
from memoranda.ledger.forget import StatusChange, changed
from memoranda.ledger.object import Trust, VerdictType, next_version, status_of

TRUST: Final[tuple[Trust, ...]] = get_args(Trust)
"""From the least trusted to the most."""


def trust_of(trust: object) -> Trust:
    """The trust that an object states; one that states none, or another, is not trusted."""
    return next((known for known in TRUST if known == trust), "untrusted")


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The lowest of several; of none, untrusted: what came from nowhere vouches for nothing."""
    return min(trusts, key=TRUST.index, default="untrusted")


def is_at_least(trust: Trust, wanted: Trust) -> bool:
    """Whether something is trusted as far as is wanted, or further."""
    return TRUST.index(trust) >= TRUST.index(wanted)


def approve(
    current: Frozen,
    *,
    by: str,
    contributors: Collection[str],
    at: int,
    nonce: str,
    reason: str,
    verdict: VerdictType | None = None,
) -> StatusChange:
    """The next version, approved; ApprovalRefused to whoever contributed to the object.

    With a verdict it is judged as well: who approves took no part, and so may say that it is
    Factual, if it has a source.

    `by` and `contributors` are actor ids. Contributors are the actors of every version of the
    object and of everything that went into it, as the journal has them: a caller that can't
    name any has not looked.
    """
    document = current.thaw()
    id, status = document["id"], status_of(document)
    if status != "active":
        raise ApprovalRefused(id, f"it is {status}")
    if not contributors:
        raise ApprovalRefused(id, "nobody is named who contributed to it")
    if by in contributors:
        raise ApprovalRefused(id, f"{by!r} contributed to it")
    if is_blank(reason):
        raise ApprovalRefused(id, "an approval needs a reason")
    if verdict == "Factual" and not document["source_refs"]:
        raise ApprovalRefused(id, "what is Factual needs a source, and it has none")
    approved = next_version(
        current,
        at=at,
        nonce=nonce,
        trust="approved",
        verdict_type=verdict or document["verdict_type"],
        reason=reason,
    )
    return changed("create", approved)
