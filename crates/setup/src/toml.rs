//! TOML that belongs to somebody else.

use toml_edit::DocumentMut;

/// Reads a text of TOML.
///
/// # Errors
/// What is wrong, and in which line. The line itself is not repeated: it may hold a secret.
pub(crate) fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |it| text.floor_char_boundary(it.start));
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message().replace('\n', "; "))
    })
}

/// A document as text, with the line ends of the text that it was.
pub(crate) fn rendered(doc: &DocumentMut, original: &str) -> String {
    let text = doc.to_string();
    let lines = original.matches('\n').count();
    if lines > 0 && original.matches("\r\n").count() == lines {
        return text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_line_and_does_not_repeat_it() {
        let error = parse("a = 1\nkey = \"sk-secret\nb = 2\n").unwrap_err();
        assert!(error.starts_with("line 2: ") && !error.contains("secret"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
