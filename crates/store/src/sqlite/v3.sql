-- A row is found beneath every scope above its own: `place` is one word for each of them. The index of
-- rows that are there already is made anew by the program.
DROP INDEX memory_place;
