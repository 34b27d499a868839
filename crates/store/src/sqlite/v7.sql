-- What is remembered of the conversation of a user with an agent: numbers, and nobody's words. `at` grows with each change.
CREATE TABLE talks (
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    at INTEGER NOT NULL,
    talk BLOB NOT NULL,
    PRIMARY KEY (user, agent)
) STRICT, WITHOUT ROWID;

-- Forms of system prompts, by their digests: names, and hashes of everything else.
CREATE TABLE prompts (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE,
    form BLOB NOT NULL
) STRICT;
