//! Patterns of the operator: for paths, for names of tools, for addresses. Matching is bounded by the product of both
//! lengths, whatever the pattern is.

use std::fmt;

/// The longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 256;

/// A pattern that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    signs: Vec<Sign>,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern: {why}")]
pub struct GlobError {
    /// The pattern, escaped and cut.
    pub pattern: String,
    /// What is wrong.
    pub why: &'static str,
}

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    /// This character.
    Is(char),
    /// One character, but no `/`.
    One,
    /// One of a set, or one that is not in it, but no `/`.
    Within { ranges: Vec<(char, char)>, inside: bool },
    /// Any characters but `/`.
    Part,
    /// Anything.
    Any,
    /// `/`, or `/` with anything before another `/`.
    Folders,
}

/// One part of what is matched: a text, or what a shell would expand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Is(char),
    One,
    Many,
}

/// What a pattern is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Path,
    Name,
    Address,
}

impl Glob {
    /// A pattern of paths, in small letters: `*` and `?` stop at `/`, `**` does not, `[a-z]` is a set. One that begins with
    /// neither `/` nor `~/` fits at any depth. What lies in a folder that fits, fits.
    ///
    /// # Errors
    /// If it is none.
    pub fn path(text: &str) -> Result<Self, GlobError> {
        let wrong = |why| Err(error(text, why));
        let folded = text.to_lowercase();
        if folded.split('/').any(|it| matches!(it, "." | "..")) {
            return wrong("`.` and `..` lead elsewhere than they say");
        }
        let plain = folded.trim_end_matches('/');
        let named = plain.strip_prefix("~/").unwrap_or(plain);
        if plain == "~" || !named.contains(|it: char| !matches!(it, '/' | '*' | '?')) {
            return wrong("it names nothing, and would fit everything");
        }
        let mut signs = if plain.starts_with(['/', '~']) { Vec::new() } else { vec![Sign::Any] };
        if !signs.is_empty() {
            signs.push(Sign::Is('/'));
        }
        // `**/x` is `x` at any depth already.
        let rest = if signs.is_empty() { plain } else { plain.trim_start_matches("**/") };
        signs.extend(read(rest, About::Path).map_err(|why| error(text, why))?);
        Ok(Self { text: text.to_owned(), signs })
    }

    /// A pattern of names of tools: `*` is anything, `?` one character, `[a-z]` a set.
    ///
    /// # Errors
    /// If it is none.
    pub fn name(text: &str) -> Result<Self, GlobError> {
        let signs = read(text, About::Name).map_err(|why| error(text, why))?;
        Ok(Self { text: text.to_owned(), signs })
    }

    /// A pattern of addresses, in small letters: `*` is anything, and everything else is as it stands. It fits somewhere in
    /// the address.
    ///
    /// # Errors
    /// If it is none.
    pub fn address(text: &str) -> Result<Self, GlobError> {
        if !text.contains(|it: char| !matches!(it, '*' | '/' | ':' | '.')) {
            return Err(error(text, "it names nothing, and would fit every address"));
        }
        let mut signs = vec![Sign::Any];
        let folded = text.to_lowercase();
        signs.extend(read(&folded, About::Address).map_err(|why| error(text, why))?);
        signs.push(Sign::Any);
        Ok(Self { text: text.to_owned(), signs })
    }

