"""Resources and prompts: memory that a person hands to a model, instead of the model asking."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from mcp_types import (
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptResult,
    ListResourcesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from memoranda.errors import InvalidRecord, RecordNotFound
from memoranda.surfaces.mcp.calls import NOTICE, McpCall, as_text, recall_text

JSON: Final = "application/json"
SCHEME: Final = "memoranda"
_PAGE: Final = 50
_COMPLETIONS: Final = 100
_NAME_LENGTH: Final = 80

# -------------------------------------------------------------------------------- resources


@dataclass(frozen=True, slots=True)
class McpTemplate:
    """A kind of resource, and the operation that reads one."""

    operation: str
    kind: str
    """What `journal.ids` calls it."""
    description: str


TEMPLATES: Final[Mapping[str, McpTemplate]] = {
    "memories": McpTemplate("get", "record", "One memory, if it is current, by its id."),
    "traces": McpTemplate("trace", "recall", "The trace of a recall, with proofs, by its traceId."),
    "worlds": McpTemplate(
        "worlds.restore", "world", "The snapshot of a world, or of an execution, by its id."
    ),
}


def templates() -> list[ResourceTemplate]:
    """The templates as a client is shown them."""
    return [
        ResourceTemplate(
            name=name,
            uri_template=f"{SCHEME}://{name}/{{id}}",
            description=template.description,
            mime_type=JSON,
        )
        for name, template in TEMPLATES.items()
    ]


async def list_resources(call: McpCall, cursor: str | None) -> ListResourcesResult:
    """A page of what is remembered and current, newest first."""
    asked = {"limit": _PAGE} | ({} if cursor is None else {"cursor": cursor})
    page = await call.operation("list", asked)
    return ListResourcesResult(
        resources=[
            Resource(
                uri=f"{SCHEME}://memories/{quote(found.id, safe='')}",
                name=found.id,
                title=_title(found.said),
                mime_type=JSON,
            )
            for found in page
        ],
        next_cursor=page.next,
    )


def _title(said: object) -> str:
    text = " ".join(str(said).split())
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"


async def read_resource(call: McpCall, uri: str) -> ReadResourceResult:
    """What a resource says, as JSON; RecordNotFound for an address that is not one of ours."""
    parts = urlsplit(uri)
    template = TEMPLATES.get(parts.netloc)
    if parts.scheme != SCHEME or template is None or parts.query or parts.fragment:
        raise RecordNotFound(uri)
    found = await call.operation(template.operation, {"id": unquote(parts.path[1:])})
    text = as_text(found).text
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, mime_type=JSON, text=text)],
    )


async def complete(call: McpCall, params: CompleteRequestParams) -> CompleteResult:
    """Ids that begin as an argument does: of a template, or of what a prompt explains."""
    prefix = params.argument.value
    asked: dict[str, Any] = {"prefix": prefix, "limit": _COMPLETIONS}
    if isinstance(params.ref, ResourceTemplateReference):
        template = TEMPLATES.get(urlsplit(params.ref.uri).netloc)
        if template is None:
            raise RecordNotFound(params.ref.uri)
        asked["kinds"] = [template.kind]
    elif params.argument.name != "id":
        return CompleteResult(completion=Completion(values=[]))
    found = await call.operation("journal.ids", asked)
    return CompleteResult(completion=Completion(values=[str(id) for id in found]))


# ---------------------------------------------------------------------------------- prompts

Said = Callable[[McpCall, Mapping[str, str]], Awaitable[list[TextContent]]]


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt: what it is for, what it takes, and what it says."""

    title: str
    description: str
    arguments: Mapping[str, str]
    say: Said


async def _answer_from_memory(call: McpCall, given: Mapping[str, str]) -> list[TextContent]:
    recalled = await call.operation("recall", {"query": given["question"], "topK": 8})
    return [
        TextContent(text=recall_text(recalled)),
        TextContent(
            text="Answer the question below from the memory above, and name the ids of the items"
            " that you used. Say so where memory does not answer it, or could not be looked up."
            f"\n\n{given['question']}"
        ),
    ]


async def _explain(call: McpCall, given: Mapping[str, str]) -> list[TextContent]:
    return [
        TextContent(text=NOTICE),
        as_text(await call.operation("why", {"id": given["id"]})),
        TextContent(
            text="Explain to a person who did not build this what led to it: who asked, what was"
            " recalled, who decided, and what is proved. Keep to what stands above."
        ),
    ]


async def _keep_what_matters(_call: McpCall, _given: Mapping[str, str]) -> list[TextContent]:
    return [
        TextContent(
            text="Go through this conversation, and remember what will matter later: facts,"
            " preferences, decisions, and results, one per call of `remember`, each understood"
            " without this conversation, with its source. First `recall` what is known, so that"
            " nothing is said twice; where something changed, `forget` the old with the reason."
            " Leave out secrets and guesses. Then list what you remembered."
        )
    ]


PROMPTS: Final[Mapping[str, McpPrompt]] = {
    "answer_from_memory": McpPrompt(
        "Answer from memory",
        "Recall what is known about a question, and answer it from that alone.",
        {"question": "What you want to know."},
        _answer_from_memory,
    ),
    "explain": McpPrompt(
        "Explain why",
        "Explain in plain words what led to a recall, a proposal, a world or a memory.",
        {"id": "The id of a trace, a proposal, an execution, a world or a memory."},
        _explain,
    ),
    "keep_what_matters": McpPrompt(
        "Keep what matters",
        "Remember from this conversation what will matter later.",
        {},
        _keep_what_matters,
    ),
}


def prompts() -> list[Prompt]:
    """The prompts as a client is shown them."""
    return [
        Prompt(
            name=name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                PromptArgument(name=argument, description=text, required=True)
                for argument, text in prompt.arguments.items()
            ],
        )
        for name, prompt in PROMPTS.items()
    ]


async def get_prompt(call: McpCall, prompt: McpPrompt, given: Mapping[str, str]) -> GetPromptResult:
    """What a prompt says; InvalidRecord for other arguments than its own."""
    for argument in prompt.arguments.keys() ^ given.keys():
        raise InvalidRecord(f"$.arguments.{argument}", "the prompt has exactly its own arguments")
    return GetPromptResult(
        description=prompt.description,
        messages=[
            PromptMessage(role="user", content=content) for content in await prompt.say(call, given)
        ],
    )
