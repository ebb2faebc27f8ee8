"""The examples of the OpenAPI document: they fit their schemas, and a server still says them."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from memoranda.formats import parse_json
from memoranda.surfaces.http.messages import JSON, NDJSON, PROBLEM
from memoranda.surfaces.http.openapi import document
from tests.surfaces.http.answering import FILE, told, written


def check(example: Any, schema: dict[str, Any], whole: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema | {"components": whole["components"]}).validate(example)


def test_every_answer_that_has_a_content_has_an_example_that_fits_its_schema() -> None:
    whole = document()
    seen = 0
    for path in whole["paths"].values():
        for operation in path.values():
            shown = operation["responses"].get("200", {}).get("content", {})
            for media_type, of in shown.items():
                check(of["example"], of["schema"], whole)
                seen += 1
                if media_type == NDJSON:
                    assert [parse_json(line) for line in of["example"].splitlines()]
            assert shown or "204" in operation["responses"]
    assert seen > 50


def test_an_example_that_does_not_fit_would_be_seen() -> None:
    whole = document()
    of = whole["paths"]["/v1/memories"]["post"]["responses"]["200"]["content"][JSON]
    validator = jsonschema.Draft202012Validator(of["schema"] | {"components": whole["components"]})

    assert not validator.is_valid(of["example"] | {"version": "one"})
    assert not validator.is_valid({})


def test_every_problem_has_an_example_of_its_status() -> None:
    whole = document()
    for status, response in whole["components"]["responses"].items():
        of = response["content"][PROBLEM]
        check(of["example"], of["schema"], whole)
        assert of["example"]["status"] == int(status)


async def test_the_examples_are_what_a_server_answers(tmp_path: Path) -> None:
    kept, now = parse_json(FILE.read_bytes()), parse_json(written(await told(tmp_path)))

    assert shape(now) == shape(kept), "make names"


def shape(value: Any) -> Any:
    """Members, words and truth values; not numbers, ids, hashes and what quotes them."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    if isinstance(value, str) and any(letter.isdigit() for letter in value):
        return "…"
    return value if isinstance(value, str | bool | None) else type(value).__name__
