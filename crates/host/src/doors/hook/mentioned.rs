//! Files that a prompt names.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

use model::Source;
use monitor::Heard;

use super::HookDoor;
use super::session::Hooked;
use crate::trust;

/// Files that one prompt may name.
const MENTIONED_MAX: usize = 32;
/// How much of such a file is read, in bytes.
pub(super) const READ_BYTES_MAX: u64 = 1 << 20;

impl HookDoor<'_> {
    /// Files that a prompt names with `@` reach the model without a call.
    pub(super) fn hear_mentioned(&self, session: &Hooked, text: &str) -> Result<(), String> {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let (trust, user_home) = (self.trust()?, self.user_home.as_deref());
        let is_foreign = |name: &str| trust.is_foreign(name, cwd, user_home);
        let mentions = text.split('@').skip(1).filter_map(mention);
        for name in mentions.filter(|it| is_foreign(it)).take(MENTIONED_MAX) {
            // What is not there, or is no file, the host does not read either.
            let Some(said) = text_of(&trust::place(name, cwd, user_home)) else { continue };
            let heard = Heard { source: Source::File, origin: name, text: &said };
            self.gate.monitor.hear(&session.who, &heard).map_err(|it| it.to_string())?;
        }
        Ok(())
    }

    /// Does `text` name with `@` files alone that are there and that nobody outside can have written? What has a colon may be a
    /// resource of a server, and in a folder may lie what was fetched.
    pub(super) fn mentions_own_alone(&self, session: &Hooked, text: &str) -> Result<bool, String> {
        let cwd = session.cwd.as_deref().unwrap_or(Path::new("/"));
        let (trust, user_home) = (self.trust()?, self.user_home.as_deref());
        let is_own = |name: &str| {
            let is_file = trust::place(name, cwd, user_home).is_file();
            is_file && !name.contains(':') && !trust.is_foreign(name, cwd, user_home)
        };
        let count = text.matches('@').count();
        let mut mentions = text.split('@').skip(1).map(mention);
        Ok((1..=MENTIONED_MAX).contains(&count) && mentions.all(|it| it.is_some_and(is_own)))
    }
}

/// The path that follows an `@`, without quotes, lines and what ends a sentence.
fn mention(text: &str) -> Option<&str> {
    let (quote, rest) = match text.strip_prefix('"') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let end = if quote { rest.find('"') } else { rest.find(char::is_whitespace) };
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    let name = name.split("#L").next().unwrap_or(name);
    let name = name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'']);
    (!name.is_empty()).then_some(name)
}

/// What a file says that the host reads to its model, as far as it is read. A pipe is not waited for.
pub(super) fn text_of(path: &Path) -> Option<String> {
    let path = files::resolved(path).ok()?;
    let file = files::private::open_with(&path, OpenOptions::new().read(true)).ok()?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
