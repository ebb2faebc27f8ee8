"""Canonical JSON: `identity.canonical_bytes` against the rfc8785 package alone."""

import gc
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import rfc8785

from bench.load import Moment
from bench.measure import Cycle, Figures, Round, quietest, summary
from bench.workload import item
from memoranda.identity import canonical_bytes

OURS, THEIRS = "memoranda", "rfc8785"

Document = dict[str, Any]


def documents() -> dict[str, Document]:
    """The documents, by name: plain ones of three sizes, one in Korean, one full of floats."""
    small = {"id": "a" * 36, "text": "word " * 20, "turn": 7, "kept": True, "tags": ["one", "two"]}
    record = item(1)
    middle = {"id": record.id, "createdAt": record.created_at, "data": record.data}
    middle |= {
        "tags": list(record.tags),
        "meta": {"source": "chat", "model": "m" * 60, "note": "n" * 64},
    }
    large = {"records": [item(number).data for number in range(36)]}
    korean = {
        "text": "기억은 사실이고 결정은 기록이다 " * 9,
        "화자": "사용자",
        "태그": ["하나", "둘"],
    }
    floats = {"scores": [number / 7 for number in range(1, 21)], "weights": {"a": 0.5, "b": 1.0}}
    named: tuple[Document, ...] = (small, middle, large, korean, floats)
    names = ("plain", "plain", "plain", "Korean", "floats")
    return {
        f"{name}, {_shown(len(rfc8785.dumps(document)))}": document
        for name, document in zip(names, named, strict=True)
    }


def measured(rounds: int, tick: Callable[[], None]) -> list[Figures]:
    """Both encoders on every document, in turns; that they agree is checked first."""
    figures: list[Figures] = []
    encoders: dict[str, Callable[[Document], bytes]] = {
        OURS: canonical_bytes,
        THEIRS: rfc8785.dumps,
    }
    for name, document in documents().items():
        assert canonical_bytes(document) == rfc8785.dumps(document), name
        size = len(rfc8785.dumps(document))
        calls = max(20, 200_000 // size)
        cycles: list[Cycle] = []
        for _ in range(rounds):
            before = Moment.now()
            done = {
                encoder: _round(encode, document, calls) for encoder, encode in encoders.items()
            }
            cycles.append(Cycle(done, before.others_until(Moment.now())))
            tick()
        counted = quietest(cycles, (rounds + 1) // 2)
        others = sum(cycle.others for cycle in counted) / len(counted)
        figures += [
            summary(
                encoder,
                f"canonical JSON, {name}",
                size,
                [cycle.rounds[encoder] for cycle in counted],
                others=others,
            )
            for encoder in encoders
        ]
    return figures


def _round(encode: Callable[[Document], bytes], document: Document, calls: int) -> Round:
    gc.collect()
    start = perf_counter_ns()
    for _ in range(calls):
        encode(document)
    elapsed = perf_counter_ns() - start
    return Round([elapsed // calls], calls, elapsed)


def _shown(size: int) -> str:
    return f"{size} B" if size < 1_000 else f"{size / 1_000:.1f} KB"
