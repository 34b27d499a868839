//! Things to do: a list that an agent keeps for its user.

use crate::ipc::declare::{choice, object};
use crate::ipc::limits::TASK_TEXT_UNITS_MAX;
use crate::ipc::text::Text;
use crate::ipc::uuid::Uuid;

object! {
    /// List things to do.
    TaskList {
        /// Those that were closed as well?
        "all" all: Option<bool>,
    }
}

object! {
    /// Note something to do.
    TaskAdd {
        /// What.
        "text" text: Text<TASK_TEXT_UNITS_MAX>,
    }
}

object! {
    /// Close something to do.
    TaskClose {
        /// Which.
        "id" id: Uuid,
        /// What became of it; it is done if absent.
        "status" status: Option<TaskEnd>,
    }
}

choice! {
    /// What became of something to do.
    TaskEnd {
        /// It was done.
        "done" Done,
        /// It will not be done.
        "dropped" Dropped,
    }
}
