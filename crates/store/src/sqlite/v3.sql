-- A row is found beneath every scope above its own: `place` is one word for each of them. The index of
-- rows that are there already is made anew by the program.
DROP INDEX memory_place;

-- The beginnings of words have lists of their own: a query of three letters may mean thousands of words.
DROP TABLE memory_words;
CREATE VIRTUAL TABLE memory_words USING fts5 (
    place,
    content,
    content = '',
    contentless_delete = 1,
    prefix = '3 4 5 6',
    tokenize = 'unicode61 remove_diacritics 2'
);
