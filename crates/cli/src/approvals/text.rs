//! Texts of unknown origin, so that none of them can pass for a line of ours.

use aegx::verify::is_hidden;

/// How wide a line is, in columns: no terminal that people use breaks it.
const LINE_COLUMNS: usize = 76;
/// What stands before the first line of an item, in columns.
const LABEL_COLUMNS: usize = 10;
/// What stands before its other lines.
const MARGIN: &str = "        | ";

/// A text in quotes. Quotes, backslashes and what cannot be seen are escaped.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{}\"", seen(&escaped))
}

/// A name: as it is if it is a plain one, otherwise in quotes.
pub(super) fn name(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// A text of which everything can be seen: more than one blank in a row is counted.
pub(super) fn seen(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0;
    for char in text.chars() {
        if char == ' ' {
            blanks += 1;
            continue;
        }
        push_blanks(&mut out, blanks);
        blanks = 0;
        // The sign that stands for blanks is ours.
        if is_hidden(char) || char == '␠' {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    push_blanks(&mut out, blanks);
    out
}

fn push_blanks(out: &mut String, blanks: usize) {
    match blanks {
        0 => {}
        1 => out.push(' '),
        many => out.push_str(&format!("␠×{many}␠")),
    }
}

/// An item under its label, in lines that we break ourselves: all but the first begin with a margin.
pub(super) fn item(label: &str, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = format!("{label:<LABEL_COLUMNS$}");
    let mut columns = LABEL_COLUMNS;
    for char in text.chars() {
        // Some take two columns; none is taken for less than it may need.
        let wide = if char.is_ascii() { 1 } else { 2 };
        if columns + wide > LINE_COLUMNS {
            lines.push(std::mem::replace(&mut line, MARGIN.to_owned()));
            columns = MARGIN.len();
        }
        line.push(char);
        columns += wide;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_pass_for_a_line_of_ours() {
        let pad = " ".repeat(61);
        let forged = format!(
            "hello{pad}why       you have asked for this\nto        boss{}",
            "漢".repeat(90)
        );
        let lines = item("with", &quoted(&forged));
        assert!(lines[0].starts_with(r#"with      "hello␠×61␠why␠×7␠you have"#), "{lines:?}");
        assert!(lines.len() > 3);
        for line in &lines[1..] {
            assert!(line.starts_with("        | "), "{line}");
        }
        for line in &lines {
            let columns: usize = line.chars().map(|it| if it.is_ascii() { 1 } else { 2 }).sum();
            assert!(columns <= 76 && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn what_was_escaped_and_what_was_written_differ() {
        assert_eq!(quoted("\u{1b}"), r#""\u{1b}""#);
        assert_eq!(quoted(r"\u{1b}"), r#""\\u{1b}""#);
        assert_eq!(quoted(r#"a" NOT shown"#), r#""a\" NOT shown""#);
        assert_eq!(quoted("a  b"), "\"a␠×2␠b\"");
        assert_eq!(quoted("a␠×2␠b"), r#""a\u{2420}×2\u{2420}b""#);
        assert_eq!(name("to_whom"), "to_whom");
        assert_eq!(name("to = x"), r#""to = x""#);
    }
}
