"""What all examples here share: a desk that answers by what is remembered, and is asked why."""

from typing import Any

from pydantic import BaseModel

from memoranda import ActionContext, App, Domain, Memory, Merge


class Answer(BaseModel):
    """What is sent."""

    text: str


desk = Domain("desk", "1")


@desk.action(input=Answer)
def reply(ctx: ActionContext[Answer]) -> Merge:
    """Send an answer; what it rests on was selected before, and is frozen with the run."""
    known = [one["data"] for one in ctx.memory["items"]]
    return Merge("", {"sent": ctx.input.text, "because": known})


APP = App(domain=desk)


async def answer(memory: Memory[Any], text: str, trace_id: str) -> None:
    """Answer, resting on a recall; then say why, and replay it."""
    run = await memory.act("reply", {"text": text}, memory=trace_id)
    print("answer:", run.data["sent"])

    why = await memory.why(run.proposal_id)
    (recall,) = (part for part in why.parts if part.what == "recall")
    print("why: asked", repr(recall.known["query"]), "and found", run.data["because"])
    print("     selected by", why.known["selected by"], "| used by", why.known["used by"])

    replay = await memory.worlds.replay(str(run.execution_key))
    print("replay:", replay.verdict)
    print("sound:", (await memory.verify()).is_sound)
