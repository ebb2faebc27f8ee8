"""A retrieval is whole or it is none (ING-PARTIAL).

It is looked at twice: by RetrieveMemory, for a store may be anybody's, and by ContextSelect, for
the step before it may be anybody's too.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from memoranda.kernel.errors import InvalidItem, ItemDamaged
from memoranda.plans.items import RetrievedItem


def whole_retrieval(found: object) -> tuple[RetrievedItem, ...]:
    """The items of a retrieval; ItemDamaged if any of them is not exactly one, or is there twice.

    An item is read anew even if it claims to be one: a model may have been made unvalidated.
    """
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        raise ItemDamaged("$", "what was retrieved is not a list of items")
    items: list[RetrievedItem] = []
    for place, one in enumerate(found):
        where = f"$[{place}]"
        if isinstance(one, BaseModel) and not isinstance(one, RetrievedItem):
            raise ItemDamaged(where, "it is not what a retrieval may give of an item")
        members = dict(vars(one)) if isinstance(one, RetrievedItem) else one
        try:
            item = RetrievedItem.model_validate(members)
        except InvalidItem as refused:
            raise ItemDamaged(f"{where}{refused.where[1:]}", refused.why) from refused
        if any(item.id == before.id for before in items):
            raise ItemDamaged(where, f"the item {item.id} was retrieved twice")
        items.append(item)
    return tuple(items)
