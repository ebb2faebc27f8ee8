-- The index of words with counts and lengths: postings of our own, in segments (stores/postings.py),
-- in the same layout as in SQLite. It follows from the journal, and is made anew from it.

DROP FUNCTION recollect.merge_words(
  text, bigint, bigint, bigint, text, text, text[], bigint[], text[], bigint[], text[]);
DROP FUNCTION recollect.index_of(text, bigint);
DROP TABLE recollect.words;

-- How many documents the index has, and the sum of their lengths in tokens. Whatever changes the
-- index also counts `revision` up: who has prepared a change without the lock learns whether it
-- still fits by comparing one number.
ALTER TABLE recollect.journals
  ADD COLUMN documents bigint NOT NULL DEFAULT 0,
  ADD COLUMN length bigint NOT NULL DEFAULT 0,
  ADD COLUMN revision bigint NOT NULL DEFAULT 0;

-- The owner is bound by row-level security too, and sees no row of any scope.
ALTER TABLE recollect.journals NO FORCE ROW LEVEL SECURITY;
UPDATE recollect.journals SET indexed = 0;
ALTER TABLE recollect.journals FORCE ROW LEVEL SECURITY;

-- Postings that were written together, of the entries from `first` up to `until`
-- (stores/segments.py). While some are being merged, the one that they become is there as well.
CREATE TABLE recollect.segments (
  journal bigint NOT NULL,
  number  bigint NOT NULL,
  first   bigint NOT NULL,
  until   bigint NOT NULL,
  level   bigint NOT NULL,
  PRIMARY KEY (journal, number)
);

-- The postings of a token in a segment, by entry, in chunks; `first` is the entry of a chunk's first
-- posting. The rows of a new segment are new at the end of the key: no page is written for each word
-- of each record.
CREATE TABLE recollect.postings (
  journal bigint NOT NULL,
  segment bigint NOT NULL,
  token   text COLLATE "C" NOT NULL,
  first   bigint NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, segment, token, first)
);

-- The records of a thread in their order, of what is in the index (ledger/derive.py).
CREATE TABLE recollect.threads (
  journal    bigint NOT NULL,
  thread     text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  seq        bigint NOT NULL,
  speaker    text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, thread, created_at, id)
);
CREATE INDEX threads_by_entry ON recollect.threads (seq, journal);

-- Postings lead to entries, and entries to what is current. The key begins with the entry, so that
-- nobody takes it for a way to find all of a journal.
CREATE INDEX versions_by_entry ON recollect.versions (seq, journal);

ALTER TABLE recollect.segments ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.segments FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.segments
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.postings FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.postings
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.threads ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.threads FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.threads
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

-- ----------------------------------------------------------------------------- looking

