CREATE TABLE scopes (
  scope     TEXT    NOT NULL PRIMARY KEY,
  opened_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A rowid table: ids are time-ordered, so that rows and index entries land at the end.
-- A deleted record keeps its row without a body: created again, it is the next version.
CREATE TABLE records (
  scope      TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body       BLOB,
  actor      TEXT    NOT NULL,
  reason     TEXT,
  UNIQUE (scope, id)
) STRICT;

-- Read backwards: newest first, ties by id. New entries land at the end, where inserting is cheap.
CREATE INDEX records_by_creation ON records (scope, created_at, id DESC) WHERE body IS NOT NULL;
CREATE INDEX records_by_update   ON records (scope, updated_at, id DESC) WHERE body IS NOT NULL;

-- Likewise read backwards: the first ten of a tag are ten neighbours.
CREATE TABLE record_tags (
  scope      TEXT    NOT NULL,
  tag        TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  PRIMARY KEY (scope, tag, created_at, id DESC)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  scope       TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL,
  record_id   TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
