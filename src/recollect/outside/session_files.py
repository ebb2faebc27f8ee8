"""Sessions as files, for people to read: one JSON file for each name.

The file changes with the database, although no transaction holds both::

    the temporary file is written; it and its name are on disk
    COMMIT, with a row that has the temporary file's token
    the temporary file takes the session's name, and that is on disk

Whoever finds a temporary file asks the database for its token. If the token is there, the unit has
landed, and the file gets its name; if it is not, the unit has not, and the file goes. That is what
is done after every COMMIT, whatever came of it, and again whenever a session is loaded: the
process may die at any point.

Sessions of one folder are saved one at a time, by whichever process: the folder is locked.
"""

import asyncio
import fcntl
import json
import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, Protocol

from recollect.identity import sha256_hex
from recollect.kernel.clock import Clock
from recollect.kernel.errors import MarkMoved, RecollectError, SessionDamaged, WriteFailed
from recollect.kernel.randomness import Randomness
from recollect.ledger.beside import SESSION, Beside, SessionFilePending
from recollect.ledger.time import format_time
from recollect.outside.file_calls import FileCalls, SystemCalls
from recollect.outside.files import LOCK_SECONDS, LOOK_AGAIN_SECONDS
from recollect.plans.session import (
    DEFAULT_SESSION,
    KEPT_ASIDE,
    SessionState,
    read_session,
    session_name,
)

ASIDE: Final = "_bak"
"""The folder of what was put aside, in the folder of the sessions."""

_TOKEN_BYTES: Final = 8
_OWNER_DIGITS: Final = 8
_NOT_DIGITS: Final = re.compile(r"\D")


class Landings(Protocol):
    """Tells what became of a unit: `ledger.beside.BesideRows` does."""

    async def has_landed(self, token: str) -> bool:
        """Whether the unit landed that a temporary file was written for."""
        ...


