"""Room 3: append-only memory: typed objects, the journal and its views, checkpoints."""
