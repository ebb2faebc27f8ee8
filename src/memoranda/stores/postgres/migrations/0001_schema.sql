-- The schema, whole. It is told in this order: journals and their entries, the tree over them and its
-- checkpoints; what follows from the entries; the index of words; plans; leases. Then the wall around them,
-- and the functions, in the same order.
--
-- Every name is written in full, so that no search_path decides what is meant.
-- COLLATE "C" compares bytes, which in UTF-8 is code point order: the database's locale decides
-- neither order nor equality.
--
-- Columns that say something of memory have SET STATISTICS 0: the planner keeps nothing of them.
-- ANALYZE, which autovacuum runs by itself, copies common and sampled values of each column into
-- pg_statistic, where everyone who may read the table sees them (pg_stats), and where they stay
-- when the rows are erased, until the next run. To run ANALYZE at each erasure would be no way out:
-- only the owner of a table may, and programs are not. Every search for one of these values goes by
-- a key or an index, whatever is known of its values.

-- A text as it stands in an index: itself, or its digest when it is so long that it would not fit
-- into an index entry (2,704 bytes) together with the longest id.
CREATE FUNCTION memoranda.tag_key(p_tag text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN octet_length(p_tag) <= 96 AND NOT starts_with(p_tag, 'sha256:') THEN p_tag
    ELSE 'sha256:' || encode(sha256(convert_to(p_tag, 'UTF8')), 'hex')
  END
$$;

-- -------------------------------------------------------------------------------------- journals

-- `journal` is 63 bits of the sha256 of the scope (stores/postgres/scopes.py), made by whoever asks:
-- it leads every key, and nothing is unique beyond it, so that the tables can be cut by it and lie on
-- many servers. Two scopes that share it are refused when the second is opened.
--
-- One journal for each scope, with its head: how many entries it has, and the hash of the last.
-- Its row is the lock under which a journal grows.
--
-- Of its entries the first `indexed` are in the index of words, as the tokens of this tokenizer; the
-- index has so many documents, and they have `length` tokens together. Whatever changes the index
-- also counts `revision` up: who has prepared a change without the lock learns whether it still fits
-- by comparing one number. `keywords` counts the keywords of items, which are numbered by it.
CREATE TABLE memoranda.journals (
  journal   bigint NOT NULL PRIMARY KEY,
  scope     text COLLATE "C" NOT NULL,
  origin    text COLLATE "C" NOT NULL,
  opened_at bigint NOT NULL,
  size      bigint NOT NULL,
  head      bytea NOT NULL,
  head_at   bigint NOT NULL,
  indexed   bigint NOT NULL DEFAULT 0,
  tokenizer text COLLATE "C" NOT NULL DEFAULT '',
  documents bigint NOT NULL DEFAULT 0,
  length    bigint NOT NULL DEFAULT 0,
  revision  bigint NOT NULL DEFAULT 0,
  keywords  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);  -- every write changes its row: there is room for that on its page

-- The key makes a fork impossible: two entries after the same one would have the same number. An
-- index of previous hashes would say so once more, at 70 bytes an entry and another page to write,
-- and would catch nothing else: an entry that names a wrong hash breaks the chain, which is what
-- `verify` looks at. An entry is kept as its fields (stores/shorthand.py). The body and its salt are
-- null once they are erased.
CREATE TABLE memoranda.entries (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  entry   bytea NOT NULL,
  salt    bytea,
  body    bytea,
  PRIMARY KEY (journal, seq)
);
ALTER TABLE memoranda.entries
  ALTER COLUMN salt SET STATISTICS 0, ALTER COLUMN body SET STATISTICS 0;

-- Which entries are about the memory as a whole (policies, breaks, audits, maintenance) is read from
-- the entries themselves, by their first byte, or by the words in which one that is kept as JSON says
-- its kind: there is no list of them that could be shortened.
CREATE INDEX entries_about_the_whole ON memoranda.entries (journal, seq)
  WHERE ((entry >= '\x05'::bytea AND entry < '\x07'::bytea)
    OR (entry >= '\x08'::bytea AND entry < '\x09'::bytea)
    OR (entry >= '\x7b'::bytea
      AND (position('\x226b696e64223a22706f6c6963795f6368616e676522'::bytea IN entry) > 0
      OR position('\x226b696e64223a22636f6e666f726d616e63655f627265616b22'::bytea IN entry) > 0
      OR position('\x226b696e64223a226d61696e74656e616e636522'::bytea IN entry) > 0)));

-- --------------------------------------------------------------------- the tree, and checkpoints

-- Every eighth level of the Merkle tree over the entries; the rest is hashed when it is needed.
CREATE TABLE memoranda.nodes (
  journal bigint NOT NULL,
  level   bigint NOT NULL,
  number  bigint NOT NULL,
  hash    bytea NOT NULL,
  PRIMARY KEY (journal, level, number)
);

-- Checkpoints that were made of a journal, as notes; whoever keeps them elsewhere can compare.
CREATE TABLE memoranda.checkpoints (
  journal bigint NOT NULL,
  size    bigint NOT NULL,
  note    text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (journal, size)
);

-- ----------------------------------------------------------------- what follows from the entries

-- The versions of objects. They are made anew from the journal when in doubt. `seq` is the entry of
-- the version; `since` is the entry since which the object has been active without a break, and of a
-- version that is not active its own.
CREATE TABLE memoranda.versions (
  journal    bigint NOT NULL,
  seq        bigint NOT NULL,
  since      bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  number     integer NOT NULL,
  is_newest  boolean NOT NULL,
  status     text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  valid_from bigint,
  valid_to   bigint,
  expires_at bigint,
  subject    text COLLATE "C",
  PRIMARY KEY (journal, id, number)
);
ALTER TABLE memoranda.versions
  ALTER COLUMN subject SET STATISTICS 0, ALTER COLUMN valid_from SET STATISTICS 0,
  ALTER COLUMN valid_to SET STATISTICS 0, ALTER COLUMN expires_at SET STATISTICS 0;
-- Ties of a millisecond are in the journal's order: what was written last is the newest. New entries
-- land at the end, where inserting is cheap.
CREATE INDEX active_by_creation ON memoranda.versions (journal, created_at, since)
  WHERE is_newest AND status = 'active';
CREATE INDEX active_by_update ON memoranda.versions (journal, updated_at, since)
  WHERE is_newest AND status = 'active';
-- Behind row-level security an index is searched by a column, never by what tag_key makes of it. A
-- subject, an id or a name alone is short enough to be indexed as it is.
CREATE INDEX versions_by_subject ON memoranda.versions (journal, subject)
  WHERE subject IS NOT NULL;
CREATE INDEX active_by_expiry ON memoranda.versions (journal, expires_at)
  WHERE is_newest AND status = 'active' AND expires_at IS NOT NULL;
-- Postings lead to entries, and entries to what is current. The key begins with the entry, so that
-- nobody takes it for a way to find all of a journal.
CREATE INDEX versions_by_entry ON memoranda.versions (seq, journal);

-- Likewise in the journal's order: the newest ten of a tag are ten neighbours.
-- The tag is what memoranda.tag_key makes of it; where that is a digest, it is whole as well.
CREATE TABLE memoranda.tags (
  journal    bigint NOT NULL,
  created_at bigint NOT NULL,
  since      bigint NOT NULL,
  tag        text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  whole      text COLLATE "C"
);
ALTER TABLE memoranda.tags
  ALTER COLUMN tag SET STATISTICS 0, ALTER COLUMN whole SET STATISTICS 0;
CREATE UNIQUE INDEX tags_by_creation ON memoranda.tags (journal, tag, created_at, since);
ALTER TABLE memoranda.tags REPLICA IDENTITY USING INDEX tags_by_creation;

-- The names by which facts are found: proposals, executions, worlds and branches. They stand in the
-- bodies as well, and are made anew from them when in doubt. A name is made of an id, at most 512
-- characters, and a word before it: it fits into an index entry as it is.
CREATE TABLE memoranda.marks (
  journal bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  seq     bigint NOT NULL,
  PRIMARY KEY (journal, name, seq)
);
CREATE INDEX marks_by_entry ON memoranda.marks (journal, seq);

-- Which object was made from which: what is derived goes when its inputs are erased. Two ids together
-- may be longer than an index entry: the second one stands there by its key, which keeps a pair from
-- being there twice.
CREATE TABLE memoranda.derivations (
  journal bigint NOT NULL,
  input   text COLLATE "C" NOT NULL,
  output  text COLLATE "C" NOT NULL
);
ALTER TABLE memoranda.derivations ALTER COLUMN input SET STATISTICS 0;
ALTER TABLE memoranda.derivations REPLICA IDENTITY FULL;
CREATE UNIQUE INDEX derivations_by_input ON memoranda.derivations
  (journal, input, memoranda.tag_key(output));
CREATE INDEX derivations_by_output ON memoranda.derivations (journal, output);

-- What an earlier call with the same idempotency key came to. By the sha256 of the key, which may be
-- longer than an index entry. The salt of its first entry was made of that, the fingerprint and the
-- nonce (ledger/retry.py). It goes with any of the entries that the call wrote; if it wrote none, with
-- what it is about.
CREATE TABLE memoranda.retries (
  journal     bigint NOT NULL,
  key_digest  bytea NOT NULL,
  fingerprint bytea NOT NULL,
  nonce       bytea NOT NULL,
  about       text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL,
  entries     bigint NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (journal, key_digest)
);
ALTER TABLE memoranda.retries
  ALTER COLUMN key_digest SET STATISTICS 0, ALTER COLUMN fingerprint SET STATISTICS 0,
  ALTER COLUMN nonce SET STATISTICS 0;
CREATE INDEX retries_by_entry ON memoranda.retries (journal, seq) WHERE entries > 0;
CREATE INDEX retries_by_object ON memoranda.retries (journal, about) WHERE entries = 0;

-- ------------------------------------------------------------------------------------- the index

-- The index of words is made of postings in segments (stores/postings.py), in the same layout as in
-- SQLite. It follows from the journal, and is made anew from it.

-- Postings that were written together, of the entries from `first` up to `until`
-- (stores/postings.py). While some are being merged, the one that they become is there as well.
CREATE TABLE memoranda.segments (
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
CREATE TABLE memoranda.postings (
  journal bigint NOT NULL,
  segment bigint NOT NULL,
  token   text COLLATE "C" NOT NULL,
  first   bigint NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, segment, token, first)
);
ALTER TABLE memoranda.postings
  ALTER COLUMN token SET STATISTICS 0, ALTER COLUMN body SET STATISTICS 0;

-- What recall knows of indexed objects besides their words: when and by whom each was said, in which
-- thread, how long it is; those among 1,024 entries to a row (stores/documents.py).
CREATE TABLE memoranda.documents (
  journal bigint NOT NULL,
  block   bigint NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, block)
);
ALTER TABLE memoranda.documents ALTER COLUMN body SET STATISTICS 0;

