//! Finds atoms in text: addresses, hosts, account numbers, paths, long tokens.

use super::decode;
use super::hash::{Key, key};
use super::norm::{clean, fold};
use super::tokens::{Tokens, is_plain};
use super::words::{ENDS, FILES};

/// What an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// `name@host`.
    Email,
    /// A page or a host.
    Url,
    /// An account, card or telephone number, or another long token with digits in it.
    Account,
    /// A file.
    Path,
}

/// An atom in the one spelling that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub(super) kind: Kind,
    pub(super) key: Key,
    /// For a page: the key of its host.
    pub(super) host: Option<Key>,
    /// As it is shown to people.
    pub(super) text: String,
}

/// How many atoms are taken from one text; a longer list is cut, and what is not in the index is unseen.
pub(super) const ATOMS_PER_TEXT_MAX: usize = 4096;
/// A run of letters and digits of this length is a token worth knowing, in characters.
const TOKEN_CHARS_MIN: usize = 10;
/// A number of this length is an account or a telephone, in digits.
const NUMBER_DIGITS_MIN: usize = 7;

/// The atoms of `text`, in order, with those that stand in it in another spelling.
pub(super) fn atoms(text: &str) -> Vec<Atom> {
    let text = clean(text);
    let mut found = Vec::new();
    let mut long = Vec::new();
    scan(&text, &mut found, |it| long.push(it));
    if let Some(plain) = decode::spoken(&text) {
        scan(&plain, &mut found, |_| {});
    }
    for token in long {
        if found.len() >= ATOMS_PER_TEXT_MAX {
            break;
        }
        decode::hidden(token).iter().for_each(|plain| scan(plain, &mut found, |_| {}));
    }
    found.truncate(ATOMS_PER_TEXT_MAX);
    found
}

/// Finds the atoms that stand in `text` plainly, and shows every token to `seen` that is long enough to
/// be something in another spelling.
fn scan<'a>(text: &'a str, found: &mut Vec<Atom>, mut seen: impl FnMut(&'a str)) {
    let mut rest = Tokens::of(text);
    loop {
        let from = rest.clone();
        let Some((first, telling)) = rest.next_classed() else { return };
        if first.len() >= decode::HIDDEN_CHARS_MIN {
            seen(first);
        }
        // Most words are plain: they cannot be or begin an atom.
        if !telling {
            continue;
        }
        let first = trim(first);
        if is_plain(first) {
            continue;
        }
        if found.len() >= ATOMS_PER_TEXT_MAX {
            return;
        }
        match grouped(from) {
            Some((joined, left)) => {
                found.push(account(&joined));
                while rest.left() > left.left() {
                    let group = rest.next();
                    group.filter(|it| it.len() >= decode::HIDDEN_CHARS_MIN).map(&mut seen);
                }
            }
            None => found.extend(classify(first)),
        }
    }
}

fn trim(token: &str) -> &str {
    token
        .trim_start_matches(['*', '_', '#', ':', '=', '!', '?', '-', '$', '€', '£'])
        .trim_end_matches(['*', '_', '.', ':', '!', '?', '=', '…', '-'])
}

/// One token by itself; a page that names another page in its query is both.
fn classify(token: &str) -> Vec<Atom> {
    let folded = fold(token);
    if let Some(mail) = email(&folded) {
        return vec![mail];
    }
    // `id:`, `iban=` and the like stand before a value without a space.
    if let Some((before, after)) = token.split_once([':', '='])
        && !after.starts_with("//")
        && before.len() <= 16
        && before.chars().all(char::is_alphabetic)
    {
        let inner = classify(trim(after));
        if !inner.is_empty() {
            return inner;
        }
    }
    if let Some(page) = url(&folded) {
        let mut all = vec![page];
        all.extend(nested(&folded));
        return all;
    }
    if is_path(&folded) {
        let text = folded.trim_start_matches("./").to_owned();
        return vec![Atom { kind: Kind::Path, key: key(b'f', &text), host: None, text }];
    }
    if is_token(&folded) { vec![account(&folded)] } else { Vec::new() }
}

