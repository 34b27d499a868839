//! A text without the addresses that load by themselves.

use std::borrow::Cow;

use super::{Carries, Finding};

/// Returns `text` with everything that loads, and every link that carries data, replaced by a note that names the host
/// and nothing that the address carries.
#[must_use]
pub fn neutralised<'a>(text: &'a str, findings: &[Finding]) -> Cow<'a, str> {
    let gone = |it: &&Finding| it.kind.loads() || it.carries == Carries::Data;
    let mut gone: Vec<&Finding> = findings.iter().filter(gone).collect();
    if gone.is_empty() {
        return Cow::Borrowed(text);
    }
    gone.sort_by_key(|it| it.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for it in gone {
        // Several addresses of one tag, or one inside of another: the first note stands for all.
        if it.start < at {
            at = it.end.max(at);
            continue;
        }
        out.push_str(text.get(at..it.start).unwrap_or_default());
        let what = if it.kind.loads() { "image" } else { "link" };
        let host = it.host().unwrap_or_default();
        out.push_str(&format!("[{what} removed: {host}]"));
        at = it.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}