-- Which entries are of which thread, by the digest of its name, of what is in the index.
CREATE TABLE memoranda.threads (
  journal bigint NOT NULL,
  thread  text COLLATE "C" NOT NULL,
  seq     bigint NOT NULL,
  PRIMARY KEY (journal, thread, seq)
);
ALTER TABLE memoranda.threads ALTER COLUMN thread SET STATISTICS 0;

-- Embeddings of what is active and newest: float32, little-endian (recall/embedder.py). They are
-- derived by a model that the database doesn't know, so they can be made anew, and are never
-- verified. An identity has at most 200 characters: it fits into an index entry as it is.
CREATE TABLE memoranda.vectors (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  model   text COLLATE "C" NOT NULL,
  id      text COLLATE "C" NOT NULL,
  vector  bytea NOT NULL,
  PRIMARY KEY (journal, seq, model)
);
ALTER TABLE memoranda.vectors ALTER COLUMN vector SET STATISTICS 0;
-- Floats don't pack: long ones are not tried.
ALTER TABLE memoranda.vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

-- ----------------------------------------------------------------------------------------- plans

-- Items of plans: their canonical bytes, as a codec stores them.
CREATE TABLE memoranda.memories (
  journal bigint NOT NULL,
  session text COLLATE "C" NOT NULL,
  id      uuid NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, session, id)
);
ALTER TABLE memoranda.memories ALTER COLUMN body SET STATISTICS 0;

-- What they are found by: each keyword of a session once, in three forms (stores/items.py), and
-- which items have it, with the time that they are ordered by. All of it follows from the items.
-- The key is what tag_key makes of a keyword, which may be longer than an index entry.
CREATE TABLE memoranda.item_keywords (
  journal bigint NOT NULL,
  number  bigint NOT NULL,  -- the count of its journal, under the lock of the head
  session text COLLATE "C" NOT NULL,
  gram    text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  folded  text COLLATE "C" NOT NULL,
  marked  text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, session, gram, key)
);
ALTER TABLE memoranda.item_keywords
  ALTER COLUMN gram SET STATISTICS 0, ALTER COLUMN key SET STATISTICS 0,
  ALTER COLUMN folded SET STATISTICS 0, ALTER COLUMN marked SET STATISTICS 0;
CREATE TABLE memoranda.item_postings (
  journal bigint NOT NULL,
  keyword bigint NOT NULL,
  at      bigint NOT NULL,
  id      uuid NOT NULL,
  PRIMARY KEY (journal, keyword, at, id)
);

-- The session of each name, and those that were put aside for another one, the newest with the
-- highest number. What they say stands in the body, whose digest the cycle that saved it has in its fact.
CREATE TABLE memoranda.sessions (
  journal    bigint NOT NULL,
  name       text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  body       bytea NOT NULL,
  cycle      text COLLATE "C" NOT NULL,
  PRIMARY KEY (journal, name)
);
ALTER TABLE memoranda.sessions ALTER COLUMN body SET STATISTICS 0;
CREATE TABLE memoranda.sessions_aside (
  journal bigint NOT NULL,
  name    text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  at      bigint NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, name, number)
);
ALTER TABLE memoranda.sessions_aside ALTER COLUMN body SET STATISTICS 0;

-- What cycles were given and gave, where somebody asked for it. No search reads it.
CREATE TABLE memoranda.recordings (
  journal bigint NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, cycle)
);
ALTER TABLE memoranda.recordings ALTER COLUMN body SET STATISTICS 0;

-- What leads from a cycle to what it left: the salt of the digests in its fact, and the items that it
-- stored. The salt is in no export, and goes when the cycle is erased; so do the items.
CREATE TABLE memoranda.cycle_salts (
  journal bigint NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  salt    bytea NOT NULL,
  PRIMARY KEY (journal, cycle)
);
ALTER TABLE memoranda.cycle_salts ALTER COLUMN salt SET STATISTICS 0;
CREATE TABLE memoranda.item_origins (
  journal bigint NOT NULL,
  session text COLLATE "C" NOT NULL,
  id      uuid NOT NULL,
  cycle   text COLLATE "C" NOT NULL,
  terms   bigint NOT NULL,  -- how many keywords the index has for the item
  PRIMARY KEY (journal, session, id)
);
CREATE INDEX item_origins_by_cycle ON memoranda.item_origins (journal, cycle);

-- ---------------------------------------------------------------------------------------- leases

-- Who does something now, and until when nobody else may; a job is a lease that is due at some time
-- (ledger/lease.py). Nothing of it is journaled: it says what goes on, not what happened.
CREATE TABLE memoranda.leases (
  journal  bigint NOT NULL,
  name     text COLLATE "C" NOT NULL,
  holder   text COLLATE "C" NOT NULL DEFAULT '',
  until    bigint NOT NULL DEFAULT 0,
  due      bigint,
  attempts bigint NOT NULL DEFAULT 0,
  report   text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (journal, name)
) WITH (fillfactor = 50);  -- whoever works changes a row every few seconds
CREATE INDEX jobs_by_time ON memoranda.leases (due) WHERE due IS NOT NULL;

-- ----------------------------------------------------------------------------------------- doors

