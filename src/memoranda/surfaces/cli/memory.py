"""Commands that remember, find and forget."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, get_args

import typer
from typing_extensions import Unpack

from memoranda import Memo, Memory
from memoranda.app.surfaces import MAIN, SHIPPED, USUAL, Cause, Include, Order
from memoranda.errors import IllegalTransition, InvalidJson, RecordNotFound
from memoranda.formats import parse_json as parse
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, opt, wrong_use
from memoranda.surfaces.cli.model_options import ModelOptions, chosen_model
from memoranda.surfaces.cli.options import (
    Data,
    ForgetOptions,
    Id,
    IdKind,
    ListingOptions,
    NextOptions,
    OptionalReason,
    PutOptions,
    ReadOptions,
    Reason,
    RecallFlags,
    RememberOptions,
    Words,
    whole_id,
)
from memoranda.surfaces.cli.present import print_line
from memoranda.surfaces.cli.show_records import in_numbers
from memoranda.types import (
    ErasureCertificate,
    Event,
    Learned,
    Recalled,
    Receipt,
    Remembered,
)

TOP_K: Final = 5
"""So many are recalled where nothing else is said: on the command line only."""


# ------------------------------------------------------------------------------- writing


@command(create=True, done="remembered")
async def remember(
    memory: Memory[Any],
    text: Words = None,
    data: Data = None,
    lines: Annotated[
        typer.FileBinaryRead | None,
        opt("Each line of this file; - is standard input.", metavar="FILE"),
    ] = None,
    ndjson: Annotated[
        typer.FileBinaryRead | None,
        opt("Each line is {data, id, tags, subject, …}; see below.", metavar="FILE"),
    ] = None,
    id: Annotated[str | None, opt("Its id; else a new one.")] = None,
    reason: OptionalReason = None,
    **about: Unpack[RememberOptions],
) -> Receipt | Sequence[Receipt]:
    """Remember a text, or data; or many of them at once.

    Prints a receipt once it is on the disk. With --lines each line that is not blank is a text,
    with --ndjson it is a JSON object: "data", and beside it an "id" and what is said of that one
    alone, under the names of the options. All of a file is remembered, or nothing.
    """
    if sum(one is not None for one in (text, data, lines, ndjson)) != 1:
        raise wrong_use("Give one of: a TEXT, --data with a JSON value, --lines, --ndjson.")
    if lines is None and ndjson is None:
        return await memory.remember(given(text, data, about), id=id, reason=reason, **about)
    if id is not None:
        raise wrong_use("--id is for one thing: name the ids in --ndjson.")
    many = [
        *(texts_of(lines.read()) if lines else ()),
        *(memos_of(ndjson.read()) if ndjson else ()),
    ]
    return await memory.remember_many(many, reason=reason, **about)


@command(create=True, done="put")
async def put(
    memory: Memory[Any],
    id: Annotated[str, arg("ID", "Its id, whole.")],
    text: Words = None,
    data: Data = None,
    reason: OptionalReason = None,
    **about: Unpack[PutOptions],
) -> Receipt:
    """Create something under an id, or replace it whole.

    What is not said of it is not there afterwards.
    """
    return await memory.put(id, given(text, data, about), reason=reason, **about)


@command(done="updated")
async def update(
    memory: Memory[Any],
    id: Id,
    text: Words = None,
    data: Data = None,
    reason: OptionalReason = None,
    **about: Unpack[NextOptions],
) -> Receipt:
    """Make the next version of what is remembered.

    The versions before it are kept. The members of a JSON object are merged into it; a text, or
    other data, replaces what it said. What is not named passes on, but for sources: those that are
    given with a statement are its own.
    """
    return await memory.update(id, given(text, data, about), reason=reason, **about)


@command(create=True)
async def learn(
    memory: Memory[Any],
    file: Annotated[
        typer.FileBinaryRead, arg("FILE", "Messages, a JSON object a line; - is standard input.")
    ],
    thread: Annotated[str | None, opt("What conversation it is.", metavar="NAME")] = None,
    subject: Annotated[str | None, opt("Whom it is about; else whoever says it.")] = None,
    tag: Annotated[list[str] | None, opt("A tag of each fact; may be repeated.")] = None,
    **asked: Unpack[ModelOptions],
) -> Learned:
    """Learn facts out of a conversation, each message once.

    A line is {"role", "content", "speaker" or "name", "at", "id"}; only content must be there.
    Without an --endpoint, rules find what people say of themselves, in English and Korean. What
    denies something known waits in the inbox.
    """
    messages = messages_of(file.read())
    extractor = chosen_model(asked)
    return await memory.learn(
        messages, extractor=extractor, thread=thread, subject=subject, tags=tag or None
    )


def messages_of(contents: bytes) -> list[dict[str, Any]]:
    """The messages of a file, a JSON object for each line that is not blank."""
    messages: list[dict[str, Any]] = []
    for number, line in enumerate(contents.splitlines(), 1):
        if not line.strip():
            continue
        try:
            said = parse(line)
        except InvalidJson as refused:
            raise wrong_use(f"Line {number:,} is not JSON: {refused.why}.") from None
        if not isinstance(said, dict) or "content" not in said:
            raise wrong_use(f'Line {number:,} is not an object with a member "content".')
        messages.append(said)
    return messages


def given(text: str | None, data: Any, about: Any = None) -> Any:
    """What was given, as a text or as data, but not as both; bytes where they have a type."""
    if (text is None) == (data is None):
        raise wrong_use("Give a TEXT, or --data with a JSON value.")
    if data is not None:
        return data
    if about and "media_type" in about:
        if text != "-":
            raise wrong_use("--media-type is for bytes: give them on standard input, as -.")
        return sys.stdin.buffer.read()
    return sys.stdin.read().removesuffix("\n") if text == "-" else text


def texts_of(contents: bytes) -> list[str]:
    """The lines of a file that are not blank."""
    try:
        return [line for line in contents.decode().splitlines() if line.strip()]
    except UnicodeDecodeError as refused:
        raise wrong_use(f"The file is not UTF-8, at byte {refused.start:,}.") from None


def memos_of(contents: bytes) -> list[Memo[Any]]:
    """The objects of an NDJSON file, each with what is said of it alone."""
    memos = []
    for number, line in enumerate(contents.splitlines(), 1):
        if not line.strip():
            continue
        try:
            said = parse(line)
        except InvalidJson as refused:
            raise wrong_use(f"Line {number:,} is not JSON: {refused.why}.") from None
        if not isinstance(said, dict) or "data" not in said:
            raise wrong_use(f'Line {number:,} is not an object with a member "data".')
        memos.append(Memo(said.pop("data"), said.pop("id", None), **said))
    return memos


# ------------------------------------------------------------------------------- reading


@command("list", read_only=True, nothing="Nothing that fits is remembered.")
async def list_(
    memory: Memory[Any],
    text: Annotated[str | None, opt("Only what says these words.")] = None,
    every: Annotated[bool, opt("Every word of the text, or any of them.", "--every/--any")] = True,
    limit: Annotated[int | None, opt("At most so many; else all.")] = None,
    cursor: Annotated[str | None, opt("Go on after a page, by the cursor that it gave.")] = None,
    order_by: Annotated[Order, opt("By what they are ordered.")] = "created",
    order: Annotated[Literal["asc", "desc"], opt("The newest last, or first.")] = "desc",
    **asked: Unpack[ListingOptions],
) -> Sequence[Remembered[Any]]:
    """List what is remembered and current, newest first.

    It is a look-up: nothing is ranked, and nothing is traced. Where there is more than --limit,
    the cursor of the next page is said on standard error.
    """
    found = await memory.list(
        text=text, every=every, limit=limit, cursor=cursor, order_by=order_by, order=order, **asked
    )
    if found.next is not None:
        typer.echo(f"There is more: --cursor {found.next}", err=True)
    return found


@command(read_only=True)
async def get(memory: Memory[Any], id: Id, **asked: Unpack[ReadOptions]) -> Remembered[Any]:
    """Show one thing that is remembered, if it is current."""
    found = await memory.get(id, **asked)
    if found is None:
        raise await _why_not(memory, id, asked)
    return found


@command(read_only=True)
async def history(memory: Memory[Any], id: Id) -> Sequence[Event[Any]]:
    """Show everything that was done to one thing, the first step first."""
    return await memory.history(id)


@command(embeds=True)
async def recall(
    memory: Memory[Any],
    query: Annotated[str, arg("QUESTION", "What is asked.")],
    top_k: Annotated[int, opt("At most so many.", "--top-k", "-k")] = TOP_K,
    offset: Annotated[int, opt("Leave out so many of the best.")] = 0,
    selector: Annotated[
        str, opt(f"Who selects: {', '.join(sorted(SHIPPED))}.", metavar="NAME")
    ] = USUAL,
    about: Annotated[
        str | None, opt("The person the question is about: it is erased with them.")
    ] = None,
    branch: Annotated[str, opt("What the work is for.", metavar="NAME")] = MAIN,
    framed: Annotated[bool, opt("Print it as it is shown to a model.")] = False,
    **asked: Unpack[RecallFlags],
) -> Recalled[Any] | None:
    """Select memory for a question, and put that on record.

    Who asked, what was found and why: 'memoranda why TRACE' tells it again later, 'memoranda act
    --memory TRACE' rests on it.
    """
    found = await memory.recall(
        query, top_k=top_k, offset=offset, selector=selector, about=about, branch=branch, **asked
    )
    if not framed:
        return found
    print_line(found.framed)
    return None


async def _why_not(memory: Memory[Any], id: str, asked: ReadOptions) -> Exception:
    """Why something is not shown: it is not there, or what keeps it from being current."""
    hidden = await memory.get(id, at=asked.get("at"), include=get_args(Include))
    if hidden is None:
        known = (await memory.history(id))[-1]  # RecordNotFound, if it never was there
        erased = known.remembered is None
        return IllegalTransition(id, "erased", "shown") if erased else RecordNotFound(id)
    if hidden.status == "superseded":
        heir = (await memory.journal.object(id)).get("superseded_by")
        status = f"superseded by {heir!r}" if heir else "superseded"
        return IllegalTransition(id, status, "shown without --include superseded")
    if hidden.status != "active":
        return IllegalTransition(id, hidden.status, f"shown without --include {hidden.status}")
    if hidden.verdict == "False":
        return IllegalTransition(id, "judged False", "shown without --include false")
    if asked.get("factual") and hidden.verdict != "Factual":
        return IllegalTransition(id, f"judged {hidden.verdict}", "shown with --factual")
    return IllegalTransition(id, "not current", "shown without --include expired")


@command(done="forgotten")
async def forget(
    memory: Memory[Any], id: Id, reason: Reason, **how: Unpack[ForgetOptions]
) -> Receipt:
    """Say that something is not to be used any more; its history keeps it."""
    done = await memory.forget(id, reason=reason, **how)
    if done is None:
        raise RecordNotFound(id)
    return done


@command(read_only=lambda given: bool(given["dry_run"]))
async def erase(
    memory: Memory[Any],
    reason: Reason,
    id: Annotated[str | None, arg("ID", "Erase this one: its id, or the beginning.")] = None,
    subject: Annotated[str | None, opt("Erase everything about this person.")] = None,
    whole_scope: Annotated[bool, opt("Erase everything in the scope.")] = False,
    cause: Annotated[Cause, opt("What kind of reason it is.")] = "user_request",
    dry_run: Annotated[bool, opt("Only count what would go.")] = False,
    yes: Annotated[bool, opt("Don't ask before more than one thing goes.", "--yes", "-y")] = False,
) -> ErasureCertificate:
    """Remove content for good: of one thing, a person, or a whole scope.

    Versions, index and whatever was made from it go too; the journal still verifies. Prints a
    certificate, the same one when an ID is asked for again. Before more than one thing goes, and
    where only the beginning of an ID was given, it counts and asks.
    """
    if sum((id is not None, subject is not None, whole_scope)) != 1:
        raise wrong_use("Name one of: an ID, --subject, --whole-scope.")
    named = None if id is None else await whole_id(memory, id, IdKind.ANY)

    async def erased(*, dry: bool) -> ErasureCertificate:
        return await memory.erase(
            named, subject=subject, whole_scope=whole_scope, reason=reason, cause=cause, dry_run=dry
        )

    would = await erased(dry=True)
    if dry_run:
        return would
    is_gone = not would.is_dry_run  # then this is the certificate of its erasure
    is_much = max(would.counts.objects, would.counts.cycles) > 1
    if (is_much or named != id) and not (yes or is_gone):
        of = f"{named}: " if named != id else ""
        question = f"{of}{in_numbers(would.counts)} would be erased, for good. Go on?"
        typer.confirm(question, abort=True, err=True)
    return await erased(dry=False)
