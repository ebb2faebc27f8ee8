"""``memoranda doctor``: what is wrong with an installation, a database or a server, and what to do.

It looks and changes nothing. What takes a walk over everything is left to ``memoranda verify``.
"""

import asyncio
import logging
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from stat import S_IMODE
from typing import Any, Final, Literal
from urllib.error import URLError
from urllib.request import urlopen

from rich.console import Group
from rich.text import Text

import memoranda
from memoranda.app.surfaces import file_of, hidden, parse_url
from memoranda.errors import MemorandaError
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.present import Output, counted, plain, table
from memoranda.surfaces.cli.target import Target
from memoranda.surfaces.errors import NOT_THERE

Level = Literal["ok", "note", "warning", "problem"]

VARIABLES: Final = frozenset(
    f"MEMORANDA_{name}"
    for name in (
        *("ACTOR", "ANCHOR_FILE", "API_KEY", "DATABASE_URL", "KEYRING", "MEANING", "QUORUM"),
        *("SCOPE", "SIGNING_KEY", "SIGNING_KEY_FILE", "WITNESSES"),
        *("EMBEDDER_DIMENSIONS", "EMBEDDER_FOLDER", "EMBEDDER_KEY_ENV", "EMBEDDER_MODEL"),
        *("EMBEDDER_URL", "EMBEDDER_VERSION"),
    )
)
"""What memoranda reads from the environment; a test compares it with the source."""
LEAST_FREE: Final = 200_000_000
_OTHERS: Final = 0o077
_SECONDS: Final = 5.0
_NETWORKED: Final = frozenset({"9p", "afs", "ceph", "cifs", "fuse.sshfs", "nfs", "nfs4", "smb3"})
_REQUIREMENT: Final = re.compile(
    r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?>=(?P<least>[\d.]+)(?:; extra == '(?P<extra>[\w-]+)')?"
)
_STYLES: Final = {"ok": "green", "note": "dim", "warning": "yellow", "problem": "bold red"}


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that was looked at, how it stands, and what to do about it."""

    level: Level
    about: str
    says: str
    remedy: str = ""


@command(common=("database",))
def doctor(target: Target) -> Output:
    """Say what is wrong with an installation, a database or a server, and what to do.

    Nothing is changed. Exits with 4 if there is a problem. Whether anything was tampered with is
    for 'memoranda verify'.
    """
    found = [*_installation(), *_environment(target), *_place(target)]
    problems = sum(one.level == "problem" for one in found)
    rows = [
        [Text(one.level, _STYLES[one.level]), one.about, f"{one.says} {one.remedy}".rstrip()]
        for one in found
    ]
    last = f"{counted(problems, 'problem')}." if problems else "Nothing is wrong."
    words = Group(table("how, what, what is found+", rows), Text(f"\n{last}"))
    document = [
        {"level": one.level, "about": one.about, "says": one.says, "remedy": one.remedy or None}
        for one in found
    ]
    return Output(document, words, NOT_THERE if problems else 0)


# ------------------------------------------------------------------------ the installation


def _installation() -> Iterator[Symptom]:
    least = str(metadata("memoranda")["Requires-Python"]).removeprefix(">=")
    here = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    if _numbers(platform.python_version()) < _numbers(least):
        yield Symptom("problem", "Python", here, f"Install Python {least} or newer.")
    elif sys.platform != "linux":
        yield Symptom("note", "Python", here, "memoranda is tested on Linux only.")
    else:
        yield Symptom("ok", "Python", here)
    yield Symptom("ok", "memoranda", version("memoranda"))
    for extra, packages in _packages().items():
        faults = [why for name, least in packages if (why := _fault(name, least))]
        about = f"extra {extra}" if extra else "packages"
        install = f"Run: pip install 'memoranda{f'[{extra}]' if extra else ''}'"
        if not faults:
            yield Symptom("ok", about, ", ".join(f"{name} {version(name)}" for name, _ in packages))
        elif extra and all(why.endswith("not installed") for why in faults):
            yield Symptom("note", about, f"{'; '.join(faults)}.", install)
        else:
            yield Symptom("problem", about, f"{'; '.join(faults)}.", install)


def _packages() -> dict[str, list[tuple[str, str]]]:
    """What is needed, by extra; what every installation has is under no name."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in requires("memoranda") or ():
        if needed := _REQUIREMENT.fullmatch(line.replace('"', "'")):
            found.setdefault(needed["extra"] or "", []).append((needed["name"], needed["least"]))
    return found


def _fault(name: str, least: str) -> str:
    try:
        found = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    is_old = _numbers(found) < _numbers(least)
    return f"{name} {found} is older than {least}" if is_old else ""


