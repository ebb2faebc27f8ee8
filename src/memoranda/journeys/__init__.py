"""Room 5: one file per story a user can tell: intent, turn, govern, audit, maintain."""
