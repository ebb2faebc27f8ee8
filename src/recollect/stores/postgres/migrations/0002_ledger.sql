-- What was stored before there was a journal. `adoption` moves it into one and empties this; until
-- then each row stays behind the wall that it was behind.
DROP FUNCTION recollect.clear_records(text, bigint, text, text);
DROP FUNCTION recollect.remove_record(text, text, bigint, bigint, text, text, bytea, bytea);
DROP FUNCTION recollect.edit_record(
  text, text, bigint, bigint, bigint, bytea, text[], text[], bigint, text, text, bytea, bytea);
DROP FUNCTION recollect.get_for_edit(text, text, bytea, bytea);
DROP FUNCTION recollect.newest_records(text, text, bigint, bigint, bigint, bigint);
DROP FUNCTION recollect.get_record(text, text);
DROP FUNCTION recollect.create_record(
  text, text, bigint, bigint, bytea, text[], bigint, text, text, bytea, bytea);
DROP FUNCTION recollect.release_key(text, bytea);
DROP FUNCTION recollect.claim_key(text, bytea, bytea, text, bigint);
DROP FUNCTION recollect.open_scope(text, bigint);
DROP INDEX recollect.records_by_creation;
DROP INDEX recollect.records_by_update;
DROP TABLE recollect.record_tags;
DROP TABLE recollect.idempotency_keys;
ALTER TABLE recollect.records RENAME TO plain_records;
ALTER TABLE recollect.plain_records RENAME CONSTRAINT records_pkey TO plain_records_pkey;
ALTER TABLE recollect.scopes RENAME TO plain_scopes;
ALTER TABLE recollect.plain_scopes RENAME CONSTRAINT scopes_pkey TO plain_scopes_pkey;

-- One journal for each scope, with its head: how many entries it has, and the hash of the last.
-- Its row is the lock under which a journal grows. Of its entries the first `indexed` are in the
-- index of words, as the tokens of this tokenizer.
CREATE TABLE recollect.journals (
  number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope     text COLLATE "C" NOT NULL UNIQUE,
  origin    text COLLATE "C" NOT NULL UNIQUE,
  opened_at bigint NOT NULL,
  size      bigint NOT NULL,
  head      bytea NOT NULL,
  head_at   bigint NOT NULL,
  indexed   bigint NOT NULL DEFAULT 0,
  tokenizer text COLLATE "C" NOT NULL DEFAULT ''
);

-- The key makes a fork impossible: two entries after the same one would have the same number. An
-- index of previous hashes would say so once more, at 70 bytes an entry and another page to write,
-- and would catch nothing else: an entry that names a wrong hash breaks the chain, which is what
-- `verify` looks at.
CREATE TABLE recollect.entries (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  entry   bytea NOT NULL,
  PRIMARY KEY (journal, seq)
);

-- Bodies and their salts can be erased.
CREATE TABLE recollect.bodies (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  salt    bytea NOT NULL,
  body    bytea NOT NULL,
  PRIMARY KEY (journal, seq)
);

-- Which entries are about the memory as a whole: policies, breaks, audits, maintenance. They are few.
CREATE TABLE recollect.notices (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  PRIMARY KEY (journal, seq)
);

-- Every eighth level of the Merkle tree over the entries; the rest is hashed when it is needed.
CREATE TABLE recollect.nodes (
  journal bigint NOT NULL,
  level   bigint NOT NULL,
  number  bigint NOT NULL,
  hash    bytea NOT NULL,
  PRIMARY KEY (journal, level, number)
);

-- Checkpoints that were made of a journal, as notes; whoever keeps them elsewhere can compare.
CREATE TABLE recollect.checkpoints (
  journal bigint NOT NULL,
  size    bigint NOT NULL,
  note    text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (journal, size)
);

-- What follows from the journal, and is made anew from it when in doubt.
CREATE TABLE recollect.versions (
  journal    bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  number     bigint NOT NULL,
  seq        bigint NOT NULL,
  is_newest  boolean NOT NULL,
  status     text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  valid_from bigint,
  valid_to   bigint,
  expires_at bigint,
  subject    text COLLATE "C",
  PRIMARY KEY (journal, id, number)
);

-- Read backwards: newest first, ties by id. New entries land at the end, where inserting is cheap.
CREATE INDEX active_by_creation ON recollect.versions (journal, created_at, id DESC)
  WHERE is_newest AND status = 'active';
