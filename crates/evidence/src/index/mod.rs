//! The index for queries: derived from the segments, rebuilt from them at any time, never believed
//! over them.

mod catch_up;
mod query;
mod schema;

use std::path::Path;

use rusqlite::Connection;

pub use query::{Filter, Groups, Row};

use crate::reader::{ReadError, Reader};
use files::private;

/// An open index.
pub struct Index {
    db: Connection,
    reader: Reader,
}

/// Why the index cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The journal.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The database. It can be deleted at any time and is made anew.
    #[error("the index cannot be used: {0}; it may be deleted, it is made anew")]
    Database(#[from] rusqlite::Error),
    /// The index contradicts the journal.
    #[error(
        "index and journal disagree about record {idx}: see `lazaret evidence verify`; if the \
         journal is sound, delete `index.sqlite`, it is made anew"
    )]
    Wrong {
        /// Its index.
        idx: u64,
    },
    /// A record in the journal is none.
    #[error("record {idx} cannot be read: {why}")]
    Record {
        /// Its index.
        idx: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl Index {
    /// Opens the index of the journal that `reader` reads, and brings it up to date.
    ///
    /// # Errors
    /// If the journal cannot be read or the database cannot be written.
    pub fn open(reader: &Reader, progress: &mut dyn FnMut(u64)) -> Result<Self, IndexError> {
        let path = reader.layout().index();
        let mut index = Self { db: schema::open(&path)?, reader: reader.clone() };
        match index.catch_up(progress) {
            Err(IndexError::Database(error)) if schema::is_broken(&error) => {
                drop(index);
                remove(&path).map_err(|error| ReadError::io(&path, error))?;
                let mut index = Self { db: schema::open(&path)?, reader: reader.clone() };
                index.catch_up(progress)?;
                Ok(index)
            }
            outcome => outcome.map(|()| index),
        }
    }

    /// Throws the index away and makes it anew.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn rebuild(reader: &Reader, progress: &mut dyn FnMut(u64)) -> Result<Self, IndexError> {
        let path = reader.layout().index();
        remove(&path).map_err(|error| ReadError::io(&path, error))?;
        Self::open(reader, progress)
    }
}

/// Removes the database and what SQLite keeps beside it.
fn remove(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        private::remove(Path::new(&name))?;
    }
    Ok(())
}
