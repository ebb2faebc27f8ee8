"""The contract of a memory store, kept once over any table of records."""
