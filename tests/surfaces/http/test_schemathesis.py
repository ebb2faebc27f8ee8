"""schemathesis against the real server: no 5xx, and no answer that the document does not have.

On SQLite every case that the schemas tell apart, and a few examples of each operation on both
databases, which share all that reads a request; `make schemathesis` takes many, and every case
on both.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks
from schemathesis.specs.openapi.schemas import OpenApiSchema

import memoranda
from memoranda.journeys.access.keys import MOST_PER_MINUTE
from memoranda.kernel.access import RIGHTS
from memoranda.surfaces.http.openapi import document
from tests.fixtures import BOTH_DATABASES
from tests.surfaces.http.serving import process

FEW = 2
EXAMPLES = int(os.environ.get("MEMORANDA_SCHEMATHESIS", str(FEW)))
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
ENDLESS = {"journal.tail"}
"""A stream that never ends by itself."""


def documented() -> dict[str, Any]:
    """What the server says of itself, without what never ends."""
    whole = document()
    for path in whole["paths"].values():
        for method in [name for name, one in path.items() if one["operationId"] in ENDLESS]:
            del path[method]
    # Which lines an import takes, no schema says: other tests send them.
    del whole["paths"]["/v1/imports"]["post"]["requestBody"]["content"]["application/x-ndjson"]
    return whole


def schema(*, covers_all: bool) -> OpenApiSchema:
    """The operations; all that their schemas can tell apart is asked for, or a few examples."""
    made = schemathesis.openapi.from_dict(documented())
    made.config.phases.coverage.enabled = covers_all
    return made


everything = schema(covers_all=True)
few = schema(covers_all=EXAMPLES != FEW)
sqlite, postgres = BOTH_DATABASES
examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == FEW,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", params=BOTH_DATABASES)
def door(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The address of a server, and a key that may do everything."""
    folder = tmp_path_factory.mktemp("served")
    url = f"sqlite:///{folder}/memory.db"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_server").create_database()
    with memoranda.connect_sync(url) as database:
        made = database.keys.create(
            scope="s", actor="agent:a", rights=RIGHTS, per_minute=MOST_PER_MINUTE
        )
    with process(url, folder=folder) as (address, _):
        yield address, made.key


def answers(case: "schemathesis.Case[Any]", door: tuple[str, str]) -> None:
    address, key = door
    case.call_and_validate(
        base_url=address, headers={"authorization": f"Bearer {key}"}, checks=CHECKS
    )


@everything.parametrize()
@pytest.mark.parametrize("door", [sqlite], indirect=True)
@examples
def test_no_operation_breaks_or_answers_what_is_not_documented(
    case: "schemathesis.Case[Any]", door: tuple[str, str]
) -> None:
    answers(case, door)


@few.parametrize()
@pytest.mark.parametrize("door", [postgres], indirect=True)
@examples
def test_nor_does_one_on_postgresql(case: "schemathesis.Case[Any]", door: tuple[str, str]) -> None:
    answers(case, door)
