//! Words for the full-text index. A query is only ever words: nothing in it is syntax.

use std::collections::BTreeSet;

use aegx::Digest;
use rusqlite::{Connection, params};
use unicode_normalization::UnicodeNormalization;

use crate::error::Broken;
use crate::memory::QUERY_WORDS_MAX;
use crate::rank::{self, LOOKED_AT_MAX};
use crate::scope;

/// The beginning of a word that is shorter finds nothing: half of all words begin like it.
const BEGINNING_CHARS_MIN: usize = 3;

/// The one word that stands for a user's scope.
pub(super) fn place(user: &str, scope: &str) -> String {
    Digest::of_parts(&[user.as_bytes(), b"\0", scope.as_bytes()]).to_string()
}

/// Text as it is indexed. Scripts without spaces are cut into characters, of which a query then
/// makes phrases.
pub(super) fn indexed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.nfkc() {
        if is_unspaced(it) {
            out.extend([' ', it, ' ']);
        } else {
            // A null would end the text for the tokenizer.
            out.push(if it == '\0' { ' ' } else { it });
        }
    }
    out
}

/// All places of a row: its scope and those above it.
pub(super) fn places(user: &str, scope: &str) -> String {
    scope::roots(scope).map(|it| place(user, it)).collect::<Vec<_>>().join(" ")
}

/// The numbers of the newest rows of a place.
pub(super) fn newest(db: &Connection, place: &str, limit: i64) -> Result<Vec<i64>, Broken> {
    numbers(db, &format!("place : \"{place}\""), limit)
}

/// The numbers of the rows of `place` with any of the words of `query`, or words that begin with
/// them, best first. `rows` is how many rows the user has.
pub(super) fn best(
    db: &Connection,
    place: &str,
    query: &str,
    rows: i64,
    limit: i64,
) -> Result<Vec<i64>, Broken> {
    let words = query.split_whitespace().take(QUERY_WORDS_MAX);
    let phrases: BTreeSet<String> = words.filter_map(phrase).collect();
    let most = i64::try_from(LOOKED_AT_MAX).unwrap_or(i64::MAX);
    let mut found = Vec::with_capacity(phrases.len());
    for phrase in phrases {
        let expression = format!("place : \"{place}\" AND content : {phrase}");
        found.push(numbers(db, &expression, most)?);
    }
    Ok(rank::best(&found, rows, usize::try_from(limit).unwrap_or(0)))
}

fn numbers(db: &Connection, expression: &str, limit: i64) -> Result<Vec<i64>, Broken> {
    let mut select = db.prepare_cached(
        "SELECT rowid FROM memory_words WHERE memory_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2",
    )?;
    let rows = select.query_map(params![expression, limit], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Puts the words of a row into the index.
pub(super) fn add(
    db: &Connection,
    row: i64,
    user: &str,
    scope: &str,
    content: &str,
) -> rusqlite::Result<()> {
    let mut words =
        db.prepare_cached("INSERT INTO memory_words (rowid, place, content) VALUES (?1, ?2, ?3)")?;
    words.execute(params![row, places(user, scope), indexed(content)])?;
    Ok(())
}

/// Makes the index anew, for rows that an earlier version wrote.
pub(super) fn rebuild(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("INSERT INTO memory_words (memory_words) VALUES ('delete-all')")?;
    let mut select = db.prepare("SELECT n, user, scope, content FROM memory ORDER BY n")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let text = |column| row.get::<_, String>(column);
        add(db, row.get(0)?, &text(1)?, &text(2)?, &text(3)?)?;
    }
    Ok(())
}

/// One word as a quoted phrase, in which nothing has a meaning but the quote, which is doubled.
fn phrase(word: &str) -> Option<String> {
    let text = indexed(word).replace('"', "\"\"");
    let letters = text.chars().filter(|it| it.is_alphanumeric());
    let (count, unspaced) =
        letters.fold((0, false), |(count, unspaced), it| (count + 1, unspaced || is_unspaced(it)));
    let beginning = if count >= BEGINNING_CHARS_MIN || unspaced { "*" } else { "" };
    (count > 0).then(|| format!("\"{}\"{beginning}", text.trim()))
}

/// Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.
fn is_unspaced(it: char) -> bool {
    matches!(u32::from(it),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}
