-- One row an approval that holds beyond its session.
CREATE TABLE approvals (
    tenant    TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    interrupt TEXT    NOT NULL, -- what it answered
    body      TEXT    NOT NULL, -- JSON
    at        INTEGER NOT NULL, -- UTC Unix milliseconds
    expires   INTEGER NOT NULL,
    PRIMARY KEY (tenant, subject, id),
    UNIQUE (tenant, subject, interrupt)
) STRICT, WITHOUT ROWID;
