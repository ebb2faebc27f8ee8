"""Memory for AI agents that can be audited, replayed and trusted."""
