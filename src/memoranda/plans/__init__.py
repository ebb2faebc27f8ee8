"""Room 4: execution plans, which fail fast: steps, engine, sessions, items."""
