"""Of what was erased no word is left in any byte: of the file, its log, or a backup taken after."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import Memory
from memoranda.ledger.snapshot import WORDS
from tests.handles import inside
from tests.stores.search.conftest import Opens, merge_all

VOWELS = "aeiou"


def canary(number: int) -> str:
    """A word that nothing else has, and that begins like no other: it is stored whole."""
    return "".join(chr(0xAC00 + (number * 7919 + place * 4099) % 11_172) for place in range(2)) + (
        f" qz{number:05}{VOWELS[number % 5]}x{number * 31 % 997}"
    )


def bytes_of(path: Path) -> bytes:
    """Everything that is on disk."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(path.name + "*")))


def seen(data: bytes, numbers: Iterable[int]) -> set[int]:
    """Which canaries can be seen, if only by a beginning: a page has what words share once."""
    found = {int(match[1]) for match in re.finditer(rb"qz(\d{5})", data)}
    return found & set(numbers)


async def fill(memory: Memory[Any], count: int) -> list[str]:
    ids = []
    for first in range(0, count, 250):
        numbers = range(first, min(count, first + 250))
        said = [f"{canary(n)} and {canary(n)}s of the common kind {n % 7}" for n in numbers]
        ids += [one.id for one in await memory.remember_many(said)]
        await merge_all(memory)
    return ids


@pytest.mark.parametrize("count", [3, 2_000])
async def test_no_word_is_left_in_the_file_its_log_or_a_backup(tmp_path: Path, count: int) -> None:
    path, backup = tmp_path / "canaries.db", tmp_path / "backup.db"
    async with memoranda.open(f"sqlite:///{path}") as memory:
        ids = await fill(memory, count)
        replaced = list(range(0, count, 3))
        for n in replaced:
            await memory.update(ids[n], f"now {canary(n + 50_000)}")
        await merge_all(memory)
        assert len(seen(bytes_of(path), range(count))) > count // 3, "they can be seen at all"

        for n in range(1, count, 50):
            await memory.forget(ids[n], reason="a test")
        erased = sorted({*range(0, count, 1 + count // 10), 1, count - 1})
        for n in erased:
            await memory.erase(ids[n], reason="a test")

        words = [*erased, *(n + 50_000 for n in erased)]
        data = bytes_of(path)
        assert seen(data, words) == set()
        for n in words:
            assert canary(n).split()[0].encode() not in data
        source, target = apsw.Connection(str(path)), apsw.Connection(str(backup))
        with target.backup("main", source, "main") as copying:
            copying.step()
        source.close()
        target.close()
        assert seen(bytes_of(backup), words) == set()
        assert (await memory.verify()).report.damages.found == []
        for n in erased:
            assert await memory.list(text=canary(n)) == []
    assert seen(bytes_of(path), words) == set(), "nor is there after closing"


async def test_what_was_never_merged_leaves_no_word_either(tmp_path: Path) -> None:
    path = tmp_path / "canaries.db"
    async with memoranda.open(f"sqlite:///{path}") as memory:
        receipt = await memory.remember(canary(1))
        await memory.update(receipt.id, canary(2))
        await memory.erase(receipt.id, reason="a test")

        assert seen(bytes_of(path), (1, 2)) == set()
        assert await memory.list(text=canary(2)) == []
    assert seen(bytes_of(path), (1, 2)) == set()


async def test_a_whole_scope_that_is_erased_has_no_words(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember_many([f"note {n}" for n in range(300)])
        await merge_all(memory)
        await memory.remember("last note")

        await memory.erase(whole_scope=True, reason="a test")

        async with inside(memory).ledger.snapshot() as snapshot:
            words = [word async for chunk in snapshot.rows(WORDS) for word in chunk]
        assert words == []
        assert await memory.list(text="note") == []
        await merge_all(memory)
        assert (await memory.verify()).report.damages.found == []