-- How far the index of words reaches and whose it is, what it counts, how many entries there are.
CREATE FUNCTION recollect.index_of(
  p_scope text, p_journal bigint,
  OUT indexed bigint, OUT size bigint, OUT tokenizer text,
  OUT documents bigint, OUT length bigint, OUT revision bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT j.indexed, j.size, j.tokenizer, j.documents, j.length, j.revision
  INTO indexed, size, tokenizer, documents, length, revision
  FROM recollect.journals j WHERE j.scope = p_scope;
END $$;

-- ---------------------------------------------------------------------------- changing

-- The caller of each of these has entered the journal, and holds its lock.

CREATE FUNCTION recollect.put_postings(
  p_journal bigint, p_segments bigint[], p_tokens text[], p_firsts bigint[], p_bodies bytea[]
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO recollect.postings (journal, segment, token, first, body)
  SELECT p_journal, n.segment, n.token, n.first, n.body
  FROM unnest(p_segments, p_tokens, p_firsts, p_bodies) AS n (segment, token, first, body);
END $$;

CREATE FUNCTION recollect.take_postings(
  p_journal bigint, p_segments bigint[], p_tokens text[], p_firsts bigint[]
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. cardinality(p_tokens) LOOP
    DELETE FROM recollect.postings p
    WHERE p.journal = p_journal AND p.segment = p_segments[i] AND p.token = p_tokens[i]
      AND p.first = p_firsts[i];
  END LOOP;
END $$;

-- What documents that go take with them: chunks are written anew without them.
CREATE FUNCTION recollect.take_documents(
  p_journal bigint, p_documents bigint, p_length bigint,
  p_old_segments bigint[], p_old_tokens text[], p_old_firsts bigint[],
  p_segments bigint[], p_tokens text[], p_firsts bigint[], p_bodies bytea[], p_seqs bigint[]
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.take_postings(p_journal, p_old_segments, p_old_tokens, p_old_firsts);
  PERFORM recollect.put_postings(p_journal, p_segments, p_tokens, p_firsts, p_bodies);
  FOR i IN 1 .. cardinality(p_seqs) LOOP
    DELETE FROM recollect.threads t WHERE t.journal = p_journal AND t.seq = p_seqs[i];
  END LOOP;
  UPDATE recollect.journals j SET
    documents = j.documents - p_documents, length = j.length - p_length, revision = j.revision + 1
  WHERE j.number = p_journal;
END $$;

-- The index without anything in it.
CREATE FUNCTION recollect.clear_index(p_journal bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM recollect.postings p WHERE p.journal = p_journal;
  DELETE FROM recollect.segments s WHERE s.journal = p_journal;
  DELETE FROM recollect.threads t WHERE t.journal = p_journal;
  UPDATE recollect.journals j SET
    indexed = 0, documents = 0, length = 0, revision = j.revision + 1
  WHERE j.number = p_journal;
END $$;

-- The content of every version of these objects, gone from wherever it or something of it stands.
-- Their postings are gone already, since only their words lead to them (stores/postgres/taking.py).
-- Who has looked at what is not in the index yet has to look again: `revision` says so.
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
    DELETE FROM recollect.threads t WHERE t.journal = p_journal AND t.seq = ANY (v_seqs);
    UPDATE recollect.versions v SET
      is_newest = false, status = 'erased', created_at = 0, updated_at = 0,
      valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
    WHERE v.journal = p_journal AND v.id = v_id;
    DELETE FROM recollect.retries k WHERE k.journal = p_journal AND k.about = v_id;
  END LOOP;
  DELETE FROM recollect.derivations d WHERE d.journal = p_journal AND d.output = ANY (p_ids);
  UPDATE recollect.journals j SET revision = j.revision + 1 WHERE j.number = p_journal;
END $$;

-- The index of words from the start, of no tokenizer until a unit names one.
CREATE OR REPLACE FUNCTION recollect.begin_reindex(
  p_scope text, p_journal bigint, p_tokenizer text
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  PERFORM recollect.clear_index(p_journal);
  UPDATE recollect.journals j SET tokenizer = p_tokenizer WHERE j.scope = p_scope;
END $$;

-- Bring the index of words forward, from one entry to another, by a segment of this number, unless
-- it was changed since it was looked at; whether it was done.
CREATE FUNCTION recollect.merge_words(
  p_scope text, p_journal bigint, p_revision bigint,
  p_from bigint, p_to bigint, p_tokenizer text, p_segment bigint,
  -- what is new: how many documents, how long, their postings, their places in threads
  p_documents bigint, p_length bigint,
  p_tokens text[], p_firsts bigint[], p_bodies bytea[],
  p_threads text[], p_times bigint[], p_ids text[], p_seqs bigint[], p_speakers text[],
  -- what is replaced, as in take_documents
  p_gone_documents bigint, p_gone_length bigint,
  p_old_segments bigint[], p_old_tokens text[], p_old_firsts bigint[],
  p_left_segments bigint[], p_left_tokens text[], p_left_firsts bigint[], p_left_bodies bytea[],
  p_gone_seqs bigint[]
)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  UPDATE recollect.journals j SET
    indexed = p_to, tokenizer = p_tokenizer, documents = j.documents + p_documents,
    length = j.length + p_length, revision = j.revision + 1
  WHERE j.scope = p_scope AND j.revision = p_revision AND j.indexed = p_from;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF cardinality(p_gone_seqs) > 0 THEN
    PERFORM recollect.take_documents(
      p_journal, p_gone_documents, p_gone_length, p_old_segments, p_old_tokens, p_old_firsts,
      p_left_segments, p_left_tokens, p_left_firsts, p_left_bodies, p_gone_seqs);
  END IF;
  INSERT INTO recollect.segments (journal, number, first, until, level)
  VALUES (p_journal, p_segment, p_from, p_to, 0);
  INSERT INTO recollect.postings (journal, segment, token, first, body)
  SELECT p_journal, p_segment, n.token, n.first, n.body
  FROM unnest(p_tokens, p_firsts, p_bodies) AS n (token, first, body);
  INSERT INTO recollect.threads (journal, thread, created_at, id, seq, speaker)
  SELECT p_journal, n.thread, n.created_at, n.id, n.seq, n.speaker
  FROM unnest(p_threads, p_times, p_ids, p_seqs, p_speakers)
    AS n (thread, created_at, id, seq, speaker);
  RETURN true;
END $$;

-- Go on merging segments into another one, which is there from the first time on: the chunks of the
-- tokens after one, up to another, are moved. A null for the latter stands for the end: then those
-- that were merged are gone. Unless the index was changed since it was looked at; whether it was done.
CREATE FUNCTION recollect.merge_segments(
  p_scope text, p_journal bigint, p_revision bigint,
  p_number bigint, p_first bigint, p_until bigint, p_level bigint, p_of bigint[],
  p_after text, p_upto text, p_tokens text[], p_firsts bigint[], p_bodies bytea[]
)
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_segment bigint;
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  UPDATE recollect.journals j SET revision = j.revision + 1
  WHERE j.scope = p_scope AND j.revision = p_revision;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO recollect.segments (journal, number, first, until, level)
  VALUES (p_journal, p_number, p_first, p_until, p_level)
  ON CONFLICT (journal, number) DO NOTHING;
  FOREACH v_segment IN ARRAY p_of LOOP
    IF p_upto IS NULL THEN
      DELETE FROM recollect.postings p WHERE p.journal = p_journal AND p.segment = v_segment;
      DELETE FROM recollect.segments s WHERE s.journal = p_journal AND s.number = v_segment;
    ELSE
      DELETE FROM recollect.postings p
      WHERE p.journal = p_journal AND p.segment = v_segment
        AND p.token > p_after AND p.token <= p_upto;
    END IF;
  END LOOP;
  INSERT INTO recollect.postings (journal, segment, token, first, body)
  SELECT p_journal, p_number, n.token, n.first, n.body
  FROM unnest(p_tokens, p_firsts, p_bodies) AS n (token, first, body);
  RETURN true;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
