//! Texts that a coding agent reads to its model as instructions (`CLAUDE.md`, `AGENTS.md` and the like): no call brings them,
//! and whoever wrote them speaks to the model before its user does.
//!
//! They are looked for by the names that the agent has for them, when a session begins and with every prompt; where the
//! agent says what it has read, that is heard, too. In a folder that is trusted they are the user's own.

use std::collections::VecDeque;
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
const ENTRIES_MAX: usize = 4096;
/// How deep a folder is looked through.
const DEPTH_MAX: usize = 16;
/// Such texts that are heard at once, and their bytes. The session is labelled by the first of them.
const TEXTS_MAX: usize = 64;
const TEXTS_BYTES_MAX: usize = 4 << 20;
/// The folder that no host looks through.
const GIT: &str = ".git";
/// What is heard of a folder that cannot be looked through whole: somebody may have hidden a text behind all the rest.
const TOO_MUCH: &str = "There is more in this folder than was looked at for instructions.";

impl HookDoor<'_> {
    /// Hears what the agent reads to its model where it works, as far as somebody else may have written it.
    pub(super) fn hear_instructions(&self, session: &mut Hooked) -> Result<(), String> {
        let Some(cwd) = session.cwd.clone() else { return Ok(()) };
        let all = hooks::dialect(session.host).instructions;
        let (mut there, mut cut) = (Vec::new(), Vec::new());
        let mut add = |folder: PathBuf, looked: Looked| {
            there.extend(looked.found);
            cut.extend((!looked.is_whole).then_some(folder));
        };
        for above in cwd.ancestors().take(ABOVE_MAX) {
            let found = all.files.iter().map(|it| above.join(it)).collect();
            add(above.to_owned(), Looked { found, is_whole: true });
            for (folder, end) in all.folders.iter().chain(all.commands) {
                let folder = above.join(folder);
                let looked = look(&folder, &|_, name| name.ends_with(end));
                add(folder, looked);
            }
        }
        for wanted in all.below {
            let is_wanted =
                |path: &Path, name: &str| name == *wanted && path.parent() != Some(&*cwd);
            let looked = look(&cwd, &is_wanted);
            add(cwd.clone(), looked);
        }
        for folder in cut {
            if self.is_foreign(session, &folder)? {
                self.hear_once(session, &folder, TOO_MUCH)?;
            }
        }
        let (mut texts, mut left) = (0, TEXTS_BYTES_MAX);
        for path in there {
            // Those of the user's own take nobody's place.
            if !path.is_file() || !self.is_foreign(session, &path)? {
                continue;
            }
            let read = self.hear_instruction(session, &path)?;
            texts += 1;
            let Some(rest) = left.checked_sub(read).filter(|_| texts < TEXTS_MAX) else { break };
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
        if !self.is_foreign(session, path)? {
            return Ok(0);
        }
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        // What is not there, the host does not read either.
        let Some(text) = text_of(&cwd.join(path)) else { return Ok(0) };
        self.hear_once(session, path, &text)?;
        Ok(text.len())
    }

    /// May somebody else have written it? A name that is no text is nowhere that is trusted.
    pub(super) fn is_foreign(&self, session: &Hooked, path: &Path) -> Result<bool, String> {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let (trust, user_home) = (self.trust()?, self.user_home.as_deref());
        Ok(path.to_str().is_none_or(|it| trust.is_foreign(it, cwd, user_home)))
    }

    /// Hears a text, once for each form of it. It counts as heard when it was: a try that failed is made again.
    fn hear_once(&self, session: &mut Hooked, path: &Path, text: &str) -> Result<(), String> {
        let origin = path.display().to_string();
        let form = Digest::of(format!("{origin}\0{text}").as_bytes());
        if session.was_instructed(&form) {
            return Ok(());
        }
        let heard = Heard { source: Source::File, origin: &origin, text };
        self.gate.monitor.hear(&session.who, &heard).map_err(|it| it.to_string())?;
        session.instructed_by(form);
        Ok(())
    }
}

/// These folders, with what belongs to each, where the agent works and above.
pub(super) fn above<T: Copy>(cwd: &Path, folders: &[(&str, T)]) -> Vec<(PathBuf, T)> {
    let all = cwd.ancestors().take(ABOVE_MAX);
    all.flat_map(|above| folders.iter().map(|(folder, it)| (above.join(folder), *it))).collect()
}

/// What was found in a folder and in those below.
pub(super) struct Looked {
    pub(super) found: Vec<PathBuf>,
    pub(super) is_whole: bool,
}

/// Looks for files in a folder and in those below, the nearest first. Links to folders are followed, as hosts do: how deep and how
/// much is looked at is bounded.
pub(super) fn look(folder: &Path, is_wanted: &dyn Fn(&Path, &str) -> bool) -> Looked {
    let mut looked = Looked { found: Vec::new(), is_whole: true };
    let mut folders = VecDeque::from([(folder.to_owned(), 1)]);
    let mut left = ENTRIES_MAX;
    while let Some((folder, depth)) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Some(rest) = left.checked_sub(1) else {
                return Looked { is_whole: false, ..looked };
            };
            left = rest;
            let (path, name) = (entry.path(), entry.file_name());
            let is_folder =
                entry.file_type().is_ok_and(|it| it.is_dir() || it.is_symlink() && path.is_dir());
            if is_wanted(&path, &name.to_string_lossy()) {
                looked.found.push(path.clone());
            }
            if is_folder && name != GIT {
                looked.is_whole &= depth < DEPTH_MAX;
                folders.extend((depth < DEPTH_MAX).then_some((path, depth + 1)));
            }
        }
    }
    looked
}
