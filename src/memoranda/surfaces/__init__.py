"""Room 7: parse, call one journey, present: the command line, and later HTTP, MCP, console."""
