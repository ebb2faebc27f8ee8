"""Recall on both databases: the handles belong to an agent that counts."""

from tests.journeys.intent.conftest import handle_options

__all__ = ["handle_options"]
