-- The index of words is made anew, of postings with counts: FTS5 kept none, and ranked all scopes of
-- a file as one. What was indexed follows from the journal, so that nothing is lost here.
DROP TABLE word_rows;
DROP TABLE words;
UPDATE journals SET indexed = 0;

-- What is in the index: how many objects were active, and how many tokens they have.
ALTER TABLE journals ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journals ADD COLUMN length    INTEGER NOT NULL DEFAULT 0;

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

-- What is indexed and has a source, in the order in which the source said it: what stands around it.
CREATE TABLE threads (
  journal    INTEGER NOT NULL,
  thread     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  id         TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  speaker    TEXT    NOT NULL,
  PRIMARY KEY (journal, thread, created_at, id)
) STRICT, WITHOUT ROWID;
