"""Room 5: what lies beyond our own database: models, embedders, signers, anchors, jobs."""
