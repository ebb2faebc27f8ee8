"""What every test has: the plugins, one event loop, readable asserts in the test kit."""

import pytest

pytest.register_assert_rewrite("recollect.testkit")

pytest_plugins = ["pytester", "tests.traceability.plugin", "tests.postgres.fixtures"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio: the drivers know no other loop."""
    return "asyncio"
