"""Which model is asked, as options of a command: an endpoint, or a script in its place."""

from pathlib import Path
from typing import Annotated, TypedDict

from memoranda.formats import read_document
from memoranda.models import ChatModel, Model, scripted
from memoranda.surfaces.cli.groups import opt, wrong_use


class ModelOptions(TypedDict, total=False):
    """An endpoint with its model and key, or a script."""

    endpoint: Annotated[
        str, opt("Any OpenAI-compatible endpoint, up to and with /v1.", metavar="URL")
    ]
    model: Annotated[str, opt("The model, as the endpoint calls it.", metavar="NAME")]
    key_variable: Annotated[
        str, opt("The environment variable that holds its key.", metavar="NAME")
    ]
    script: Annotated[Path, opt("Answers (when, answer) in place of a model.")]


def chosen_model(asked: ModelOptions) -> Model | None:
    """The model that the options name; None where they name none, wrong use where they name two."""
    endpoint, name, script = asked.get("endpoint"), asked.get("model"), asked.get("script")
    if endpoint is None and script is None:
        if name is not None or "key_variable" in asked:
            raise wrong_use("Name the --endpoint of the model.")
        return None
    if endpoint is not None and script is not None:
        raise wrong_use("Name an --endpoint with a --model, or a --script.")
    if script is not None:
        return scripted(read_document(script))
    if endpoint is None or name is None:
        raise wrong_use("Name the --model of the endpoint.")
    return ChatModel(endpoint, name, key_variable=asked.get("key_variable"))
