"""A store by somebody else passes the contract: here, and in a suite that knows nothing of ours."""

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.testkit.toy import opening


@pytest.fixture
def open_store() -> OpenStore:  # noqa: F405
    return opening()
