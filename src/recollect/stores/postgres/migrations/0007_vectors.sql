-- Embeddings of what is active and newest: float32, little-endian (recall/embedder.py). They are
-- derived by a model that the database doesn't know, so they can be made anew, and are never
-- verified. An identity has at most 200 characters: it fits into an index entry as it is.
CREATE TABLE recollect.vectors (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  model   text COLLATE "C" NOT NULL,
  id      text COLLATE "C" NOT NULL,
  vector  bytea NOT NULL,
  PRIMARY KEY (journal, seq, model)
);
-- Floats don't pack: long ones are not tried.
ALTER TABLE recollect.vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

ALTER TABLE recollect.vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.vectors
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

-- They go with the version that they were made of, in the same transaction: when it is replaced,
-- forgotten or erased. Nothing stale can be found, and of what was erased no vector is left.
CREATE FUNCTION recollect.drop_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM recollect.vectors x WHERE x.journal = new.journal AND x.seq = new.seq;
  RETURN NULL;
END $$;
CREATE TRIGGER vectors_follow AFTER UPDATE OF is_newest ON recollect.versions
  FOR EACH ROW WHEN (old.is_newest AND NOT new.is_newest)
  EXECUTE FUNCTION recollect.drop_vectors();

-- How many objects are active, and how many vectors there are.
CREATE FUNCTION recollect.count_vectors(
  p_scope text, p_journal bigint, p_model text, OUT active bigint, OUT embedded bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT count(*) INTO active FROM recollect.versions v
  WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active';
  SELECT count(*) INTO embedded FROM recollect.vectors x
  WHERE x.journal = p_journal AND x.model = p_model;
END $$;

-- Active objects without a vector, those that were changed last first. One plan whatever the limit:
-- the walk along the index, which mostly ends at its beginning.
CREATE FUNCTION recollect.without_vector(
  p_scope text, p_journal bigint, p_model text, p_limit bigint
)
RETURNS TABLE (id text, seq bigint, body bytea)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT n.id, n.seq, b.body FROM (
    SELECT v.id, v.seq, v.updated_at FROM recollect.versions v
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active'
      AND NOT EXISTS (
        SELECT FROM recollect.vectors x
        WHERE x.journal = p_journal AND x.seq = v.seq AND x.model = p_model)
    ORDER BY v.updated_at DESC, v.id
    LIMIT p_limit
  ) AS n
  CROSS JOIN LATERAL (
    SELECT c.body FROM recollect.bodies c WHERE c.journal = p_journal AND c.seq = n.seq LIMIT 1
  ) AS b;
END $$;

-- How many were kept. Under the lock of the head: what is newest stays so until this has landed.
CREATE FUNCTION recollect.put_vectors(
  p_scope text, p_journal bigint, p_model text, p_ids text[], p_seqs bigint[], p_vectors bytea[]
)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_kept bigint;
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  INSERT INTO recollect.vectors (journal, seq, model, id, vector)
  SELECT p_journal, n.seq, p_model, n.id, n.vector
  FROM unnest(p_ids, p_seqs, p_vectors) AS n (id, seq, vector)
  CROSS JOIN LATERAL (
    SELECT v.seq, v.status FROM recollect.versions v
    WHERE v.journal = p_journal AND v.id = n.id
    ORDER BY v.number DESC LIMIT 1
  ) AS newest
  WHERE newest.seq = n.seq AND newest.status = 'active'
  ON CONFLICT (journal, seq, model) DO NOTHING;
  GET DIAGNOSTICS v_kept = ROW_COUNT;
  RETURN v_kept;
END $$;

CREATE FUNCTION recollect.drop_other_vectors(p_scope text, p_journal bigint, p_model text)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_gone bigint;
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  DELETE FROM recollect.vectors x WHERE x.journal = p_journal AND x.model <> p_model;
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
