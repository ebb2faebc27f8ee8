"""Proposals that change a store of the user's own: approved here, and carried out on that store.

They wait, are decided and are taken up again like every other run; but no domain executes them.
Whoever has the store does (`journeys.govern.own_store`).
"""

from typing import Final, Protocol

from memoranda.journeys.intent.branching import SYSTEM
from memoranda.journeys.intent.chronicle import Standing

ACTION: Final = "system.store."


def is_of_store(standing: Standing) -> bool:
    """Whether a proposal is such a change: nobody else can propose one on this branch."""
    return standing.branch == SYSTEM and standing.proposal.intent.body.type.startswith(ACTION)


class ChangesStore(Protocol):
    """Carries out the changes of one store."""

    async def carry_out(self, standing: Standing, /) -> None:
        """Do what was approved, and put on record what came of it.

        OwnStoreFailed where the store fails or takes too long: then it is left to be done.
        """
        ...
