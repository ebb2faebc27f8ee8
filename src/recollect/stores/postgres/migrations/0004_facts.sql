-- Facts, such as proposals, decisions, worlds and executions (ledger/fact.py): entries that are not
-- about an object, and are found by names of their own.

-- The names of facts. They stand in the bodies as well, and are made anew from them when in doubt.
-- A name is made of an id, at most 512 characters, and a word before it: it fits into an index entry
-- (2,704 bytes) as it is.
CREATE TABLE recollect.marks (
  journal bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  seq     bigint NOT NULL,
  PRIMARY KEY (journal, name, seq)
);
CREATE INDEX marks_by_entry ON recollect.marks (journal, seq);

ALTER TABLE recollect.marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.marks FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.marks
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

-- Behind row-level security an index is searched by a column, never by what tag_key makes of it. A
-- subject, an id or a name alone is short enough to be indexed as it is; two of them are not, so the
-- second one stands there by its key, which keeps a pair from being there twice.
DROP INDEX recollect.versions_by_subject;
CREATE INDEX versions_by_subject ON recollect.versions (journal, subject)
  WHERE subject IS NOT NULL;
DROP INDEX recollect.derivations_by_input;
CREATE UNIQUE INDEX derivations_by_input ON recollect.derivations
  (journal, input, recollect.tag_key(output));
DROP INDEX recollect.derivations_by_output;
CREATE INDEX derivations_by_output ON recollect.derivations (journal, output);

-- ------------------------------------------------------------------------------- looking up

-- What is found by its key is looked up one by one (LATERAL … LIMIT 1): no plan walks the journal
-- instead, whatever the sizes were when it was made.

-- The entries under a name after one of a number, by number, or the newest first; a limit of null
-- is none.
CREATE FUNCTION recollect.marked(
  p_scope text, p_journal bigint, p_name text, p_after bigint, p_limit bigint,
  p_newest_first boolean
)
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_seqs bigint[];
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  IF p_newest_first THEN
    v_seqs := ARRAY(
      SELECT m.seq FROM recollect.marks m
      WHERE m.journal = p_journal AND m.name = p_name AND m.seq > p_after
      ORDER BY m.seq DESC LIMIT p_limit);
  ELSE
    v_seqs := ARRAY(
      SELECT m.seq FROM recollect.marks m
      WHERE m.journal = p_journal AND m.name = p_name AND m.seq > p_after
      ORDER BY m.seq LIMIT p_limit);
  END IF;
  RETURN QUERY SELECT * FROM recollect.entries_in(p_journal, v_seqs);
END $$;

-- These entries, in the order given; those that are not there are left out. The caller has entered
-- the journal.
CREATE FUNCTION recollect.entries_in(p_journal bigint, p_seqs bigint[])
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT n.seq, f.entry, g.salt, g.body
  FROM unnest(p_seqs) WITH ORDINALITY AS n (seq, place)
  CROSS JOIN LATERAL (
    SELECT e.entry FROM recollect.entries e
    WHERE e.journal = p_journal AND e.seq = n.seq LIMIT 1
  ) AS f
  LEFT JOIN LATERAL (
    SELECT b.salt, b.body FROM recollect.bodies b
    WHERE b.journal = p_journal AND b.seq = n.seq LIMIT 1
  ) AS g ON true
  ORDER BY n.place;
END $$;

CREATE FUNCTION recollect.entries_at(p_scope text, p_journal bigint, p_seqs bigint[])
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY SELECT * FROM recollect.entries_in(p_journal, p_seqs);
END $$;