CREATE INDEX active_by_update ON recollect.versions (journal, updated_at, id DESC)
  WHERE is_newest AND status = 'active';
-- By what tag_key makes of it: a subject may be longer than an index entry (2,704 bytes).
CREATE INDEX versions_by_subject ON recollect.versions (journal, recollect.tag_key(subject))
  WHERE subject IS NOT NULL;

-- Likewise read backwards: the first ten of a tag are ten neighbours.
-- The tag is what recollect.tag_key makes of it; where that is a digest, it is whole as well.
CREATE TABLE recollect.tags (
  journal    bigint NOT NULL,
  tag        text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  id         text COLLATE "C" NOT NULL,
  whole      text COLLATE "C"
);
CREATE UNIQUE INDEX tags_by_creation ON recollect.tags (journal, tag, created_at, id DESC);
ALTER TABLE recollect.tags REPLICA IDENTITY USING INDEX tags_by_creation;

-- The words of what is active, with the entry that led to it. Each token has the number of its
-- journal before it: the postings of one scope are never read for another. The key begins with the
-- entry, so that nobody takes it for a way to find all of a journal, and words are found by words.
CREATE TABLE recollect.words (
  journal bigint NOT NULL,
  seq     bigint NOT NULL,
  id      text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  tokens  text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (seq, journal)
);
-- Without a pending list, which every search would read: what is pending is the journal's own end.
CREATE INDEX words_by_token ON recollect.words USING gin (tokens) WITH (fastupdate = off);

-- Which object was made from which: what is derived goes when its inputs are erased. Two ids may
-- be longer than an index entry, so both are found by what tag_key makes of them.
CREATE TABLE recollect.derivations (
  journal bigint NOT NULL,
  input   text COLLATE "C" NOT NULL,
  output  text COLLATE "C" NOT NULL
);
ALTER TABLE recollect.derivations REPLICA IDENTITY FULL;
CREATE UNIQUE INDEX derivations_by_input ON recollect.derivations
  (journal, recollect.tag_key(input), recollect.tag_key(output));
CREATE INDEX derivations_by_output ON recollect.derivations
  (journal, recollect.tag_key(output));

-- By the sha256 of the key, which may be longer than an index entry as well.
CREATE TABLE recollect.retries (
  journal     bigint NOT NULL,
  key_digest  bytea NOT NULL,
  fingerprint bytea NOT NULL,
  about       text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL,
  entries     bigint NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (journal, key_digest)
);
CREATE INDEX retries_by_object ON recollect.retries (journal, about);

-- --------------------------------------------------------------------- what never changes

-- Against accidents; whoever owns the tables can drop them.
CREATE FUNCTION recollect.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what stands in a journal stays: % of % is refused', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON recollect.entries
  FOR EACH STATEMENT EXECUTE FUNCTION recollect.refuse_change();
-- A body may be deleted: that is what an erasure does.
CREATE TRIGGER bodies_stay BEFORE UPDATE OR TRUNCATE ON recollect.bodies
  FOR EACH STATEMENT EXECUTE FUNCTION recollect.refuse_change();

-- ------------------------------------------------------------------------- the second wall

-- Below the condition in every statement: rows of another scope can be neither seen nor written.
-- A transaction names its scope; journals are found by it, and everything else by the number of
-- the journal that was found so (recollect.enter). Outside of that there are no rows at all; a
-- setting is empty, not null, once a session has used it.

ALTER TABLE recollect.journals ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.journals FORCE ROW LEVEL SECURITY;
CREATE POLICY one_scope ON recollect.journals
  USING (scope = nullif(current_setting('recollect.scope', true), ''))
  WITH CHECK (scope = nullif(current_setting('recollect.scope', true), ''));
-- The scopes and their heads are there to be listed, by who says so, and only to be read.
CREATE POLICY listed ON recollect.journals FOR SELECT
  USING (current_setting('recollect.lists_scopes', true) = 'yes');

ALTER TABLE recollect.entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.entries FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.entries
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.bodies ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.bodies FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.bodies
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.nodes FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.nodes
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.versions FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.versions
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.tags FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.tags
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.retries ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.retries FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.retries
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.notices ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.notices FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.notices
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.checkpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.checkpoints FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.checkpoints
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.words ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.words FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.words
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

