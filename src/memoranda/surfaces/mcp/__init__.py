"""MCP: tools, resources and prompts over the one table of operations, by stdio and by HTTP."""
