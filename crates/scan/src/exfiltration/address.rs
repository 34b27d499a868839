//! Addresses as a browser reads them.

use url::Url;

/// The longest address that is looked at, in bytes.
pub(super) const ADDRESS_BYTES_MAX: usize = 16 * 1024;

/// Returns the address of the web that a browser would go to for `written`; none for what stays here: a file beside the
/// text, `data:`, a fragment.
pub(super) fn of(written: &str) -> Option<Url> {
    let written = written.get(..written.floor_char_boundary(ADDRESS_BYTES_MAX))?;
    let written = written.trim_matches(|it: char| it <= ' ');
    // Browsers drop these wherever they stand.
    let plain: String = written.chars().filter(|it| !matches!(it, '\t' | '\n' | '\r')).collect();
    let whole = match leaning(&plain) {
        Some(rest) => format!("https://{rest}"),
        None => plain,
    };
    let url = Url::parse(&whole).ok()?;
    matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp").then_some(url)
}

/// What follows two slashes, of either kind, at the beginning: an address without its scheme.
fn leaning(text: &str) -> Option<&str> {
    text.strip_prefix(['/', '\\']).and_then(|it| it.strip_prefix(['/', '\\']))
}

/// Returns `text` with its character references resolved, as in the value of an attribute.
pub(super) fn resolved(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let (found, length) = crate::text::reference(from).unwrap_or(('&', 1));
        out.push(found);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
