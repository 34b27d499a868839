//! Front matter: YAML between two fences at the very top of a Markdown file.

use super::FileError;
use super::yaml::check_text;

const FENCE: &str = "---";

/// A file, cut in two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'a> {
    /// The YAML, which begins on line 2; nothing if there is none.
    pub(super) yaml: Option<&'a str>,
    pub(super) body: &'a str,
}

/// Cuts `text`. A file that seems to have meant front matter without having any is refused:
/// taken as plain text, it would open everything that its author wanted closed.
pub(super) fn cut<'a>(text: &'a str, keys: &[&str]) -> Result<Cut<'a>, FileError> {
    check_text(text)?;
    let Some(rest) = text.strip_prefix(FENCE).and_then(|it| it.strip_prefix('\n')) else {
        refuse_near_misses(text, keys)?;
        return Ok(Cut { yaml: None, body: text });
    };
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end_matches('\n') == FENCE {
            let body = rest.get(length + line.len()..).unwrap_or_default();
            return Ok(Cut { yaml: rest.get(..length), body });
        }
        length += line.len();
    }
    Err(FileError::at(1, "the front matter has no closing fence `---` on a line of its own"))
}

fn refuse_near_misses(text: &str, keys: &[&str]) -> Result<(), FileError> {
    let lines = text.lines().enumerate();
    let Some((at, line)) = lines.into_iter().find(|(_, line)| !line.trim().is_empty()) else {
        return Ok(());
    };
    let line = line.trim();
    if line.starts_with(FENCE) || line.starts_with("+++") || line.starts_with("—") {
        let what =
            "front matter begins with `---` on the first line, without blanks before or after";
        return Err(FileError::at(at + 1, what));
    }
    let key = line.split_once(':').map(|(key, _)| key.trim());
    if key.is_some_and(|it| keys.contains(&it)) {
        return Err(FileError::at(at + 1, "front matter stands between two lines of `---`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_exact_or_the_file_is_refused() {
        let good = cut("---\na: 1\n---\nbody\n---\n", &[]).unwrap();
        assert_eq!(good, Cut { yaml: Some("a: 1\n"), body: "body\n---\n" });
        assert_eq!(cut("---\na: 1\n---", &[]).unwrap().body, "");
        assert_eq!(cut("# Title\n\n---\n", &[]).unwrap().yaml, None);
        for bad in [
            "\n---\na: 1\n---\n",
            " ---\na: 1\n---\n",
            "--- \na: 1\n---\n",
            "----\na: 1\n----\n",
            "---\na: 1\n",
            "---\na: 1\n --- \n",
            "---",
            "\u{feff}---\na: 1\n---\n",
            "---\r\na: 1\r\n---\r\n",
            "+++\na = 1\n+++\n",
            "access: private\n",
        ] {
            assert!(cut(bad, &["access"]).is_err(), "{bad:?}");
        }
    }
}
