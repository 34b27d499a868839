//! Words of code of other languages that say what it does, in lower case.

use crate::Words;

/// It starts programs.
pub(super) static RUNS: Words = Words::named("words.RUNS");
/// It talks to other machines.
pub(super) static CONNECTS: Words = Words::named("words.CONNECTS");
/// It deletes.
pub(super) static DELETES: Words = Words::named("words.DELETES");
/// Words of code that puts texts together.
pub(super) static DECODES: Words = Words::named("words.DECODES");
/// It packs.
pub(super) static PACKS: Words = Words::named("words.PACKS");
