//! Files of the agent's workspace. Paths are relative to it; whether they stay in it is seen where they
//! are opened.

use crate::ipc::declare::object;
use crate::ipc::limits::{
    EDIT_UNITS_MAX, FILE_LINES_MAX, FILE_PATH_UNITS_MAX, FILE_RESULTS_MAX, FILE_UNITS_MAX,
    FIRST_LINE_MAX, FOLDER_LEVELS_MAX, PATTERN_UNITS_MAX, SOUGHT_UNITS_MAX,
};
use crate::ipc::number::Whole;
use crate::ipc::text::Text;

/// A path below the workspace.
pub type FilePath = Text<FILE_PATH_UNITS_MAX>;

object! {
    /// Read a text file; of an archive, the names in it.
    FileRead {
        /// Which.
        "path" path: FilePath,
        /// From which line on; the first is 1.
        "offset" offset: Option<Whole<1, FIRST_LINE_MAX>>,
        /// How many lines at most.
        "limit" limit: Option<Whole<1, FILE_LINES_MAX>>,
    }
}

object! {
    /// Write a file, whole. Folders on the way are made.
    FileWrite {
        /// Which.
        "path" path: FilePath,
        /// What.
        "content" content: Text<FILE_UNITS_MAX>,
    }
}

object! {
    /// Put one text in the place of another in a file.
    FileEdit {
        /// Which.
        "path" path: FilePath,
        /// What is there; it must be there once.
        "old" old: Text<EDIT_UNITS_MAX>,
        /// What is to be there.
        "new" new: Text<EDIT_UNITS_MAX>,
        /// Everywhere, if it is there several times?
        "all" all: Option<bool>,
    }
}

object! {
    /// List a folder.
    FileList {
        /// Which; the workspace itself if absent.
        "path" path: Option<FilePath>,
        /// How many folders deep; if absent 1, and with a pattern as deep as it goes.
        "depth" depth: Option<Whole<1, FOLDER_LEVELS_MAX>>,
        /// Only names that are like this, where `*` is anything and `?` one character.
        "pattern" pattern: Option<Text<PATTERN_UNITS_MAX>>,
    }
}

object! {
    /// Search text files for a text, as it stands.
    FileSearch {
        /// The text.
        "query" query: Text<SOUGHT_UNITS_MAX>,
        /// In which folder or file; everywhere if absent.
        "path" path: Option<FilePath>,
        /// How many places at most.
        "maxResults" max_results: Option<Whole<1, FILE_RESULTS_MAX>>,
    }
}
