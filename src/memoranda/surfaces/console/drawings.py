"""Where things stand in a drawing; the templates draw them as SVG."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.types import Activity, LineageStep

# ------------------------------------------------------------------------------ activity


class Bar(NamedTuple):
    """A bar of a chart: its place and size, and what it stands for."""

    x: float
    y: float
    width: float
    height: float
    since: int
    entries: int


class BarChart(NamedTuple):
    """Bars, and the scale that they are drawn on."""

    bars: Sequence[Bar]
    width: int
    height: int
    top: int
    total: int


def activity_chart(parts: Sequence[Activity], width: int = 900, height: int = 130) -> BarChart:
    """A bar for each part of the time; the highest fills the chart."""
    top = max((part.entries for part in parts), default=0) or 1
    step = width / max(1, len(parts))
    bars = []
    for number, part in enumerate(parts):
        tall = 0 if not part.entries else max(2.0, part.entries / top * height)
        bars.append(
            Bar(
                round(number * step + 2, 1),
                round(height - tall, 1),
                round(step - 4, 1),
                round(tall, 1),
                part.since,
                part.entries,
            )
        )
    return BarChart(bars, width, height, top, sum(part.entries for part in parts))


# ------------------------------------------------------------------------------ validity


class Span(NamedTuple):
    """From when to when a version was known, or held."""

    row: int
    version: int
    known_x: float
    known_width: float
    valid_x: float | None
    valid_width: float
    is_newest: bool


class TimeLine(NamedTuple):
    """When each version was known, and when what it says holds."""

    spans: Sequence[Span]
    width: int
    height: int
    ticks: Sequence[tuple[float, int]]


ROW: Final = 34
_TICKS: Final = 4


def time_line(versions: Sequence[Mapping[str, Any]], now: int, width: int = 600) -> TimeLine:
    """Each version has `version`, `at`, `valid_from` and `valid_to`, the first one first."""
    times = [one["at"] for one in versions] + [now]
    bounds = [one[name] for one in versions for name in ("valid_from", "valid_to")]
    known = [time for time in (*times, *bounds) if time is not None]
    low, high = min(known), max(known)
    margin = max(1, (high - low) // 20)
    low, high = low - margin, high + margin

    def x(time: int) -> float:
        return float(round((time - low) / (high - low) * width, 1))

    spans = []
    for row, (one, until) in enumerate(zip(versions, [*times[1:-1], now], strict=True)):
        has_bounds = one["valid_from"] is not None or one["valid_to"] is not None
        begin = x(one["valid_from"]) if one["valid_from"] is not None else 0.0
        end = x(one["valid_to"]) if one["valid_to"] is not None else float(width)
        spans.append(
            Span(
                row,
                one["version"],
                x(one["at"]),
                max(3.0, round(x(until) - x(one["at"]), 1)),
                begin if has_bounds else None,
                max(3.0, round(end - begin, 1)),
                row == len(versions) - 1,
            )
        )
    ticks = [
        (round(width * number / _TICKS, 1), low + (high - low) * number // _TICKS)
        for number in range(_TICKS + 1)
    ]
    return TimeLine(spans, width, ROW * len(versions) + 28, ticks)


# ------------------------------------------------------------------------------- lineage


class Node(NamedTuple):
    """A world in the picture of a lineage."""

    world: str
    x: float
    y: float
    column: int
    step: LineageStep
    heads: tuple[str, ...]


class Edge(NamedTuple):
    """A run from one world to another, as a path."""

    d: str
    column: int


class Picture(NamedTuple):
    """The worlds of all branches, the newest on top."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    width: int
    height: int


_DOWN: Final = 44
_ACROSS: Final = 26


def lineage_picture(branches: Mapping[str, Sequence[LineageStep]]) -> Picture:
    """A column for each branch; a world stands in the first branch that reached it."""
    columns = {name: number for number, name in enumerate(branches)}
    heads: dict[str, list[str]] = {}
    for name, steps in branches.items():
        if steps:
            heads.setdefault(steps[0].world, []).append(name)
    first: dict[str, LineageStep] = {}
    for step in sorted((one for steps in branches.values() for one in steps), key=lambda s: s.seq):
        first.setdefault(step.world, step)
    shown = sorted(first.values(), key=lambda step: -step.seq)
    nodes = {
        step.world: Node(
            step.world,
            columns[step.branch] * _ACROSS + 16,
            row * _DOWN + 22,
            columns[step.branch],
            step,
            tuple(heads.get(step.world, ())),
        )
        for row, step in enumerate(shown)
    }
    edges = [
        _edge(nodes[step.before], nodes[step.world])
        for step in shown
        if step.before in nodes and step.before != step.world
    ]
    return Picture(
        list(nodes.values()), edges, len(branches) * _ACROSS + 16, len(nodes) * _DOWN + 4
    )


def _edge(before: Node, after: Node) -> Edge:
    if before.x == after.x:
        return Edge(f"M{before.x} {before.y}V{after.y}", after.column)
    bend = after.y + _DOWN / 2
    return Edge(
        f"M{before.x} {before.y}C{before.x} {bend} {after.x} {before.y} {after.x} {bend}V{after.y}",
        after.column,
    )


# --------------------------------------------------------------------------------- plans


class PlanBox(NamedTuple):
    """A step of a plan in its picture."""

    id: str
    type: str
    x: int
    y: int
    failed: bool


class PlanPicture(NamedTuple):
    """The steps of a plan by stages, and what goes from one to another."""

    boxes: Sequence[PlanBox]
    arrows: Sequence[str]
    width: int
    height: int


BOX_WIDTH: Final = 132
BOX_HEIGHT: Final = 40
_GAP_X: Final = 24
_GAP_Y: Final = 18


def plan_picture(steps: Sequence[Mapping[str, Any]], failed: str | None = None) -> PlanPicture:
    """A column for each depth: a step stands right of all that it takes from."""
    depth: dict[str, int] = {}
    for step in steps:
        sources = [given["from"] for given in step.get("inputs", {}).values()]
        depth[step["id"]] = max((depth[one] + 1 for one in sources if one in depth), default=0)
    rows: dict[int, int] = {}
    boxes = {}
    for step in steps:
        column = depth[step["id"]]
        row = rows[column] = rows.get(column, -1) + 1
        boxes[step["id"]] = PlanBox(
            step["id"],
            step["type"],
            column * (BOX_WIDTH + _GAP_X) + 2,
            row * (BOX_HEIGHT + _GAP_Y) + 2,
            step["id"] == failed,
        )
    arrows = dict.fromkeys(
        _arrow(boxes[given["from"]], boxes[step["id"]])
        for step in steps
        for given in step.get("inputs", {}).values()
        if given["from"] in boxes
    )
    width = (max(depth.values(), default=0) + 1) * (BOX_WIDTH + _GAP_X) - _GAP_X + 4
    height = (max(rows.values(), default=0) + 1) * (BOX_HEIGHT + _GAP_Y) - _GAP_Y + 4
    return PlanPicture(list(boxes.values()), list(arrows), width, height)


def _arrow(source: PlanBox, target: PlanBox) -> str:
    x1, y1 = source.x + BOX_WIDTH, source.y + BOX_HEIGHT // 2
    x2, y2 = target.x, target.y + BOX_HEIGHT // 2
    middle = (x1 + x2) / 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"
