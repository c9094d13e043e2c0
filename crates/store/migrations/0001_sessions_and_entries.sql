-- One row a session. The same id of two subjects is two sessions.
CREATE TABLE sessions (
    tenant  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    head    INTEGER NOT NULL, -- the seq of its last entry, which is also how many it has
    fence   INTEGER NOT NULL, -- the highest that wrote
    created INTEGER NOT NULL, -- UTC Unix milliseconds
    updated INTEGER NOT NULL,
    PRIMARY KEY (tenant, subject, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_last_changed_first ON sessions (tenant, subject, updated DESC, id);

-- One row an entry, never changed.
CREATE TABLE entries (
    tenant    TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    session   TEXT    NOT NULL,
    seq       INTEGER NOT NULL, -- 1, 2, 3, … in its session
    run       TEXT    NOT NULL,
    event_seq INTEGER,          -- its place among the events of the run, where it is one
    kind      TEXT    NOT NULL,
    body      TEXT    NOT NULL, -- JSON: { "v": form, "body": … }
    at        INTEGER NOT NULL, -- UTC Unix milliseconds
    PRIMARY KEY (tenant, subject, session, seq)
) STRICT;

CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
BEGIN
    SELECT RAISE(ABORT, 'entries are never changed');
END;
