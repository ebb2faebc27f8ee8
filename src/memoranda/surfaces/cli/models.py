"""Which model a turn asks: an endpoint, or a script that needs no key."""

from pathlib import Path
from typing import Annotated

import typer

from memoranda.outside.models.chat import ChatModel
from memoranda.outside.models.scripted import scripted
from memoranda.outside.profiles import read_document
from memoranda.plans.models import Model
from memoranda.surfaces.cli.errors import wrong_use

EndpointUrl = Annotated[
    str | None,
    typer.Option(
        "--endpoint", metavar="URL", help="Any OpenAI-compatible endpoint, up to and with /v1."
    ),
]
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model, as the endpoint calls it.")
]
KeyVariable = Annotated[
    str | None,
    typer.Option(
        "--key-variable", metavar="NAME", help="The environment variable that holds its key."
    ),
]
Script = Annotated[
    Path | None,
    typer.Option(
        "--script", metavar="FILE", help="Answers in a file (when, answer), in place of a model."
    ),
]


def model_of(
    endpoint: str | None, name: str | None, key_variable: str | None, script: Path | None
) -> Model:
    """The model that the options name; wrong use where they name none, or two."""
    if (endpoint is None) == (script is None):
        raise wrong_use("Name an --endpoint with a --model, or a --script.")
    if script is not None:
        return scripted(read_document(script))
    if endpoint is None or name is None:
        raise wrong_use("Name the --model of the endpoint.")
    return ChatModel(endpoint, name, key_variable=key_variable)
