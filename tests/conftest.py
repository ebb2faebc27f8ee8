"""What every test has: the plugins, one event loop, readable asserts in the test kit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.patience import PATIENCE

pytest.register_assert_rewrite("memoranda.testkit")

pytest_plugins = [
    "pytester",
    "tests.in_memory",
    "tests.random_examples",
    "tests.project.traceability.plugin",
    "tests.fixtures",
]

LONGEST_FIRST: Final = tuple(
    Path(__file__).parent / name for name in ("campaigns", "stores/postgres", "stores/search")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins at once: with several processes none is left with it at the end."""
    items.sort(key=lambda item: not any(map(item.path.is_relative_to, LONGEST_FIRST)))


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
