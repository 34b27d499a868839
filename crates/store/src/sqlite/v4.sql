-- What stopped a call although it was approved, as JSON.
ALTER TABLE approvals ADD COLUMN hindered TEXT;

-- A yes that holds for more than one call. `place` and `grounds` are JSON.
CREATE TABLE standing (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    span TEXT NOT NULL,
    session TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    action TEXT NOT NULL,
    tool TEXT NOT NULL,
    scope TEXT NOT NULL,
    place TEXT NOT NULL,
    grounds TEXT NOT NULL,
    given_by TEXT NOT NULL,
    reason TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    record TEXT NOT NULL,
    revoked_by TEXT,
    revoked_at INTEGER,
    uses INTEGER NOT NULL
) STRICT;
CREATE INDEX standing_scope ON standing (scope);
