"""Room 3: sealed memory: snapshots, proposals, authorities, worlds, lineage, replay."""
