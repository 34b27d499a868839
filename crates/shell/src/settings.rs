//! Programs that print settings for the shell that asked: `eval "$(ssh-agent)"`.
//!
//! What they print is their own, as is all that they do when they run: reading it into a shell adds
//! nothing to that. Nothing of it is known, and nothing of it is needed.

use crate::{Call, Words, marks};

/// Words that ask for settings.
static ASKING: Words = Words::named("settings.ASKING");
/// Programs that are asked with one of them.
static ASKED: Words = Words::named("settings.ASKED");

/// Does it print settings, and nothing that others wrote?
pub(super) fn prints_settings(call: &Call<'_>) -> bool {
    let plain = call.plain();
    // A program of another folder may be another program.
    if call.path.contains('/') || call.args.iter().any(|it| marks::has_hole(it)) {
        return false;
    }
    let first = call.words().first().map(String::as_str).unwrap_or_default();
    match call.name.as_str() {
        "ssh-agent" => plain.iter().all(|it| matches!(it.as_str(), "-s" | "-c" | "-k")),
        "dircolors" => {
            plain.iter().all(|it| matches!(it.as_str(), "-b" | "--sh" | "--bourne-shell"))
        }
        "thefuck" => plain.iter().all(|it| it == "--alias"),
        "luarocks" => first == "path",
        name => ASKED.contains(&name) && ASKING.contains(&first),
    }
}
