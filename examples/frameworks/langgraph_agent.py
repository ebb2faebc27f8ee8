"""LangGraph: a graph with a store and a checkpointer, which stops and goes on.

Run it with `python -m examples.frameworks.langgraph_agent`. The model is a script.
"""

import asyncio
import tempfile
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda.integrations import MemorandaSaver, MemorandaStore, RecalledItem

CUSTOMER = ("customers", "kim")


class State(TypedDict, total=False):
    """What the graph passes on."""

    question: str
    known: str
    trace: str
    answer: str


async def look_up(state: State, *, store: BaseStore) -> State:
    """Search the store: it is a recall, with a trace."""
    (found, *_) = await store.asearch(CUSTOMER, query=state["question"], limit=1)
    assert isinstance(found, RecalledItem)  # noqa: S101
    return {"known": found.value["text"], "trace": found.trace_id}


def write(state: State) -> State:
    """Stands for a model: it drafts, and a human looks at the draft."""
    ok = interrupt(f"May I write this? {state['known']}")
    return {"answer": "By email, then." if ok == "yes" else "I don't know."}


def graph(store: MemorandaStore, saver: MemorandaSaver) -> Any:
    """The agent."""
    builder = StateGraph(State)
    builder.add_node("look_up", look_up)
    builder.add_node("write", write)
    builder.add_edge(START, "look_up")
    builder.add_edge("look_up", "write")
    builder.add_edge("write", END)
    return builder.compile(store=store, checkpointer=saver)


async def main(file: str) -> None:
    """Remember, stop, go on in another process, and say why."""
    config: Any = {"configurable": {"thread_id": "ticket/812"}}
    async with memoranda.connect(file) as db:
        memory = db.scope("support", actor="agent:support", app=APP)
        threads = db.scope("support/threads", actor="agent:support")
        store = MemorandaStore(memory)
        await store.aput(CUSTOMER, "contact", {"text": "Kim prefers email"})
        await store.aput(CUSTOMER, "pet", {"text": "Kim has a dog"})
        agent = graph(store, MemorandaSaver(threads))
        state = await agent.ainvoke({"question": "how does Kim prefer to be reached?"}, config)
        print("stopped:", state["__interrupt__"][0].value)

    async with memoranda.connect(file) as db:
        memory = db.scope("support", actor="agent:support", app=APP)
        threads = db.scope("support/threads", actor="agent:support")
        agent = graph(MemorandaStore(memory), MemorandaSaver(threads))
        state = await agent.ainvoke(Command(resume="yes"), config)
        await answer(memory, state["answer"], state["trace"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
