"""What the steps of one cycle have staged: it is written at the end, in one unit, or dropped."""

from collections.abc import Sequence

from memoranda.kernel.errors import CycleFailed, InvalidItem, WriteFailed
from memoranda.ledger.beside import ItemOrigin, NewItem
from memoranda.plans.item_terms import terms
from memoranda.plans.items import MemoryItem, check_item, item_digest
from memoranda.plans.raw import Whole
from memoranda.plans.summary import check_not_raw


class Staged:
    """What one cycle is to store (`steps.staging.Staging`). Each cycle has one of its own.

    So a step that was given up, and stages something too late, reaches nobody.
    """

    def __init__(self) -> None:
        self._items: list[MemoryItem] = []
        self._session: tuple[str, str | None] | None = None

    def stage_item(self, item: MemoryItem) -> None:
        """An item is to be stored."""
        self._items.append(item)

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        """The session is to be stored."""
        self._session = (session_ref, repo_scan_version)

    def items(self, session_ref: str) -> Sequence[MemoryItem]:
        """The items, all of this session; InvalidItem if one is of another (ING-SESSION)."""
        return [check_item(item, session_ref) for item in self._items]

    def check_not_raw(self, raw: Sequence[Whole], step: str) -> None:
        """CycleFailed at this step if an item holds one of these texts whole (ING-RAW).

        SummarizeMemory looks at what its summariser made; but it can be replaced, and a plan need
        not show it what the user said.
        """
        for item in self._items:
            try:
                check_not_raw(item.summary, item.keywords, raw)
            except InvalidItem as refused:
                raise CycleFailed(step, f"{refused.why}, at {refused.where}") from refused

    def version(self, session_ref: str) -> str | None:
        """The version of the folder that was scanned; WriteFailed where nothing staged a session.

        Steps can be replaced: what they stage is looked at again.
        """
        if self._session is None or self._session[0] != session_ref:
            raise WriteFailed("the session", "no step staged it")
        return self._session[1]


def new_items(items: Sequence[MemoryItem], cycle_id: str) -> list[NewItem | ItemOrigin]:
    """The items of a cycle, and that they are its own, as what lands beside its fact."""
    landing: list[NewItem | ItemOrigin] = []
    for one in items:
        words = tuple(one.keywords)
        landing.append(NewItem(one.id, one.session_ref, one.timestamp, one.summary, words))
        landing.append(ItemOrigin(one.session_ref, one.id, cycle_id, len(terms(one.keywords))))
    return landing


def digests(items: Sequence[MemoryItem]) -> list[str]:
    """All that the journal has of them (ING-RAW), not salted yet."""
    return [item_digest(one) for one in items]