-- The keys that open a server's doors, by their ids: of the key itself there is only the sha256. One
-- that is revoked stays. Requests are counted by the minute, so that several processes keep one limit.
-- It is a small table of no journal, and outside of the wall: whose journal is asked for follows from
-- the key. Where the other tables are cut, it is on every server.
CREATE TABLE memoranda.access_keys (
  id         text COLLATE "C" NOT NULL PRIMARY KEY,
  digest     bytea NOT NULL,
  scope      text COLLATE "C" NOT NULL,
  actor      text COLLATE "C" NOT NULL,
  rights     text COLLATE "C" NOT NULL,
  trust      text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  per_minute bigint,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  minute     bigint NOT NULL,
  requests   bigint NOT NULL
);
ALTER TABLE memoranda.access_keys
  ALTER COLUMN digest SET STATISTICS 0, ALTER COLUMN scope SET STATISTICS 0,
  ALTER COLUMN actor SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0;

-- -------------------------------------------------------------------------------------- the wall

-- Below the condition in every statement: rows of another scope can be neither seen nor written.
-- A transaction names its journal (memoranda.enter). Outside of that there are no rows at all; a
-- setting is empty, not null, once a session has used it.
--
-- An entry stays as it is: of its row only the body and the salt may change, to nothing. There is no
-- trigger that would say so, since a table with triggers can't be distributed: the app role has no
-- right to do otherwise (docs/postgres.md), the policy binds the owner too, and whoever passes by
-- both is found out by `verify`.
DO $$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY[
    'journals', 'entries', 'nodes', 'checkpoints',
    'versions', 'tags', 'marks', 'derivations', 'retries',
    'segments', 'postings', 'documents', 'threads', 'vectors',
    'memories', 'item_keywords', 'item_postings',
    'sessions', 'sessions_aside', 'recordings', 'cycle_salts', 'item_origins', 'leases'
  ] LOOP
    EXECUTE format('ALTER TABLE memoranda.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE memoranda.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format($policy$
      CREATE POLICY one_journal ON memoranda.%I
        USING (journal = nullif(current_setting('memoranda.journal', true), '')::bigint)
        WITH CHECK (journal = nullif(current_setting('memoranda.journal', true), '')::bigint)
    $policy$, v_table);
  END LOOP;
END $$;
CREATE POLICY only_erased ON memoranda.entries AS RESTRICTIVE FOR UPDATE
  WITH CHECK (salt IS NULL AND body IS NULL);
CREATE POLICY none_deleted ON memoranda.entries AS RESTRICTIVE FOR DELETE USING (false);
-- The scopes and their heads are there to be listed, by who says so, and only to be read.
CREATE POLICY listed ON memoranda.journals FOR SELECT
  USING (current_setting('memoranda.lists_scopes', true) = 'yes');
-- So are the jobs: a worker looks for those of all scopes that are due.
CREATE POLICY listed ON memoranda.leases FOR SELECT
  USING (current_setting('memoranda.lists_scopes', true) = 'yes' AND starts_with(name, 'job/'));

-- ------------------------------------------------------------- one call, one statement, one trip

-- They run with the caller's rights. Refusals are values: nothing of them reaches the server's
-- log. Each that is given an origin begins by naming its journal to the wall, for its own
-- transaction; whoever calls the others has done so. Each is of one journal, its first argument.
--
-- What is found by its key is looked up one by one (LATERAL … LIMIT 1, or a loop): no plan walks
-- the journal instead, whatever the sizes were when it was made.

