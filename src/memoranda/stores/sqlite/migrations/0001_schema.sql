-- The schema, whole. It is told in this order: journals and their entries, the tree over them and its
-- checkpoints; what follows from the entries; the index of words; plans; leases.

-- -------------------------------------------------------------------------------------- journals

-- One journal for each scope, with its head: how many entries it has, and the hash of the last. Of
-- these, the first `indexed` are in the index of words, as the tokens of this tokenizer; the index
-- has so many documents, and they have `length` tokens together. Whatever changes the index also
-- counts `revision` up: who has prepared a change learns whether it still fits.
CREATE TABLE journals (
  number    INTEGER NOT NULL PRIMARY KEY,
  scope     TEXT    NOT NULL UNIQUE,
  origin    TEXT    NOT NULL UNIQUE,
  opened_at INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  head      BLOB    NOT NULL,
  head_at   INTEGER NOT NULL,
  indexed   INTEGER NOT NULL DEFAULT 0,
  tokenizer TEXT    NOT NULL DEFAULT '',
  documents INTEGER NOT NULL DEFAULT 0,
  length    INTEGER NOT NULL DEFAULT 0,
  revision  INTEGER NOT NULL DEFAULT 0
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
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN
  SELECT RAISE(ABORT, 'a journal entry is never changed');
END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries BEGIN
  SELECT RAISE(ABORT, 'a journal entry is never deleted');
END;
CREATE TRIGGER bodies_stay BEFORE UPDATE ON bodies BEGIN
  SELECT RAISE(ABORT, 'a body is never changed');
END;

-- Which entries are about the memory as a whole (policies, breaks, audits, maintenance) is read from
-- the entries themselves: there is no list of them that could be shortened. An entry is kept in
-- shorthand, which begins with a code for its kind, or as it is, which says its kind in words.
CREATE INDEX notices ON entries (place >> 40)
  WHERE substr(entry, 1, 1) IN (x'05', x'06', x'08')
    OR instr(entry, x'226b696e64223a22706f6c6963795f6368616e676522') > 0
    OR instr(entry, x'226b696e64223a22636f6e666f726d616e63655f627265616b22') > 0
    OR instr(entry, x'226b696e64223a226d61696e74656e616e636522') > 0;

-- --------------------------------------------------------------------- the tree, and checkpoints

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

-- ----------------------------------------------------------------- what follows from the entries

-- The versions of objects. They are made anew from the journal when in doubt. `seq` is the entry of
-- the version; `since` is the entry since which the object has been active without a break, and of a
-- version that is not active its own.
CREATE TABLE versions (
  journal    INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  number     INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  since      INTEGER NOT NULL,
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

-- Ties of a millisecond are in the journal's order: what was written last is the newest. New entries
-- land at the end, where inserting is cheap.
CREATE INDEX active_by_creation ON versions (journal, created_at, since)
  WHERE is_newest AND status = 'active';
CREATE INDEX active_by_update ON versions (journal, updated_at, since)
  WHERE is_newest AND status = 'active';
CREATE INDEX versions_by_subject ON versions (journal, subject, id) WHERE subject IS NOT NULL;
CREATE INDEX active_by_expiry ON versions (journal, expires_at)
  WHERE is_newest AND status = 'active' AND expires_at IS NOT NULL;

-- Likewise in the journal's order: the newest ten of a tag are ten neighbours.
CREATE TABLE tags (
  journal    INTEGER NOT NULL,
  tag        TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  since      INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  PRIMARY KEY (journal, tag, created_at, since)
) STRICT, WITHOUT ROWID;

-- The names by which facts are found: proposals, executions, worlds and branches. They stand in the
-- bodies as well, and are made anew from them when in doubt.
CREATE TABLE marks (
  journal INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (journal, name, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_entry ON marks (journal, seq);

-- Which object was made from which: what is derived goes when its inputs are erased.
CREATE TABLE derivations (
  journal INTEGER NOT NULL,
  input   TEXT    NOT NULL,
  output  TEXT    NOT NULL,
  PRIMARY KEY (journal, input, output)
) STRICT, WITHOUT ROWID;

-- What an earlier call with the same idempotency key came to, by the sha256 of the key. The salt of its
-- first entry was made of that, the fingerprint and the nonce (ledger/retry.py). It goes with any of the
-- entries that the call wrote; if it wrote none, with what it is about.
CREATE TABLE retries (
  journal     INTEGER NOT NULL,
  key_digest  BLOB    NOT NULL,
  fingerprint BLOB    NOT NULL,
  nonce       BLOB    NOT NULL,
  about       TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  entries     INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (journal, key_digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX retries_by_entry ON retries (journal, seq) WHERE entries > 0;
CREATE INDEX retries_by_object ON retries (journal, about) WHERE entries = 0;

-- ------------------------------------------------------------------------------------- the index

-- The index of words is made of postings in segments (stores/postings.py). It follows from the
-- journal, and is made anew from it.

-- Postings that were written together: those of the entries from `first` up to `until`. Eight of a
-- level become one of the next, token by token: until that is done, both are there.
CREATE TABLE segments (
  journal INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  first   INTEGER NOT NULL,
  until   INTEGER NOT NULL,
  level   INTEGER NOT NULL,
  PRIMARY KEY (journal, number)
) STRICT, WITHOUT ROWID;

-- The entries that have a token, some to a row, in order, each with how often it has it and how long
-- it is; `first` is the first of them. Only of what is active.
CREATE TABLE postings (
  journal INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  token   TEXT    NOT NULL,
  first   INTEGER NOT NULL,
  body    BLOB    NOT NULL,
  PRIMARY KEY (journal, segment, token, first)
) STRICT, WITHOUT ROWID;

-- What recall knows of indexed objects besides their words: when and by whom each was said, in which
-- thread, how long it is; those among 1,024 entries to a row (stores/documents.py).
CREATE TABLE documents (
  journal INTEGER NOT NULL,
  block   INTEGER NOT NULL,
  body    BLOB    NOT NULL,
  PRIMARY KEY (journal, block)
) STRICT, WITHOUT ROWID;

-- Which entries are of which thread, by the digest of its name, of what is indexed.
CREATE TABLE threads (
  journal INTEGER NOT NULL,
  thread  TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (journal, thread, seq)
) STRICT, WITHOUT ROWID;

-- Embeddings of what is active and newest: float32, little-endian (recall/embedder.py). They are
-- derived by a model that the database doesn't know, so they can be made anew, and are never
-- verified.
CREATE TABLE vectors (
  journal INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  model   TEXT    NOT NULL,
  id      TEXT    NOT NULL,
  vector  BLOB    NOT NULL,
  PRIMARY KEY (journal, seq, model)
) STRICT;

-- Vectors go with the version that they were made of, in the same transaction: when it is replaced,
-- forgotten or erased. Nothing stale can be found, and of what was erased no vector is left.
CREATE TRIGGER vectors_follow AFTER UPDATE OF is_newest ON versions WHEN NOT new.is_newest BEGIN
  DELETE FROM vectors WHERE journal = new.journal AND seq = new.seq;
END;

-- ----------------------------------------------------------------------------------------- plans

-- Items of plans: their canonical bytes, as a codec stores them.
CREATE TABLE memories (
  journal INTEGER NOT NULL,
  session TEXT    NOT NULL,
  id      BLOB    NOT NULL,
  body    BLOB    NOT NULL,
  UNIQUE (journal, session, id)
) STRICT;

-- What they are found by: each keyword of a session once, in three forms (stores/items.py), and
-- which items have it, with the time that they are ordered by. All of it follows from the items.
CREATE TABLE item_keywords (
  number  INTEGER NOT NULL PRIMARY KEY,
  journal INTEGER NOT NULL,
  session TEXT    NOT NULL,
  gram    TEXT    NOT NULL,
  folded  TEXT    NOT NULL,
  marked  TEXT    NOT NULL,
  UNIQUE (journal, session, gram, folded)
) STRICT;
CREATE TABLE item_postings (
  keyword INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  id      BLOB    NOT NULL,
  PRIMARY KEY (keyword, at, id)
) STRICT, WITHOUT ROWID;

-- The session of each name, and those that were put aside for another one, the newest with the
-- highest number. What they say stands in the body, whose digest the cycle that saved it has in its fact.
CREATE TABLE sessions (
  journal    INTEGER NOT NULL,
  name       TEXT    NOT NULL,
  session_id TEXT    NOT NULL,
  body       BLOB    NOT NULL,
  cycle      TEXT    NOT NULL,
  PRIMARY KEY (journal, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions_aside (
  journal INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  number  INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  body    BLOB    NOT NULL,
  PRIMARY KEY (journal, name, number)
) STRICT, WITHOUT ROWID;

-- What cycles were given and gave, where somebody asked for it. No search reads it.
CREATE TABLE recordings (
  journal INTEGER NOT NULL,
  cycle   TEXT    NOT NULL,
  body    BLOB    NOT NULL,
  UNIQUE (journal, cycle)
) STRICT;

-- What leads from a cycle to what it left: the salt of the digests in its fact, and the items that it
-- stored. The salt is in no export, and goes when the cycle is erased; so do the items.
CREATE TABLE cycle_salts (
  journal INTEGER NOT NULL,
  cycle   TEXT    NOT NULL,
  salt    BLOB    NOT NULL,
  PRIMARY KEY (journal, cycle)
) STRICT, WITHOUT ROWID;
CREATE TABLE item_origins (
  journal INTEGER NOT NULL,
  session TEXT    NOT NULL,
  id      BLOB    NOT NULL,
  cycle   TEXT    NOT NULL,
  terms   INTEGER NOT NULL,  -- how many keywords the index has for the item
  PRIMARY KEY (journal, session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_origins_by_cycle ON item_origins (journal, cycle);

-- ---------------------------------------------------------------------------------------- leases

-- Who does something now, and until when nobody else may; a job is a lease that is due at some time
-- (ledger/lease.py). Nothing of it is journaled: it says what goes on, not what happened.
CREATE TABLE leases (
  journal  INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  holder   TEXT    NOT NULL DEFAULT '',
  until    INTEGER NOT NULL DEFAULT 0,
  due      INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  report   TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (journal, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_time ON leases (due) WHERE due IS NOT NULL;

-- ----------------------------------------------------------------------------------------- doors

-- The keys that open a server's doors, by their ids: of the key itself there is only the sha256. One
-- that is revoked stays. Requests are counted by the minute, so that several processes keep one limit.
CREATE TABLE access_keys (
  id         TEXT    NOT NULL PRIMARY KEY,
  digest     BLOB    NOT NULL,
  scope      TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  rights     TEXT    NOT NULL,
  trust      TEXT    NOT NULL,
  name       TEXT    NOT NULL,
  per_minute INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  minute     INTEGER NOT NULL,
  requests   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
