"""The one thing that a store's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import pytest

from memoranda.kernel.ids import TimeOrderedIds
from memoranda.plans.items import ItemStore

_IDS: Final = TimeOrderedIds()


class OpenItems(Protocol):
    """Opens the items of one session in one scope: what the fixture `open_items` gives.

    Handles on one session see the same items, at once and one after the other; handles on two
    sessions, or on the same session of two scopes, see nothing of each other. Scopes are always
    new: the database may be shared by all tests.
    """

    def __call__(self, scope: str, session_ref: str) -> AbstractAsyncContextManager[ItemStore]:
        """A handle on the session, open inside `async with`."""
        ...


def fresh_name() -> str:
    """A scope or a session that was never used before, in this run or any other."""
    return f"testkit-{_IDS.new_id()}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The contract runs on asyncio."""
    return "asyncio"


@pytest.fixture
def scope() -> str:
    """The scope of this test."""
    return fresh_name()


@pytest.fixture
def session_ref() -> str:
    """The session of this test."""
    return fresh_name()


@pytest.fixture
async def items(open_items: OpenItems, scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
    """A handle on the session of this test."""
    async with open_items(scope, session_ref) as opened:
        yield opened


@pytest.fixture
async def twin(open_items: OpenItems, scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
    """A second handle on the session of this test."""
    async with open_items(scope, session_ref) as opened:
        yield opened


@pytest.fixture
async def stranger(open_items: OpenItems, scope: str) -> AsyncIterator[ItemStore]:
    """A handle on another session of the same scope."""
    async with open_items(scope, f"another than {scope}") as opened:
        yield opened
