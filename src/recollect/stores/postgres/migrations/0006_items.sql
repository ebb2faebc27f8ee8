-- Items, sessions and recordings of plans.

-- ------------------------------------------------------------------------------------- items

-- Items of plans: their canonical bytes, as a codec stores them.
CREATE TABLE recollect.items (
  journal bigint NOT NULL,
  session text COLLATE "C" NOT NULL,
  id      uuid NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, session, id)
);

-- What they are found by: each keyword of a session once, in three forms (stores/keywords.py), and
-- which items have it, with the time that they are ordered by. All of it follows from the items.
-- The key is what tag_key makes of a keyword, which may be longer than an index entry.
CREATE TABLE recollect.item_keywords (
  journal bigint NOT NULL,
  number  bigint GENERATED ALWAYS AS IDENTITY,
  session text COLLATE "C" NOT NULL,
  gram    text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  folded  text COLLATE "C" NOT NULL,
  marked  text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, session, gram, key)
);
CREATE TABLE recollect.item_postings (
  journal bigint NOT NULL,
  keyword bigint NOT NULL,
  at      bigint NOT NULL,
  id      uuid NOT NULL,
  PRIMARY KEY (journal, keyword, at, id)
);

ALTER TABLE recollect.items ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.items FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.items
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.item_keywords ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.item_keywords FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.item_keywords
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.item_postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.item_postings FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.item_postings
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

-- The items of a session whose keywords occur in a query, best first (plans/matching.py). One that
-- is not there has no body: its keywords are, and somebody must be told.
CREATE FUNCTION recollect.search_items(
  p_scope text, p_journal bigint, p_session text,
  p_grams text[], p_folded text, p_marked text, p_limit bigint
)
RETURNS TABLE (id uuid, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  WITH occurring AS MATERIALIZED (
    SELECT c.number, strpos(p_marked, c.marked) > 0 AS is_at_boundaries
    FROM unnest(p_grams) AS n (gram) CROSS JOIN LATERAL (
      SELECT k.number, k.folded, k.marked FROM recollect.item_keywords k
      WHERE k.journal = p_journal AND k.session = p_session AND k.gram = n.gram
      OFFSET 0
    ) AS c
    WHERE strpos(p_folded, c.folded) > 0
  ), best AS (
    SELECT h.id, h.at, count(*) FILTER (WHERE o.is_at_boundaries) AS at_boundaries,
           count(*) AS in_all
    FROM occurring o CROSS JOIN LATERAL (
      SELECT p.id, p.at FROM recollect.item_postings p
      WHERE p.journal = p_journal AND p.keyword = o.number
      OFFSET 0
    ) AS h
    GROUP BY h.id, h.at
    ORDER BY at_boundaries DESC, in_all DESC, h.at DESC, h.id
    LIMIT p_limit
  )
  SELECT b.id, (
    SELECT i.body FROM recollect.items i
    WHERE i.journal = p_journal AND i.session = p_session AND i.id = b.id
  )
  FROM best b
  ORDER BY b.at_boundaries DESC, b.in_all DESC, b.at DESC, b.id;
END $$;

-- Null if the item is kept now; else the body of the one that was kept before under its id. The
-- caller has locked the journal.
CREATE FUNCTION recollect.insert_item(
  p_journal bigint, p_session text, p_id uuid, p_at bigint, p_body bytea,
  p_grams text[], p_folded text[], p_marked text[]
)
RETURNS bytea
LANGUAGE plpgsql AS $$
DECLARE
  v_key text;
BEGIN
  INSERT INTO recollect.items (journal, session, id, body)
  VALUES (p_journal, p_session, p_id, p_body)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN (
      SELECT i.body FROM recollect.items i
      WHERE i.journal = p_journal AND i.session = p_session AND i.id = p_id);
  END IF;
  FOR i IN 1 .. cardinality(p_grams) LOOP
    v_key := recollect.tag_key(p_folded[i]);
    INSERT INTO recollect.item_keywords (journal, session, gram, key, folded, marked)
    VALUES (p_journal, p_session, p_grams[i], v_key, p_folded[i], p_marked[i])
    ON CONFLICT DO NOTHING;
    INSERT INTO recollect.item_postings (journal, keyword, at, id)
    SELECT p_journal, k.number, p_at, p_id FROM recollect.item_keywords k
    WHERE k.journal = p_journal AND k.session = p_session AND k.gram = p_grams[i]
      AND k.key = v_key;
  END LOOP;
  RETURN NULL;
END $$;

-- The same in a transaction of its own.
CREATE FUNCTION recollect.save_item(
  p_scope text, p_journal bigint, p_session text, p_id uuid, p_at bigint, p_body bytea,
  p_grams text[], p_folded text[], p_marked text[]
)
RETURNS bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  RETURN recollect.insert_item(
    p_journal, p_session, p_id, p_at, p_body, p_grams, p_folded, p_marked);
END $$;

-- How many items there are; they go, unless they are only to be counted. The caller has locked the
-- journal.
CREATE FUNCTION recollect.erase_items(p_journal bigint, p_is_dry_run boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_count bigint;
BEGIN
  SELECT count(*) INTO v_count FROM recollect.items i WHERE i.journal = p_journal;
  IF NOT p_is_dry_run THEN
    DELETE FROM recollect.items i WHERE i.journal = p_journal;
    DELETE FROM recollect.item_keywords k WHERE k.journal = p_journal;
    DELETE FROM recollect.item_postings p WHERE p.journal = p_journal;
  END IF;
  RETURN v_count;
END $$;

-- ------------------------------------------------------------------- sessions and recordings

-- The session of each name, and those that were put aside for another one, the newest with the
-- highest number. What they say stands in the body.
CREATE TABLE recollect.sessions (
  journal    bigint NOT NULL,
  name       text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  body       bytea NOT NULL,
  PRIMARY KEY (journal, name)
);
CREATE TABLE recollect.sessions_aside (
  journal bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  at      bigint NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, name, number)
);

-- Where sessions are files: the token of the newest temporary file whose unit has landed, for each
-- file, which is called by a digest of its path. A temporary file with another token is of a unit
-- that did not land, or that has been followed by another.
CREATE TABLE recollect.session_files (
  journal bigint NOT NULL,
  file    text COLLATE "C" NOT NULL,
  token   text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, file)
);
CREATE INDEX session_files_by_token ON recollect.session_files (journal, token);

