//! Labels of content.

use aegx::Digest;
use model::TaintTag;
use monitor::taint::worse;
use monitor::{Labels, StateError};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::columns::{TAG, tag, tag_values};
use crate::error::Broken;
use crate::labels::LABELS_MAX;

/// The owner of what the host labels for everybody. No user has this name.
pub(super) const HOST: &str = "";
/// About what a label costs.
const LABEL_BYTES: usize = 512;

impl Labels for SqliteStore {
    fn label_of(&self, digests: &[Digest]) -> Result<Option<TaintTag>, StateError> {
        Ok(self.look(|db| worst_of(db, HOST, digests))?)
    }

    fn remember_label(&self, digests: &[Digest], tag: &TaintTag) -> Result<(), StateError> {
        let (digests, tag) = (digests.to_vec(), tag.clone());
        let bytes = digests.len() * LABEL_BYTES;
        self.note(bytes, move |db| remember(db, HOST, &digests, &tag).map(|()| true))?;
        Ok(())
    }
}

/// The worst label of any of `digests`, the host's or the owner's own.
pub(super) fn worst_of(
    db: &Connection,
    owner: &str,
    digests: &[Digest],
) -> Result<Option<TaintTag>, Broken> {
    let sql = format!("SELECT {TAG} FROM labels WHERE digest = ?1 AND owner IN (?2, ?3)");
    let mut select = db.prepare_cached(&sql)?;
    let mut found = None;
    for digest in digests {
        let mut rows = select.query(params![digest.as_bytes(), HOST, owner])?;
        while let Some(row) = rows.next()? {
            found = worse(found.as_ref(), tag(row, 0)?.as_ref());
        }
    }
    Ok(found)
}

/// Makes the owner's label of each of `digests` at least as bad as `tag`.
pub(super) fn remember(
    db: &Connection,
    owner: &str,
    digests: &[Digest],
    new: &TaintTag,
) -> Result<(), Broken> {
    let sql = format!("SELECT {TAG} FROM labels WHERE digest = ?1 AND owner = ?2");
    let mut select = db.prepare_cached(&sql)?;
    let sql = format!(
        "INSERT INTO labels (digest, owner, {TAG}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (digest, owner) DO UPDATE SET tag_source = excluded.tag_source,
             tag_taint = excluded.tag_taint, tag_origin = excluded.tag_origin,
             tag_time = excluded.tag_time, tag_record = excluded.tag_record"
    );
    let mut upsert = db.prepare_cached(&sql)?;
    for digest in digests {
        let key = params![digest.as_bytes(), owner];
        let old = select.query_row(key, |row| Ok(tag(row, 0))).optional()?.transpose()?;
        if old.is_none() {
            check_room(db)?;
        }
        let all = worse(old.flatten().as_ref(), Some(new));
        let (source, taint, origin, time, record) = tag_values(all.as_ref());
        upsert.execute(params![digest.as_bytes(), owner, source, taint, origin, time, record])?;
    }
    Ok(())
}

/// Takes the labels of `digests` away, the host's and the owner's own. Only a person may want that.
pub(super) fn forget(db: &Connection, owner: &str, digests: &[Digest]) -> Result<(), Broken> {
    let mut delete =
        db.prepare_cached("DELETE FROM labels WHERE digest = ?1 AND owner IN (?2, ?3)")?;
    for digest in digests {
        delete.execute(params![digest.as_bytes(), HOST, owner])?;
    }
    Ok(())
}

fn check_room(db: &Connection) -> Result<(), Broken> {
    let mut select = db.prepare_cached("SELECT coalesce(max(n), 0) FROM labels")?;
    let count: i64 = select.query_row([], |row| row.get(0))?;
    if count < LABELS_MAX {
        return Ok(());
    }
    Err(Broken::new(format_args!("it holds {LABELS_MAX} labels, which is the most")))
}
