-- The names by which facts are found: proposals, executions, worlds and branches. They stand in the
-- bodies as well, and are made anew from them when in doubt.
CREATE TABLE marks (
  journal INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (journal, name, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_entry ON marks (journal, seq);