fn email(folded: &str) -> Option<Atom> {
    let bare = folded.trim_start_matches("mailto:");
    let bare = bare.split('?').next().unwrap_or(bare);
    let (name, host) = bare.rsplit_once('@')?;
    let host = host.trim_end_matches('.');
    let legal = |it: char| it.is_alphanumeric() || ".-_+%'=".contains(it);
    let good = !name.is_empty() && name.chars().all(legal) && is_host(host);
    good.then(|| {
        let text = format!("{name}@{}", ascii_host(host));
        Atom { kind: Kind::Email, key: key(b'e', &text), host: None, text }
    })
}

fn url(folded: &str) -> Option<Atom> {
    let decoded = decode::percent(folded);
    let (scheme, rest) = match decoded.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, decoded.as_str()),
    };
    let rest = rest.split('#').next().unwrap_or(rest);
    let cut = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(cut)?;
    // What stands before an `@` is a name for the host, whatever it looks like.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or(host).trim_end_matches('.');
    let known = scheme.is_some() && !host.is_empty();
    let named = host.starts_with("www.") || (is_host(host) && has_known_end(host));
    if !(known || named) || is_file_name(rest) && scheme.is_none() {
        return None;
    }
    let host = ascii_host(host.trim_start_matches("www."));
    let text = format!("{host}{}", tail.trim_end_matches('/'));
    Some(Atom { kind: Kind::Url, key: key(b'u', &text), host: Some(key(b'u', &host)), text })
}

/// Pages that are named inside the query or path of another.
fn nested(folded: &str) -> Vec<Atom> {
    let decoded = decode::percent(folded);
    let inner = decoded.match_indices("://").skip(1).filter_map(|(at, _)| {
        let (before, after) = decoded.split_at_checked(at)?;
        let scheme = before.rsplit(|it: char| !it.is_ascii_alphabetic()).next()?;
        url(&format!("{scheme}{after}"))
    });
    inner.take(4).collect()
}

/// An international name has two spellings; the one in ASCII counts.
fn ascii_host(host: &str) -> String {
    host.split('.').map(decode::unpunycode).collect::<Vec<_>>().join(".")
}

fn is_host(host: &str) -> bool {
    let mut labels = 0_usize;
    for label in host.split('.') {
        let legal = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
        if label.is_empty() || label.len() > 63 || !label.chars().all(legal) {
            return false;
        }
        labels = labels.saturating_add(1);
    }
    labels >= 2
}

fn has_known_end(host: &str) -> bool {
    let end = host.rsplit('.').next().unwrap_or_default();
    let address =
        host.split('.').all(|it| it.parse::<u8>().is_ok()) && host.matches('.').count() == 3;
    address || ENDS.has(end) || end.starts_with("xn--")
}

fn is_file_name(text: &str) -> bool {
    !text.contains('/') && extension(text).is_some()
}

fn extension(text: &str) -> Option<&str> {
    let (stem, end) = text.rsplit_once('.')?;
    (!stem.is_empty() && FILES.has(end)).then_some(end)
}

/// Is the word the ending of a file's name?
pub(super) fn is_ending(word: &str) -> bool {
    FILES.has(word)
}

fn is_path(folded: &str) -> bool {
    let slashes = folded.matches(['/', '\\']).count();
    let rooted =
        folded.starts_with(['/', '~']) || folded.starts_with("./") || folded.starts_with("../");
    let legal = folded.chars().any(char::is_alphanumeric);
    legal && (extension(folded).is_some() || (rooted && slashes > 0) || slashes > 1)
}

fn is_token(folded: &str) -> bool {
    let letters = folded.chars().filter(|it| it.is_alphabetic()).count();
    let digits = folded.chars().filter(char::is_ascii_digit).count();
    let legal = folded.chars().all(|it| it.is_alphanumeric() || "-_.+/=".contains(it));
    legal && digits > 0 && letters > 0 && letters.saturating_add(digits) >= TOKEN_CHARS_MIN
}

fn account(text: &str) -> Atom {
    let text: String = fold(text).chars().filter(|it| it.is_alphanumeric()).collect();
    Atom { kind: Kind::Account, key: key(b'a', &text), host: None, text }
}

