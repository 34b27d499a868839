-- Which store this is, and how often a gate has opened or closed it. The state directory remembers both beside it, so
-- that another store, or an older copy of this one, is not taken for it.
CREATE TABLE identity (
    n INTEGER PRIMARY KEY CHECK (n = 1),
    id TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;
INSERT INTO identity (n, id, count) VALUES (1, lower(hex(randomblob(16))), 0);
