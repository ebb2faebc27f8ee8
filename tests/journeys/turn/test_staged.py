"""What steps staged is looked at again before it lands: steps can be replaced."""

import pytest

from memoranda.journeys.turn.cycle import Staged
from memoranda.kernel.errors import InvalidItem, WriteFailed
from memoranda.plans.items import MemoryItem

ITEM = MemoryItem.model_validate(
    {
        "id": "0f9e8d7c-6b5a-4c3d-8e2f-1a0b9c8d7e6f",
        "sessionRef": "mine",
        "timestamp": "2026-11-16T08:00:00.000Z",
        "summary": "An invoice, settled",
        "keywords": ["invoice"],
    }
)


@pytest.mark.rule("ING-SESSION")
def test_an_item_of_another_session_is_refused() -> None:
    staged = Staged()
    staged.stage_item(ITEM)

    assert staged.items("mine") == [ITEM]
    with pytest.raises(InvalidItem):
        staged.items("another")


@pytest.mark.rule("ING-SESSION")
def test_another_session_is_none() -> None:
    staged = Staged()
    with pytest.raises(WriteFailed):
        staged.version("mine")
    staged.stage_session("mine", "v1")

    assert staged.version("mine") == "v1"
    with pytest.raises(WriteFailed):
        staged.version("another")
