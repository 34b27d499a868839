//! Texts in Cedar: quoted, listed with how often each was seen, or left out where a rule cannot hold them.

use super::seen::Counts;

/// The most texts that one list holds: those that were seen most often.
pub(super) const LISTED_MAX: usize = 200;
/// The longest text that is listed, in bytes.
const LISTED_BYTES_MAX: usize = 256;

/// A list for a rule.
pub(super) struct Listed {
    /// The texts and how often each was seen, most often first.
    pub(super) texts: Vec<(String, u64)>,
    /// How many were left out.
    pub(super) left_out: usize,
}

impl Listed {
    /// Those of `counts` that a rule can hold.
    pub(super) fn of(counts: &Counts) -> Self {
        let all = counts.len();
        let can = counts.iter().filter(|(text, _)| is_listable(text));
        let mut texts: Vec<(String, u64)> = can.map(|(text, n)| (text.clone(), *n)).collect();
        texts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        texts.truncate(LISTED_MAX);
        let left_out = all.saturating_sub(texts.len());
        Self { texts, left_out }
    }

    /// The set, one text a line, with how often it was seen. None if nothing is in it: Cedar knows no type for that.
    pub(super) fn set(&self, indent: &str) -> Option<String> {
        let (last, others) = self.texts.split_last()?;
        let mut set = String::from("[\n");
        for (text, times) in others {
            set.push_str(&format!("{indent}  {}, // {}\n", quoted(text), times_seen(*times)));
        }
        let (text, times) = last;
        set.push_str(&format!("{indent}  {} // {}\n", quoted(text), times_seen(*times)));
        set.push_str(indent);
        set.push(']');
        Some(set)
    }

    /// A line that says what is missing, if something is.
    pub(super) fn missing(&self) -> String {
        match self.left_out {
            0 => String::new(),
            some => format!(
                "// {some} more were seen and are left out: rare ones, and texts that are not plain ASCII.\n"
            ),
        }
    }
}

/// `12 times`.
pub(super) fn times_seen(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        some => format!("{some} times"),
    }
}

/// Can a rule hold it? Cedar's validator refuses letters that look like others, and a person could not read them either.
pub(super) fn is_listable(text: &str) -> bool {
    let plain = |it: u8| it == b' ' || it.is_ascii_graphic();
    (1..=LISTED_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain)
}

/// A string of Cedar.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A pattern of Cedar for everything in a folder.
pub(super) fn within(folder: &str) -> String {
    let folder = folder.replace('\\', "\\\\").replace('"', "\\\"").replace('*', "\\*");
    format!("\"{folder}/*\"")
}

/// A name that is not among `seen`.
pub(super) fn never_seen(seen: &Counts, base: &str) -> String {
    let numbered = (2_u64..).map(|it| format!("{base}-{it}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    names.find(|it| !seen.contains_key(it)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_so_that_none_ends_its_string() {
        assert_eq!(quoted(r#"a"b\c*"#), r#""a\"b\\c*""#);
        assert_eq!(within(r#"a"b\c*"#), r#""a\"b\\c\*/*""#);
    }

    #[test]
    fn lists_are_bounded_and_say_what_is_missing() {
        let many: Counts = (0..LISTED_MAX as u64 + 5).map(|it| (format!("t{it}"), it)).collect();
        let listed = Listed::of(&many);
        assert_eq!((listed.texts.len(), listed.left_out), (LISTED_MAX, 5));
        assert!(listed.missing().contains("5 more"));
        let odd: Counts = ["é", "a\nb", "", &"x".repeat(300)].map(|it| (it.to_owned(), 1)).into();
        assert_eq!(Listed::of(&odd).set(""), None);
        assert_eq!(Listed::of(&odd).left_out, 4);
        let two: Counts = [("b".to_owned(), 1), ("a".to_owned(), 7)].into();
        assert_eq!(Listed::of(&two).set("").unwrap(), "[\n  \"a\", // 7 times\n  \"b\" // once\n]");
    }

    #[test]
    fn what_was_never_seen_is_not_among_it() {
        let seen: Counts = [("x".to_owned(), 1), ("x-2".to_owned(), 1)].into();
        assert_eq!(never_seen(&seen, "x"), "x-3");
        assert_eq!(never_seen(&seen, "y"), "y");
    }
}
