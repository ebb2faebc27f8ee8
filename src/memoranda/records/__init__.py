"""Room 3: mutable memory: the store's contract, its records, filters, patches, hooks, retention."""
