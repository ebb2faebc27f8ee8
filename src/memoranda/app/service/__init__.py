"""What every door of a server calls: one table of operations, and who may call which."""
