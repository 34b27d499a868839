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
/// Entries of folders that are looked at, of one folder of rules and of all below where the agent works.
const ENTRIES_MAX: usize = 2048;
/// How deep a folder is looked through.
const DEPTH_MAX: usize = 6;
/// Such texts that are heard at once, and their bytes. The session is labelled by the first of them.
const TEXTS_MAX: usize = 64;
const TEXTS_BYTES_MAX: usize = 4 << 20;
/// Folders of what others wrote, in which no host looks.
const PASSED_OVER: &[&str] = &["node_modules", "target", "vendor", "dist"];

impl HookDoor<'_> {
    /// Hears what the agent reads to its model where it works, as far as somebody else may have written it.
    pub(super) fn hear_instructions(&self, session: &mut Hooked) -> Result<(), String> {
        let Some(cwd) = session.cwd.clone() else { return Ok(()) };
        let all = hooks::dialect(session.host).instructions;
        let above = cwd.ancestors().take(ABOVE_MAX).flat_map(|above| {
            let files = all.files.iter().map(|it| above.join(it));
            files.chain(all.folders.iter().flat_map(|(it, end)| ending(&above.join(it), end)))
        });
        let below = all.below.iter().flat_map(|it| below(&cwd, it));
        let there = above.chain(below).filter(|it| it.is_file()).take(TEXTS_MAX);
        let mut left = TEXTS_BYTES_MAX;
        for path in there.collect::<Vec<_>>() {
            let read = self.hear_instruction(session, &path)?;
            let Some(rest) = left.checked_sub(read) else { break };
            left = rest;
        }
        Ok(())
    }

    /// Hears one such text, once for each form of it; says how many bytes were read.
    pub(super) fn hear_instruction(
        &self,
        session: &mut Hooked,
        path: &Path,
    ) -> Result<usize, String> {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let (trust, user_home) = (self.trust()?, self.user_home.as_deref());
        let is_foreign = |it: &str| trust.is_foreign(it, cwd, user_home);
        // A name that is no text is nowhere that is trusted.
        if path.to_str().is_some_and(|it| !is_foreign(it)) {
            return Ok(0);
        }
        // What is not there, the host does not read either.
        let Some(text) = text_of(&cwd.join(path)) else { return Ok(0) };
        let origin = path.display().to_string();
        if session.instructs(Digest::of(format!("{origin}\0{text}").as_bytes())) {
            let heard = Heard { source: Source::File, origin: &origin, text: &text };
            self.gate.monitor.hear(&session.who, &heard).map_err(|it| it.to_string())?;
        }
        Ok(text.len())
    }
}

/// Files of a folder whose names end so, however deep, by name.
fn ending(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(folder, DEPTH_MAX, &mut { ENTRIES_MAX }, &mut |path, name| {
        if name.ends_with(end) {
            found.push(path);
        }
        true
    });
    found.sort();
    found
}

/// Files of this name in the folders below, but for hidden ones and those of what others wrote.
fn below(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(folder, DEPTH_MAX, &mut { ENTRIES_MAX }, &mut |path, name| {
        if name == wanted && path.parent() != Some(folder) {
            found.push(path);
        }
        !name.starts_with('.') && !PASSED_OVER.contains(&name)
    });
    found.sort();
    found
}

/// Looks at the entries of a folder and of those in it which `enters` says to go into. No link is followed.
fn walk(
    folder: &Path,
    depth: usize,
    left: &mut usize,
    enters: &mut dyn FnMut(PathBuf, &str) -> bool,
) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let path = entry.path();
        let goes_on = enters(path.clone(), &entry.file_name().to_string_lossy());
        if goes_on && depth > 1 && entry.file_type().is_ok_and(|it| it.is_dir()) {
            walk(&path, depth - 1, left, enters);
        }
    }
}
