-- Items, sessions and recordings of plans.

-- ------------------------------------------------------------------------------------- items

-- Items of plans: their canonical bytes, as a codec stores them.
CREATE TABLE items (
  journal INTEGER NOT NULL,
  session TEXT    NOT NULL,
  id      BLOB    NOT NULL,
  body    BLOB    NOT NULL,
  UNIQUE (journal, session, id)
) STRICT;

-- What they are found by: each keyword of a session once, in three forms (stores/keywords.py), and
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

-- ------------------------------------------------------------------- sessions and recordings

-- The session of each name, and those that were put aside for another one, the newest with the
-- highest number. What they say stands in the body.
CREATE TABLE sessions (
  journal    INTEGER NOT NULL,
  name       TEXT    NOT NULL,
  session_id TEXT    NOT NULL,
  body       BLOB    NOT NULL,
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

-- Where sessions are files: the token of the newest temporary file whose unit has landed, for each
-- file, which is called by a digest of its path. A temporary file with another token is of a unit
-- that did not land, or that has been followed by another.
CREATE TABLE session_files (
  journal INTEGER NOT NULL,
  file    TEXT    NOT NULL,
  token   TEXT    NOT NULL,
  PRIMARY KEY (journal, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_files_by_token ON session_files (journal, token);

-- What cycles were given and gave, where somebody asked for it. No search reads it.
CREATE TABLE recordings (
  journal INTEGER NOT NULL,
  cycle   TEXT    NOT NULL,
  body    BLOB    NOT NULL,
  UNIQUE (journal, cycle)
) STRICT;