ALTER TABLE recollect.derivations ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.derivations FORCE ROW LEVEL SECURITY;
CREATE POLICY one_journal ON recollect.derivations
  USING (journal = nullif(current_setting('recollect.journal', true), '')::bigint)
  WITH CHECK (journal = nullif(current_setting('recollect.journal', true), '')::bigint);

-- ------------------------------------------------------------- one call, one statement, one trip

-- They run with the caller's rights. Refusals are values: nothing of them reaches the server's
-- log. Each begins by naming its scope to the second wall, for its own transaction.

-- The number of a scope's journal, or null.
CREATE FUNCTION recollect.journal_of(p_scope text) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  RETURN (SELECT j.number FROM recollect.journals j WHERE j.scope = p_scope);
END $$;

CREATE FUNCTION recollect.open_journal(p_scope text, p_origin text, p_at bigint, p_head bytea)
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  INSERT INTO recollect.journals (scope, origin, opened_at, size, head, head_at)
  VALUES (p_scope, p_origin, p_at, 0, p_head, p_at)
  ON CONFLICT (scope) DO NOTHING;
  RETURN recollect.journal_of(p_scope);
END $$;

-- Behind the second wall is the journal that was found for the scope, if it is the one that the
-- caller took it for. They can differ when a database was replaced by another, or by an older copy
-- of itself, while a program went on.
CREATE FUNCTION recollect.bind(p_journal bigint, p_found bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_found IS DISTINCT FROM p_journal THEN
    RAISE EXCEPTION 'the journal of this scope is not the one that was opened; open it again';
  END IF;
  PERFORM set_config('recollect.journal', p_found::text, true);
END $$;

CREATE FUNCTION recollect.enter(p_scope text, p_journal bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.bind(p_journal, recollect.journal_of(p_scope));
END $$;

-- The same, and nobody else appends to this journal until the transaction ends.
CREATE FUNCTION recollect.lock_journal(p_scope text, p_journal bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  PERFORM 1 FROM recollect.journals j WHERE j.scope = p_scope FOR UPDATE;
END $$;

CREATE FUNCTION recollect.head_of(
  p_scope text, p_journal bigint, OUT origin text, OUT size bigint, OUT head bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT j.origin, j.size, j.head INTO origin, size, head
  FROM recollect.journals j WHERE j.scope = p_scope;
END $$;

CREATE FUNCTION recollect.entry_at(
  p_scope text, p_journal bigint, p_seq bigint,
  OUT seq bigint, OUT entry bytea, OUT salt bytea, OUT body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT e.seq, e.entry, b.salt, b.body INTO seq, entry, salt, body
  FROM recollect.entries e
  LEFT JOIN recollect.bodies b ON b.journal = e.journal AND b.seq = e.seq
  WHERE e.journal = p_journal AND e.seq = p_seq;
END $$;

-- The entries about the memory as a whole.
CREATE FUNCTION recollect.notices_of(p_scope text, p_journal bigint)
RETURNS TABLE (seq bigint, entry bytea, salt bytea, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT e.seq, e.entry, b.salt, b.body
  FROM recollect.notices n
  JOIN recollect.entries e ON e.journal = n.journal AND e.seq = n.seq
  LEFT JOIN recollect.bodies b ON b.journal = n.journal AND b.seq = n.seq
  WHERE n.journal = p_journal
  ORDER BY n.seq;
END $$;

-- What a unit with this key came to: repeated, with its first outcome; key_used, if it asked for
-- something else; null, if there was none. The caller has entered the journal.
CREATE FUNCTION recollect.first_outcome(
  p_journal bigint, p_key_digest bytea, p_fingerprint bytea,
  OUT outcome text, OUT about text, OUT seq bigint, OUT hashes bytea
)
LANGUAGE plpgsql AS $$
DECLARE
  v_entries bigint;
BEGIN
  SELECT CASE WHEN k.fingerprint = p_fingerprint THEN 'repeated' ELSE 'key_used' END,
         k.about, k.seq, k.entries
  INTO outcome, about, seq, v_entries
  FROM recollect.retries k
  WHERE k.journal = p_journal AND k.key_digest = p_key_digest;
  IF outcome = 'repeated' THEN
    SELECT coalesce(string_agg(sha256(e.entry), ''::bytea ORDER BY e.seq), ''::bytea) INTO hashes
    FROM recollect.entries e
    WHERE e.journal = p_journal
      AND e.seq >= first_outcome.seq AND e.seq < first_outcome.seq + v_entries;
  END IF;
END $$;

-- The newest version of an object, if it is active.
CREATE FUNCTION recollect.current_version(
  p_scope text, p_journal bigint, p_id text,
  OUT id text, OUT number bigint, OUT status text, OUT created_at bigint, OUT updated_at bigint,
  OUT valid_from bigint, OUT valid_to bigint, OUT expires_at bigint, OUT subject text,
  OUT body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT v.id, v.number, v.status, v.created_at, v.updated_at,
         v.valid_from, v.valid_to, v.expires_at, v.subject, b.body
  INTO id, number, status, created_at, updated_at,
       valid_from, valid_to, expires_at, subject, body
  FROM recollect.versions v JOIN recollect.bodies b ON b.journal = v.journal AND b.seq = v.seq
  WHERE v.journal = p_journal AND v.id = p_id
  ORDER BY v.number DESC
  LIMIT 1;
END $$;

-- What a unit reads before it decides: the newest version of each id that has one, with the place
-- of the id in the list. If the unit has a key that was used before, a last row says so: its
-- outcome, and the first one's about, seq and hashes where id, number and body stand. The key is
-- looked at last: else a call that landed in between would show in what is read, and not as what
-- it is, the first of this one.
CREATE FUNCTION recollect.read_for_unit(
  p_scope text, p_journal bigint, p_ids text[], p_key_digest bytea, p_fingerprint bytea
)
RETURNS TABLE (
  outcome text, place bigint,
  id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT NULL::text, n.place, c.*
  FROM unnest(p_ids) WITH ORDINALITY AS n (id, place)
  CROSS JOIN LATERAL (
    SELECT v.id, v.number, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, b.body
    FROM recollect.versions v JOIN recollect.bodies b ON b.journal = v.journal AND b.seq = v.seq
    WHERE v.journal = p_journal AND v.id = n.id
    ORDER BY v.number DESC
    LIMIT 1
  ) AS c;
  IF p_key_digest IS NOT NULL THEN
    SELECT f.outcome, f.about, f.seq, f.hashes INTO outcome, id, number, body
    FROM recollect.first_outcome(p_journal, p_key_digest, p_fingerprint) f;
    IF outcome IS NOT NULL THEN
      RETURN NEXT;
    END IF;
  END IF;
END $$;

-- Every version of an object, with the entry that led to it, and its body where it still is.
CREATE FUNCTION recollect.versions_of(p_scope text, p_journal bigint, p_id text)
RETURNS TABLE (
  id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text,
  seq bigint, entry bytea, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT v.id, v.number, v.status, v.created_at, v.updated_at,
         v.valid_from, v.valid_to, v.expires_at, v.subject, v.seq, e.entry, b.body
  FROM recollect.versions v
  JOIN recollect.entries e ON e.journal = v.journal AND e.seq = v.seq
  LEFT JOIN recollect.bodies b ON b.journal = v.journal AND b.seq = v.seq
  WHERE v.journal = p_journal AND v.id = p_id
  ORDER BY v.number;
END $$;

-- Blocks of the tree: of each the hashes that are there, one after the other; level 0 are the
-- leaves, which follow from the entries.
CREATE FUNCTION recollect.blocks(
  p_scope text, p_journal bigint, p_levels bigint[], p_numbers bigint[]
)
RETURNS TABLE (level bigint, number bigint, hashes bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT n.level, n.number, CASE n.level
    WHEN 0 THEN (
      SELECT string_agg(sha256('\x00'::bytea || e.entry), ''::bytea ORDER BY e.seq)
      FROM recollect.entries e
      WHERE e.journal = p_journal AND e.seq >= n.number * 256 AND e.seq < (n.number + 1) * 256)
    ELSE (
      SELECT string_agg(o.hash, ''::bytea ORDER BY o.number)
      FROM recollect.nodes o
      WHERE o.journal = p_journal AND o.level = n.level
        AND o.number >= n.number * 256 AND o.number < (n.number + 1) * 256)
    END
  FROM unnest(p_levels, p_numbers) AS n (level, number);
END $$;

-- A checkpoint's note; one of the same size is replaced.
CREATE FUNCTION recollect.keep_note(
  p_scope text, p_journal bigint, p_size bigint, p_note text, p_at bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  INSERT INTO recollect.checkpoints (journal, size, note, at)
  VALUES (p_journal, p_size, p_note, p_at)
  ON CONFLICT (journal, size) DO UPDATE SET note = excluded.note, at = excluded.at;
END $$;

CREATE FUNCTION recollect.notes_of(p_scope text, p_journal bigint) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN QUERY
  SELECT c.note FROM recollect.checkpoints c WHERE c.journal = p_journal ORDER BY c.size DESC;
END $$;

-- The query that is asked most, in one trip: the newest few, of one tag or of all.
CREATE FUNCTION recollect.newest_active(
  p_scope text, p_journal bigint,
  p_tag text, p_after bigint, p_before bigint, p_limit bigint, p_offset bigint
)
RETURNS TABLE (
  id text, number bigint, status text, created_at bigint, updated_at bigint,
  valid_from bigint, valid_to bigint, expires_at bigint, subject text, body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  IF p_tag IS NULL THEN
    RETURN QUERY
    SELECT v.id, v.number, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, b.body
    FROM recollect.versions v JOIN recollect.bodies b ON b.journal = v.journal AND b.seq = v.seq
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active'
      AND v.created_at >= p_after AND v.created_at <= p_before
    ORDER BY v.created_at DESC, v.id
    LIMIT p_limit OFFSET p_offset;
  ELSE
    RETURN QUERY
    SELECT v.id, v.number, v.status, v.created_at, v.updated_at,
           v.valid_from, v.valid_to, v.expires_at, v.subject, b.body
    FROM recollect.tags t
    JOIN recollect.versions v ON v.journal = t.journal AND v.id = t.id AND v.is_newest
    JOIN recollect.bodies b ON b.journal = v.journal AND b.seq = v.seq
    WHERE t.journal = p_journal AND t.tag = recollect.tag_key(p_tag)
      AND t.created_at >= p_after AND t.created_at <= p_before
    ORDER BY t.created_at DESC, t.id
    LIMIT p_limit OFFSET p_offset;
  END IF;
END $$;

-- ------------------------------------------------------------------------------- appending

-- The root of a perfect subtree, from all hashes of one of its levels: `node_of` in ledger/tree.py.
CREATE FUNCTION recollect.node_of(p_hashes bytea[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  v_above bytea[];
  v_left bytea;
  v_hash bytea;
BEGIN
  WHILE cardinality(p_hashes) > 1 LOOP
    v_above := '{}';
    v_left := NULL;
    FOREACH v_hash IN ARRAY p_hashes LOOP
      IF v_left IS NULL THEN
        v_left := v_hash;
      ELSE
        v_above := v_above || sha256('\x01'::bytea || v_left || v_hash);
        v_left := NULL;
      END IF;
    END LOOP;
    p_hashes := v_above;
  END LOOP;
  RETURN p_hashes[1];
END $$;

-- The nodes that are complete once a journal has grown, the lower ones first: `completed` in
-- ledger/tree.py. Leaves are hashed from the entries, the others from the nodes below.
CREATE FUNCTION recollect.complete_nodes(p_journal bigint, p_before bigint, p_after bigint)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_level integer := 8;
  v_hashes bytea[];
BEGIN
  WHILE p_after >> v_level > 0 LOOP
    FOR v_number IN p_before >> v_level .. (p_after >> v_level) - 1 LOOP
      IF v_level = 8 THEN
        SELECT array_agg(sha256('\x00'::bytea || e.entry) ORDER BY e.seq) INTO v_hashes
        FROM recollect.entries e
        WHERE e.journal = p_journal AND e.seq >= v_number * 256 AND e.seq < (v_number + 1) * 256;
      ELSE
        SELECT array_agg(n.hash ORDER BY n.number) INTO v_hashes
        FROM recollect.nodes n
        WHERE n.journal = p_journal AND n.level = v_level - 8
          AND n.number >= v_number * 256 AND n.number < (v_number + 1) * 256;
      END IF;
      INSERT INTO recollect.nodes (journal, level, number, hash)
      VALUES (p_journal, v_level, v_number, recollect.node_of(v_hashes));
    END LOOP;
    v_level := v_level + 8;
  END LOOP;
END $$;

-- The content of every version of these objects, gone from wherever it or something of it stands.
CREATE FUNCTION recollect.erase_content(p_journal bigint, p_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM recollect.bodies b USING unnest(p_ids) AS n (id), recollect.versions v
  WHERE v.journal = p_journal AND v.id = n.id AND b.journal = p_journal AND b.seq = v.seq;
  DELETE FROM recollect.words w USING unnest(p_ids) AS n (id), recollect.versions v
  WHERE v.journal = p_journal AND v.id = n.id AND w.journal = p_journal AND w.seq = v.seq;
  UPDATE recollect.versions v SET
    is_newest = false, status = 'erased', created_at = 0, updated_at = 0,
    valid_from = NULL, valid_to = NULL, expires_at = NULL, subject = NULL
  FROM unnest(p_ids) AS n (id)
  WHERE v.journal = p_journal AND v.id = n.id;
  DELETE FROM recollect.retries k USING unnest(p_ids) AS n (id)
  WHERE k.journal = p_journal AND k.about = n.id;
  DELETE FROM recollect.derivations d USING unnest(p_ids) AS n (id)
  WHERE d.journal = p_journal AND recollect.tag_key(d.output) = recollect.tag_key(n.id)
    AND d.output = n.id;
END $$;

-- How far the index of words reaches, and whose it is; and how many entries there are.
CREATE FUNCTION recollect.index_of(
  p_scope text, p_journal bigint, OUT indexed bigint, OUT size bigint, OUT tokenizer text
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  SELECT j.indexed, j.size, j.tokenizer INTO indexed, size, tokenizer
  FROM recollect.journals j WHERE j.scope = p_scope;
END $$;

CREATE FUNCTION recollect.count_active(p_scope text, p_journal bigint, p_at_most bigint)
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.enter(p_scope, p_journal);
  RETURN (SELECT count(*) FROM (
    SELECT 1 FROM recollect.versions v
    WHERE v.journal = p_journal AND v.is_newest AND v.status = 'active' LIMIT p_at_most) AS n);
END $$;

-- The index of words from the start, of no tokenizer until a unit names one.
CREATE FUNCTION recollect.begin_reindex(p_scope text, p_journal bigint, p_tokenizer text)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  DELETE FROM recollect.words w WHERE w.journal = p_journal;
  UPDATE recollect.journals j SET indexed = 0, tokenizer = p_tokenizer WHERE j.scope = p_scope;
END $$;

-- Bring the index of words forward, from one entry to another, if nobody else did meanwhile. What
-- was erased since its words were looked at has no body, and gets none.
CREATE FUNCTION recollect.merge_words(
  p_scope text, p_journal bigint, p_from bigint, p_to bigint, p_before text, p_after text,
  p_replacing text[], p_seqs bigint[], p_ids text[], p_numbers bigint[], p_tokens text[]
)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recollect.lock_journal(p_scope, p_journal);
  UPDATE recollect.journals j SET indexed = p_to, tokenizer = p_after
  WHERE j.scope = p_scope AND j.indexed = p_from AND j.tokenizer = p_before;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM recollect.words w USING unnest(p_replacing) AS n (id), recollect.versions v
  WHERE v.journal = p_journal AND v.id = n.id AND v.seq < p_from
    AND w.journal = p_journal AND w.seq = v.seq;
  INSERT INTO recollect.words (journal, seq, id, number, tokens)
  SELECT p_journal, n.seq, n.id, n.number, string_to_array(n.tokens, ' ')
  FROM unnest(p_seqs, p_ids, p_numbers, p_tokens) AS n (seq, id, number, tokens)
  JOIN recollect.bodies b ON b.journal = p_journal AND b.seq = n.seq;
  RETURN true;
END $$;

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
  -- of each entry; the actor as a JSON string
  p_actors text[], p_ats bigint[], p_kinds text[], p_salts bytea[], p_bodies bytea[],
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
      || ',"body_digest":"' || encode(sha256(p_salts[i] || p_bodies[i]), 'hex')
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
  IF cardinality(p_replaced_ids) > 0 THEN
    UPDATE recollect.versions v SET is_newest = false
    FROM unnest(p_replaced_ids, p_replaced_numbers) AS n (id, number)
    WHERE v.journal = p_journal AND v.id = n.id AND v.number = n.number;
  END IF;
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
  IF cardinality(p_gone_tags) > 0 THEN
    DELETE FROM recollect.tags t
    USING unnest(p_gone_tags, p_gone_times, p_gone_ids) AS n (tag, created_at, id)
    WHERE t.journal = p_journal AND t.tag = recollect.tag_key(n.tag)
      AND t.created_at = n.created_at AND t.id = n.id;
  END IF;
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
