//! How long the journal is, and up to where it is signed.

use std::path::Path;

use aegx::verify::printable;
use evidence::{Kept, Reader};
use serde_json::{Value, json};

use crate::evidence::newest::newest;
use crate::evidence::open;
use crate::failure::Failure;
use crate::output;

/// The journal, as it stands.
pub(super) struct Head {
    bytes: u64,
    /// Number, id and time of the newest record.
    newest: Option<(u64, String, String)>,
    signed: Option<Kept>,
}

impl Head {
    /// Of the journal in `dir`; none if there is none.
    pub(super) fn of(dir: &Path) -> Result<Option<Self>, Failure> {
        if !dir.is_dir() {
            return Ok(None);
        }
        let reader = Reader::open(dir).map_err(open::failure)?;
        let (rows, _) = newest(&reader, 1)?;
        let newest = rows.back().map(|row| {
            let record: Value = serde_json::from_slice(&row.line).unwrap_or_default();
            let said = |at: &str| record.pointer(at).and_then(Value::as_str).unwrap_or_default();
            (row.idx, row.id.to_hex().as_str().to_owned(), said("/meta/ts").to_owned())
        });
        Ok(Some(Self {
            bytes: reader.bytes().map_err(open::failure)?,
            newest,
            signed: reader.checkpoints().map_err(Failure::unable)?.pop(),
        }))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn head(&self) -> Value {
        let shown =
            |(idx, id, at): &(u64, String, String)| json!({ "idx": idx, "id": id, "at": at });
        self.newest.as_ref().map_or(Value::Null, shown)
    }

    pub(super) fn checkpoint(&self) -> Value {
        self.signed.as_ref().map_or(Value::Null, |it| json!({ "size": it.size, "at": it.ts }))
    }

    pub(super) fn show(&self) {
        if let Some((idx, id, at)) = &self.newest {
            let id: String = id.chars().take(ID_CHARS).collect();
            let count = output::count(idx.saturating_add(1), "record");
            output::told(false, &format!("head       {count}, the last {id}, {}", printable(at)));
        }
        if let Some(kept) = &self.signed {
            let text = format!("signed     the first {} records, {}", kept.size, kept.ts);
            output::told(false, &text);
        }
    }
}

/// Characters of an id that people are shown.
const ID_CHARS: usize = 12;
