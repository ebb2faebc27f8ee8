"""ContextSelect: what of all that is at hand goes into the prompt, as values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.inputs import text_input
from memoranda.plans.steps.retrieval import whole_retrieval

NAME: Final = "ContextSelect"

Source = Literal["text", "items", "repo"]
_IMPLIED: Final[tuple[Source, ...]] = ("repo", "items")


class ContextSelectPayload(WireModel):
    """Which inputs become context, in which order.

    Without it, all that were given but the turn's own text, which stands in the prompt anyway.
    """

    sources: Annotated[Sequence[Source] | None, tuple_of(Source), NOT_NULL, Field(max_length=3)] = (
        None
    )


class ContextEntry(WireModel):
    """One piece of context: what kind it is, and its text; a memory's id and time as well."""

    kind: Literal["turn", "memory", "repo"]
    text: str
    id: str | None = None
    timestamp: str | None = None


class ContextSelectOutput(WireModel):
    """The context, the most important piece first."""

    context: Annotated[Sequence[ContextEntry], tuple_of(ContextEntry)]


class ContextSelect:
    """Takes a retrieval only if it is whole: a part of one is none (ING-PARTIAL)."""

    name: Final = NAME
    stage: Final = "ContextSelect"
    payload: Final = ContextSelectPayload
    takes: Final[Mapping[str, Sequence[str]]] = {
        "text": (TURN,),
        "items?": ("RetrieveMemory",),
        "repo?": ("RepoScan",),
    }
    gives: Final = ("context",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    async def run(
        self, payload: ContextSelectPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The context, from the sources that the plan names, in that order."""
        text_input(NAME, inputs, "text")
        if "items" in inputs:  # looked at even if the plan leaves it out: damage is damage
            whole_retrieval(inputs["items"])
        sources = payload.sources
        if sources is None:
            sources = [source for source in _IMPLIED if source in inputs]
        context = tuple(entry for source in sources for entry in _entries(source, inputs))
        return ContextSelectOutput(context=context).model_dump(mode="json", exclude_none=True)


def _entries(source: Source, inputs: Mapping[str, JsonValue]) -> Iterator[ContextEntry]:
    match source:
        case "items":
            if "items" not in inputs:
                raise CycleFailed(NAME, "the plan names items as a source and gives it none")
            for item in whole_retrieval(inputs["items"]):
                yield ContextEntry(
                    kind="memory", text=item.summary, id=item.id, timestamp=item.timestamp
                )
        case "repo":
            yield ContextEntry(kind="repo", text=text_input(NAME, inputs, "repo"))
        case "text":
            yield ContextEntry(kind="turn", text=text_input(NAME, inputs, "text"))
