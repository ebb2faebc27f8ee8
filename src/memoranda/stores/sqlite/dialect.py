"""How a filter is written for SQLite."""

from typing import Final

import orjson

from memoranda.stores.selection import Dialect
from memoranda.stores.sqlite.units import JOINED

DIALECT: Final = Dialect(
    id_in_list="v.id IN (SELECT value FROM json_each(?))",
    list_parameter=lambda ids: orjson.dumps(ids).decode(),  # noqa: TID251 - a parameter
    no_limit=-1,
    joined=JOINED,
)
