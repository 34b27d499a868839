//! Prompts that are the text of a command. Hosts put what stands in a file in the place of the short name that their user types, and
//! hand it over as what the user said: in a folder that is not trusted it is the words of whoever wrote that file. The same goes for
//! a prompt that a server has given.

use std::path::Path;

use super::HookDoor;
use super::expanded::{Said, Template};
use super::instructing::{above, look};
use super::mentioned::{READ_BYTES_MAX, text_of};
use super::session::Hooked;

/// Files of commands that are read for one prompt, and their bytes.
const COMMANDS_MAX: usize = 256;
const COMMANDS_BYTES_MAX: usize = 4 << 20;

impl HookDoor<'_> {
    /// Is a prompt made of what somebody else may have written as a command? Where not all can be looked through, it counts as that.
    pub(super) fn is_commanded(&self, session: &Hooked, prompt: &str) -> Result<bool, String> {
        let prompt = Said::of(prompt);
        if self.is_given(&prompt) {
            return Ok(true);
        }
        let Some(cwd) = session.cwd.as_deref() else { return Ok(false) };
        let all = hooks::dialect(session.host).instructions.commands;
        let (mut count, mut bytes) = (0_usize, 0_usize);
        for (folder, end) in above(cwd, all) {
            let looked = look(&folder, &|_, name| name.ends_with(end));
            if !looked.is_whole && self.is_foreign(session, &folder)? {
                return Ok(true);
            }
            for path in looked.found {
                if !path.is_file() || !self.is_foreign(session, &path)? {
                    continue;
                }
                let read = made_of(&path, &prompt);
                (count, bytes) = (count + 1, bytes.saturating_add(read.bytes));
                let is_much = count > COMMANDS_MAX || bytes > COMMANDS_BYTES_MAX;
                if read.is_so || is_much {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

struct Read {
    bytes: usize,
    is_so: bool,
}

/// Reads a command's file, and says whether the prompt is made of it. What is not there, the host does not read either.
fn made_of(path: &Path, prompt: &Said) -> Read {
    let Some(text) = text_of(path) else { return Read { bytes: 0, is_so: false } };
    let bytes = text.len();
    let is_cut = u64::try_from(bytes).is_ok_and(|it| it >= READ_BYTES_MAX);
    let is_so = is_cut || Template::of_file(path, &text).is_some_and(|it| it.makes(prompt));
    Read { bytes, is_so }
}