    /// Does this text fit, as it stands?
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let said: Vec<Said> = text.chars().map(Said::Is).collect();
        self.reached(&said).last() == Some(&true)
    }

    /// Does the path, or a folder in which it lies, fit? It begins with `/` or `~/` and is in small letters.
    #[must_use]
    pub fn fits_path(&self, path: &str) -> bool {
        self.fits_or_holds(&path.chars().map(Said::Is).collect::<Vec<_>>())
    }

    /// The same of a word for which a shell puts what is there: could it name something that fits?
    #[must_use]
    pub fn could_fit_path(&self, word: &str) -> bool {
        let mut said = Vec::new();
        for it in word.chars() {
            match it {
                '*' => said.push(Said::Many),
                '?' => said.push(Said::One),
                // Behind a set or a brace anything may stand.
                '[' | '{' => {
                    said.push(Said::Many);
                    break;
                }
                it => said.push(Said::Is(it)),
            }
        }
        self.fits_or_holds(&said)
    }

    fn fits_or_holds(&self, said: &[Said]) -> bool {
        let reached = self.reached(said);
        let ends = reached.iter().zip(said.iter().map(Some).chain([None]));
        ends.into_iter().any(|(is, next)| *is && next.is_none_or(|it| may_be_slash(*it)))
    }

    /// Up to where the whole pattern can reach: one place more than there are signs.
    fn reached(&self, said: &[Said]) -> Vec<bool> {
        let mut now: Vec<bool> = (0..=said.len()).map(|it| it == 0).collect();
        skip_what_may_be_nothing(&mut now, said);
        for sign in &self.signs {
            now = step(sign, &now, said);
            skip_what_may_be_nothing(&mut now, said);
            if !now.contains(&true) {
                break;
            }
        }
        now
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn error(pattern: &str, why: &'static str) -> GlobError {
    let pattern = pattern.chars().take(80).collect::<String>().escape_debug().to_string();
    GlobError { pattern, why }
}

fn may_be_slash(it: Said) -> bool {
    matches!(it, Said::Is('/') | Said::Many)
}

fn skip_what_may_be_nothing(now: &mut [bool], said: &[Said]) {
    let mut before = false;
    for (at, is) in now.iter_mut().enumerate() {
        *is |= before;
        before = *is && said.get(at) == Some(&Said::Many);
    }
}

/// Where one more part of the pattern reaches.
fn step(sign: &Sign, now: &[bool], said: &[Said]) -> Vec<bool> {
    let mut next = match sign {
        Sign::Part | Sign::Any => now.to_vec(),
        Sign::Is(_) | Sign::One | Sign::Within { .. } | Sign::Folders => vec![false; now.len()],
    };
    let mut is_begun = false;
    for (at, it) in said.iter().enumerate() {
        let is_here = match sign {
            Sign::Part | Sign::Any => next.get(at) == Some(&true),
            Sign::Folders => {
                is_begun |= may_be_slash(*it) && now.get(at) == Some(&true);
                is_begun
            }
            Sign::Is(_) | Sign::One | Sign::Within { .. } => now.get(at) == Some(&true),
        };
        if !is_here || !sign.takes(*it) {
            continue;
        }
        // What stands for many may be this and more.
        if *it == Said::Many
            && let Some(stays) = next.get_mut(at)
        {
            *stays = true;
        }
        if let Some(goes) = next.get_mut(at + 1) {
            *goes = true;
        }
    }
    next
}

impl Sign {
    fn takes(&self, said: Said) -> bool {
        let Said::Is(it) = said else {
            return said == Said::Many || !matches!(self, Self::Is('/') | Self::Folders);
        };
        match self {
            Self::Is(wanted) => it == *wanted,
            Self::One | Self::Part => it != '/',
            Self::Within { ranges, inside } => {
                it != '/' && ranges.iter().any(|(from, to)| (*from..=*to).contains(&it)) == *inside
            }
            Self::Any => true,
            Self::Folders => it == '/',
        }
    }
}

fn read(text: &str, about: About) -> Result<Vec<Sign>, &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > PATTERN_BYTES_MAX {
        return Err("it is too long");
    }
    if text.chars().any(char::is_control) {
        return Err("it holds a control character");
    }
    let mut signs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..).unwrap_or_default();
        let (sign, left) = match first {
            '/' if about == About::Path && behind.starts_with("**/") => {
                (Sign::Folders, behind.get(3..).unwrap_or_default())
            }
            '/' if about == About::Path && behind == "**" => break,
            '*' if about == About::Path && !behind.starts_with('*') => (Sign::Part, behind),
            '*' => (Sign::Any, behind.trim_start_matches('*')),
            '?' if about != About::Address => (Sign::One, behind),
            '[' if about != About::Address => set(behind)?,
            ']' | '{' | '}' | '\\' if about != About::Address => {
                return Err("`]`, `{`, `}` and `\\` are not used in patterns");
            }
            it => (Sign::Is(it), behind),
        };
        signs.push(sign);
        rest = left;
    }
    Ok(signs)
}

