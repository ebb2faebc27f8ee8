"""I/O errors, in short form: `make adversity` fails every single call."""

from pathlib import Path

import apsw
import pytest

import memoranda
from memoranda.kernel.errors import StoreUnavailable
from memoranda.records.filter import MemoryFilter
from tests.campaigns.adversity.faults import Faults, Files, Lasting
from tests.campaigns.adversity.vfs import Operation, WatchingVfs, as_default


@pytest.mark.parametrize("lasting", ["transient", "persistent"])
@pytest.mark.parametrize("files", ["old file", "new file"])
def test_whichever_call_fails_nothing_acknowledged_is_lost_and_the_handle_works_again(
    tmp_path: Path, files: Files, lasting: Lasting
) -> None:
    while_opening, later = range(3, 30, 4), range(30, 1_000, 29)
    counts = Faults(tmp_path, 1).run(files, lasting, [*while_opening, *later])

    assert counts.broken == {}, counts.texts
    assert counts["faults"] > 10
    assert counts["unknown"] > 0, "some faults hit a write"
    assert counts["runs to the end"] == 1, "the last run had no fault"


async def test_a_long_read_of_a_file_that_can_not_be_opened_again_is_refused_in_our_words(
    tmp_path: Path,
) -> None:
    is_gone = False

    def watch(operation: Operation) -> None:
        if is_gone and operation.name == "open":
            raise apsw.CantOpenError

    with as_default(WatchingVfs("opening", watch)):
        async with memoranda.open(f"sqlite:///{tmp_path}/long.db") as memory:
            await memory.remember("tea")
            is_gone = True
            with pytest.raises(StoreUnavailable) as caught:  # a stream has a connection of its own
                _ = [record async for record in memory.records.stream(MemoryFilter())]
            is_gone = False

            assert len([record async for record in memory.records.stream(MemoryFilter())]) == 1
    assert caught.value.code == "store.unavailable"
