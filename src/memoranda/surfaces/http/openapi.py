"""The OpenAPI document, made of the table of operations.

Examples of answers stand in ``answers.json``: what a server said when a story was told to it by
``tests.surfaces.http.answering``, which writes that file (`make names`).
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from memoranda.app.surfaces import OPERATIONS, Operation, Schemas
from memoranda.formats import parse_json
from memoranda.surfaces.errors import STATUSES
from memoranda.surfaces.http.messages import (
    EVENTS,
    JSON,
    MAX_TEXT,
    MAX_VALUES,
    NDJSON,
    PROBLEM,
    has_body,
    kinds_of,
)
from memoranda.surfaces.http.routes import PREFIX

Document = dict[str, Any]

_PLACE: Final = "#/components/schemas/"
_PROBLEM: Final[Document] = {
    "title": "Problem",
    "description": "RFC 9457, with the stable code of the error and what it says by name.",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "members": {"type": "object"},
    },
    "required": ["type", "title", "status", "code", "detail"],
    "additionalProperties": False,
}
_MEANINGS: Final[Mapping[int, str]] = {
    400: "What was sent can't be accepted.",
    401: "No key, or one that is not good.",
    403: "The key may not, or whoever asks may not decide this.",
    404: "There is no such thing.",
    405: "The path takes other methods.",
    409: "What is there is not in the state that this needs.",
    410: "It was erased.",
    412: "It is at another version.",
    413: "The body is too large.",
    415: "The body is of another media type.",
    429: "Too many requests; ask again after Retry-After seconds.",
    500: "What is stored is damaged, or the server has a bug.",
    502: "A model did not answer as it must.",
    503: "The database can't be reached, or it took too long.",
}


def document() -> Document:
    """The whole document."""
    schemas = Schemas(_PLACE)
    paths: dict[str, Document] = {}
    for operation in OPERATIONS.values():
        path = paths.setdefault(f"{PREFIX}{operation.path}", {})
        path[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memoranda",
            "version": version("memoranda"),
            "description": "Memory for AI agents that can be audited, replayed and trusted.",
        },
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM, **schemas.named},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "responses": {
                str(status): {
                    "description": _MEANINGS[status],
                    "content": {
                        PROBLEM: {
                            "schema": {"$ref": f"{_PLACE}Problem"},
                            "example": _recorded()["problems"][str(status)],
                        }
                    },
                }
                for status in sorted(set(STATUSES.values()))
            },
        },
    }


@cache
def _recorded() -> Document:
    """Answers by operation, and problems by status."""
    found: Document = parse_json(
        files("memoranda.surfaces.http").joinpath("answers.json").read_bytes()
    )
    return found


def _operation(operation: Operation, schemas: Schemas) -> Document:
    members = _members(operation, schemas)
    in_path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    parameters = [
        _parameter("path", name, members["properties"][name], required=True) for name in in_path
    ]
    made: Document = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": f"Needs the right `{operation.right}`.",
        "tags": [operation.path.split("/")[1]],
        "parameters": parameters,
        "responses": _responses(operation, schemas),
    }
    rest = {name: of for name, of in members["properties"].items() if name not in in_path}
    required = [name for name in members.get("required", ()) if name in rest]
    if has_body(operation):
        if rest:
            body = {"type": "object", "properties": rest, "additionalProperties": False}
            if required:
                body["required"] = required
            content: Document = {JSON: {"schema": body} | _example(rest, required)}
            if operation.name == "journal.import_objects":
                content[NDJSON] = {"schema": {"type": "string"}}
            made["requestBody"] = {"required": bool(required), "content": content}
    else:
        kinds = kinds_of(operation)
        made["parameters"] += [
            _parameter("query", name, of, required=name in required, as_json=kinds[name] == "json")
            for name, of in rest.items()
        ]
    made["parameters"] += _headers(operation)
    return made


def _members(operation: Operation, schemas: Schemas) -> Document:
    """The schema of its request; what a default stands for is said by the verb."""
    found = operation.request.model_json_schema(by_alias=True, ref_template=_PLACE + "{model}")
    schemas.named |= found.pop("$defs", {})
    for of in found["properties"].values():
        of.pop("default", None)
        of.pop("title", None)
    return found


def _example(rest: Mapping[str, Document], required: list[str]) -> Document:
    example = {name: rest[name]["examples"][0] for name in required if rest[name].get("examples")}
    return {"example": example} if example else {}


def _parameter(
    place: str, name: str, of: Document, *, required: bool, as_json: bool = False
) -> Document:
    made: Document = {"name": name, "in": place, "required": required}
    if "description" in of:
        made["description"] = of["description"]
    schema = {key: value for key, value in of.items() if key != "description"}
    if place == "path" and schema.get("type") == "string":
        schema = {"minLength": 1, **schema}
    nested = "object" in str(schema.get("anyOf", schema.get("type")))
    if as_json and nested:
        return made | {"content": {JSON: {"schema": schema}}}
    if "anyOf" in schema:  # a query has no null
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        schema = {**schema, "anyOf": kinds} if len(kinds) > 1 else {
            **{key: value for key, value in schema.items() if key != "anyOf"}, **kinds[0]
        }  # fmt: skip
    return made | {"schema": _short(schema)}


def _short(schema: Document) -> Document:
    """The schema of what stands in a path or a query: texts there are short, and lists too."""
    made = dict(schema)
    if "maxLength" in made:
        made["maxLength"] = min(made["maxLength"], MAX_TEXT)
    if "items" in made:
        made["items"] = _short(made["items"])
        made["maxItems"] = min(made.get("maxItems", MAX_VALUES), MAX_VALUES)
    if "anyOf" in made:
        made["anyOf"] = [_short(kind) for kind in made["anyOf"]]
    return made


def _headers(operation: Operation) -> list[Document]:
    fields = operation.request.model_fields
    found = []
    if "idempotency_key" in fields:
        found.append(("Idempotency-Key", "A name for this request: a retry of it lands once."))
    if "expected_version" in fields:
        found.append(("If-Match", "The ETag that it must still have."))
    return [
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": description,
            "schema": {"type": "string", "pattern": '^"[0-9]{1,15}"$'}
            if name == "If-Match"
            else {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
        }
        for name, description in found
    ]


def _responses(operation: Operation, schemas: Schemas) -> Document:
    problems = {str(status): {"$ref": f"#/components/responses/{status}"}
                for status in sorted(set(STATUSES.values()))}  # fmt: skip
    if operation.stream is None and operation.answers is type(None):
        return {"204": {"description": "It is done."}, **problems}
    example = {"example": _recorded()["answers"][operation.name]}
    if operation.stream == "events":
        shown = {EVENTS: {"schema": {"type": "string"}} | example}
        return {"200": {"description": "Events, as they happen.", "content": shown}, **problems}
    if operation.stream is not None:
        shown = {NDJSON: {"schema": {"type": "string"}} | example}
        return {"200": {"description": "Lines of JSON.", "content": shown}, **problems}
    schema = schemas.of(operation.answers)
    if operation.finds:
        schema = next(of for of in schema["anyOf"] if of != {"type": "null"})
    shown = {JSON: {"schema": schema} | example}
    answered = {"200": {"description": "Done.", "content": shown}}
    if operation.reads_only and "version" in str(schema):
        answered["304"] = {"description": "It is as If-None-Match says."}
    return answered | problems