-- What cycles were given and gave, where somebody asked for it. No search reads it.
CREATE TABLE recollect.recordings (
  journal bigint NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, cycle)
);

ALTER TABLE recollect.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.sessions
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.sessions_aside ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.sessions_aside FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.sessions_aside
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.session_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.session_files FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.session_files
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.recordings ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.recordings FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.recordings
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

CREATE FUNCTION recollect.session_of(p_scope text, p_journal bigint, p_name text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT s.body FROM recollect.sessions s WHERE s.journal = p_journal AND s.name = p_name;
END $$;

CREATE FUNCTION recollect.sessions_put_aside(p_scope text, p_journal bigint, p_name text)
RETURNS TABLE (at bigint, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT a.at, a.body FROM recollect.sessions_aside a
  WHERE a.journal = p_journal AND a.name = p_name
  ORDER BY a.number DESC;
END $$;

-- Nobody else saves a session meanwhile: a unit locks the same head.
CREATE FUNCTION recollect.put_session_aside(
  p_scope text, p_journal bigint, p_name text, p_at bigint, p_keep bigint
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_number bigint;
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  SELECT coalesce(max(a.number), 0) + 1 INTO v_number FROM recollect.sessions_aside a
  WHERE a.journal = p_journal AND a.name = p_name;
  INSERT INTO recollect.sessions_aside (journal, name, number, at, body)
  SELECT s.journal, s.name, v_number, p_at, s.body FROM recollect.sessions s
  WHERE s.journal = p_journal AND s.name = p_name;
  IF FOUND THEN
    DELETE FROM recollect.sessions s WHERE s.journal = p_journal AND s.name = p_name;
    DELETE FROM recollect.sessions_aside a
    WHERE a.journal = p_journal AND a.name = p_name AND a.number <= v_number - p_keep;
  END IF;
END $$;

-- Whoever wrote the file may be dead, and its transaction still at its COMMIT: that is waited for.
CREATE FUNCTION recollect.session_file_landed(p_scope text, p_journal bigint, p_token text)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  RETURN EXISTS (
    SELECT FROM recollect.session_files f WHERE f.journal = p_journal AND f.token = p_token);
END $$;

CREATE FUNCTION recollect.recording_of(p_scope text, p_journal bigint, p_cycle text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT r.body FROM recollect.recordings r WHERE r.journal = p_journal AND r.cycle = p_cycle;
END $$;

-- The caller of each of these has locked the journal.

-- False, and nothing was written, if neither it nor what it replaces stands there.
CREATE FUNCTION recollect.save_session(
  p_journal bigint, p_name text, p_session_id text, p_body bytea, p_replaces text
)
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_found text := (
    SELECT s.session_id FROM recollect.sessions s
    WHERE s.journal = p_journal AND s.name = p_name);
BEGIN
  IF v_found IS DISTINCT FROM p_replaces AND v_found IS DISTINCT FROM p_session_id THEN
    RETURN false;
  END IF;
  INSERT INTO recollect.sessions (journal, name, session_id, body)
  VALUES (p_journal, p_name, p_session_id, p_body)
  ON CONFLICT (journal, name)
  DO UPDATE SET session_id = excluded.session_id, body = excluded.body;
  RETURN true;
END $$;

CREATE FUNCTION recollect.note_session_file(p_journal bigint, p_file text, p_token text)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recollect.session_files (journal, file, token) VALUES (p_journal, p_file, p_token)
  ON CONFLICT (journal, file) DO UPDATE SET token = excluded.token;
END $$;

-- False, and nothing was written, if the cycle is recorded already.
CREATE FUNCTION recollect.record_cycle(p_journal bigint, p_cycle text, p_body bytea)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recollect.recordings (journal, cycle, body) VALUES (p_journal, p_cycle, p_body)
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- How many sessions and recordings there are; they go, unless they are only to be counted.
CREATE FUNCTION recollect.erase_sessions(
  p_journal bigint, p_is_dry_run boolean, OUT sessions bigint, OUT recordings bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT (SELECT count(*) FROM recollect.sessions s WHERE s.journal = p_journal)
    + (SELECT count(*) FROM recollect.sessions_aside a WHERE a.journal = p_journal),
    (SELECT count(*) FROM recollect.recordings r WHERE r.journal = p_journal)
  INTO sessions, recordings;
  IF NOT p_is_dry_run THEN
    DELETE FROM recollect.sessions s WHERE s.journal = p_journal;
    DELETE FROM recollect.sessions_aside a WHERE a.journal = p_journal;
    DELETE FROM recollect.session_files f WHERE f.journal = p_journal;
    DELETE FROM recollect.recordings r WHERE r.journal = p_journal;
  END IF;
END $$;

-- As before, and now also: a cycle is asked for with a retry key, like a proposal, and what was
-- recorded of it goes with its facts.
CREATE OR REPLACE FUNCTION recollect.erase_entries(
  p_journal bigint, p_seqs bigint[], p_names text[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
  v_name text;
  v_id text;
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
        DELETE FROM recollect.recordings r WHERE r.journal = p_journal AND r.cycle = v_id;
      END IF;
    END IF;
  END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
