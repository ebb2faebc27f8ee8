"""The SQLite ledger keeps the contract, in one file that its tests share."""

import pytest

from memoranda.testkit.ledger import *  # noqa: F403
from tests.stores.contract.ledger_opening import ledgers_at

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('contract')}/ledger.db"


@pytest.fixture
def open_ledger(url: str) -> OpenLedger:  # noqa: F405
    return ledgers_at(url)
