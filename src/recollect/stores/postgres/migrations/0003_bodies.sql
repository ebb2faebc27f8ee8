-- Bodies pass through a codec before they come here (ledger/codec.py): what is stored need not be
-- what the journal was hashed over, so the digests come with them.
--
-- And whatever is replaced is found by its key, one after the other. Joined to a list, with a plan
-- that was made while the tables were small, it would be looked for in the whole journal.

-- The content of every version of these objects, gone from wherever it or something of it stands.
CREATE OR REPLACE FUNCTION recollect.erase_content(p_journal bigint, p_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id text;
  v_seqs bigint[];
BEGIN
  FOREACH v_id IN ARRAY p_ids LOOP
    v_seqs := ARRAY(
      SELECT v.seq FROM recollect.versions v WHERE v.journal = p_journal AND v.id = v_id);
    DELETE FROM recollect.bodies b WHERE b.journal = p_journal AND b.seq = ANY (v_seqs);
    DELETE FROM recollect.words w WHERE w.journal = p_journal AND w.seq = ANY (v_seqs);
    UPDATE recollect.versions v SET
      is_newest = false, status = 'erased', created_at = 0, updated_at = 0,
      valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
    WHERE v.journal = p_journal AND v.id = v_id;
    DELETE FROM recollect.retries k WHERE k.journal = p_journal AND k.about = v_id;
  END LOOP;
  DELETE FROM recollect.derivations d WHERE d.journal = p_journal AND d.output = ANY (p_ids);
END $$;

-- Bring the index of words forward, from one entry to another, if nobody else did meanwhile. What
-- was erased since its words were looked at has no body, and gets none.
CREATE OR REPLACE FUNCTION recollect.merge_words(
  p_scope text, p_journal bigint, p_from bigint, p_to bigint, p_before text, p_after text,
  p_replacing text[], p_seqs bigint[], p_ids text[], p_numbers bigint[], p_tokens text[]
)
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_id text;
  v_seqs bigint[];
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  UPDATE recollect.journals j SET indexed = p_to, tokenizer = p_after
  WHERE j.scope = p_scope AND j.indexed = p_from AND j.tokenizer = p_before;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  FOREACH v_id IN ARRAY p_replacing LOOP
    v_seqs := ARRAY(
      SELECT v.seq FROM recollect.versions v
      WHERE v.journal = p_journal AND v.id = v_id AND v.seq < p_from);
    DELETE FROM recollect.words w WHERE w.journal = p_journal AND w.seq = ANY (v_seqs);
  END LOOP;
  INSERT INTO recollect.words (journal, seq, id, number, tokens)
  SELECT p_journal, n.seq, n.id, n.number, string_to_array(n.tokens, ' ')
  FROM unnest(p_seqs, p_ids, p_numbers, p_tokens) AS n (seq, id, number, tokens)
  WHERE (SELECT true FROM recollect.bodies b WHERE b.journal = p_journal AND b.seq = n.seq);
  RETURN true;
END $$;

DROP FUNCTION recollect.append(
  text, bigint, text[], bigint[], text[], bytea[], bytea[], bigint[], boolean[], text[],
  bigint[], text[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], bigint, text[],
  bigint[], text[], bigint[], text[], text[], bigint[], text[], text[], text[], text[], bigint[],
  text[], bigint[], bytea[], bytea[], text[], bigint[], bigint[], bigint[]);

-- Everything that some units come to, in one statement; see stores/postgres/appending.py, which
-- makes the arguments. The outcome:
--
--   done      with the number of the first entry, and the hashes of all, one after the other
--   moved     what was read before is no longer the newest
--   exists    with the first id in use, in the order given
--   repeated, key_used    as in first_outcome
--
-- Whatever it is but 'done', nothing was written.
--
--  1. the head is locked: nobody else appends until the transaction ends
--  2. a unit that was run before is not run again
--  3. what the units decided on is still so
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
