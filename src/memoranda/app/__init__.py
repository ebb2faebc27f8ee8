"""Room 6: the composition root: opens a database by its URL and wires the rooms together."""
