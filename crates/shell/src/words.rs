//! Words of code of other languages that say what it does, in lower case.

use crate::Words;

/// It starts programs.
pub(super) static RUNS: Words = Words::named("words.RUNS");
/// It talks to other machines.
pub(super) static CONNECTS: Words = Words::named("words.CONNECTS");
/// It waits for others to ask.
pub(super) static LISTENS: Words = Words::named("words.LISTENS");
/// It hands texts to a shell.
pub(super) static COMMANDS: Words = Words::named("words.COMMANDS");
/// It deletes.
pub(super) static DELETES: Words = Words::named("words.DELETES");
/// Words of code that puts texts together.
pub(super) static DECODES: Words = Words::named("words.DECODES");
/// It sees or hears a person.
pub(super) static WATCHES: Words = Words::named("words.WATCHES");
/// It reaches into another process.
pub(super) const INJECTS: [&str; 4] =
    [".ptrace(", "process_vm_writev", "task_for_pid", "createremotethread"];
/// It makes files unreadable.
pub(super) static ENCRYPTS: Words = Words::named("words.ENCRYPTS");
/// It goes through many files.
pub(super) static WALKS: Words = Words::named("words.WALKS");
/// It packs.
pub(super) static PACKS: Words = Words::named("words.PACKS");
