"""The names of the systems, as they stand in tables and results."""

from typing import Final

MEMORANDA: Final = "memoranda"
RAW: Final = "raw apsw"
LANGGRAPH: Final = "AsyncSqliteStore"
LANGGRAPH_WAL: Final = "AsyncSqliteStore WAL"

MEMORANDA_PG: Final = "memoranda PG"
RAW_PG: Final = "raw psycopg"
LANGGRAPH_PG: Final = "AsyncPostgresStore"

ON_SQLITE: Final = (RAW, MEMORANDA, LANGGRAPH_WAL, LANGGRAPH)
ON_POSTGRES: Final = (RAW_PG, MEMORANDA_PG, LANGGRAPH_PG)
