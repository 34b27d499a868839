-- How far the journal had come when a gate last opened or closed the store, as JSON: what it says later the store must know.
ALTER TABLE identity ADD COLUMN seen TEXT;

-- What somebody tried, by a number for each thing that is like no other, and when.
CREATE TABLE tried (
    what TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (what, number)
) STRICT, WITHOUT ROWID;
