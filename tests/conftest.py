"""What every test has: the plugins, one event loop, readable asserts in the test kit."""

from collections.abc import Iterator

import pytest

from tests.patience import PATIENCE

pytest.register_assert_rewrite("memoranda.testkit")

pytest_plugins = [
    "pytester",
    "tests.random_examples",
    "tests.project.traceability.plugin",
    "tests.fixtures",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio: the drivers know no other loop."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def no_model_that_nobody_named() -> Iterator[None]:
    """What is found does not depend on what is installed; tests of meaning name their model."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MEMORANDA_MEANING", "off")
        yield


@pytest.fixture(scope="session", autouse=True)
def closing_takes_its_time() -> Iterator[None]:
    """Whoever closes a database has its words merged, however long a busy machine takes for it."""
    with pytest.MonkeyPatch.context() as patched:
        for limit in ("CLOSING_S", "CLOSING_SHORT_S"):
            patched.setattr(f"memoranda.stores.words.{limit}", PATIENCE)
        yield