-- Behind the wall is this journal, if it is of the origin that the caller took it for; of any, if
-- that is null. They can differ when a database was replaced by another, or by an older copy of
-- itself, while a program went on.
CREATE FUNCTION memoranda.enter(p_journal bigint, p_origin text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('memoranda.journal', p_journal::text, true);
  IF p_origin IS NOT NULL AND NOT EXISTS (
    SELECT FROM memoranda.journals j WHERE j.journal = p_journal AND j.origin = p_origin
  ) THEN
    RAISE EXCEPTION 'the journal of this scope is not the one that was opened; open it again';
  END IF;
END $$;

-- memoranda.enter, and nobody else appends to this journal until the transaction ends.
CREATE FUNCTION memoranda.lock_journal(
  p_journal bigint, p_origin text, OUT size bigint, OUT head bytea, OUT head_at bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  SELECT j.size, j.head, j.head_at INTO size, head, head_at
  FROM memoranda.journals j WHERE j.journal = p_journal FOR UPDATE;
END $$;

-- A journal, whosever it is, with the size of its newest checkpoint that is kept, or null.
CREATE FUNCTION memoranda.journal_of(p_journal bigint)
RETURNS TABLE (scope text, origin text, size bigint, noted bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, NULL);
  RETURN QUERY
  SELECT j.scope, j.origin, j.size, (
    SELECT c.size FROM memoranda.checkpoints c
    WHERE c.journal = p_journal ORDER BY c.size DESC LIMIT 1)
  FROM memoranda.journals j WHERE j.journal = p_journal;
END $$;

-- The same, and it is made if it is not there.
CREATE FUNCTION memoranda.open_journal(
  p_journal bigint, p_scope text, p_origin text, p_at bigint, p_head bytea
)
RETURNS TABLE (scope text, origin text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, NULL);
  INSERT INTO memoranda.journals (journal, scope, origin, opened_at, size, head, head_at)
  VALUES (p_journal, p_scope, p_origin, p_at, 0, p_head, p_at)
  ON CONFLICT (journal) DO NOTHING;
  RETURN QUERY SELECT j.scope, j.origin FROM memoranda.journals j WHERE j.journal = p_journal;
END $$;

CREATE FUNCTION memoranda.head_of(
  p_journal bigint, p_origin text,
  OUT origin text, OUT size bigint, OUT head bytea, OUT head_at bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  SELECT j.origin, j.size, j.head, j.head_at INTO origin, size, head, head_at
  FROM memoranda.journals j WHERE j.journal = p_journal;
END $$;

-- --------------------------------------------------------------------------- reading the journal

-- These entries, in the order given; those that are not there are left out. The caller has entered
-- the journal.
CREATE FUNCTION memoranda.entries_in(p_journal bigint, p_seqs bigint[])
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  SELECT n.seq, f.entry, f.salt, f.body
  FROM unnest(p_seqs) WITH ORDINALITY AS n (seq, place)
  CROSS JOIN LATERAL (
    SELECT e.entry, e.salt, e.body FROM memoranda.entries e
    WHERE e.journal = p_journal AND e.seq = n.seq LIMIT 1
  ) AS f
  ORDER BY n.place;
END $$;

-- The bytes of these entries, in the order given; those that are not there are left out.
CREATE FUNCTION memoranda.bytes_at(p_journal bigint, p_origin text, p_seqs bigint[])
RETURNS TABLE (seq bigint, entry bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT n.seq, f.entry
  FROM unnest(p_seqs) WITH ORDINALITY AS n (seq, place)
  CROSS JOIN LATERAL (
    SELECT e.entry FROM memoranda.entries e
    WHERE e.journal = p_journal AND e.seq = n.seq LIMIT 1
  ) AS f
  ORDER BY n.place;
END $$;

CREATE FUNCTION memoranda.entries_at(p_journal bigint, p_origin text, p_seqs bigint[])
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY SELECT * FROM memoranda.entries_in(p_journal, p_seqs);
END $$;

-- The entries about the memory as a whole.
CREATE FUNCTION memoranda.notices_of(p_journal bigint, p_origin text)
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT e.seq, e.entry, e.salt, e.body
  FROM memoranda.entries e
  WHERE e.journal = p_journal
    AND ((e.entry >= '\x05'::bytea AND e.entry < '\x07'::bytea)
    OR (e.entry >= '\x08'::bytea AND e.entry < '\x09'::bytea)
    OR (e.entry >= '\x7b'::bytea
      AND (position('\x226b696e64223a22706f6c6963795f6368616e676522'::bytea IN e.entry) > 0
      OR position('\x226b696e64223a22636f6e666f726d616e63655f627265616b22'::bytea IN e.entry) > 0
      OR position('\x226b696e64223a226d61696e74656e616e636522'::bytea IN e.entry) > 0)))
  ORDER BY e.seq;
END $$;

-- Blocks of the tree: of each the hashes that are there; of level 0 the entries, from which the
-- hashes of the leaves follow.
CREATE FUNCTION memoranda.blocks(
  p_journal bigint, p_origin text, p_levels bigint[], p_numbers bigint[]
)
RETURNS TABLE (level bigint, number bigint, hashes bytea[])
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT n.level, n.number, CASE n.level
    WHEN 0 THEN ARRAY(
      SELECT e.entry FROM memoranda.entries e
      WHERE e.journal = p_journal AND e.seq >= n.number * 256 AND e.seq < (n.number + 1) * 256
      ORDER BY e.seq)
    ELSE ARRAY(
      SELECT o.hash FROM memoranda.nodes o
      WHERE o.journal = p_journal AND o.level = n.level
        AND o.number >= n.number * 256 AND o.number < (n.number + 1) * 256
      ORDER BY o.number)
    END
  FROM unnest(p_levels, p_numbers) AS n (level, number)
  WHERE EXISTS (SELECT FROM memoranda.journals j WHERE j.journal = p_journal);
END $$;

CREATE FUNCTION memoranda.notes_of(p_journal bigint, p_origin text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT c.note FROM memoranda.checkpoints c WHERE c.journal = p_journal ORDER BY c.size DESC;
END $$;

-- The note of a checkpoint; one of the same size is replaced. It is left out if there is no journal of
-- this origin.
CREATE FUNCTION memoranda.keep_note(
  p_journal bigint, p_origin text, p_size bigint, p_note text, p_at bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, NULL);
  INSERT INTO memoranda.checkpoints (journal, size, note, at)
  SELECT p_journal, p_size, p_note, p_at
  FROM memoranda.journals j WHERE j.journal = p_journal AND j.origin = p_origin
  ON CONFLICT (journal, size) DO UPDATE SET note = excluded.note, at = excluded.at;
END $$;

-- ------------------------------------------------------------------ reading what follows from it

-- The newest version of an object.
CREATE FUNCTION memoranda.current_version(
  p_journal bigint, p_origin text, p_id text,
  OUT since bigint,
  OUT id text, OUT number bigint, OUT status text, OUT created_at bigint, OUT updated_at bigint,
  OUT valid_from bigint, OUT valid_to bigint, OUT expires_at bigint, OUT subject text,
  OUT seq bigint, OUT entry bytea, OUT salt bytea, OUT body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  SELECT v.since, v.id, v.number::bigint, v.status, v.created_at, v.updated_at,
         v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, e.salt, e.body
  INTO since, id, number, status, created_at, updated_at,
       valid_from, valid_to, expires_at, subject, seq, entry, salt, body
  FROM memoranda.versions v
  LEFT JOIN memoranda.entries e ON e.journal = p_journal AND e.seq = v.seq
  WHERE v.journal = p_journal AND v.id = p_id
  ORDER BY v.number DESC
  LIMIT 1;
END $$;

-- Every version of an object, with the entry that led to it, and its body where it still is.
CREATE FUNCTION memoranda.versions_of(p_journal bigint, p_origin text, p_id text)
RETURNS TABLE (
  id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text,
  seq bigint, entry bytea, salt bytea, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT v.id, v.number::bigint, v.status, v.created_at, v.updated_at,
         v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, e.salt, e.body
  FROM memoranda.versions v
  LEFT JOIN memoranda.entries e ON e.journal = p_journal AND e.seq = v.seq
  WHERE v.journal = p_journal AND v.id = p_id
  ORDER BY v.number;
END $$;

-- The query that is asked most, in one trip: the newest few, of one tag or of all.
CREATE FUNCTION memoranda.newest_active(
  p_journal bigint, p_origin text,
  p_tag text, p_after bigint, p_before bigint, p_limit bigint, p_offset bigint
)
RETURNS TABLE (
  since bigint, id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text,
  seq bigint, entry bytea, salt bytea, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  IF p_tag IS NULL THEN
    RETURN QUERY
    SELECT v.since, v.id, v.number::bigint, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, e.salt, e.body
    FROM memoranda.versions v
    LEFT JOIN memoranda.entries e ON e.journal = p_journal AND e.seq = v.seq
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active'
      AND v.created_at >= p_after AND v.created_at <= p_before
    ORDER BY v.created_at DESC, v.since DESC
    LIMIT p_limit OFFSET p_offset;
  ELSE
    RETURN QUERY
    SELECT v.since, v.id, v.number::bigint, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, e.salt, e.body
    FROM memoranda.tags t
    JOIN memoranda.versions v ON v.journal = p_journal AND v.id = t.id AND v.is_newest
    LEFT JOIN memoranda.entries e ON e.journal = p_journal AND e.seq = v.seq
    WHERE t.journal = p_journal AND t.tag = memoranda.tag_key(p_tag)
      AND t.created_at >= p_after AND t.created_at <= p_before
    ORDER BY t.created_at DESC, t.since DESC
    LIMIT p_limit OFFSET p_offset;
  END IF;
END $$;

CREATE FUNCTION memoranda.count_active(p_journal bigint, p_origin text, p_at_most bigint)
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN (SELECT count(*) FROM (
    SELECT 1 FROM memoranda.versions v
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active' LIMIT p_at_most) AS n);
END $$;

-- What has expired by then and is active, the first to expire first.
CREATE FUNCTION memoranda.expired_by(
  p_journal bigint, p_origin text, p_at bigint, p_at_most bigint
)
RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT v.id FROM memoranda.versions v
  WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active' AND v.expires_at <= p_at
  ORDER BY v.expires_at, v.id LIMIT p_at_most;
END $$;

-- The entries under a name after one of a number, by number, or the newest first; a limit of null
-- is none.
CREATE FUNCTION memoranda.marked(
  p_journal bigint, p_origin text, p_name text, p_after bigint, p_limit bigint,
  p_newest_first boolean
)
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
DECLARE
  v_seqs bigint[];
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  IF p_newest_first THEN
    v_seqs := ARRAY(
      SELECT m.seq FROM memoranda.marks m
      WHERE m.journal = p_journal AND m.name = p_name AND m.seq > p_after
      ORDER BY m.seq DESC LIMIT p_limit);
  ELSE
    v_seqs := ARRAY(
      SELECT m.seq FROM memoranda.marks m
      WHERE m.journal = p_journal AND m.name = p_name AND m.seq > p_after
      ORDER BY m.seq LIMIT p_limit);
  END IF;
  RETURN QUERY SELECT * FROM memoranda.entries_in(p_journal, v_seqs);
END $$;

-- The names that begin so, by name, from the one after p_after on, each with its newest entry. They
-- stand before whatever goes on with more of the last character than a name can have.
-- One plan whatever the limit: the walk along the key. Left to its estimates, the planner would for
-- some read and sort all names that begin so.
CREATE FUNCTION memoranda.marks_with(
  p_journal bigint, p_origin text, p_prefix text, p_after text, p_limit bigint
)
RETURNS TABLE (name text, seq bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET enable_hashagg = off
AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT m.name, max(m.seq) FROM memoranda.marks m
  WHERE m.journal = p_journal AND m.name > p_after
    AND m.name >= p_prefix AND m.name < p_prefix || repeat(chr(1114111), 600)
  GROUP BY m.name
  ORDER BY m.name
  LIMIT p_limit;
END $$;

-- What was made from an object or a fact.
CREATE FUNCTION memoranda.outputs_of(p_journal bigint, p_origin text, p_input text)
RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT d.output FROM memoranda.derivations d
  WHERE d.journal = p_journal AND d.input = p_input
  ORDER BY d.output;
END $$;

-- ------------------------------------------------------------ plans: items, sessions, recordings

-- The items of a session whose keywords occur in a query, best first (plans/items.py): what they
-- are compared with is made in plans/items.py. One that is not there has no body: its keywords
-- are, and somebody must be told.
CREATE FUNCTION memoranda.search_items(
  p_journal bigint, p_origin text, p_session text,
  p_grams text[], p_folded text, p_marked text, p_before_endings text[], p_limit bigint
)
RETURNS TABLE (id uuid, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  WITH occurring AS MATERIALIZED (
    SELECT c.number, strpos(p_marked, c.marked) > 0 OR EXISTS (
      SELECT FROM unnest(p_before_endings) AS b (before)
      WHERE right(b.before, length(c.marked)) = c.marked
    ) AS is_at_boundaries
    FROM unnest(p_grams) AS n (gram) CROSS JOIN LATERAL (
      SELECT k.number, k.folded, k.marked FROM memoranda.item_keywords k
      WHERE k.journal = p_journal AND k.session = p_session AND k.gram = n.gram
      OFFSET 0
    ) AS c
    WHERE strpos(p_folded, c.folded) > 0
  ), best AS (
    SELECT h.id, h.at, count(*) FILTER (WHERE o.is_at_boundaries) AS at_boundaries,
           count(*) AS in_all
    FROM occurring o CROSS JOIN LATERAL (
      SELECT p.id, p.at FROM memoranda.item_postings p
      WHERE p.journal = p_journal AND p.keyword = o.number
      OFFSET 0
    ) AS h
    GROUP BY h.id, h.at
    ORDER BY at_boundaries DESC, in_all DESC, h.at DESC, h.id
    LIMIT p_limit
  )
  SELECT b.id, (
    SELECT i.body FROM memoranda.memories i
    WHERE i.journal = p_journal AND i.session = p_session AND i.id = b.id
  )
  FROM best b
  ORDER BY b.at_boundaries DESC, b.in_all DESC, b.at DESC, b.id;
END $$;

-- Null if the item is kept now; else the body of the one that was kept before under its id. The
-- caller has locked the journal.
CREATE FUNCTION memoranda.insert_item(
  p_journal bigint, p_session text, p_id uuid, p_at bigint, p_body bytea,
  p_grams text[], p_folded text[], p_marked text[]
)
RETURNS bytea
LANGUAGE plpgsql AS $$
DECLARE
  v_key text;
  v_number bigint;
BEGIN
  INSERT INTO memoranda.memories (journal, session, id, body)
  VALUES (p_journal, p_session, p_id, p_body)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN (
      SELECT i.body FROM memoranda.memories i
      WHERE i.journal = p_journal AND i.session = p_session AND i.id = p_id);
  END IF;
  FOR i IN 1 .. cardinality(p_grams) LOOP
    v_key := memoranda.tag_key(p_folded[i]);
    SELECT k.number INTO v_number FROM memoranda.item_keywords k
    WHERE k.journal = p_journal AND k.session = p_session AND k.gram = p_grams[i]
      AND k.key = v_key;
    IF NOT FOUND THEN
      UPDATE memoranda.journals j SET keywords = j.keywords + 1 WHERE j.journal = p_journal
      RETURNING j.keywords INTO v_number;
      INSERT INTO memoranda.item_keywords (journal, number, session, gram, key, folded, marked)
      VALUES (p_journal, v_number, p_session, p_grams[i], v_key, p_folded[i], p_marked[i]);
    END IF;
    INSERT INTO memoranda.item_postings (journal, keyword, at, id)
    VALUES (p_journal, v_number, p_at, p_id);
  END LOOP;
  RETURN NULL;
END $$;

-- The same in a transaction of its own.
CREATE FUNCTION memoranda.save_item(
  p_journal bigint, p_origin text, p_session text, p_id uuid, p_at bigint, p_body bytea,
  p_grams text[], p_folded text[], p_marked text[]
)
RETURNS bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.lock_journal(p_journal, p_origin);
  RETURN memoranda.insert_item(
    p_journal, p_session, p_id, p_at, p_body, p_grams, p_folded, p_marked);
END $$;

CREATE FUNCTION memoranda.session_of(p_journal bigint, p_origin text, p_name text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT s.body FROM memoranda.sessions s WHERE s.journal = p_journal AND s.name = p_name;
END $$;

CREATE FUNCTION memoranda.sessions_after(
  p_journal bigint, p_origin text, p_after text, p_limit bigint
)
RETURNS TABLE (name text, body bytea, cycle text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT s.name, s.body, s.cycle FROM memoranda.sessions s
  WHERE s.journal = p_journal AND s.name > p_after COLLATE "C"
  ORDER BY s.name LIMIT p_limit;
END $$;

CREATE FUNCTION memoranda.sessions_put_aside(p_journal bigint, p_origin text, p_name text)
RETURNS TABLE (at bigint, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT a.at, a.body FROM memoranda.sessions_aside a
  WHERE a.journal = p_journal AND a.name = p_name
  ORDER BY a.number DESC;
END $$;

-- Nobody else saves a session meanwhile: a unit locks the same head.
CREATE FUNCTION memoranda.put_session_aside(
  p_journal bigint, p_origin text, p_name text, p_at bigint, p_keep bigint
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_number bigint;
BEGIN
  PERFORM memoranda.lock_journal(p_journal, p_origin);
  SELECT coalesce(max(a.number), 0) + 1 INTO v_number FROM memoranda.sessions_aside a
  WHERE a.journal = p_journal AND a.name = p_name;
  INSERT INTO memoranda.sessions_aside (journal, name, number, at, body)
  SELECT s.journal, s.name, v_number, p_at, s.body FROM memoranda.sessions s
  WHERE s.journal = p_journal AND s.name = p_name;
  IF FOUND THEN
    DELETE FROM memoranda.sessions s WHERE s.journal = p_journal AND s.name = p_name;
    DELETE FROM memoranda.sessions_aside a
    WHERE a.journal = p_journal AND a.name = p_name AND a.number <= v_number - p_keep;
  END IF;
END $$;

CREATE FUNCTION memoranda.session_saved_by(p_journal bigint, p_origin text, p_name text)
RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT s.cycle FROM memoranda.sessions s WHERE s.journal = p_journal AND s.name = p_name;
END $$;

CREATE FUNCTION memoranda.recording_of(p_journal bigint, p_origin text, p_cycle text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT r.body FROM memoranda.recordings r WHERE r.journal = p_journal AND r.cycle = p_cycle;
END $$;

CREATE FUNCTION memoranda.salt_of(p_journal bigint, p_origin text, p_cycle text)
RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT s.salt FROM memoranda.cycle_salts s WHERE s.journal = p_journal AND s.cycle = p_cycle;
END $$;

-- The items that a cycle stored.
CREATE FUNCTION memoranda.items_of(p_journal bigint, p_origin text, p_cycle text)
RETURNS TABLE (id uuid)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT o.id FROM memoranda.item_origins o
  WHERE o.journal = p_journal AND o.cycle = p_cycle
  ORDER BY o.id;
END $$;

-- These items of a session, each with the cycle that stored it and that cycle's salt, if any.
CREATE FUNCTION memoranda.stored_items(
  p_journal bigint, p_origin text, p_session text, p_ids text[]
)
RETURNS TABLE (id uuid, body bytea, cycle text, salt bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT i.id, i.body, o.cycle, s.salt
  FROM unnest(p_ids) AS n (id)
  JOIN memoranda.memories i
    ON i.journal = p_journal AND i.session = p_session AND i.id = n.id::uuid
  LEFT JOIN memoranda.item_origins o
    ON o.journal = p_journal AND o.session = p_session AND o.id = i.id
  LEFT JOIN memoranda.cycle_salts s ON s.journal = p_journal AND s.cycle = o.cycle;
END $$;

-- Whether the index of a session has as many keywords as its items.
CREATE FUNCTION memoranda.is_index_whole(p_journal bigint, p_origin text, p_session text)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN (
    SELECT coalesce(sum(o.terms), 0) FROM memoranda.item_origins o
    WHERE o.journal = p_journal AND o.session = p_session
  ) = (
    SELECT count(*) FROM memoranda.item_keywords k
    JOIN memoranda.item_postings p ON p.journal = p_journal AND p.keyword = k.number
    WHERE k.journal = p_journal AND k.session = p_session
  );
END $$;

-- The cycles that stored some items of a session, each with the newest entry of its name and how
-- many of these items it stored.
CREATE FUNCTION memoranda.origins_of(p_journal bigint, p_origin text, p_session text, p_ids text[])
RETURNS TABLE (cycle text, seq bigint, items bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT f.cycle, (
    SELECT max(m.seq) FROM memoranda.marks m
    WHERE m.journal = p_journal AND m.name = 'cycle/' || f.cycle
  ), f.items
  FROM (
    SELECT o.cycle, count(*) AS items FROM unnest(p_ids) AS n (id) CROSS JOIN LATERAL (
      SELECT g.cycle FROM memoranda.item_origins g
      WHERE g.journal = p_journal AND g.session = p_session AND g.id = n.id::uuid
    ) AS o
    GROUP BY o.cycle
  ) AS f
  ORDER BY f.cycle COLLATE "C";
END $$;

-- The caller has locked the journal.

-- What cycles left beside their facts goes: their items, with the keywords that no other item of
-- their session has, their recordings, and their salts. The postings of a session are read once,
-- however many of its cycles go: ids are compared as texts because no index is to be asked for them.
CREATE FUNCTION memoranda.erase_cycles(p_journal bigint, p_cycles text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_of record;
BEGIN
  FOR v_of IN
    SELECT o.session, array_agg(o.id) AS ids, array_agg(o.id::text) AS texts
    FROM memoranda.item_origins o
    WHERE o.journal = p_journal AND o.cycle = ANY (p_cycles)
    GROUP BY o.session
  LOOP
    DELETE FROM memoranda.item_postings p
    WHERE p.journal = p_journal AND p.id::text = ANY (v_of.texts) AND p.keyword IN (
      SELECT k.number FROM memoranda.item_keywords k
      WHERE k.journal = p_journal AND k.session = v_of.session);
    DELETE FROM memoranda.item_keywords k
    WHERE k.journal = p_journal AND k.session = v_of.session AND NOT EXISTS (
      SELECT FROM memoranda.item_postings p
      WHERE p.journal = p_journal AND p.keyword = k.number);
    DELETE FROM memoranda.memories i
    WHERE i.journal = p_journal AND i.session = v_of.session AND i.id = ANY (v_of.ids);
  END LOOP;
  DELETE FROM memoranda.item_origins o WHERE o.journal = p_journal AND o.cycle = ANY (p_cycles);
  DELETE FROM memoranda.recordings r WHERE r.journal = p_journal AND r.cycle = ANY (p_cycles);
  DELETE FROM memoranda.cycle_salts s WHERE s.journal = p_journal AND s.cycle = ANY (p_cycles);
END $$;

-- ------------------------------------------------------------------------------------- appending

-- What a unit with this key came to: repeated, with where its entries begin and how many they are;
-- key_used, if it asked for something else; damaged, if the key was led to another write; null, if
-- there was none. The caller has entered the journal.
CREATE FUNCTION memoranda.first_outcome(
  p_journal bigint, p_key_digest bytea, p_fingerprint bytea,
  OUT outcome text, OUT about text, OUT seq bigint, OUT entries bigint
)
LANGUAGE plpgsql AS $$
DECLARE
  v_is_bound boolean;
BEGIN
  SELECT CASE WHEN k.fingerprint = p_fingerprint THEN 'repeated' ELSE 'key_used' END,
         k.about, k.seq, k.entries,
         (SELECT e.salt FROM memoranda.entries e WHERE e.journal = p_journal AND e.seq = k.seq)
           IS NOT DISTINCT FROM substring(sha256(k.nonce || k.key_digest || k.fingerprint) FOR 16)
  INTO outcome, about, seq, entries, v_is_bound
  FROM memoranda.retries k
  WHERE k.journal = p_journal AND k.key_digest = p_key_digest;
  IF outcome = 'repeated' AND entries > 0 AND NOT v_is_bound THEN
    outcome := 'damaged';
  END IF;
END $$;

-- What a unit reads before it decides: the newest version of each id that has one, with the place
-- of the id in the list. If the unit has a key that was used before, a last row says so: its
-- outcome, and the first one's about, seq and entries where id, number and since stand. The key is
-- looked at last: else a call that landed in between would show in what is read, and not as what
-- it is, the first of this one.
CREATE FUNCTION memoranda.read_for_unit(
  p_journal bigint, p_origin text, p_ids text[], p_key_digest bytea, p_fingerprint bytea
)
RETURNS TABLE (
  outcome text, place bigint, since bigint,
  id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text,
  seq bigint, entry bytea, salt bytea, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT NULL::text, n.place, c.*
  FROM unnest(p_ids) WITH ORDINALITY AS n (id, place)
  CROSS JOIN LATERAL (
    SELECT v.since, v.id, v.number::bigint, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, e.salt, e.body
    FROM memoranda.versions v
    LEFT JOIN memoranda.entries e ON e.journal = p_journal AND e.seq = v.seq
    WHERE v.journal = p_journal AND v.id = n.id
    ORDER BY v.number DESC
    LIMIT 1
  ) AS c;
  IF p_key_digest IS NOT NULL THEN
    SELECT f.outcome, f.about, f.seq, f.entries INTO outcome, id, number, since
    FROM memoranda.first_outcome(p_journal, p_key_digest, p_fingerprint) f;
    IF outcome IS NOT NULL THEN
      RETURN NEXT;
    END IF;
  END IF;
END $$;

-- The newest entry about the memory as a whole, or null. The caller has entered the journal.
CREATE FUNCTION memoranda.newest_notice(p_journal bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT e.seq FROM memoranda.entries e
    WHERE e.journal = p_journal
      AND ((e.entry >= '\x05'::bytea AND e.entry < '\x07'::bytea)
      OR (e.entry >= '\x08'::bytea AND e.entry < '\x09'::bytea)
      OR (e.entry >= '\x7b'::bytea
        AND (position('\x226b696e64223a22706f6c6963795f6368616e676522'::bytea IN e.entry) > 0
        OR position('\x226b696e64223a22636f6e666f726d616e63655f627265616b22'::bytea IN e.entry) > 0
        OR position('\x226b696e64223a226d61696e74656e616e636522'::bytea IN e.entry) > 0)))
    ORDER BY e.seq DESC LIMIT 1);
END $$;

-- The first name whose newest entry is another one than expected; null expects that there is none.
-- The name 'notices' stands for the entries about the memory as a whole.
CREATE FUNCTION memoranda.moved_mark(p_journal bigint, p_expected memoranda.marks[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  v_one memoranda.marks;
BEGIN
  FOREACH v_one IN ARRAY p_expected LOOP
    IF v_one.name = 'notices' THEN
      IF v_one.seq IS DISTINCT FROM memoranda.newest_notice(p_journal) THEN
        RETURN v_one.name;
      END IF;
    ELSIF v_one.seq IS DISTINCT FROM (
      SELECT m.seq FROM memoranda.marks m
      WHERE m.journal = p_journal AND m.name = v_one.name
      ORDER BY m.seq DESC LIMIT 1
    ) THEN
      RETURN v_one.name;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION memoranda.unmark(p_journal bigint, p_marks memoranda.marks[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_mark memoranda.marks;
BEGIN
  FOREACH v_mark IN ARRAY p_marks LOOP
    DELETE FROM memoranda.marks m
    WHERE m.journal = p_journal AND m.name = v_mark.name AND m.seq = v_mark.seq;
  END LOOP;
END $$;

-- The first of these versions that is stored already, or that comes a second time: its id.
CREATE FUNCTION memoranda.first_in_use(p_journal bigint, p_versions memoranda.versions[])
RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT n.id FROM (
      SELECT w.id, w.number, w.place,
             row_number() OVER (PARTITION BY w.id, w.number ORDER BY w.place) AS times
      FROM unnest(p_versions) WITH ORDINALITY AS w (
        journal, seq, since, created_at, updated_at, number, is_newest, status, id,
        valid_from, valid_to, expires_at, subject, place)
    ) AS n
    WHERE n.times > 1 OR (
      SELECT true FROM memoranda.versions v
      WHERE v.journal = p_journal AND v.id = n.id AND v.number = n.number
    )
    ORDER BY n.place
    LIMIT 1);
END $$;

-- The keys of the retries that go with an entry. The fingerprint of a request can be guessed by
-- whoever knows the rest of it: so it goes as soon as anything is erased that the request wrote. The
-- entries of two requests never overlap: the newest request that began at an entry or before it is
-- the only one that may have written it.
CREATE FUNCTION memoranda.retries_of_entry(p_journal bigint, p_seq bigint) RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
DECLARE
  v_first bigint;
BEGIN
  SELECT max(k.seq) INTO v_first FROM memoranda.retries k
  WHERE k.journal = p_journal AND k.entries > 0 AND k.seq <= p_seq;
  RETURN QUERY
  SELECT k.key_digest FROM memoranda.retries k
  WHERE k.journal = p_journal AND k.entries > 0 AND k.seq = v_first
    AND k.seq + k.entries > p_seq;
END $$;

-- Those that go with an object: of requests that wrote a version of it, or are about it and wrote
-- nothing.
CREATE FUNCTION memoranda.retries_of_object(p_journal bigint, p_id text) RETURNS SETOF bytea
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
BEGIN
  FOR v_seq IN
    SELECT v.seq FROM memoranda.versions v WHERE v.journal = p_journal AND v.id = p_id
  LOOP
    RETURN QUERY SELECT memoranda.retries_of_entry(p_journal, v_seq);
  END LOOP;
  RETURN QUERY
  SELECT k.key_digest FROM memoranda.retries k
  WHERE k.journal = p_journal AND k.entries = 0 AND k.about = p_id;
END $$;

-- The content of every version of these objects, gone from wherever it or something of it stands.
-- Their postings are gone already, since only their words lead to them (stores/merge.py).
-- Who has looked at what is not in the index yet has to look again: `revision` says so.
CREATE FUNCTION memoranda.erase_content(p_journal bigint, p_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_id text;
  v_seqs bigint[];
BEGIN
  FOREACH v_id IN ARRAY p_ids LOOP
    v_seqs := ARRAY(
      SELECT v.seq FROM memoranda.versions v WHERE v.journal = p_journal AND v.id = v_id);
    UPDATE memoranda.entries e SET salt = NULL, body = NULL
    WHERE e.journal = p_journal AND e.seq = ANY (v_seqs);
    DELETE FROM memoranda.vectors x WHERE x.journal = p_journal AND x.seq = ANY (v_seqs);
    UPDATE memoranda.versions v SET
      is_newest = false, since = v.seq, status = 'erased', created_at = 0, updated_at = 0,
      valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
    WHERE v.journal = p_journal AND v.id = v_id;
    DELETE FROM memoranda.retries k
    WHERE k.journal = p_journal
      AND k.key_digest = ANY (ARRAY(SELECT memoranda.retries_of_object(p_journal, v_id)));
  END LOOP;
  DELETE FROM memoranda.derivations d WHERE d.journal = p_journal AND d.output = ANY (p_ids);
  UPDATE memoranda.journals j SET revision = j.revision + 1 WHERE j.journal = p_journal;
END $$;

-- The bodies, marks and retries of these entries, and what led to the names that they had. With a
-- cycle goes all that it left.
CREATE FUNCTION memoranda.erase_entries(
  p_journal bigint, p_seqs bigint[], p_names text[]
)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
  v_name text;
  v_cycles text[] := '{}';
BEGIN
  FOREACH v_seq IN ARRAY p_seqs LOOP
    UPDATE memoranda.entries e SET salt = NULL, body = NULL
    WHERE e.journal = p_journal AND e.seq = v_seq;
    DELETE FROM memoranda.marks m WHERE m.journal = p_journal AND m.seq = v_seq;
    DELETE FROM memoranda.retries k
    WHERE k.journal = p_journal
      AND k.key_digest = ANY (ARRAY(SELECT memoranda.retries_of_entry(p_journal, v_seq)));
  END LOOP;
  FOREACH v_name IN ARRAY p_names LOOP
    DELETE FROM memoranda.derivations d WHERE d.journal = p_journal AND d.output = v_name;
    IF starts_with(v_name, 'cycle/') THEN
      v_cycles := v_cycles || substr(v_name, strpos(v_name, '/') + 1);
    END IF;
  END LOOP;
  IF cardinality(v_cycles) > 0 THEN
    PERFORM memoranda.erase_cycles(p_journal, v_cycles);
  END IF;
END $$;

-- Everything that some units come to, in one statement; see stores/postgres/append.py, which
-- makes the rows. They are chained to the head that the caller knows. The outcome:
--
--   done
--   behind    that is not the head any more; p_size, p_head and p_at are what it is
--   moved     what was read before is no longer the newest
--   exists    with the first id in use, in the order given
--   mark_moved    with the first name whose newest entry is not the one that was expected
--   repeated, key_used, damaged    as in first_outcome
--
-- Whatever it is but 'done', nothing was written: what was, is taken back with the inner block, and
-- the server's log has nothing of it.
--
--  1. the head moves, if it is where the caller took it to be: nobody else appends until the
--     transaction ends. The hash of the head rests on the origin, so that is the same as well
--  2. a unit that was run before is not run again
--  3. what the units decided on, and what they expect, is still so
--  4. what goes, goes first; then come the rows, and no version is stored twice
CREATE FUNCTION memoranda.append(
  p_journal bigint, p_size bigint, p_head bytea,
  p_new_size bigint, p_new_head bytea, p_new_at bigint,
  p_entries memoranda.entries[], p_versions memoranda.versions[], p_tags memoranda.tags[],
  -- whatever else there is, or null: what was read and what is expected as pairs of a name and a
  -- number, versions that are replaced likewise
  p_read memoranda.marks[], p_replaced memoranda.marks[], p_gone_tags memoranda.tags[],
  p_derivations memoranda.derivations[], p_marks memoranda.marks[], p_nodes memoranda.nodes[],
  p_retries memoranda.retries[], p_expected memoranda.marks[], p_unmarks memoranda.marks[],
  p_erased_ids text[], p_erased_seqs bigint[], p_erased_names text[],
  OUT outcome text, OUT about text, OUT seq bigint, OUT entries bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_one memoranda.marks;
  v_tag memoranda.tags;
  v_seq bigint;
BEGIN
  PERFORM set_config('memoranda.journal', p_journal::text, true);
  BEGIN
    -- 1
    UPDATE memoranda.journals j SET size = p_new_size, head = p_new_head, head_at = p_new_at
    WHERE j.journal = p_journal AND j.size = p_size AND j.head = p_head;
    IF NOT FOUND THEN
      outcome := 'behind';
      RETURN;
    END IF;

    -- 2
    IF p_retries IS NOT NULL THEN
      FOR i IN 1 .. cardinality(p_retries) LOOP
        SELECT f.outcome, f.about, f.seq, f.entries INTO outcome, about, seq, entries
        FROM memoranda.first_outcome(
          p_journal, p_retries[i].key_digest, p_retries[i].fingerprint) f;
        IF outcome IS NOT NULL THEN
          RAISE SQLSTATE 'MEMO0';
        END IF;
      END LOOP;
    END IF;

    -- 3
    IF p_expected IS NOT NULL THEN
      about := memoranda.moved_mark(p_journal, p_expected);
      IF about IS NOT NULL THEN
        outcome := 'mark_moved';
        RAISE SQLSTATE 'MEMO0';
      END IF;
    END IF;
    IF p_read IS NOT NULL THEN
      FOREACH v_one IN ARRAY p_read LOOP
        IF v_one.seq IS DISTINCT FROM (
          SELECT v.number FROM memoranda.versions v
          WHERE v.journal = p_journal AND v.id = v_one.name
          ORDER BY v.number DESC LIMIT 1
        ) THEN
          outcome := 'moved';
          RAISE SQLSTATE 'MEMO0';
        END IF;
      END LOOP;
    END IF;

    -- 4
    IF p_gone_tags IS NOT NULL THEN
      FOREACH v_tag IN ARRAY p_gone_tags LOOP
        DELETE FROM memoranda.tags t
        WHERE t.journal = p_journal AND t.tag = v_tag.tag
          AND t.created_at = v_tag.created_at AND t.since = v_tag.since;
      END LOOP;
    END IF;
    IF p_erased_ids IS NOT NULL THEN
      PERFORM memoranda.erase_content(p_journal, p_erased_ids);
    END IF;
    IF p_unmarks IS NOT NULL THEN
      PERFORM memoranda.unmark(p_journal, p_unmarks);
    END IF;
    IF p_erased_seqs IS NOT NULL THEN
      PERFORM memoranda.erase_entries(p_journal, p_erased_seqs, p_erased_names);
    END IF;
    -- The vectors of a version go with it, in the same transaction: nothing stale can be found.
    IF p_replaced IS NOT NULL THEN
      FOREACH v_one IN ARRAY p_replaced LOOP
        UPDATE memoranda.versions v SET is_newest = false
        WHERE v.journal = p_journal AND v.id = v_one.name AND v.number = v_one.seq
        RETURNING v.seq INTO v_seq;
        DELETE FROM memoranda.vectors x WHERE x.journal = p_journal AND x.seq = v_seq;
      END LOOP;
    END IF;
    IF p_versions IS NOT NULL THEN
      INSERT INTO memoranda.versions SELECT * FROM unnest(p_versions);
    END IF;
    IF p_entries IS NOT NULL THEN
      INSERT INTO memoranda.entries SELECT * FROM unnest(p_entries);
    END IF;
    IF p_tags IS NOT NULL THEN
      INSERT INTO memoranda.tags SELECT * FROM unnest(p_tags);
    END IF;
    IF p_nodes IS NOT NULL THEN
      INSERT INTO memoranda.nodes SELECT * FROM unnest(p_nodes);
    END IF;
    IF p_derivations IS NOT NULL THEN
      INSERT INTO memoranda.derivations SELECT * FROM unnest(p_derivations)
      ON CONFLICT DO NOTHING;
    END IF;
    IF p_marks IS NOT NULL THEN
      INSERT INTO memoranda.marks SELECT * FROM unnest(p_marks);
    END IF;
    IF p_retries IS NOT NULL THEN
      INSERT INTO memoranda.retries SELECT * FROM unnest(p_retries);
    END IF;
    outcome := 'done';
  EXCEPTION
    WHEN SQLSTATE 'MEMO0' THEN
      RETURN;
    WHEN unique_violation THEN
      outcome := 'exists';
      about := memoranda.first_in_use(p_journal, p_versions);
      IF about IS NULL THEN
        RAISE;
      END IF;
  END;
END $$;

-- ---------------------------------------------------------------------------- the index of words

-- Chunks of postings go. The caller has entered the journal, and holds its lock. Each is looked up by
-- its key, whatever the planner believes of the table.
CREATE FUNCTION memoranda.take_postings(
  p_journal bigint, p_segments bigint[], p_tokens text[], p_firsts bigint[]
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. cardinality(p_tokens) LOOP
    DELETE FROM memoranda.postings p
    WHERE p.journal = p_journal AND p.segment = p_segments[i] AND p.token = p_tokens[i]
      AND p.first = p_firsts[i];
  END LOOP;
END $$;

-- --------------------------------------------------------------------------------------- vectors

-- How many objects are active, and how many vectors there are.
CREATE FUNCTION memoranda.count_vectors(
  p_journal bigint, p_origin text, p_model text, OUT active bigint, OUT embedded bigint
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  SELECT count(*) INTO active FROM memoranda.versions v
  WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active';
  SELECT count(*) INTO embedded FROM memoranda.vectors x
  WHERE x.journal = p_journal AND x.model = p_model;
END $$;

-- Active objects without a vector, those that were changed last first. One plan whatever the limit:
-- the walk along the index, which mostly ends at its beginning.
CREATE FUNCTION memoranda.without_vector(
  p_journal bigint, p_origin text, p_model text, p_limit bigint
)
RETURNS TABLE (id text, seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT n.id, n.seq, f.entry, f.salt, f.body FROM (
    SELECT v.id, v.seq, v.updated_at FROM memoranda.versions v
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active'
      AND NOT EXISTS (
        SELECT FROM memoranda.vectors x
        WHERE x.journal = p_journal AND x.seq = v.seq AND x.model = p_model)
    ORDER BY v.updated_at DESC, v.since DESC
    LIMIT p_limit
  ) AS n
  LEFT JOIN LATERAL (
    SELECT e.entry, e.salt, e.body FROM memoranda.entries e
    WHERE e.journal = p_journal AND e.seq = n.seq LIMIT 1
  ) AS f ON true;
END $$;

-- -------------------------------------------------------------------------------------- leases

-- They lock a lease's own row and no more: nobody who appends to the journal waits for them. The time
-- is this server's, since the machines that ask have clocks of their own; it is that of the statement,
-- not of the transaction, which may have waited.

-- The lease, if nobody held it; of a job, with p_due, only if it is due by then.
CREATE FUNCTION memoranda.take_lease(
  p_journal bigint, p_origin text, p_name text, p_holder text, p_for_ms bigint, p_due bigint
)
RETURNS TABLE (
  name text, holder text, until bigint, due bigint, attempts bigint, report text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_now bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  IF p_due IS NULL THEN
    INSERT INTO memoranda.leases (journal, name) VALUES (p_journal, p_name) ON CONFLICT DO NOTHING;
  END IF;
  PERFORM FROM memoranda.leases l
  WHERE l.journal = p_journal AND l.name = p_name AND l.until <= v_now
    AND (p_due IS NULL OR l.due <= p_due)
  FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    RETURN QUERY
    UPDATE memoranda.leases AS l
    SET holder = p_holder, until = v_now + p_for_ms, attempts = l.attempts + 1
    WHERE l.journal = p_journal AND l.name = p_name
    RETURNING l.name, l.holder, l.until, l.due, l.attempts, l.report;
  END IF;
END $$;

CREATE FUNCTION memoranda.renew_lease(
  p_journal bigint, p_origin text, p_name text, p_holder text, p_for_ms bigint
)
RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  UPDATE memoranda.leases AS l
  SET until = floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + p_for_ms
  WHERE l.journal = p_journal AND l.name = p_name AND l.holder = p_holder
  RETURNING 1::bigint;
END $$;

-- Whoever held it is done: nothing is left of it, or it is a job that is due again; one that came to
-- be due otherwise meanwhile stays so.
CREATE FUNCTION memoranda.end_lease(
  p_journal bigint, p_origin text, p_name text, p_holder text,
  p_is_over boolean, p_was_due bigint, p_due bigint, p_attempts bigint, p_report text
)
RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  IF p_is_over THEN
    RETURN QUERY
    DELETE FROM memoranda.leases l
    WHERE l.journal = p_journal AND l.name = p_name AND l.holder = p_holder
    RETURNING 1::bigint;
  ELSE
    RETURN QUERY
    UPDATE memoranda.leases AS l
    SET holder = '', until = 0, attempts = p_attempts, report = p_report,
        due = CASE WHEN l.due IS NOT DISTINCT FROM p_was_due THEN p_due ELSE l.due END
    WHERE l.journal = p_journal AND l.name = p_name AND l.holder = p_holder
    RETURNING 1::bigint;
  END IF;
END $$;

CREATE FUNCTION memoranda.leases_of(p_journal bigint, p_origin text, p_prefix text)
RETURNS TABLE (
  name text, holder text, until bigint, due bigint, attempts bigint, report text
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM memoranda.enter(p_journal, p_origin);
  RETURN QUERY
  SELECT l.name, l.holder, l.until, l.due, l.attempts, l.report FROM memoranda.leases l
  WHERE l.journal = p_journal AND starts_with(l.name, p_prefix) ORDER BY l.name;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memoranda FROM PUBLIC;
