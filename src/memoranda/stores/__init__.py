"""Room 5: the stores: dict, SQLite, PostgreSQL. The only room that speaks SQL."""
