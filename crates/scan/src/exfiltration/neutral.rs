//! A text without the addresses that load by themselves.

use std::borrow::Cow;

use super::{Carries, Finding, look};

impl Finding {
    /// Tells whether something leaves when the text is shown, or with one click.
    fn leaves(&self) -> bool {
        self.kind.loads() || self.carries == Carries::Data
    }

    /// Returns what stands in its place: the host, and nothing that the address carries.
    #[must_use]
    pub fn note(&self) -> String {
        let what = if self.kind.loads() { "image" } else { "link" };
        format!("[{what} removed: {}]", self.host().unwrap_or_default())
    }
}

/// Looks for what loads by itself, and for links that carry data.
#[must_use]
pub fn leaving(text: &str) -> Vec<Finding> {
    let mut found = look(text);
    found.retain(Finding::leaves);
    found
}

/// Returns `text` with everything that loads, and every link that carries data, replaced by a note that names the host
/// and nothing that the address carries.
#[must_use]
pub fn neutralised<'a>(text: &'a str, findings: &[Finding]) -> Cow<'a, str> {
    let mut gone: Vec<&Finding> = findings.iter().filter(|it| it.leaves()).collect();
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
        out.push_str(&it.note());
        at = it.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}
