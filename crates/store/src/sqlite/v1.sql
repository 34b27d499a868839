-- Sessions are never deleted: an id that comes back is as tainted as before.
CREATE TABLE sessions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    profile TEXT NOT NULL,
    state TEXT NOT NULL,
    taint INTEGER NOT NULL,
    tainted_tokens INTEGER NOT NULL,
    clean_tokens INTEGER NOT NULL,
    origin TEXT NOT NULL,
    calls INTEGER NOT NULL,
    stopped INTEGER NOT NULL
) STRICT;

-- What happened in a session, as the monitor wrote it, in the order of `n`.
CREATE TABLE changes (
    n INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    change BLOB NOT NULL
) STRICT;
CREATE INDEX changes_session ON changes (session);