-- The names that begin so, by name, from the one after p_after on, each with its newest entry. They
-- stand before whatever goes on with more of the last character than a name can have.
-- One plan whatever the limit: the walk along the key. Left to its estimates, the planner would for
-- some read and sort all names that begin so.
CREATE FUNCTION recollect.marks_with(
  p_scope text, p_journal bigint, p_prefix text, p_after text, p_limit bigint
)
RETURNS TABLE (name text, seq bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET enable_hashagg = off
AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT m.name, max(m.seq) FROM recollect.marks m
  WHERE m.journal = p_journal AND m.name > p_after
    AND m.name >= p_prefix AND m.name < p_prefix || repeat(chr(1114111), 600)
  GROUP BY m.name
  ORDER BY m.name
  LIMIT p_limit;
END $$;

-- What was made from an object or a fact.
CREATE FUNCTION recollect.outputs_of(p_scope text, p_journal bigint, p_input text)
RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT d.output FROM recollect.derivations d
  WHERE d.journal = p_journal AND d.input = p_input
  ORDER BY d.output;
END $$;

-- ------------------------------------------------------------------------------- appending

-- The caller of each of these has entered the journal.

-- The first name whose newest entry is another one than expected; null expects that there is none.
CREATE FUNCTION recollect.moved_mark(p_journal bigint, p_names text[], p_seqs bigint[])
RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT n.name FROM unnest(p_names, p_seqs) WITH ORDINALITY AS n (name, seq, place)
    WHERE n.seq IS DISTINCT FROM (
      SELECT m.seq FROM recollect.marks m
      WHERE m.journal = p_journal AND m.name = n.name
      ORDER BY m.seq DESC LIMIT 1
    )
    ORDER BY n.place
    LIMIT 1);
END $$;

