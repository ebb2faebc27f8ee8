"""What a journal holds, as its exports show it."""

from typing import Any

from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.audit.export import export_log
from memoranda.ledger.object import sealed
from memoranda.ledger.snapshot import ENTRIES
from tests.handles import inside


async def events(memory: Memory[Any]) -> list[dict[str, Any]]:
    """The MemoryLog."""
    return [decode(line) async for line in export_log(inside(memory).ledger)]


async def log_lines(memory: Memory[Any]) -> list[bytes]:
    """The MemoryLog, line by line."""
    return [line async for line in export_log(inside(memory).ledger)]


async def objects(memory: Memory[Any]) -> list[dict[str, Any]]:
    """Every object that is stored, sealed, in the order of the journal."""
    async with inside(memory).ledger.snapshot() as snapshot:
        bodies = [one.body async for chunk in snapshot.rows(ENTRIES) for one in chunk]
    documents = [decode(body) for body in bodies if body is not None]
    return [sealed(document) for document in documents if document["type"] == "MemoryObject"]


async def raw(memory: Memory[Any]) -> bytes:
    """Every byte of the journal that is stored."""
    async with inside(memory).ledger.snapshot() as snapshot:
        stored = [one async for chunk in snapshot.rows(ENTRIES) for one in chunk]
    return b"".join(one.entry + (one.salt or b"") + (one.body or b"") for one in stored)
