"""Sample data: two weeks of the agent of the demo story, so that every page shows something real.

People decide, a recall matters, somebody is erased, and a copy of the journal is forged. The shop
and its rules are those of `story`, which tells one refund scene by scene; this is what a database
looks like after more of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import memoranda
from memoranda import App, Clockwork, Memory
from memoranda.app.surfaces import MAIN
from memoranda.models import scripted
from memoranda.surfaces.story import AGENT, LARGE, LIMIT, MANAGER, SMALL, app
from memoranda.types import SystemClock

SCOPE: Final = "support"
FORGED_SCOPE: Final = "support-forged"
TRUE, FORGED = "above 500 EUR wait", "above 900 EUR wait"
"""What is forged in the copy, and into what: as many bytes."""
DAY_MS: Final = 24 * 60 * 60 * 1000
DAYS: Final = 14


def app_of(scope: str) -> App[Any] | None:
    """What a server runs for the scopes of the sample."""
    return app() if scope in (SCOPE, FORGED_SCOPE) else None


# --------------------------------------------------------------------------------- the turns

PLAN: Final[Mapping[str, Any]] = {
    "step_contract_version": "1",
    "extensions": [],
    "metadata": {
        "policyProfile": "support",
        "mode": "default",
        "topK": 2,
        "timeouts": {"llmMs": 30_000, "ioMs": 5_000},
    },
    "steps": [
        {
            "id": id,
            "type": kind,
            "stage": stage,
            "payload": payload,
            "inputs": {
                name: {"from": source, "output": output}
                for name, (source, output) in inputs.items()
            },
        }
        for id, kind, stage, payload, inputs in (
            ("retrieve", "RetrieveMemory", "ContextSelect", {}, {"query": ("$turn", "text")}),
            ("recall", "RecallMemory", "ContextSelect", {}, {"query": ("$turn", "text")}),
            (
                "select",
                "ContextSelect",
                "ContextSelect",
                {},
                {
                    "text": ("$turn", "text"),
                    "items": ("retrieve", "items"),
                    "memories": ("recall", "memories"),
                },
            ),
            (
                "assemble",
                "PromptAssemble",
                "PromptAssemble",
                {"template": "{context}\n\n{text}", "system": "You work for a shop. Be brief."},
                {"text": ("$turn", "text"), "context": ("select", "context")},
            ),
            ("call", "LLMCall", "LLMCall", {}, {"prompt": ("assemble", "prompt")}),
            (
                "summarize",
                "SummarizeMemory",
                "SummarizeMemory",
                {"maxLength": 120, "maxKeywords": 8},
                {"response": ("call", "response"), "text": ("$turn", "text")},
            ),
            (
                "keep",
                "PersistMemory",
                "Persist",
                {},
                {
                    "summary": ("summarize", "summary"),
                    "keywords": ("summarize", "keywords"),
                    "sessionRef": ("$turn", "sessionRef"),
                },
            ),
            ("end", "PersistSession", "Persist", {}, {"sessionRef": ("$turn", "sessionRef")}),
        )
    ],
}
ANSWERS: Final = [
    {
        "when": "where is my parcel",
        "answer": "Your parcel left on Monday. It should be with you on Thursday.",
    },
    {
        "when": "how do i get my money back",
        "answer": "You prefer the card, so the money goes back to it. That takes three days.",
    },
    {"when": "환불", "answer": "상품권으로 환불해 드립니다. 영업일 기준 이틀이 걸립니다."},
    {"when": "", "answer": "I don't know, sorry."},
]


# ------------------------------------------------------------------------------ the two weeks


class SampleClock:
    """Time as it goes by in the sample: it stands still, but for the ms between writes."""

    def __init__(self, now_ms: int) -> None:
        self._now = now_ms

    def now_ms(self) -> int:
        """The time in the sample, a little later each time."""
        self._now += 7
        return self._now

    def advance(self, days: float) -> None:
        """Let so many days go by."""
        self._now += round(days * DAY_MS)


@dataclass(frozen=True, slots=True)
class Sample:
    """What was left, for whoever shows it."""

    recall: str
    """The trace of the recall that mattered."""
    approved: str
    """The proposal that a person approved."""
    waiting: str
    """The proposal that waits for a person."""
    erased: str
    """The person of whom nothing is left."""


async def tell(url: str) -> Sample:
    """Write two weeks of it, as if they had just ended; the scope is empty before."""
    clock = SampleClock(SystemClock().now_ms() - DAYS * DAY_MS)
    async with memoranda.connect(url, clockwork=Clockwork(clock=clock)) as database:
        agent = database.scope(SCOPE, actor=AGENT, app=app())
        lee = database.scope(SCOPE, actor=MANAGER, app=app())
        await _what_is_known(agent, lee, clock)
        recall, approved = await _what_was_paid(agent, lee, clock)
        await _what_was_said(agent, clock)
        await _who_was_erased(agent, lee, clock)
        waiting = await _what_waits(agent, lee, clock)
        await _what_is_copied(database.scope(FORGED_SCOPE, actor=AGENT))
    return Sample(recall, approved, waiting, "customer:bo")


def forge(file: Path) -> None:
    """Change one digit in the copy, in the file itself and behind the back of the database.

    Nobody may have the file open.
    """
    before = file.read_bytes()
    if before.count(TRUE.encode()) != 1:
        raise ValueError(f"{file} does not hold the copy, once")
    file.write_bytes(before.replace(TRUE.encode(), FORGED.encode()))


async def _what_is_known(agent: Memory[Any], lee: Memory[Any], clock: SampleClock) -> None:
    rule = await lee.remember(
        f"Refunds above {LIMIT} EUR need a person's approval",
        id="policy/refunds",
        source="handbook/4.2",
        tags=["policy"],
    )
    await lee.remember(
        "Vouchers are worth 10% more than a refund to the card",
        source="handbook/4.3",
        tags=["policy"],
    )
    clock.advance(0.6)
    await agent.govern.approve(rule.id, reason="it stands in the handbook", verdict="Factual")
    await agent.remember(
        "Kim prefers to be paid back to the card",
        id="kim/refunds",
        source="ticket/701",
        subject="customer:kim",
        tags=["preference"],
    )
    await agent.remember(
        "Ann prefers the card for everything",
        id="ann/refunds",
        source="ticket/702",
        subject="customer:ann",
        tags=["preference"],
    )
    clock.advance(0.7)
    await agent.remember(
        "서연 님은 상품권(voucher)으로 환불받기를 원하고 한국어로 답을 받고 싶어 한다",
        id="seoyeon/refunds",
        source="ticket/703",
        subject="customer:seoyeon",
        tags=["preference"],
    )
    await lee.remember(
        {"carrier": "Swift Parcel", "claims": "within 14 days", "pays": "half"},
        id="carrier/claims",
        source="contract/88",
        tags=["carrier"],
    )
    clock.advance(1.1)
    start = clock.now_ms()
    await lee.remember(
        "The shop is closed for stocktaking: refunds wait until it opens again",
        id="shop/stocktaking",
        source="notice/12",
        valid_from=start,
        valid_to=start + 3 * DAY_MS,
        tags=["policy"],
    )
    clock.advance(0.4)
    await agent.update(
        "kim/refunds",
        "Kim prefers a voucher, because it is worth more",
        expected_version=1,
        reason="said so on the phone",
        source="call/33",
    )
    for number, text in enumerate(
        (
            "Parcel 4471 was handed to Swift Parcel, and never arrived",
            "Parcel 4480 arrived with a broken lid",
            "Kim ordered the blue lamp and two cushions",
            "Ann asked whether the lamp can be dimmed",
            "The blue lamp is out of stock until spring",
        )
    ):
        await agent.remember(text, source=f"ticket/{704 + number}", tags=["log"])
    clock.advance(0.9)
    await agent.remember("Refunds take ten days", id="refunds/duration", source="old page")
    await agent.update("refunds/duration", "Refunds take three days", reason="the bank is faster")
    await agent.forget("refunds/duration", reason="the bank's page says it", cause="obsolescence")


async def _what_was_paid(
    agent: Memory[Any], lee: Memory[Any], clock: SampleClock
) -> tuple[str, str]:
    """A refund by rule, one that a person approved because of a recall, and one rejected."""
    clock.advance(1)
    found = await agent.recall("how does ann want her money back?", top_k=2)
    await agent.act(
        "refund", {"ticket": "702", "customer": "ann", "euros": SMALL}, memory=found,
        reason="the lid was broken",
    )  # fmt: skip
    clock.advance(0.8)
    mattered = await agent.recall("how does Kim prefer to be paid back?", top_k=2)
    large = await agent.act(
        "refund", {"ticket": "701", "customer": "kim", "euros": LARGE}, memory=mattered,
        reason="parcel 4471 never arrived",
    )  # fmt: skip
    clock.advance(0.2)
    await lee.inbox.approve(large.proposal_id, reason="the carrier confirmed the loss")
    clock.advance(0.01)
    await agent.worlds.run(large.proposal_id)
    clock.advance(0.5)
    reached = await agent.worlds.branches()
    none = await agent.recall("does max have a receipt?", top_k=2, min_confidence=0.5)
    bold = await agent.act(
        "refund", {"ticket": "709", "customer": "max", "euros": 1_200}, memory=none,
        reason="max says that he has a receipt",
    )  # fmt: skip
    await lee.inbox.reject(bold.proposal_id, reason="nothing on record shows a receipt")
    clock.advance(0.6)
    (main,) = (head for head in reached if head.name == MAIN)
    await lee.worlds.branch("what-if", at=main.world)
    again = await agent.recall("서연 님은 환불을 어떻게 받기를 원하나요?", top_k=2)
    for branch, euros in (("what-if", 40), (MAIN, 35), ("what-if", 25)):
        clock.advance(0.05)
        await agent.act(
            "refund",
            {"ticket": f"71{euros}", "customer": "seoyeon", "euros": euros},
            memory=again,
            branch=branch,
            reason="the cushions were the wrong colour",
        )
    return mattered.trace_id, large.proposal_id


async def _what_was_said(agent: Memory[Any], clock: SampleClock) -> None:
    """Three turns of two conversations, recorded so that they can be replayed."""
    model = scripted(ANSWERS)
    for session, subject, said in (
        ("ann", "customer:ann", "Where is my parcel?"),
        ("ann", "customer:ann", "How do I get my money back?"),
        ("seoyeon", "customer:seoyeon", "환불은 어떻게 받나요?"),
    ):
        clock.advance(0.3)
        turns = await agent.turns.open(
            PLAN, model=model, session=session, subject=subject, record=True
        )
        await turns.take(said)


async def _who_was_erased(agent: Memory[Any], lee: Memory[Any], clock: SampleClock) -> None:
    for text in ("Bo lives in Busan, and works at night", "Bo returned three lamps in a row"):
        await agent.remember(text, source="ticket/720", subject="customer:bo", tags=["log"])
    clock.advance(0.3)
    await agent.recall("what is known of Bo?", top_k=3, subject="customer:bo")
    clock.advance(1)
    await lee.erase(subject="customer:bo", reason="Bo asked us to, in letter 31")


async def _what_waits(agent: Memory[Any], lee: Memory[Any], clock: SampleClock) -> str:
    clock.advance(1.6)
    await agent.govern.consolidate(
        ["kim/refunds", "seoyeon/refunds"],
        "Kim and 서연 prefer a voucher to the card",
        justification="both said so",
        tags=["preference"],
    )
    await lee.remember(
        "Lamps of batch 7 flicker: refund them without asking for the parcel",
        id="batch-7",
        source="recall notice 7",
        tags=["policy"],
    )
    clock.advance(1.5)
    await agent.remember("Parcel 4502 holds a lamp of batch 7, for 서연", source="ticket/731",
                         subject="customer:seoyeon", tags=["log"])  # fmt: skip
    found = await agent.recall("is there a lamp of batch 7 in the parcel of 서연?", top_k=3)
    waiting = await agent.act(
        "refund", {"ticket": "731", "customer": "seoyeon", "euros": 580}, memory=found,
        reason="a lamp of batch 7 in parcel 4502",
    )  # fmt: skip
    return waiting.proposal_id


async def _what_is_copied(copy: Memory[Any]) -> None:
    for text in (
        "The customer prefers email",
        f"Refunds {TRUE} for a manager",
        "A refund of 700 EUR was approved by the manager",
    ):
        await copy.remember(text, source="a copy")