def _numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, to compare; 1.2 and 1.2.0 are the same."""
    found = [int(part) for part in re.findall(r"\d+", re.split(r"[^\d.]", text)[0])]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def _environment(target: Target) -> Iterator[Symptom]:
    given = sorted(name for name in os.environ if name.startswith("MEMORANDA_"))
    for name in given:
        if name not in VARIABLES:
            near = get_close_matches(name, VARIABLES, n=1)
            hint = f"Did you mean {near[0]}?" if near else "Unset it."
            yield Symptom("warning", "environment", f"{plain(name)} is not read by anything.", hint)
    if known := [name for name in given if name in VARIABLES]:
        yield Symptom("ok", "environment", ", ".join(known))
    try:
        target.seal()
    except MemorandaError as refused:
        yield Symptom("problem", "signing", str(refused), "Look at memoranda keys signer show.")


# ------------------------------------------------------------------- a database or a server


def _place(target: Target) -> Iterator[Symptom]:
    try:
        kind = parse_url(target.url).kind
    except MemorandaError as refused:
        yield Symptom("problem", "database", str(refused))
        return
    if kind == "server":
        yield from _server(target.url)
        return
    if kind == "sqlite":
        path = Path(file_of(target.url) or "")
        yield from _file(path)
        if not path.exists():
            return
    with _logged() as said:
        stands = asyncio.run(_scopes(target))
    yield from (Symptom("warning", "database", line) for line in said)
    yield from stands


def _file(path: Path) -> Iterator[Symptom]:
    folder = path.absolute().parent
    if not folder.is_dir():
        yield Symptom("problem", "file", f"There is no folder {folder}.", "Make it.")
        return
    if not path.exists():
        yield Symptom("note", "file", f"There is no {path} yet.", "The first write makes it.")
    elif os.name == "posix" and (mode := S_IMODE(path.stat().st_mode)) & _OTHERS:
        yield Symptom("warning", "file", f"Others can read {path} ({mode:04o}).", "Run: chmod 600")
    else:
        yield Symptom("ok", "file", f"{path}, {counted(path.stat().st_size, 'byte')}")
    if not os.access(folder, os.W_OK):
        yield Symptom("warning", "folder", f"{folder} can't be written.", "It can only be read.")
    if (system := _file_system(folder)) in _NETWORKED:
        why = f"{folder} is on {system}: SQLite's log needs memory that processes share."
        yield Symptom("problem", "folder", why, "Use a local disk, or PostgreSQL.")
    if (free := shutil.disk_usage(folder).free) < LEAST_FREE:
        yield Symptom("warning", "disk", f"Only {counted(free, 'byte')} are free.", "Make room.")


def _file_system(folder: Path) -> str:
    """The kind of file system that a folder is on, where the system says so."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    found = [line.split(" ")[1:3] for line in mounts.read_text(errors="replace").splitlines()]
    real = folder.resolve()
    fitting = [(len(place), kind) for place, kind in found if real.is_relative_to(place)]
    return max(fitting, default=(0, ""))[1]


async def _scopes(target: Target) -> Sequence[Symptom]:
    """How each scope stands; what the database refuses is the one thing to say."""
    found: list[Symptom] = []
    try:
        async with memoranda.connect(target.url, create=False, read_only=True) as database:
            names = await database.scopes()
            found.append(
                Symptom("ok", "database", f"It answers, and has {counted(len(names), 'scope')}.")
            )
            for name in names:
                found += _standing(await database.scope(name).govern.status())
    except MemorandaError as refused:
        found.append(Symptom("problem", "database", str(refused)))
    return found


def _standing(status: Any) -> Iterator[Symptom]:
    about = f"scope {plain(status.scope)}"
    for what in status.breaks.values():
        yield Symptom("problem", about, what, "See: memoranda status, memoranda verify")
    for finding in status.anchors:
        yield Symptom("problem", about, str(finding), "See: memoranda verify")
    for name, why in status.unreachable.items():
        yield Symptom("warning", about, f"The anchor {name} can't be read: {why}.")
    size = counted(status.size, "entry", "entries")
    if status.checkpoint is None:
        remedy = "Nobody can tell whether it was rewritten as a whole: name an anchor."
        yield Symptom("note", about, f"{size}, no checkpoint.", remedy)
    elif not status.breaks:
        yield Symptom("ok", about, f"{size}, with a checkpoint")


def _server(url: str) -> Iterator[Symptom]:
    shown = hidden(url)
    try:
        with urlopen(f"{url.rstrip('/')}/readyz", timeout=_SECONDS) as answer:  # noqa: S310 - http or https, by its kind
            answer.read()
    except (URLError, OSError) as refused:
        why = getattr(refused, "reason", refused)
        said = f"{shown} is not ready: {why}."
        yield Symptom("problem", "server", said, "Is memoranda serve running?")
        return
    yield Symptom("ok", "server", f"{shown} is ready: its database answers.")
    try:
        with memoranda.open_sync(url) as memory:
            yield Symptom("ok", "key", f"It lets you in as {memory.actor}, scope {memory.scope}.")
    except MemorandaError as refused:
        yield Symptom("problem", "key", str(refused), "Make one there: memoranda keys create")


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What the library warns of meanwhile: it is among the findings, and not on standard error."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("memoranda")
    before, log.handlers = log.handlers, [handler]
    try:
        yield said
    finally:
        log.handlers = before
