"""kill -9 of a PostgreSQL server, in short form."""

from collections.abc import Iterator

import pytest

from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.servers import ServerKills
from tests.stores.postgres.server import PostgresServer, running_server


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that may be killed."""
    with running_server(own=True) as started:
        yield started


def test_a_server_that_is_killed_loses_no_acknowledged_write_and_handles_live_on(
    server: PostgresServer,
) -> None:
    counts = ServerKills(server, Random(1)).run(2)

    assert counts.broken == {}, counts.texts
    assert counts["server kills"] == 2
    assert counts["connections cut"] > 0
    assert counts["acknowledged"] > 0
