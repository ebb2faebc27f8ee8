"""The inbox: what is asked, by whom, and on what memory it rests; and what was decided."""

from typing import Any, Final

from memoranda.errors import InvalidRecord, WorldNotFound
from memoranda.surfaces.console.view import View, redirect
from memoranda.surfaces.http.messages import HttpAnswer

DECIDED: Final = 15
LOOKED_INTO: Final = 10
"""Of so many that wait, the oldest, the page also says what they rest on."""
ANSWERS: Final = ("approve", "reject", "abstain")


async def show(view: View) -> HttpAnswer:
    """What waits, the oldest first; below, what was proposed lately."""
    waiting = await view.ask("inbox.list")
    lately = await view.ask(
        "journal.latest", what="proposal", previous=view.query.get("previous") or None,
        limit=DECIDED,
    )  # fmt: skip
    memory = {
        one.proposal.proposal_id: await _memory(view, one.proposal.proposal_id)
        for one in waiting[:LOOKED_INTO]
    }
    rows = [{"asked": one, **_standing(one.documents)} for one in lately]
    return view.show(
        "inbox.html",
        waiting=waiting[:LOOKED_INTO],
        more=max(0, len(waiting) - LOOKED_INTO),
        memory=memory,
        lately=rows,
        next=lately.next,
    )


async def _memory(view: View, proposal_id: str) -> list[Any]:
    """The memories that a proposal rests on, as they were when they were chosen."""
    why = await view.ask("why", id=proposal_id)
    return [memory for part in why.parts if part.what == "recall" for memory in part.parts]


def _standing(documents: Any) -> dict[str, Any]:
    """What a proposal asks for, and how it stands by its own facts."""
    found: dict[str, Any] = {"proposal": None, "branch": "", "decision": None, "waits": False}
    for document in documents:
        if document["type"] == "Proposal":
            found["proposal"] = document["proposal"]
            found["branch"] = document["branch"]
            found["waits"] = "policy" in document
        elif document["type"] == "Decision":
            found["decision"] = document["decision"]
            found["waits"] = False
    return found


async def show_one(view: View) -> HttpAnswer:
    """A proposal: what it would do, who decides, and what it rests on."""
    id = view.query.get("id", "")
    why = await view.ask("why", id=id)
    if why.what != "proposal":
        raise WorldNotFound("proposal", id)
    waiting = next(
        (one for one in await view.ask("inbox.list") if one.proposal.proposal_id == id), None
    )
    erased = why.known.get("content") == "erased"
    standing = None if erased else await view.ask("worlds.standing", proposal_id=id)
    return view.show("proposal.html", id=id, why=why, waiting=waiting, standing=standing)


async def decide(view: View) -> HttpAnswer:
    """Approve, reject or abstain, with a reason; or run what was approved."""
    id, do = view.form.get("id", ""), view.form.get("do", "")
    if do == "run":
        await view.ask("worlds.run", proposal_id=id)
        return redirect("/proposal", id=id)
    if do not in ANSWERS:
        raise InvalidRecord("$.do", f"it is one of {', '.join(ANSWERS)}")
    await view.ask(f"inbox.{do}", proposal_id=id, reason=view.said("reason") or "")
    return redirect("/proposal", id=id)