class SessionFile:
    """The session of one name, as a file of a folder."""

    def __init__(
        self,
        folder: str | Path,
        landings: Landings,
        origin: str,
        clock: Clock,
        name: str = DEFAULT_SESSION,
        *,
        randomness: Randomness | None = None,
        calls: FileCalls | None = None,
    ) -> None:
        """Name the folder, and the journal whose units the session lands with.

        Journals may share a folder, but not a session in it.
        """
        self.name = session_name(name)
        stem = "session_state" if name == DEFAULT_SESSION else f"session_state.{name}"
        self.path = Path(folder).absolute() / f"{stem}.json"
        self._landings = landings
        self._clock = clock
        self._randomness = randomness or Randomness()
        self._calls = calls or SystemCalls()
        self._draft = f"{self.path.name}.tmp-{sha256_hex(origin.encode())[:_OWNER_DIGITS]}-"
        """How the names of its temporary files begin; the token follows."""
        self._drawn = re.compile(re.escape(self._draft) + r"[0-9a-f]{16}")
        self._kept = re.compile(
            re.escape(self._aside_stem) + r"(\d{8}_\d{6})(?:_(\d+))?\.json\.bak"
        )

    @property
    def _folder(self) -> Path:
        return self.path.parent

    # ---------------------------------------------------------------------- starting

    async def load(self) -> SessionState | None:
        """What is stored; None if nothing is. No file is made.

        1. SessionDamaged where no session could be saved later: before anything runs
        2. what an earlier process left is finished
        3. SessionDamaged where there is a file that is no session
        """
        with self._damaged():
            # 1
            if not await asyncio.to_thread(self._calls.may_write, self._folder):
                raise SessionDamaged(str(self.path), "its folder can't be written")
            # 2
            if await asyncio.to_thread(self._drafts):
                async with self._locked():
                    await self._settle()
            # 3
            return await asyncio.to_thread(self._read)

    # ------------------------------------------------------------------------ saving

    @asynccontextmanager
    async def saving(
        self, state: SessionState, replaces: SessionState | None
    ) -> AsyncIterator[Sequence[Beside]]:
        """What goes into the unit that ends the cycle, which is committed inside this block.

        1. the folder is there, and nobody else saves in it
        2. what an earlier process left is finished
        3. what stands there is what this one goes on from, else MarkMoved
        4. the temporary file and its name are on disk
        5. the unit is committed
        6. the file agrees with what has landed, however the block is left

        WriteFailed where a file can't be written: before COMMIT nothing has changed; after it, the
        next one who loads the session finishes it.
        """
        token = self._randomness.take(_TOKEN_BYTES).hex()
        # 1
        with self._not_written():
            await asyncio.to_thread(self._calls.make_folder, self._folder)
        async with self._locked():
            with self._not_written():
                # 2, 3
                await self._settle()
                await asyncio.to_thread(self._check_replaced, state, replaces)
            try:
                # 4
                with self._not_written():
                    await asyncio.to_thread(self._write_draft, token, state)
                # 5
                yield (SessionFilePending(sha256_hex(str(self.path).encode()), token),)
            except BaseException as failed:
                # 6, where the error is what the caller has to know; a temporary file that can't
                # be dealt with now is dealt with when the session is loaded.
                await self._settle_after(failed)
                raise
            # 6
            with self._not_written():
                await self._settle()

    # ---------------------------------------------------------------------- rotating

    async def rotate(self) -> None:
        """Put the file aside with the time in its name, damaged or not; ten are kept.

        SessionDamaged if that can't be done.
        """
        with self._damaged():
            if not await asyncio.to_thread(self._calls.names, self._folder):
                return
            async with self._locked():
                await self._settle()
                await asyncio.to_thread(self._put_aside)

    def _put_aside(self) -> None:
        """Move the file, then let go of the oldest.

        1. the new name is free: two within a second are counted
        2. the file is moved; both folders are on disk
        3. the newest are kept
        """
        calls, aside = self._calls, self._folder / ASIDE
        if calls.read(self.path) is None:
            return
        # 1
        calls.make_folder(aside)
        kept = [name for name in calls.names(aside) if self._kept.fullmatch(name)]
        time = _NOT_DIGITS.sub("", format_time(self._clock.now_ms()))[:14]
        stamp = f"{time[:8]}_{time[8:]}"
        number = 1 + max((n for at, n in map(self._aside_order, kept) if at == stamp), default=0)
        counted = f"_{number}" if number > 1 else ""
        name = f"{self._aside_stem}{stamp}{counted}.json.bak"
        # 2
        calls.move(self.path, aside / name)
        calls.sync_folder(aside)
        calls.sync_folder(self._folder)
        # 3
        for old in sorted([*kept, name], key=self._aside_order)[:-KEPT_ASIDE]:
            calls.remove(aside / old)

    @property
    def _aside_stem(self) -> str:
        return f"session_state.{self.name}."

    def _aside_order(self, name: str) -> tuple[str, int]:
        """When a file was put aside, and its number within that second."""
        found = self._kept.fullmatch(name)
        return (found[1], int(found[2] or 1)) if found else ("", 0)

    # ------------------------------------------------------------- what is done to files

    def _read(self) -> SessionState | None:
        content = self._calls.read(self.path)
        return None if content is None else read_session(str(self.path), content)

    def _check_replaced(self, state: SessionState, replaces: SessionState | None) -> None:
        """As `ledger.beside.SessionSaved` says it of a row."""
        found, before = (one and one.session_id for one in (self._read(), replaces))
        if found not in (before, state.session_id):
            raise MarkMoved(SESSION + self.name)

    def _write_draft(self, token: str, state: SessionState) -> None:
        """Write a temporary file; its content and its name are on disk when this returns."""
        draft = self._folder / (self._draft + token)
        self._calls.write_new(draft, file_content(state))
        self._calls.sync(draft)
        self._calls.sync_folder(self._folder)

    def _drafts(self) -> list[str]:
        names = self._calls.names(self._folder)
        return [name for name in names if self._drawn.fullmatch(name)]

    async def _settle(self) -> None:
        """Make the file agree with what has landed: temporary files get its name, or go."""
        for name in await asyncio.to_thread(self._drafts):
            has_landed = await self._landings.has_landed(name.removeprefix(self._draft))
            await asyncio.to_thread(self._finish if has_landed else self._drop, name)

    async def _settle_after(self, failed: BaseException) -> None:
        try:
            await self._settle()
        except (OSError, RecollectError) as also:
            failed.add_note(f"its temporary file is still there: {also}")

    def _finish(self, name: str) -> None:
        self._calls.move(self._folder / name, self.path)
        self._calls.sync_folder(self._folder)

    def _drop(self, name: str) -> None:
        self._calls.remove(self._folder / name)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the folder; no thread waits, so that whoever holds it finds one for its files."""
        with self._not_written():
            descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with self._not_written():
                async with asyncio.timeout(LOCK_SECONDS):
                    while not _is_taken(descriptor):  # noqa: ASYNC110 - nobody tells us
                        await asyncio.sleep(LOOK_AGAIN_SECONDS)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _not_written(self) -> Iterator[None]:
        try:
            yield
        except OSError as failed:
            raise WriteFailed(f"the session {self.path}", _said(failed)) from failed

    @contextmanager
    def _damaged(self) -> Iterator[None]:
        try:
            yield
        except OSError as failed:
            raise SessionDamaged(str(self.path), _said(failed)) from failed


def file_content(state: SessionState) -> bytes:
    """A session as its file has it: its members in their order, two spaces, a newline."""
    text = json.dumps(state.document, indent=2, ensure_ascii=False)  # noqa: TID251 - not hashed
    return f"{text}\n".encode()


def _is_taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _said(failed: OSError) -> str:
    if isinstance(failed, TimeoutError):
        return f"another process has locked its folder for {LOCK_SECONDS:g} s"
    return failed.strerror or str(failed)
