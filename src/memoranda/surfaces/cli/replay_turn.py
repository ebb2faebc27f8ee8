"""``memoranda replay CYCLE``: a recorded turn is run again, without a model and without memory."""

import typer

from memoranda.journeys.turn.replaying import CycleReplay
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.present import console, details, plain, print_json
from memoranda.surfaces.errors import NOT_SOUND


def replay_turn(place: Place, cycle_id: str, *, json: bool) -> None:
    """Run a cycle again and show what came of it; exits with 5 where something differs."""
    replay = place.run(lambda memory: memory.replay_turn(cycle_id), reads=True)
    if json:
        print_json(_as_json(replay))
    else:
        _show(replay)
    if not replay.is_same:
        raise typer.Exit(NOT_SOUND)


def _as_json(replay: CycleReplay) -> dict[str, object]:
    difference = replay.difference
    return {
        "cycle": replay.cycle_id,
        "verdict": "same" if difference is None else "differs",
        "difference": None
        if difference is None
        else {"where": difference.where, "why": difference.why},
        "prompt": replay.prompt,
    }


def _show(replay: CycleReplay) -> None:
    difference = replay.difference
    rows = [("same" if difference is None else "differs", plain(replay.cycle_id))]
    if difference is not None:
        rows += [("where", plain(difference.where)), ("why", plain(difference.why))]
    console().print(details(rows))
