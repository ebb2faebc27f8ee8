"""Transcripts in documents: blocks of ``$ memoranda …`` and what each printed.

One document is one session. A line may go on after a backslash, take its input from ``echo … |``,
set a variable with ``export``, write a file with ``echo … > FILE``, run beside the others (``&``),
and say ``# exits with 3``. What differs from run to run counts as equal: hashes, ids, keys, times.
An id that was printed by one command is the same to the next.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

BLOCK = re.compile(r"^```console\n(?P<text>\$ .*?)^```", re.MULTILINE | re.DOTALL)
_STATUS = re.compile(r"# exits with (?P<status>\d)")
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"\b[1-9]\d{12}\b"), "<ms>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{8}…[0-9a-f]{4}\b"), "<short id>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b[0-9a-f]{12}…"), "<short hash>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<journal>"),
    (re.compile(r"\+[0-9a-f]{8}\+[A-Za-z0-9+/]{43}[A-Za-z0-9+/=]"), "<public key>"),
    (re.compile(r"\+[0-9a-f]{8}\b"), "<key>"),
    (re.compile(r"\"keyId\": \"[0-9a-f]{8}\""), "<key id>"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"\b[\d,]+ bytes\b"), "<n> bytes"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)

_NAMES = re.compile(
    r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}|[0-9a-f]{64})\b"
    r"|\+[0-9a-f]{8}\+[A-Za-z0-9+/]{43}[A-Za-z0-9+/=]|\b127\.0\.0\.1:\d+"
)
"""What one command prints and another one takes."""


@dataclass(frozen=True)
class Step:
    """One command of a transcript, and what it shall print."""

    line: str
    printed: str

    @property
    def status(self) -> int:
        found = _STATUS.search(self.line)
        return int(found["status"]) if found else 0

    @property
    def words(self) -> list[str]:
        """The words of the command, its input aside."""
        return shlex.split(self.line.rpartition(" | ")[2], comments=True)

    @property
    def said(self) -> str | None:
        before, pipe, _ = self.line.rpartition(" | ")
        return f"{shlex.split(before)[1]}\n" if pipe else None


def steps(document: str) -> Iterator[Step]:
    """The steps of all transcripts of a document, in order."""
    for block in BLOCK.finditer(document):
        for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
            line, _, printed = part.replace("\\\n", " ").partition("\n")
            yield Step(line, printed)


def comparable(printed: str) -> str:
    """What was printed, without what differs from run to run."""
    for pattern, name in _VARYING:
        printed = pattern.sub(name, printed)
    return printed


def learned(said: str, printed: str) -> dict[str, str]:
    """The ids and hashes of a document, with what stands in their place in this run."""
    return dict(zip(_NAMES.findall(said), _NAMES.findall(printed), strict=False))


def renamed(word: str, names: Mapping[str, str]) -> str:
    """A word of a command, with the ids of this run."""
    return _NAMES.sub(lambda found: names.get(found[0], found[0]), word)
