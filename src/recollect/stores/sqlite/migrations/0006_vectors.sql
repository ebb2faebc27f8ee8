-- Embeddings of what is active and newest: float32, little-endian (recall/embedder.py). They are derived
-- by a model that the database doesn't know, so they can be made anew, and are never verified.
CREATE TABLE vectors (
  journal INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  model   TEXT    NOT NULL,
  id      TEXT    NOT NULL,
  vector  BLOB    NOT NULL,
  PRIMARY KEY (journal, seq, model)
) STRICT;

-- They go with the version that they were made of, in the same transaction: when it is replaced,
-- forgotten or erased. Nothing stale can be found, and of what was erased no vector is left.
CREATE TRIGGER vectors_follow AFTER UPDATE OF is_newest ON versions WHEN NOT new.is_newest BEGIN
  DELETE FROM vectors WHERE journal = new.journal AND seq = new.seq;
END;
