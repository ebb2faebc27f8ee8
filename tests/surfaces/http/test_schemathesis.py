"""schemathesis against the real server: no 5xx, and no answer that the document does not have.

A few examples of each operation; `make schemathesis` takes many.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks

from memoranda.surfaces.http.openapi import document
from tests.fixtures import BOTH_DATABASES
from tests.surfaces.http.serving import process

EXAMPLES = int(os.environ.get("MEMORANDA_SCHEMATHESIS", "3"))
CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
)
ENDLESS = {"journal.tail"}
"""A stream that never ends by itself."""


def documented() -> dict[str, Any]:
    """What the server says of itself, without what never ends."""
    whole = document()
    for path in whole["paths"].values():
        for method in [name for name, one in path.items() if one["operationId"] in ENDLESS]:
            del path[method]
    return whole


schema = schemathesis.openapi.from_dict(documented())


@pytest.fixture(scope="module", params=BOTH_DATABASES)
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("served")
    url = f"sqlite:///{folder}/memory.db"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_server").create_database()
    with process(url, folder=folder) as (found, _):
        yield found


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES < 10,
    suppress_health_check=list(HealthCheck),
)
def test_no_operation_breaks_or_answers_what_is_not_documented(
    case: schemathesis.Case, address: str
) -> None:
    case.call_and_validate(base_url=address, checks=list(CHECKS))
