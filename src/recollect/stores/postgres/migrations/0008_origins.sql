-- What leads from a cycle to what it left: the salt of the digests in its fact, and the items that it
-- stored. The salt is in no export, and goes when the cycle is erased; so do the items.
CREATE TABLE recollect.cycle_salts (
  journal bigint NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  salt    bytea NOT NULL,
  PRIMARY KEY (journal, cycle)
);
CREATE TABLE recollect.item_origins (
  journal bigint NOT NULL,
  session text COLLATE "C" NOT NULL,
  id      uuid NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, session, id)
);
CREATE INDEX item_origins_by_cycle ON recollect.item_origins (journal, cycle);

ALTER TABLE recollect.cycle_salts ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.cycle_salts FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.cycle_salts
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.item_origins ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.item_origins FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.item_origins
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

CREATE FUNCTION recollect.salt_of(p_scope text, p_journal bigint, p_cycle text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT s.salt FROM recollect.cycle_salts s WHERE s.journal = p_journal AND s.cycle = p_cycle;
END $$;

-- The cycles that stored some items of a session, each with the newest entry of its name and how
-- many of these items it stored.
CREATE FUNCTION recollect.origins_of(p_scope text, p_journal bigint, p_session text, p_ids text[])
RETURNS TABLE (cycle text, seq bigint, items bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT f.cycle, (
    SELECT max(m.seq) FROM recollect.marks m
    WHERE m.journal = p_journal AND m.name = 'cycle/' || f.cycle
  ), f.items
  FROM (
    SELECT o.cycle, count(*) AS items FROM unnest(p_ids) AS n (id) CROSS JOIN LATERAL (
      SELECT g.cycle FROM recollect.item_origins g
      WHERE g.journal = p_journal AND g.session = p_session AND g.id = n.id::uuid
    ) AS o
    GROUP BY o.cycle
  ) AS f
  ORDER BY f.cycle COLLATE "C";
END $$;

-- The caller of each of these has locked the journal.

-- False, and nothing was written, if the cycle has a salt.
CREATE FUNCTION recollect.keep_salt(p_journal bigint, p_cycle text, p_salt bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recollect.cycle_salts (journal, cycle, salt) VALUES (p_journal, p_cycle, p_salt)
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- False, and nothing was written, if the item is another cycle's.
CREATE FUNCTION recollect.keep_origin(
  p_journal bigint, p_session text, p_id uuid, p_cycle text
)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recollect.item_origins (journal, session, id, cycle)
  VALUES (p_journal, p_session, p_id, p_cycle)
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- What cycles left beside their facts goes: their items, with the keywords that no other item of
-- their session has, their recordings, and their salts. The postings of a session are read once,
-- however many of its cycles go: ids are compared as texts because no index is to be asked for them.
CREATE FUNCTION recollect.erase_cycles(p_journal bigint, p_cycles text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_of record;
BEGIN
  FOR v_of IN
    SELECT o.session, array_agg(o.id) AS ids, array_agg(o.id::text) AS texts
    FROM recollect.item_origins o
    WHERE o.journal = p_journal AND o.cycle = ANY (p_cycles)
    GROUP BY o.session
  LOOP
    DELETE FROM recollect.item_postings p
    WHERE p.journal = p_journal AND p.id::text = ANY (v_of.texts) AND p.keyword IN (
      SELECT k.number FROM recollect.item_keywords k
      WHERE k.journal = p_journal AND k.session = v_of.session);
    DELETE FROM recollect.item_keywords k
    WHERE k.journal = p_journal AND k.session = v_of.session AND NOT EXISTS (
      SELECT FROM recollect.item_postings p
      WHERE p.journal = p_journal AND p.keyword = k.number);
    DELETE FROM recollect.items i
    WHERE i.journal = p_journal AND i.session = v_of.session AND i.id = ANY (v_of.ids);
  END LOOP;
  DELETE FROM recollect.item_origins o WHERE o.journal = p_journal AND o.cycle = ANY (p_cycles);
  DELETE FROM recollect.recordings r WHERE r.journal = p_journal AND r.cycle = ANY (p_cycles);
  DELETE FROM recollect.cycle_salts s WHERE s.journal = p_journal AND s.cycle = ANY (p_cycles);
END $$;

-- As before, and now with where they came from.
CREATE OR REPLACE FUNCTION recollect.erase_items(p_journal bigint, p_is_dry_run boolean)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_count bigint;
BEGIN
  SELECT count(*) INTO v_count FROM recollect.items i WHERE i.journal = p_journal;
  IF NOT p_is_dry_run THEN
    DELETE FROM recollect.items i WHERE i.journal = p_journal;
    DELETE FROM recollect.item_keywords k WHERE k.journal = p_journal;
    DELETE FROM recollect.item_postings p WHERE p.journal = p_journal;
    DELETE FROM recollect.item_origins o WHERE o.journal = p_journal;
    DELETE FROM recollect.cycle_salts s WHERE s.journal = p_journal;
  END IF;
  RETURN v_count;
END $$;

-- As before, and now with all that a cycle left, not its recording alone.
CREATE OR REPLACE FUNCTION recollect.erase_entries(
  p_journal bigint, p_seqs bigint[], p_names text[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
  v_name text;
  v_id text;
  v_cycles text[] := '{}';
BEGIN
  FOREACH v_seq IN ARRAY p_seqs LOOP
    DELETE FROM recollect.bodies b WHERE b.journal = p_journal AND b.seq = v_seq;
    DELETE FROM recollect.marks m WHERE m.journal = p_journal AND m.seq = v_seq;
  END LOOP;
  FOREACH v_name IN ARRAY p_names LOOP
    DELETE FROM recollect.derivations d WHERE d.journal = p_journal AND d.output = v_name;
    IF starts_with(v_name, 'proposal/') OR starts_with(v_name, 'cycle/') THEN
      v_id := substr(v_name, strpos(v_name, '/') + 1);
      DELETE FROM recollect.retries k WHERE k.journal = p_journal AND k.about = v_id;
      IF starts_with(v_name, 'cycle/') THEN
        v_cycles := v_cycles || v_id;
      END IF;
    END IF;
  END LOOP;
  IF cardinality(v_cycles) > 0 THEN
    PERFORM recollect.erase_cycles(p_journal, v_cycles);
  END IF;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
