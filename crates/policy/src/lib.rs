//! Who may do what, as pure decisions: no I/O, and silence denies.
