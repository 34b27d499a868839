//! Notes of one session, by their names.

use crate::ipc::declare::object;
use crate::ipc::limits::NOTE_UNITS_MAX;
use crate::ipc::note::NoteName;
use crate::ipc::text::Text;

object! {
    /// Keep a note for this session, in the place of an earlier one of that name.
    ScratchWrite {
        /// Its name.
        "name" name: NoteName,
        /// What it says.
        "content" content: Text<NOTE_UNITS_MAX>,
    }
}

object! {
    /// Read a note of this session.
    ScratchRead {
        /// Its name.
        "name" name: NoteName,
    }
}

object! {
    /// List the notes of this session.
    ScratchList {}
}