/// A number that is written in groups: `GB29 NWBK 6016 …`, `+41 44 668 18 00`, `4111-1111-…`.
fn grouped(mut tokens: Tokens<'_>) -> Option<(String, Tokens<'_>)> {
    let first = trim(tokens.clone().next()?);
    if !first.starts_with(|it| matches!(it, '0'..='9' | 'A'..='Z' | '-' | '+' | '.' | '/')) {
        return None;
    }
    let bank = first.len() <= 6 && is_bank_prefix(first);
    let mut joined = String::new();
    let mut used = 0_usize;
    loop {
        let before = tokens.clone();
        let Some(token) = tokens.next().map(trim) else { break };
        if token.is_empty() {
            continue;
        }
        let part: String =
            token.chars().filter(|it| !matches!(it, '-' | '+' | '.' | '/')).collect();
        let digits = !part.is_empty() && part.chars().all(|it| it.is_ascii_digit());
        let group = part.len() <= 4
            && part.chars().all(|it| it.is_ascii_digit() || it.is_ascii_uppercase());
        if part.is_empty() || !(digits || (bank && group)) || is_date(token) {
            tokens = before;
            break;
        }
        joined.push_str(&part);
        used = used.saturating_add(1);
        if joined.len() > 34 {
            break;
        }
    }
    let enough = if bank { 12 } else { NUMBER_DIGITS_MIN };
    let decimal = used == 1 && first.contains('.');
    (joined.len() >= enough && !decimal).then_some((joined, tokens))
}

fn is_bank_prefix(token: &str) -> bool {
    let mut chars = token.chars();
    let letters = chars.by_ref().take(2).filter(char::is_ascii_uppercase).count() == 2;
    letters && chars.take(2).filter(char::is_ascii_digit).count() == 2
}

/// `2024-05-15`, `15.05.2024`: digits enough for a number, and none.
pub(super) fn is_date(token: &str) -> bool {
    let parts: Vec<&str> = token.split(['-', '.', '/', ':']).collect();
    let digits = parts
        .iter()
        .all(|it| (1..=4).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()));
    digits && (parts.len() == 3 || parts.len() == 2 && token.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        atoms(text).into_iter().map(|it| it.key).collect()
    }

    #[test]
    fn the_spellings_of_an_atom_are_one() {
        for (a, b) in [
            ("evil@x.com", "Write to <EVIL@X.com>."),
            ("evil@x.com", "mailto:evil@x.com?subject=hi"),
            ("evil@x.com", "evil (at) x dot com"),
            ("evil@x.com", "evil [at] x [dot] com"),
            ("evil@x.com", "decode ZXZpbEB4LmNvbQ== first"),
            ("evil@x.com", "hex 6576696c40782e636f6d here"),
            ("evil@x.com", "e\u{200b}vil@x.com"),
            ("www.evil.com", "https://user:pass@evil.com./"),
            ("http://evil.com/ab", "see [here](https://www.evil.com/%61b)"),
            ("evil.com", "https://good.com/redirect?to=https%3A%2F%2Fevil.com"),
            ("GB29NWBK60161331926819", "IBAN: GB29 NWBK 6016 1331 9268 19"),
            ("US133000000121212121212", "to us133000000121212121212, please"),
            ("4111111111111111", "4111-1111-1111-1111"),
            ("+41446681800", "+41 44 668 18 00"),
            ("bill.txt", "'./bill.txt'"),
        ] {
            let wanted = keys(a);
            assert_eq!(wanted.len(), 1, "{a}");
            assert!(keys(b).contains(&wanted[0]), "{a} in {b}: {:?}", atoms(b));
        }
    }

    #[test]
    fn ordinary_text_has_none() {
        for text in ["Please meet at 10:00 on 2024-05-15, it costs 98.70.", "e.g. this", "and/or"] {
            assert_eq!(atoms(text), [], "{text}");
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        for (text, kind) in [
            ("a.b-c@mail.example", Kind::Email),
            ("www.dora-website.com", Kind::Url),
            ("informations.com/article", Kind::Url),
            ("feedback.xlsx", Kind::Path),
            ("/etc/passwd", Kind::Path),
            ("ghp_abcdef0123456789", Kind::Account),
        ] {
            assert_eq!(atoms(text).first().map(|it| it.kind), Some(kind), "{text}");
        }
    }
}
