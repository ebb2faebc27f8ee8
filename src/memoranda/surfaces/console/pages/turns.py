"""Turns: the plan as a picture, and what each step took and gave."""

from collections.abc import Mapping
from typing import Any, Final

from memoranda.errors import MemorandaError
from memoranda.surfaces.console.drawings import plan_picture
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import HttpAnswer

PAGE: Final = 20


async def show(view: View) -> HttpAnswer:
    """The newest turns."""
    page = await view.ask(
        "journal.latest", what="cycle", previous=view.query.get("previous") or None, limit=PAGE
    )
    rows = [{"cycle": one, "fact": _fact(one.documents)} for one in page]
    return view.show("turns.html", rows=rows, next=page.next)


def _fact(documents: Any) -> Mapping[str, Any] | None:
    """The attempt that landed, else the last one."""
    attempts: list[Mapping[str, Any]] = [
        document for document in documents if document["type"] == "Cycle"
    ]
    landed = [document for document in attempts if document["outcome"] == "completed"]
    found = landed or attempts
    return found[-1] if found else None


async def show_one(view: View) -> HttpAnswer:
    """A turn."""
    return await _turn(view, view.query.get("id", ""), None)


async def replay(view: View) -> HttpAnswer:
    """Run it again without a model and without memory, and compare."""
    id = view.form.get("id", "")
    try:
        replayed: Any = await view.ask("turns.replay", cycle_id=id)
    except MemorandaError as refused:
        replayed = refused
    return await _turn(view, id, replayed)


async def _turn(view: View, id: str, replayed: Any) -> HttpAnswer:
    account = await view.ask("turns.account", cycle_id=id)
    recording: Any = account.recording
    steps = [] if recording is None else _steps(recording)
    return view.show(
        "turn.html",
        account=account,
        recording=recording,
        steps=steps,
        picture=plan_picture([one["step"] for one in steps], account.fact.get("step")),
        replayed=replayed,
        refused=isinstance(replayed, MemorandaError),
    )


def _steps(recording: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each step of the plan with what it took, by where that came from, and what it gave."""
    gave = {step["id"]: step["output"] for step in recording["steps"]}
    given = {"$turn": recording["turn"], **gave}
    return [
        {
            "step": step,
            "took": {
                name: {
                    "from": source["from"],
                    "value": given.get(source["from"], {}).get(source["output"]),
                }
                for name, source in step.get("inputs", {}).items()
            },
            "gave": gave.get(step["id"]),
        }
        for step in recording["plan"]["steps"]
    ]
