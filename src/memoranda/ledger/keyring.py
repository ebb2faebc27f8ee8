"""A ring of public keys: every key that ever signed, and when each was in use.

A key that is out of use stays in the ring, so that what it signed can be verified for ever::

    memoranda/keyring/1
    example.org/memory+530d903a+AekyeRrm… 2026-11-16T09:00:00.000Z 2027-03-01T12:00:00.000Z
    example.org/memory+2a9f11c4+AbW0iVgK… 2027-03-01T12:00:00.000Z -

A checkpoint holds no time of its own. The times are for whoever knows from elsewhere when one was
written: the journal's entry about it, or the anchor.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Self

from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidKey, InvalidTime
from memoranda.ledger.signed_note import VerifierKey
from memoranda.ledger.time import parse_time

HEADER: Final = "memoranda/keyring/1"
_WHERE: Final = "the keyring"
_OPEN: Final = "-"


@dataclass(frozen=True, slots=True)
class RingKey:
    """A public key and the time in which it was used, in milliseconds since 1970."""

    key: VerifierKey
    since: int
    until: int | None = None
    """When it was retired; None while it is in use."""

    def __post_init__(self) -> None:
        if self.until is not None and self.until < self.since:
            raise InvalidKey(str(self.key), "it was retired before it came into use")

    def was_active(self, at: int) -> bool:
        """Whether the key was in use at a time; both ends count."""
        return self.since <= at and (self.until is None or at <= self.until)

    def __str__(self) -> str:
        until = _OPEN if self.until is None else format_time(self.until)
        return f"{self.key} {format_time(self.since)} {until}"


@dataclass(frozen=True, slots=True)
class Keyring:
    """The public keys of one signer's name, or of several, in the order in which they came."""

    entries: tuple[RingKey, ...] = ()

    def __post_init__(self) -> None:
        ids = {(entry.key.name, entry.key.key_id) for entry in self.entries}
        if len(ids) != len(self.entries):
            raise InvalidKey(_WHERE, "two of its keys have one name and id")

    def known(self, *, at: int | None = None) -> tuple[VerifierKey, ...]:
        """All keys, or those that were in use at a time."""
        return tuple(entry.key for entry in self.entries if at is None or entry.was_active(at))

    def with_key(self, key: VerifierKey, since: int) -> Self:
        """The ring with one more key in use."""
        return replace(self, entries=(*self.entries, RingKey(key, since)))

    def retired(self, name: str, in_use: frozenset[VerifierKey], until: int) -> Self:
        """The ring where the keys of a name are out of use, but for those that are still held."""
        return replace(
            self,
            entries=tuple(
                replace(entry, until=max(until, entry.since))
                if entry.key.name == name and entry.until is None and entry.key not in in_use
                else entry
                for entry in self.entries
            ),
        )

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in (HEADER, *self.entries))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The ring of a file's text, or InvalidKey with the line and the reason."""
        header, *lines = text.split("\n")
        if header != HEADER or not lines or lines.pop():
            raise InvalidKey(_WHERE, f"it is not lines of text that begin with {HEADER}")
        return cls(tuple(_entry(line, number) for number, line in enumerate(lines, 2)))


def _entry(line: str, number: int) -> RingKey:
    match line.split(" "):
        case [key, since, until]:
            try:
                parsed = VerifierKey.parse(key)
                ended = None if until == _OPEN else _read(until)
                return RingKey(parsed, _read(since), ended)
            except InvalidKey as refused:
                raise InvalidKey(f"line {number} of {_WHERE}", refused.why) from None
        case _:
            raise InvalidKey(f"line {number} of {_WHERE}", "it is not: key, since, until")


def _read(text: str) -> int:
    with suppress(InvalidTime):  # refused below
        read = parse_time(text)
        if format_time(read) == text:
            return read
    raise InvalidKey(_WHERE, "a time is written like 2026-11-16T09:00:00.000Z")
