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
const MENTIONED_BYTES_MAX: u64 = 1 << 20;

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
    file.take(MENTIONED_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
