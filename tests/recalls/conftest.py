"""Recall on every database: what is tested here holds on each."""

from tests.intent.conftest import clock, memory, opens, postgres_of_worlds, scope, url

__all__ = ["clock", "memory", "opens", "postgres_of_worlds", "scope", "url"]
