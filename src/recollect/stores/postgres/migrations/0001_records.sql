-- Every name is written in full, so that no search_path decides what is meant.
-- COLLATE "C" compares bytes, which in UTF-8 is code point order: the database's locale decides
-- neither order nor equality.

CREATE TABLE recollect.scopes (
  scope     text COLLATE "C" NOT NULL PRIMARY KEY,
  opened_at bigint NOT NULL
);

-- A deleted record keeps its row without a body: created again, it is the next version.
CREATE TABLE recollect.records (
  scope      text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  version    bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  body       bytea,
  actor      text COLLATE "C" NOT NULL,
  reason     text COLLATE "C",
  PRIMARY KEY (scope, id)
);

CREATE INDEX records_by_creation ON recollect.records (scope, created_at DESC, id)
  WHERE body IS NOT NULL;
CREATE INDEX records_by_update ON recollect.records (scope, updated_at DESC, id)
  WHERE body IS NOT NULL;

-- In the order that a query by tag asks for: its first ten are ten neighbours.
-- The tag is what recollect.tag_key makes of it.
CREATE TABLE recollect.record_tags (
  scope      text COLLATE "C" NOT NULL,
  tag        text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  id         text COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX record_tags_by_creation
  ON recollect.record_tags (scope, tag, created_at DESC, id);
ALTER TABLE recollect.record_tags REPLICA IDENTITY USING INDEX record_tags_by_creation;

-- By the sha256 of the key: a key may be longer than an index entry (2,704 bytes).
CREATE TABLE recollect.idempotency_keys (
  scope       text COLLATE "C" NOT NULL,
  key_digest  bytea NOT NULL,
  fingerprint bytea NOT NULL,
  record_id   text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (scope, key_digest)
);

-- ------------------------------------------------------------------- the second wall

-- Below the condition on the scope in every statement: rows of another scope can be neither seen
-- nor written. Outside a transaction that has named its scope there are no rows at all; the
-- setting is empty, not null, once a session has used it.

ALTER TABLE recollect.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.records FORCE ROW LEVEL SECURITY;
CREATE POLICY one_scope ON recollect.records
  USING (scope = nullif(current_setting('recollect.scope', true), ''))
  WITH CHECK (scope = nullif(current_setting('recollect.scope', true), ''));

ALTER TABLE recollect.record_tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.record_tags FORCE ROW LEVEL SECURITY;
CREATE POLICY one_scope ON recollect.record_tags
  USING (scope = nullif(current_setting('recollect.scope', true), ''))
  WITH CHECK (scope = nullif(current_setting('recollect.scope', true), ''));

ALTER TABLE recollect.idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY one_scope ON recollect.idempotency_keys
  USING (scope = nullif(current_setting('recollect.scope', true), ''))
  WITH CHECK (scope = nullif(current_setting('recollect.scope', true), ''));

-- The names of the scopes are there to be listed, so everyone who may use the schema reads them:
-- a policy says so, rather than a SECURITY DEFINER function, which would run with the owner's
-- rights. A name is added by its own scope alone, and neither changed nor removed.
ALTER TABLE recollect.scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE recollect.scopes FORCE ROW LEVEL SECURITY;
CREATE POLICY listed ON recollect.scopes FOR SELECT USING (true);
CREATE POLICY own_name ON recollect.scopes FOR INSERT
  WITH CHECK (scope = nullif(current_setting('recollect.scope', true), ''));

-- -------------------------------------------------- one call, one statement, one trip

-- Each function names its scope to the second wall for its own transaction, then does the work.
-- They run with the caller's rights. Refusals are values: nothing of them reaches the server's
-- log. Locks are taken in one order, the key first, then records by id, so that no two calls
-- wait for each other.

-- A tag as it stands in the index: itself, or its digest when it is so long that it would not
-- fit into an index entry together with the longest scope and the longest id.
CREATE FUNCTION recollect.tag_key(p_tag text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN octet_length(p_tag) <= 96 AND NOT starts_with(p_tag, 'sha256:') THEN p_tag
    ELSE 'sha256:' || encode(sha256(convert_to(p_tag, 'UTF8')), 'hex')
  END
$$;

CREATE FUNCTION recollect.open_scope(p_scope text, p_at bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  INSERT INTO recollect.scopes (scope, opened_at) VALUES (p_scope, p_at) ON CONFLICT DO NOTHING;
END $$;

-- The outcome is null when the key was free and is now the caller's, who has named the scope.
-- Of calls at the same time the second one waits here until the first one is done.
CREATE FUNCTION recollect.claim_key(
  p_scope text, p_key_digest bytea, p_fingerprint bytea, p_record_id text, p_at bigint,
  OUT outcome text, OUT first_id text
)
LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    INSERT INTO recollect.idempotency_keys (scope, key_digest, fingerprint, record_id, at)
    VALUES (p_scope, p_key_digest, p_fingerprint, p_record_id, p_at)
    ON CONFLICT (scope, key_digest) DO NOTHING;
    IF FOUND THEN
      RETURN;
    END IF;
    SELECT CASE WHEN k.fingerprint = p_fingerprint THEN 'repeated' ELSE 'key_used' END, k.record_id
    INTO outcome, first_id
    FROM recollect.idempotency_keys k
    WHERE k.scope = p_scope AND k.key_digest = p_key_digest;
    IF FOUND THEN
      RETURN;
    END IF;
  END LOOP;
END $$;

CREATE FUNCTION recollect.release_key(p_scope text, p_key_digest bytea) RETURNS void
LANGUAGE sql AS $$
  DELETE FROM recollect.idempotency_keys k
  WHERE k.scope = p_scope AND k.key_digest = p_key_digest
$$;

-- created; exists; repeated, with the first id; key_used.
CREATE FUNCTION recollect.create_record(
  p_scope text, p_id text, p_created_at bigint, p_updated_at bigint, p_body bytea, p_tags text[],
  p_at bigint, p_actor text, p_reason text, p_key_digest bytea, p_fingerprint bytea,
  OUT outcome text, OUT first_id text
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  IF p_key_digest IS NOT NULL THEN
    SELECT c.outcome, c.first_id INTO outcome, first_id
    FROM recollect.claim_key(p_scope, p_key_digest, p_fingerprint, p_id, p_at) c;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO recollect.records AS r
    (scope, id, version, created_at, updated_at, body, actor, reason)
  VALUES (p_scope, p_id, 1, p_created_at, p_updated_at, p_body, p_actor, p_reason)
  ON CONFLICT (scope, id) DO UPDATE SET
    version = r.version + 1, created_at = excluded.created_at, updated_at = excluded.updated_at,
    body = excluded.body, actor = excluded.actor, reason = excluded.reason
    WHERE r.body IS NULL;
  IF NOT FOUND THEN
    IF p_key_digest IS NOT NULL THEN
      PERFORM recollect.release_key(p_scope, p_key_digest);
    END IF;
    outcome := 'exists';
    RETURN;
  END IF;
  INSERT INTO recollect.record_tags (scope, tag, created_at, id)
  SELECT p_scope, recollect.tag_key(n.tag), p_created_at, p_id FROM unnest(p_tags) AS n (tag);
  outcome := 'created';
END $$;

CREATE FUNCTION recollect.get_record(p_scope text, p_id text)
RETURNS TABLE (id text, version bigint, created_at bigint, updated_at bigint, body bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  RETURN QUERY
  SELECT r.id, r.version, r.created_at, r.updated_at, r.body
  FROM recollect.records r
  WHERE r.scope = p_scope AND r.id = p_id AND r.body IS NOT NULL;
END $$;

-- The query that is asked most, in one trip: the newest few, of one tag or of all.
-- One plan for all values, made once: the walk along the index. Left to its estimates, the planner
-- would plan anew for each call, and for some tags read and sort the whole table.
CREATE FUNCTION recollect.newest_records(
  p_scope text, p_tag text, p_after bigint, p_before bigint, p_limit bigint, p_offset bigint
)
RETURNS TABLE (id text, version bigint, created_at bigint, updated_at bigint, body bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  IF p_tag IS NULL THEN
    RETURN QUERY
    SELECT r.id, r.version, r.created_at, r.updated_at, r.body
    FROM recollect.records r
    WHERE r.scope = p_scope AND r.body IS NOT NULL
      AND r.created_at >= p_after AND r.created_at <= p_before
    ORDER BY r.created_at DESC, r.id
    LIMIT p_limit OFFSET p_offset;
  ELSE
    RETURN QUERY
    SELECT r.id, r.version, r.created_at, r.updated_at, r.body
    FROM recollect.record_tags t CROSS JOIN recollect.records r
    WHERE t.scope = p_scope AND t.tag = recollect.tag_key(p_tag)
      AND t.created_at >= p_after AND t.created_at <= p_before
      AND r.scope = p_scope AND r.id = t.id
    ORDER BY t.created_at DESC, t.id
    LIMIT p_limit OFFSET p_offset;
  END IF;
END $$;

-- A record as it is before an edit, and whether the key of the edit was used before.
CREATE FUNCTION recollect.get_for_edit(
  p_scope text, p_id text, p_key_digest bytea, p_fingerprint bytea,
  OUT outcome text,
  OUT id text, OUT version bigint, OUT created_at bigint, OUT updated_at bigint, OUT body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  IF p_key_digest IS NOT NULL THEN
    SELECT CASE WHEN k.fingerprint = p_fingerprint THEN 'repeated' ELSE 'key_used' END
    INTO outcome
    FROM recollect.idempotency_keys k
    WHERE k.scope = p_scope AND k.key_digest = p_key_digest;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  SELECT r.id, r.version, r.created_at, r.updated_at, r.body
  INTO id, version, created_at, updated_at, body
  FROM recollect.records r
  WHERE r.scope = p_scope AND r.id = p_id AND r.body IS NOT NULL;
END $$;

-- edited; moved, when the record is no longer at the version that was read; repeated; key_used.
CREATE FUNCTION recollect.edit_record(
  p_scope text, p_id text, p_version bigint, p_created_at bigint, p_updated_at bigint,
  p_body bytea, p_tags_gone text[], p_tags_new text[],
  p_at bigint, p_actor text, p_reason text, p_key_digest bytea, p_fingerprint bytea
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  claimed text;
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  IF p_key_digest IS NOT NULL THEN
    SELECT c.outcome INTO claimed
    FROM recollect.claim_key(p_scope, p_key_digest, p_fingerprint, p_id, p_at) c;
    IF claimed IS NOT NULL THEN
      RETURN claimed;
    END IF;
  END IF;
  UPDATE recollect.records r
  SET version = p_version + 1, updated_at = p_updated_at, body = p_body,
      actor = p_actor, reason = p_reason
  WHERE r.scope = p_scope AND r.id = p_id AND r.version = p_version AND r.body IS NOT NULL;
  IF NOT FOUND THEN
    IF p_key_digest IS NOT NULL THEN
      PERFORM recollect.release_key(p_scope, p_key_digest);
    END IF;
    RETURN 'moved';
  END IF;
  IF cardinality(p_tags_gone) > 0 THEN
    DELETE FROM recollect.record_tags t USING unnest(p_tags_gone) AS n (tag)
    WHERE t.scope = p_scope AND t.tag = recollect.tag_key(n.tag)
      AND t.created_at = p_created_at AND t.id = p_id;
  END IF;
  IF cardinality(p_tags_new) > 0 THEN
    INSERT INTO recollect.record_tags (scope, tag, created_at, id)
    SELECT p_scope, recollect.tag_key(n.tag), p_created_at, p_id FROM unnest(p_tags_new) AS n (tag);
  END IF;
  RETURN 'edited';
END $$;

-- removed, with the record as it was; unknown; conflict, with its version; repeated; key_used.
--
-- Whoever changes a record or its tags holds its lock: once it is ours, what the later statements
-- see of them is the newest.
CREATE FUNCTION recollect.remove_record(
  p_scope text, p_id text, p_expected_version bigint,
  p_at bigint, p_actor text, p_reason text, p_key_digest bytea, p_fingerprint bytea,
  OUT outcome text,
  OUT id text, OUT version bigint, OUT created_at bigint, OUT updated_at bigint, OUT body bytea
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  IF p_key_digest IS NOT NULL THEN
    SELECT c.outcome INTO outcome
    FROM recollect.claim_key(p_scope, p_key_digest, p_fingerprint, p_id, p_at) c;
    IF outcome IS NOT NULL THEN
      RETURN;
    END IF;
  END IF;
  SELECT r.id, r.version, r.created_at, r.updated_at, r.body
  INTO id, version, created_at, updated_at, body
  FROM recollect.records r
  WHERE r.scope = p_scope AND r.id = p_id AND r.body IS NOT NULL
  FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'unknown';
    RETURN;
  END IF;
  IF version <> p_expected_version THEN
    IF p_key_digest IS NOT NULL THEN
      PERFORM recollect.release_key(p_scope, p_key_digest);
    END IF;
    outcome := 'conflict';
    RETURN;
  END IF;
  UPDATE recollect.records r
  SET body = NULL, updated_at = p_at, actor = p_actor, reason = p_reason
  WHERE r.scope = p_scope AND r.id = p_id;
  DELETE FROM recollect.record_tags t
  WHERE t.scope = p_scope AND t.created_at = remove_record.created_at AND t.id = p_id
    AND t.tag = ANY (ARRAY(
      SELECT recollect.tag_key(n.tag)
      FROM json_array_elements_text(convert_from(remove_record.body, 'UTF8')::json -> 'tags')
        AS n (tag)
    ));
  outcome := 'removed';
END $$;

-- How many records there were. A tag goes if its record has no body any more: one that was made
-- meanwhile keeps both.
CREATE FUNCTION recollect.clear_records(p_scope text, p_at bigint, p_actor text, p_reason text)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  cleared bigint;
BEGIN
  PERFORM set_config('recollect.scope', p_scope, true);
  PERFORM 1 FROM recollect.records r
  WHERE r.scope = p_scope AND r.body IS NOT NULL
  ORDER BY r.id
  FOR UPDATE;
  UPDATE recollect.records r
  SET body = NULL, updated_at = p_at, actor = p_actor, reason = p_reason
  WHERE r.scope = p_scope AND r.body IS NOT NULL;
  GET DIAGNOSTICS cleared = ROW_COUNT;
  DELETE FROM recollect.record_tags t USING recollect.records r
  WHERE t.scope = p_scope AND r.scope = p_scope AND r.id = t.id AND r.body IS NULL;
  RETURN cleared;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA recollect FROM PUBLIC;
