"""How a filter is written for PostgreSQL."""

from typing import Final

from psycopg.types.numeric import Int8

from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.units import JOINED
from memoranda.stores.selection import Dialect, Selection

DIALECT: Final = Dialect(
    id_in_list="v.id = ANY (?)",
    list_parameter=Texts,
    no_limit=None,
    joined=JOINED,
    schema="memoranda.",
    tag="memoranda.tag_key(?)",
    long_tags="x.tag >= 'sha256:' AND x.tag < 'sha256;'",
)


def for_psycopg(chosen: Selection) -> tuple[str, list[object]]:
    """Its placeholders, and integers of one size: else each size would be a plan of its own."""
    parameters = [Int8(each) if isinstance(each, int) else each for each in chosen.parameters]
    return chosen.sql.replace("?", "%s"), parameters
