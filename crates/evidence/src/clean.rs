//! The note that a journal was closed in order, and where it ended.

use std::io;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::segment::Checked;
use crate::writer::Tip;
use files::private;

/// Where an orderly end left the journal.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clean {
    segment: u64,
    end: u64,
    size: u64,
    head: String,
}

const CLEAN_BYTES_MAX: u64 = 4096;

impl Clean {
    /// The note, if there is one. What is no note does not count as one: the start then verifies
    /// more, not less.
    pub(crate) fn read(layout: &Layout) -> io::Result<Option<Self>> {
        let bytes = private::read_if_there(&layout.clean(), CLEAN_BYTES_MAX)?;
        Ok(bytes.and_then(|it| serde_json::from_slice(&it).ok()))
    }

    /// What the note would say of a segment that was found.
    pub(crate) fn of(checked: &Checked) -> Self {
        Self {
            segment: checked.header.segment,
            end: checked.end,
            size: checked.next_idx,
            head: checked.head.to_string(),
        }
    }

    /// Notes an orderly end.
    pub(crate) fn write(layout: &Layout, tip: &Tip) -> io::Result<()> {
        let clean = Self {
            segment: tip.segment,
            end: tip.offset,
            size: tip.next_idx,
            head: tip.head.to_string(),
        };
        private::replace(&layout.clean(), &serde_json::to_vec(&clean)?)
    }

    /// Takes the note away before anything is written that it does not know of.
    pub(crate) fn remove(layout: &Layout) -> io::Result<()> {
        let path = layout.clean();
        private::remove(&path)?;
        private::sync_parent(&path)
    }
}
