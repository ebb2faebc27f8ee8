"""The one thing that a ledger's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import pytest

from memoranda.kernel.ids import TimeOrderedIds
from memoranda.ledger.unit import Ledger

_IDS: Final = TimeOrderedIds()


class OpenLedger(Protocol):
    """Opens the ledger of one scope: what the fixture `open_ledger` gives.

    Handles on one scope see the same journal, at once and one after the other; handles on two
    scopes see nothing of each other. Scopes are always new: the database may be shared by all
    tests.
    """

    def __call__(self, scope: str) -> AbstractAsyncContextManager[Ledger]:
        """A handle on the scope, open inside `async with`."""
        ...


def fresh_scope() -> str:
    """A scope that was never used before, in this run or any other."""
    return f"testkit-{_IDS.new_id()}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The contract runs on asyncio."""
    return "asyncio"


@pytest.fixture
def scope() -> str:
    """The scope of this test."""
    return fresh_scope()


@pytest.fixture
async def ledger(open_ledger: OpenLedger, scope: str) -> AsyncIterator[Ledger]:
    """A handle on the scope of this test."""
    async with open_ledger(scope) as opened:
        yield opened


@pytest.fixture
async def twin(open_ledger: OpenLedger, scope: str) -> AsyncIterator[Ledger]:
    """A second handle on the scope of this test."""
    async with open_ledger(scope) as opened:
        yield opened


@pytest.fixture
async def stranger(open_ledger: OpenLedger) -> AsyncIterator[Ledger]:
    """A handle on another scope of the same database."""
    async with open_ledger(fresh_scope()) as opened:
        yield opened
