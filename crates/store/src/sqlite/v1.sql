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

-- Content that came from outside, by the SHA-256 of its bytes and of what a reader sees of it.
-- `owner` is the user in whose memory it was, or empty for content of the host.
CREATE TABLE labels (
    n INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    digest BLOB NOT NULL,
    tag_source TEXT NOT NULL,
    tag_taint INTEGER NOT NULL,
    tag_origin TEXT NOT NULL,
    tag_time INTEGER NOT NULL,
    tag_record TEXT NOT NULL,
    UNIQUE (digest, owner)
) STRICT;

-- A row without `tag_source` is clean.
CREATE TABLE memory (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    scope TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    source TEXT,
    related TEXT,
    created INTEGER NOT NULL,
    record TEXT NOT NULL,
    exact BLOB NOT NULL,
    seen BLOB NOT NULL,
    tag_source TEXT,
    tag_taint INTEGER,
    tag_origin TEXT,
    tag_time INTEGER,
    tag_record TEXT
) STRICT;
CREATE INDEX memory_place ON memory (user, scope, n);
CREATE INDEX memory_seen ON memory (user, seen);
CREATE INDEX memory_tainted ON memory (n) WHERE tag_source IS NOT NULL;

-- Words of the rows, under their numbers; `place` is one word for user and scope.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    place,
    content,
    content = '',
    contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE memory_counts (
    user TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT;

CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    user TEXT NOT NULL,
    action TEXT NOT NULL,
    call TEXT NOT NULL,
    shown TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,
    answered_by TEXT
) STRICT;
CREATE INDEX approvals_call ON approvals (session, call);
CREATE INDEX approvals_state ON approvals (state, expires);

CREATE TABLE turns (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    role TEXT NOT NULL,
    text BLOB NOT NULL,
    tag_source TEXT,
    tag_taint INTEGER,
    tag_origin TEXT,
    tag_time INTEGER,
    tag_record TEXT,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- What a person cleared: who, when and why. Never deleted.
CREATE TABLE clearings (
    n INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    taint INTEGER NOT NULL,
    cleared_by TEXT NOT NULL,
    cleared_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX clearings_subject ON clearings (kind, name);
