"""The command ``memoranda``: parse, call, present."""
