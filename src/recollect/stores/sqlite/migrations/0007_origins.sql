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
  PRIMARY KEY (journal, session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_origins_by_cycle ON item_origins (journal, cycle);
