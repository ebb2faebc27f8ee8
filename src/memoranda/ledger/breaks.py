"""Conformance breaks: what changed under the memory without a trail or a re-audit (GOV-BREAK).

A fingerprint says what memory rests on. It is kept, and compared with the one of now whenever a
database is opened; models are compared with those that the scope declares; what is stored is
compared with its digests by `verify` and by whoever reads it:

===================  ======================================================  ==================
cause                what differs                                            what is no break
===================  ======================================================  ==================
model_changed        a model is used that the scope does not declare         a declared one
index_rebuilt        the word index was built otherwise                      a logged rebuild
policy_changed       a policy                                                a logged change
hierarchy_changed    the source hierarchy                                    a logged change
log_lost             today's log does not extend the one of then             growth
damaged              something stored is not what was written                an erasure
===================  ======================================================  ==================

A break stands until a re-audit lifts it. A re-audit excuses what was before it and nothing later:
the same change made once more is another break.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.json import JsonValue
from memoranda.ledger.damage import Damage
from memoranda.ledger.policy import ModelRules, Policy

BreakCause = Literal[
    "model_changed", "index_rebuilt", "policy_changed", "hierarchy_changed", "log_lost", "damaged"
]

_REASONS: Final[Mapping[BreakCause, str]] = {
    "model_changed": "the {what} {now} is used, and the scope declares only {before}",
    "index_rebuilt": "the {what} changed without a logged rebuild: from {before} to {now}",
    "policy_changed": "the {what} policy changed without version and audit trail",
    "hierarchy_changed": "the source hierarchy changed without a traceable policy update",
    "log_lost": "the memory log was lost, cut or rewritten, or can't be verified: {now}",
    "damaged": "what is stored is not what was written: {now}",
}

NEVER: Final = -1
"""Stands for the number of an entry where there was none."""


class LogHead(NamedTuple):
    """How far a log reached: its size, and the root of its tree in hexadecimal."""

    size: int
    root: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What memory rests on, each by an identity: a version, a digest, whatever changes with it."""

    index: str | None = None
    """How the word index was built: by which tokenizer, Unicode, stemmer, in which layout."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Per kind, the policy's digest."""
    log: LogHead | None = None

    @property
    def document(self) -> dict[str, JsonValue]:
        return {
            "index": self.index,
            "policies": dict(self.policies),
            "log": None if self.log is None else {"size": self.log.size, "root": self.log.root},
        }

    @property
    def digest(self) -> str:
        """SHA-256 of all of it but the log, which grows with every write."""
        return sha256_hex(canonical_bytes({**self.document, "log": None}))


@dataclass(frozen=True, slots=True)
class Break:
    """One conformance break: why, of what, and the identities before and now.

    `since` is the number of the entry that says what was before: the same change from another
    state, such as the same model once more after a re-audit, is another break.
    """

    cause: BreakCause
    what: str
    before: str
    now: str
    since: int = NEVER
    damages: tuple[Damage, ...] = ()

    @property
    def id(self) -> str:
        """The same break has the same id, however often it is found: so it is logged once.

        What a log that was lost has become is left out, since it goes on to grow, and so is how
        damage is put in words.
        """
        now = "" if self.cause in ("log_lost", "damaged") else self.now
        digest = sha256_hex(canonical_bytes([self.cause, self.what, self.before, now, self.since]))
        return f"conformance_break/{self.cause}/{digest[:16]}"

    @property
    def reason(self) -> str:
        return _REASONS[self.cause].format(what=self.what, before=self.before, now=self.now)

    @property
    def members(self) -> dict[str, JsonValue]:
        """The members of its `conformance_break` event."""
        return {"memory_object_id": self.id, "reason": self.reason}


_OF_THE_LOG: Final = frozenset({"seq", "previous", "head", "tree", "size", "root", "anchor"})
"""Checks whose damage is a loss of the log; all other damage is of something in it, or beside."""


def of_damages(
    damages: Iterable[Damage], digests: Mapping[int, str], audited: int
) -> Iterator[Break]:
    """The breaks that damage is: one for each entry's, and one for all else that a check found.

    What is damaged of an entry stays so: one break, for ever. Damage without an entry can be
    mended and come again: after a re-audit, which stands at the entry `audited`, it is another
    break. `digests` are those that entries name for their bodies.
    """
    others: dict[str, list[Damage]] = {}
    for damage in damages:
        if damage.entry is None:
            others.setdefault(damage.check, []).append(damage)
        else:
            cause: BreakCause = "log_lost" if damage.check in _OF_THE_LOG else "damaged"
            yield Break(
                cause, damage.name, digests.get(damage.entry, ""), str(damage), NEVER, (damage,)
            )
    for check, several in others.items():
        cause = "log_lost" if check in _OF_THE_LOG else "damaged"
        named = ", ".join(sorted({damage.name for damage in several}))
        yield Break(cause, named, "", str(several[0]), audited, tuple(several))


def compare(
    before: Fingerprint | None,
    now: Fingerprint,
    recorded: Collection[str] = (),
    *,
    root_then: str | None = None,
    since: int = NEVER,
) -> list[Break]:
    """Every break between two fingerprints that nothing on record excuses (GOV-BREAK).

    `recorded` is what the log says of changes since the fingerprint of before: the digests of new
    policies, and how indexes were made anew. `root_then` is the root of today's log at the size
    that it had before, as the log itself gives it today; None when it is shorter. `since` is the
    entry of the fingerprint of before. Without one there is nothing to break.
    """
    if before is None:
        return []
    found = []
    old, new = before.index, now.index
    if old is not None and new is not None and old != new and new not in recorded:
        found.append(Break("index_rebuilt", "word index", old, new, since))
    for kind in sorted(before.policies.keys() & now.policies.keys()):
        old, new = before.policies[kind], now.policies[kind]
        if old != new and new not in recorded:
            is_hierarchy = kind == "source_hierarchy"
            cause: BreakCause = "hierarchy_changed" if is_hierarchy else "policy_changed"
            found.append(Break(cause, kind, old, new, since))
    then = before.log
    if then is not None and then.size and root_then != then.root:
        size = 0 if now.log is None else now.log.size
        why = f"it had another root at {then.size:,} entries, and has {size:,}"
        found.append(Break("log_lost", "log", f"{then.size}/{then.root}", why, since))
    return found


def undeclared(models: Policy, used: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The roles that the scope declares nothing for, with the identities used: first uses."""
    roles = models.read(ModelRules).roles
    return {role: sorted(set(known)) for role, known in used.items() if role not in roles and known}


def outside(models: Policy, used: Mapping[str, Sequence[str]]) -> list[Break]:
    """A break for each identity that is used and not declared for its role (GOV-BREAK)."""
    roles = models.read(ModelRules).roles
    return [
        Break("model_changed", role, ", ".join(roles[role]), identity, models.version)
        for role, known in sorted(used.items())
        for identity in sorted(set(known))
        if role in roles and identity not in roles[role]
    ]
