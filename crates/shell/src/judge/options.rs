//! Options of a command with their values, however they are written: in two words, glued, behind a sign, cut short.

/// One option.
pub(crate) struct Given<'a> {
    /// A letter, or a name without its dashes.
    name: &'a str,
    is_long: bool,
    /// `-ofile`, `--output=file`.
    pub(crate) glued: Option<&'a str>,
    /// The word behind it, which is its value if it takes one.
    next: Option<&'a str>,
}

impl<'a> Given<'a> {
    /// Is it one of these letters, or this name? A name may be cut short.
    pub(crate) fn is(&self, letters: &str, name: &str) -> bool {
        let is_named = !self.name.is_empty() && name.starts_with(self.name);
        if self.is_long { is_named } else { letters.contains(self.name) }
    }

    /// Is it a name that begins so?
    pub(crate) fn begins(&self, name: &str) -> bool {
        self.is_long && self.name.starts_with(name)
    }

    /// Is it one of these letters, or exactly one of these names?
    pub(crate) fn is_one_of(&self, letters: &str, names: &[&str]) -> bool {
        if self.is_long { names.contains(&self.name) } else { letters.contains(self.name) }
    }

    pub(crate) fn value(&self) -> Option<&'a str> {
        self.glued.or(self.next)
    }
}

/// What a command is given.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) given: Vec<Given<'a>>,
    /// What is no option, and no value of one.
    pub(crate) words: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// Reads arguments; `letters` and `names` are those that take a value.
    pub(crate) fn of(args: &'a [String], letters: &str, names: &[&str]) -> Self {
        let mut found = Self::default();
        let mut rest = args.iter().map(String::as_str).peekable();
        while let Some(arg) = rest.next() {
            let next = rest.peek().copied();
            if arg == "--" {
                found.words.extend(rest.by_ref());
            } else if let Some(long) = arg.strip_prefix("--") {
                let (name, glued) =
                    long.split_once('=').map_or((long, None), |it| (it.0, Some(it.1)));
                found.given.push(Given { name, is_long: true, glued, next });
                if glued.is_none() && names.contains(&name) {
                    rest.next();
                }
            } else if let Some(short) = arg.strip_prefix('-').filter(|it| !it.is_empty()) {
                if found.short(short, letters, next) {
                    rest.next();
                }
            } else {
                found.words.push(arg);
            }
        }
        found
    }

    /// The same with a list of those that take a value, as they are written.
    pub(crate) fn with(args: &'a [String], valued: &[&str]) -> Self {
        let short = valued.iter().filter(|it| !it.starts_with("--"));
        let letters: String = short.filter_map(|it| it.strip_prefix('-')).collect();
        let names: Vec<&str> = valued.iter().filter_map(|it| it.strip_prefix("--")).collect();
        Self::of(args, &letters, &names)
    }

    /// Letters in one word. Is the next word the value of the last of them?
    fn short(&mut self, short: &'a str, letters: &str, next: Option<&'a str>) -> bool {
        for (at, letter) in short.char_indices() {
            let (_, from) = short.split_at_checked(at).unwrap_or_default();
            let (name, behind) = from.split_at_checked(letter.len_utf8()).unwrap_or_default();
            let is_valued = letters.contains(letter);
            let glued = Some(behind.strip_prefix('=').unwrap_or(behind));
            let glued = glued.filter(|it| is_valued && !it.is_empty());
            let is_next = is_valued && glued.is_none();
            let next = next.filter(|_| is_next);
            self.given.push(Given { name, is_long: false, glued, next });
            if is_valued {
                return is_next;
            }
        }
        false
    }

    pub(crate) fn has(&self, letters: &str, name: &str) -> bool {
        self.given.iter().any(|it| it.is(letters, name))
    }

    /// The values of an option, each time that it is given.
    pub(crate) fn values(&self, letters: &str, name: &str) -> impl Iterator<Item = &'a str> {
        self.given.iter().filter(move |it| it.is(letters, name)).filter_map(Given::value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_however_it_is_written() {
        for text in ["-c a", "-ca", "-qca", "-qc a", "--config a", "--config=a", "--conf a"] {
            let args: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let options = Options::of(&args, "cb", &["config", "branch"]);
            assert_eq!(options.values("c", "config").collect::<Vec<_>>(), ["a"], "{text}");
        }
    }

    #[test]
    fn a_letter_behind_one_with_a_value_is_none() {
        let args = ["-bc".to_owned(), "a".to_owned(), "--".to_owned(), "-c".to_owned()];
        let options = Options::of(&args, "cb", &[]);
        assert!(!options.has("c", "config"));
        assert_eq!(options.words, ["a", "-c"]);
    }
}
