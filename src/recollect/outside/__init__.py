"""Room 5: what recollect reaches beyond its own database: models, embedders, signers, anchors, jobs."""
