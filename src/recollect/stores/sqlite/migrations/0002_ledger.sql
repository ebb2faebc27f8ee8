-- What was stored before there was a journal. `adoption` moves it into one and empties this.
DROP INDEX records_by_creation;
DROP INDEX records_by_update;
DROP TABLE record_tags;
DROP TABLE idempotency_keys;
ALTER TABLE records RENAME TO plain_records;
ALTER TABLE scopes RENAME TO plain_scopes;

-- One journal for each scope, with its head: how many entries it has, and the hash of the last. Of
-- these, the first `indexed` are in the index of words, as the tokens of this tokenizer.
CREATE TABLE journals (
  number    INTEGER NOT NULL PRIMARY KEY,
  scope     TEXT    NOT NULL UNIQUE,
  origin    TEXT    NOT NULL UNIQUE,
  opened_at INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  head      BLOB    NOT NULL,
  head_at   INTEGER NOT NULL,
  indexed   INTEGER NOT NULL DEFAULT 0,
  tokenizer TEXT    NOT NULL DEFAULT ''
) STRICT;

-- The entries of all journals; a place is a journal's number and, in its low 40 bits, a sequence
-- number: there can't be two entries at one place. Bodies and their salts can be erased.
CREATE TABLE entries (
  place INTEGER NOT NULL PRIMARY KEY,
  entry BLOB    NOT NULL
) STRICT;
CREATE TABLE bodies (
  place INTEGER NOT NULL PRIMARY KEY,
  salt  BLOB    NOT NULL,
  body  BLOB    NOT NULL
) STRICT;

-- Against accidents; whoever can write the file can drop them.
CREATE TRIGGER entries_stay   BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'a journal entry is never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'a journal entry is never deleted'); END;
CREATE TRIGGER bodies_stay    BEFORE UPDATE ON bodies  BEGIN SELECT RAISE(ABORT, 'a body is never changed'); END;

-- Which entries are about the memory as a whole: policies, breaks, audits, maintenance. They are few.
CREATE TABLE notices (
  place INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- Every eighth level of the Merkle tree over the entries; the rest is hashed when it is needed.
CREATE TABLE nodes (
  journal INTEGER NOT NULL,
  level   INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  hash    BLOB    NOT NULL,
  PRIMARY KEY (journal, level, number)
) STRICT, WITHOUT ROWID;

-- Checkpoints that were made of a journal, as notes; whoever keeps them elsewhere can compare.
CREATE TABLE checkpoints (
  journal INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  note    TEXT    NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (journal, size)
) STRICT, WITHOUT ROWID;

-- What follows from the journal, and is made anew from it when in doubt.
CREATE TABLE versions (
  journal    INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  number     INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  is_newest  INTEGER NOT NULL,
  status     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  valid_from INTEGER,
  valid_to   INTEGER,
  expires_at INTEGER,
  subject    TEXT,
  PRIMARY KEY (journal, id, number)
) STRICT, WITHOUT ROWID;

-- Read backwards: newest first, ties by id. New entries land at the end, where inserting is cheap.
CREATE INDEX active_by_creation ON versions (journal, created_at, id DESC) WHERE is_newest AND status = 'active';
CREATE INDEX active_by_update   ON versions (journal, updated_at, id DESC) WHERE is_newest AND status = 'active';
CREATE INDEX versions_by_subject ON versions (journal, subject, id) WHERE subject IS NOT NULL;

-- Likewise read backwards: the first ten of a tag are ten neighbours.
CREATE TABLE tags (
  journal    INTEGER NOT NULL,
  tag        TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  PRIMARY KEY (journal, tag, created_at, id DESC)
) STRICT, WITHOUT ROWID;

-- The words of what is active, under the place of the entry that led to it: tokens of ours, each
-- with the number of its journal before it, joined by spaces, which is all that this tokenizer splits
-- at. Postings only; no text is in it.
CREATE VIRTUAL TABLE words USING fts5 (
  tokens, content = '', columnsize = 0, detail = none,
  tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE word_rows USING fts5vocab (words, instance);

-- Which object was made from which: what is derived goes when its inputs are erased.
CREATE TABLE derivations (
  journal INTEGER NOT NULL,
  input   TEXT    NOT NULL,
  output  TEXT    NOT NULL,
  PRIMARY KEY (journal, input, output)
) STRICT, WITHOUT ROWID;

CREATE TABLE retries (
  journal     INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL,
  about       TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  entries     INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (journal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX retries_by_object ON retries (journal, about);
