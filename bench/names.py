"""The names of the systems, as they stand in tables and results."""

from typing import Final

RECOLLECT: Final = "recollect"
RAW: Final = "raw apsw"
LANGGRAPH: Final = "AsyncSqliteStore"
LANGGRAPH_WAL: Final = "AsyncSqliteStore WAL"

RECOLLECT_PG: Final = "recollect PG"
RAW_PG: Final = "raw psycopg"
LANGGRAPH_PG: Final = "AsyncPostgresStore"

ON_SQLITE: Final = (RAW, RECOLLECT, LANGGRAPH_WAL, LANGGRAPH)
ON_POSTGRES: Final = (RAW_PG, RECOLLECT_PG, LANGGRAPH_PG)
