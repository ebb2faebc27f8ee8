"""HTTP: routes, documents and a server, all of them made of the table of operations."""