CREATE FUNCTION recollect.unmark(p_journal bigint, p_names text[], p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. cardinality(p_names) LOOP
    DELETE FROM recollect.marks m
    WHERE m.journal = p_journal AND m.name = p_names[i] AND m.seq = p_seqs[i];
  END LOOP;
END $$;

-- The bodies and marks of these entries, and what led to the names that they had. Of facts only
-- proposals are made with retry keys, which name the id of the proposal.
CREATE FUNCTION recollect.erase_entries(p_journal bigint, p_seqs bigint[], p_names text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
  v_name text;
BEGIN
  FOREACH v_seq IN ARRAY p_seqs LOOP
    DELETE FROM recollect.bodies b WHERE b.journal = p_journal AND b.seq = v_seq;
    DELETE FROM recollect.marks m WHERE m.journal = p_journal AND m.seq = v_seq;
  END LOOP;
  FOREACH v_name IN ARRAY p_names LOOP
    DELETE FROM recollect.derivations d WHERE d.journal = p_journal AND d.output = v_name;
    IF starts_with(v_name, 'proposal/') THEN
      DELETE FROM recollect.retries k
      WHERE k.journal = p_journal AND k.about = substr(v_name, strpos(v_name, '/') + 1);
    END IF;
  END LOOP;
END $$;

DROP FUNCTION recollect.append(
  text, bigint, text[], bigint[], text[], bytea[], bytea[], bytea[], bigint[], boolean[], text[],
  bigint[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], bigint, text[],
  bigint[], text[], bigint[], text[], text[], bigint[], text[], text[], text[], text[], bigint[],
  text[], bigint[], bytea[], bytea[], text[], bigint[], bigint[], bigint[]);

-- Everything that some units come to, in one statement; see stores/postgres/appending.py, which
-- makes the arguments. The outcome:
--
--   done      with the number of the first entry, and the hashes of all, one after the other
--   moved     what was read before is no longer the newest
--   exists    with the first id in use, in the order given
--   mark_moved    with the first name whose newest entry is not the one that was expected
--   repeated, key_used    as in first_outcome
--
-- Whatever it is but 'done', nothing was written.
--
--  1. the head is locked: nobody else appends until the transaction ends
--  2. a unit that was run before is not run again
--  3. what the units decided on, and what they expect, is still so
--  4. no version is stored twice
--  5. entries are chained, as `entry_bytes` in ledger/entry.py writes them; time never goes back
--  6. entries, bodies, what follows from them, the nodes that are complete now, the head
CREATE FUNCTION recollect.append(
  p_scope text, p_journal bigint,
  -- of each entry; the actor as a JSON string, the digest of salt and body, the body as a codec
  -- stores it: what it says is not for the database to know
  p_actors text[], p_ats bigint[], p_kinds text[],
  p_digests bytea[], p_salts bytea[], p_bodies bytea[],
  -- of each version; p_of is the entry that it is of, counted from 0
  p_of bigint[], p_is_newest boolean[], p_ids text[], p_numbers bigint[], p_statuses text[],
  p_created_ats bigint[], p_updated_ats bigint[],
  p_valid_froms bigint[], p_valid_tos bigint[], p_expires_ats bigint[], p_subjects text[],
  -- the version, counted from 1, that comes a second time; null if none does
  p_again bigint,
  p_replaced_ids text[], p_replaced_numbers bigint[],
  p_tags text[], p_tag_times bigint[], p_tag_ids text[],
  p_gone_tags text[], p_gone_times bigint[], p_gone_ids text[],
  -- whose content goes, and what was made from what
  p_erased_ids text[], p_inputs text[], p_outputs text[],
  -- the entries, counted from 0, that are about the memory as a whole
  p_notices bigint[],
  -- what was read: the newest number of each id, or null
  p_read_ids text[], p_read_numbers bigint[],
  -- of each key; p_firsts is the first entry of its unit, counted from 0
  p_key_digests bytea[], p_fingerprints bytea[], p_abouts text[],
  p_firsts bigint[], p_counts bigint[], p_key_ats bigint[],
  -- the names of facts; p_marked is the entry that has one, counted from 0
  p_marks text[], p_marked bigint[],
  -- the marks that go; the entries whose bodies and marks go, and the names that are taken over
  p_unmarks text[], p_unmarked bigint[], p_erased_seqs bigint[], p_erased_names text[],
  -- what is expected: the newest entry of each name, or null
  p_expected_names text[], p_expected_seqs bigint[],
  OUT outcome text, OUT about text, OUT seq bigint, OUT hashes bytea
)
LANGUAGE plpgsql AS $$
DECLARE
  v_journal bigint;
  v_size bigint;
  v_head bytea;
  v_at bigint;
  v_entry bytea;
  v_entries bytea[] := '{}';
  v_hashes bytea[] := '{}';
  v_count bigint := cardinality(p_bodies);
BEGIN
  -- 1
  PERFORM set_config('recollect.scope', p_scope, true);
  SELECT j.number, j.size, j.head, j.head_at INTO v_journal, v_size, v_head, v_at
  FROM recollect.journals j WHERE j.scope = p_scope
  FOR UPDATE;
  PERFORM recollect.bind(p_journal, v_journal);

  -- 2
  FOR i IN 1 .. cardinality(p_key_digests) LOOP
    SELECT f.outcome, f.about, f.seq, f.hashes INTO outcome, about, seq, hashes
    FROM recollect.first_outcome(p_journal, p_key_digests[i], p_fingerprints[i]) f;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;

  -- 3
  IF cardinality(p_expected_names) > 0 THEN
    about := recollect.moved_mark(p_journal, p_expected_names, p_expected_seqs);
    IF about IS NOT NULL THEN
      outcome := 'mark_moved';
      RETURN;
    END IF;
  END IF;
  IF cardinality(p_read_ids) > 0 THEN
    PERFORM 1 FROM unnest(p_read_ids, p_read_numbers) AS n (id, number)
    WHERE n.number IS DISTINCT FROM (
      SELECT v.number FROM recollect.versions v
      WHERE v.journal = p_journal AND v.id = n.id
      ORDER BY v.number DESC LIMIT 1
    );
    IF FOUND THEN
      outcome := 'moved';
      RETURN;
    END IF;
  END IF;

  -- 4
  SELECT n.id INTO about
  FROM unnest(p_ids, p_numbers) WITH ORDINALITY AS n (id, number, place)
  WHERE n.place = p_again OR (
    SELECT true FROM recollect.versions v
    WHERE v.journal = p_journal AND v.id = n.id AND v.number = n.number
  )
  ORDER BY n.place
  LIMIT 1;
  IF FOUND THEN
    outcome := 'exists';
    RETURN;
  END IF;

  -- 5
  outcome := 'done';
  seq := v_size;
  FOR i IN 1 .. v_count LOOP
    v_at := greatest(v_at, p_ats[i]);
    v_entry := convert_to(
      '{"actor":' || p_actors[i]
      || ',"at":' || v_at::text
      || ',"body_digest":"' || encode(p_digests[i], 'hex')
      || '","kind":"' || p_kinds[i]
      || '","previous_entry_hash":"' || encode(v_head, 'hex')
      || '","seq":' || (v_size + i - 1)::text || ',"v":1}', 'UTF8');
    v_head := sha256(v_entry);
    v_entries := v_entries || v_entry;
    v_hashes := v_hashes || v_head;
  END LOOP;

  -- 6
  IF v_count > 0 THEN
    INSERT INTO recollect.entries (journal, seq, entry)
    SELECT p_journal, v_size + n.place - 1, n.entry
    FROM unnest(v_entries) WITH ORDINALITY AS n (entry, place);
    INSERT INTO recollect.bodies (journal, seq, salt, body)
    SELECT p_journal, v_size + n.place - 1, n.salt, n.body
    FROM unnest(p_salts, p_bodies) WITH ORDINALITY AS n (salt, body, place);
    IF v_size >> 8 < (v_size + v_count) >> 8 THEN
      PERFORM recollect.complete_nodes(p_journal, v_size, v_size + v_count);
    END IF;
    UPDATE recollect.journals j SET size = v_size + v_count, head = v_head, head_at = v_at
    WHERE j.scope = p_scope;
  END IF;
  IF cardinality(p_erased_ids) > 0 THEN
    PERFORM recollect.erase_content(p_journal, p_erased_ids);
  END IF;
  IF cardinality(p_unmarks) > 0 THEN
    PERFORM recollect.unmark(p_journal, p_unmarks, p_unmarked);
  END IF;
  IF cardinality(p_erased_seqs) > 0 THEN
    PERFORM recollect.erase_entries(p_journal, p_erased_seqs, p_erased_names);
  END IF;
  FOR i IN 1 .. cardinality(p_replaced_ids) LOOP
    UPDATE recollect.versions v SET is_newest = false
    WHERE v.journal = p_journal AND v.id = p_replaced_ids[i] AND v.number = p_replaced_numbers[i];
  END LOOP;
  IF cardinality(p_ids) > 0 THEN
    INSERT INTO recollect.versions (
      journal, id, number, seq, is_newest, status, created_at, updated_at,
      valid_from, valid_to, expires_at, subject)
    SELECT p_journal, n.id, n.number, v_size + n.entry, n.is_newest, n.status, n.created_at,
           n.updated_at, n.valid_from, n.valid_to, n.expires_at, n.subject
    FROM unnest(
      p_of, p_is_newest, p_ids, p_numbers, p_statuses, p_created_ats, p_updated_ats,
      p_valid_froms, p_valid_tos, p_expires_ats, p_subjects
    ) AS n (entry, is_newest, id, number, status, created_at, updated_at,
            valid_from, valid_to, expires_at, subject);
  END IF;
  -- Behind row-level security no index is searched by what a function makes of a row, as of one of
  -- a list; by what it makes of a value it is.
  FOR i IN 1 .. cardinality(p_gone_tags) LOOP
    DELETE FROM recollect.tags t
    WHERE t.journal = p_journal AND t.tag = recollect.tag_key(p_gone_tags[i])
      AND t.created_at = p_gone_times[i] AND t.id = p_gone_ids[i];
  END LOOP;
  IF cardinality(p_tags) > 0 THEN
    INSERT INTO recollect.tags (journal, tag, created_at, id, whole)
    SELECT p_journal, recollect.tag_key(n.tag), n.created_at, n.id,
           nullif(n.tag, recollect.tag_key(n.tag))
    FROM unnest(p_tags, p_tag_times, p_tag_ids) AS n (tag, created_at, id);
  END IF;
  IF cardinality(p_notices) > 0 THEN
    INSERT INTO recollect.notices (journal, seq)
    SELECT p_journal, v_size + n.entry FROM unnest(p_notices) AS n (entry);
  END IF;
  IF cardinality(p_inputs) > 0 THEN
    INSERT INTO recollect.derivations (journal, input, output)
    SELECT p_journal, n.input, n.output FROM unnest(p_inputs, p_outputs) AS n (input, output)
    ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(p_marks) > 0 THEN
    INSERT INTO recollect.marks (journal, name, seq)
    SELECT p_journal, n.name, v_size + n.entry FROM unnest(p_marks, p_marked) AS n (name, entry);
  END IF;
  IF cardinality(p_key_digests) > 0 THEN
    INSERT INTO recollect.retries (journal, key_digest, fingerprint, about, seq, entries, at)
    SELECT p_journal, n.key_digest, n.fingerprint, n.about, v_size + n.first, n.entries, n.at
    FROM unnest(p_key_digests, p_fingerprints, p_abouts, p_firsts, p_counts, p_key_ats)
      AS n (key_digest, fingerprint, about, first, entries, at);
  END IF;
  IF v_count = 1 THEN
    hashes := v_head;
  ELSE
    SELECT coalesce(string_agg(n.hash, ''::bytea ORDER BY n.place), ''::bytea) INTO hashes
    FROM unnest(v_hashes) WITH ORDINALITY AS n (hash, place);
  END IF;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
