-- Approvals as the gate asks for them. Nothing has ever put one into the table before.
DROP TABLE approvals;

-- `shown` is JSON. `answered_*`, `reason` and `record` are there once somebody has answered.
CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    action TEXT NOT NULL,
    call TEXT NOT NULL,
    shown TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,
    answer TEXT,
    answered_by TEXT,
    answered_at INTEGER,
    reason TEXT,
    record TEXT
) STRICT;
CREATE INDEX approvals_call ON approvals (session, call);
CREATE INDEX approvals_state ON approvals (state, expires);
