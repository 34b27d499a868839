//! How a text is laid out, so that what is added looks like what is there.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// Blanks of one step, where the text does not show any.
const DEFAULT_UNIT: &str = "  ";

pub(super) struct Style {
    pub(super) unit: String,
    pub(super) newline: &'static str,
    /// Is it spread over lines at all?
    pub(super) is_spread: bool,
}

impl Style {
    pub(super) fn of(text: &str, first_entry: Option<usize>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent = first_entry.map(|it| indent_at(text, it)).unwrap_or_default();
        let unit = if indent.is_empty() { DEFAULT_UNIT } else { indent };
        let is_spread = first_entry.is_none() || text.trim().contains('\n');
        Self { unit: unit.to_owned(), newline, is_spread }
    }

    /// A value as text: in lines that begin with `indent`, or in one line.
    pub(super) fn rendered(&self, value: &Value, indent: Option<&str>) -> String {
        let compact = || value.to_string();
        let Some(indent) = indent else { return compact() };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        match (written, String::from_utf8(bytes)) {
            // Line ends inside of texts are escaped: every one here is of the layout.
            (Ok(()), Ok(text)) => text.replace('\n', &format!("{}{indent}", self.newline)),
            _ => compact(),
        }
    }
}

/// The blanks before `at`, if nothing else stands before it in its line.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let line = line_before(text, at);
    if line.trim().is_empty() { line } else { "" }
}

/// The blanks with which the line of `at` begins.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let line = line_before(text, at);
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blank).unwrap_or_default()
}

fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}')
}