/// A set, behind its `[`; gives what stands behind it.
fn set(text: &str) -> Result<(Sign, &str), &'static str> {
    const OPEN: &str = "a set is not closed, or empty";
    let (inside, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (false, rest),
        None => (true, text),
    };
    let (set, rest) = text.split_once(']').ok_or(OPEN)?;
    let mut letters = set.chars().peekable();
    let mut ranges = Vec::new();
    while let Some(from) = letters.next() {
        let to = match letters.next_if_eq(&'-') {
            Some(_) => letters.next().ok_or("a range in a set has no end")?,
            None => from,
        };
        if to < from || from == '[' {
            return Err("a range in a set goes backwards, or a set begins in a set");
        }
        ranges.push((from, to));
    }
    if ranges.is_empty() { Err(OPEN) } else { Ok((Sign::Within { ranges, inside }, rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_at_any_depth_and_with_what_lies_in_them() {
        for (pattern, fits, not) in [
            (".env", vec!["/.env", "/a/b/.env", "/.env/x"], vec!["/.envrc", "/a.env"]),
            ("**/.env", vec!["/.env", "/a/b/.env"], vec!["/x.env"]),
            ("*.key", vec!["/a.key", "/x/a.key"], vec!["/a.keys", "/a.key2/b"]),
            ("/srv/keys/**", vec!["/srv/keys", "/srv/keys/a/b"], vec!["/srv/key", "/x/srv/keys/a"]),
            ("~/vault", vec!["~/vault/x", "~/vault"], vec!["/vault", "~/v"]),
            ("a/**/b", vec!["/a/b", "/a/x/y/b/c", "/z/a/b"], vec!["/ab", "/a/xb"]),
            ("d[0-9]?", vec!["/d1x"], vec!["/dax", "/d1/"]),
            ("d[!0-9]", vec!["/dx"], vec!["/d1", "/d/"]),
        ] {
            let glob = Glob::path(pattern).unwrap();
            fits.iter().for_each(|it| assert!(glob.fits_path(it), "{pattern} {it}"));
            not.iter().for_each(|it| assert!(!glob.fits_path(it), "{pattern} {it}"));
        }
    }

    #[test]
    fn what_a_shell_expands_fits_if_it_could() {
        let glob = Glob::path("secrets/*.key").unwrap();
        for word in ["/secrets/*", "/sec*/a.key", "/s?crets/a.key", "/{secrets,x}/a", "/*", "/x/*"]
        {
            assert!(glob.could_fit_path(word), "{word}");
        }
        for word in ["/src/?", "/secrets/a.txt", "/secrets/?.txt"] {
            assert!(!glob.could_fit_path(word), "{word}");
        }
    }

    #[test]
    fn names_and_addresses_fit_as_they_say() {
        let name = |pattern: &str, text: &str| Glob::name(pattern).unwrap().fits(text);
        assert!(name("mcp:git/*", "mcp:git/a/b") && name("*", "builtin:x") && name("a?[c]", "abc"));
        assert!(!name("mcp:git/*", "mcp:github/x") && !name("builtin:read", "builtin:reader"));
        let address = Glob::address("/collect?id=*&k").unwrap();
        assert!(address.fits("https://a.example/collect?id=7&key=x"));
        assert!(!address.fits("https://a.example/collect?key=x"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in
            ["", "*", "**", "**/*", "/", "~/", "a/../b", "[", "[]", "[z-a]", "a{b,c}", "a\\b"]
        {
            assert!(Glob::path(bad).is_err(), "{bad}");
        }
        for bad in ["", "builtin:[", "x[a-", "a\nb", &"a".repeat(PATTERN_BYTES_MAX + 1)] {
            assert!(Glob::name(bad).is_err(), "{bad:?}");
        }
        assert!(Glob::address("*").is_err() && Glob::address("://").is_err());
    }
}
