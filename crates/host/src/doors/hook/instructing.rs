//! Texts that a coding agent reads to its model as instructions (`CLAUDE.md`, `AGENTS.md` and the like): no call brings them,
//! and whoever wrote them speaks to the model before its user does.
//!
//! They are looked for by the names that the agent has for them, when a session begins and with every prompt; where the
//! agent says what it has read, that is heard, too. In a folder that is trusted they are the user's own.

use std::fs;
use std::path::{Path, PathBuf};

use aegx::Digest;
use model::Source;
use monitor::Heard;

use super::HookDoor;
use super::mentioned::text_of;
use super::session::Hooked;

/// Folders above the one in which the agent works, that one included.
const ABOVE_MAX: usize = 64;
/// Entries of one folder that are looked at.
const ENTRIES_MAX: usize = 256;
/// Such texts that are heard at once. The session is labelled by the first of them.
const TEXTS_MAX: usize = 64;

impl HookDoor<'_> {
    /// Hears what the agent reads to its model where it works, as far as somebody else may have written it.
    pub(super) fn hear_instructions(&self, session: &mut Hooked) -> Result<(), String> {
        let Some(cwd) = session.cwd.clone() else { return Ok(()) };
        let all = hooks::dialect(session.host).instructions;
        let places = cwd.ancestors().take(ABOVE_MAX).flat_map(|above| {
            let files = all.files.iter().map(|it| above.join(it));
            files.chain(all.folders.iter().flat_map(|(it, end)| ending(&above.join(it), end)))
        });
        let there = places.filter(|it| it.is_file()).take(TEXTS_MAX);
        for path in there.collect::<Vec<_>>() {
            self.hear_instruction(session, &path)?;
        }
        Ok(())
    }

    /// Hears one such text, once for each form of it.
    pub(super) fn hear_instruction(&self, session: &mut Hooked, path: &Path) -> Result<(), String> {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let (trust, user_home) = (self.trust()?, self.user_home.as_deref());
        let is_foreign = |it: &str| trust.is_foreign(it, cwd, user_home);
        // A name that is no text is nowhere that is trusted.
        if path.to_str().is_some_and(|it| !is_foreign(it)) {
            return Ok(());
        }
        // What is not there, the host does not read either.
        let Some(text) = text_of(&cwd.join(path)) else { return Ok(()) };
        let origin = path.display().to_string();
        if !session.instructs(Digest::of(format!("{origin}\0{text}").as_bytes())) {
            return Ok(());
        }
        let heard = Heard { source: Source::File, origin: &origin, text: &text };
        self.gate.monitor.hear(&session.who, &heard).map(drop).map_err(|it| it.to_string())
    }
}

/// Files of a folder whose names end so, by name.
fn ending(folder: &Path, end: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(ENTRIES_MAX).filter_map(|it| it.ok().map(|it| it.path()));
    let ends = |it: &PathBuf| it.to_string_lossy().ends_with(end);
    let mut found: Vec<PathBuf> = paths.filter(ends).collect();
    found.sort();
    found
}
