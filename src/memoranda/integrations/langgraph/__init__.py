"""LangGraph: a store and a checkpointer over one scope (extra ``langgraph``)."""
