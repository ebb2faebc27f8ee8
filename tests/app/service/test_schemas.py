"""What doors say that operations answer is what the verbs return."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from memoranda.app.service.operations import OPERATIONS
from memoranda.app.service.schema import Schemas
from memoranda.kernel.results import Rows, plain
from tests.app.results.session import every_result


async def test_every_result_fits_the_schema_of_its_type(tmp_path: Path) -> None:
    schemas = Schemas()
    for operation in OPERATIONS.values():
        schemas.of(operation.answers)
    answered = set(schemas.named)
    seen = set()
    for result in await every_result(tmp_path):
        for one in result if isinstance(result, Rows) else [result]:
            if (name := type(one).__name__) in answered:
                schema = schemas.of(type(one))
                jsonschema.validate(plain(one), schema | {"$defs": schemas.named})
                seen.add(name)

    assert len(seen) > 20


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_has_a_schema_for_what_it_takes_and_what_it_answers(name: str) -> None:
    operation = OPERATIONS[name]
    schemas = Schemas()

    jsonschema.Draft202012Validator.check_schema(operation.request.model_json_schema())
    answered: dict[str, Any] = schemas.of(operation.answers) | {"$defs": schemas.named}
    jsonschema.Draft202012Validator.check_schema(answered)
