"""The pages: each asks operations, and hands what they say to a template."""
