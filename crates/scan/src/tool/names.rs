//! Names of tools that are made to be taken for another server's.

use std::collections::{BTreeSet, HashMap};

use unicode_security::confusable_detection::skeleton;

use super::NameRule;

/// Names that are compared with one another.
const NAMES_MAX: usize = 4096;
/// The longest name that is compared, in characters.
const NAME_CHARS_MAX: usize = 128;
/// Names of one spelling with a letter left out that are compared, so that the work stays linear.
const NEAR_MAX: usize = 16;
/// The shortest word in which one letter more, less or other is a slip: shorter words differ by one letter honestly.
const WORD_CHARS_MIN: usize = 5;
/// Pairs that are reported.
const FOUND_MAX: usize = 256;

/// A tool by its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Named<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
}

/// Two names of different servers that a reader takes for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookAlike<'a> {
    /// Why they look alike.
    pub rule: NameRule,
    /// The one that was listed first.
    pub known: Named<'a>,
    /// The one that looks like it.
    pub other: Named<'a>,
}

/// Finds names that look like a name of another server but are not the same: by letters that are drawn alike
/// (`tool_name_confusable`), by case and joints alone (`tool_name_variant`), or by one letter in a longer word
/// (`tool_name_near`). That two servers have a tool of the same name is ordinary. Linear in the number of names.
#[must_use]
pub fn look_alikes<'a>(names: &[Named<'a>]) -> Vec<LookAlike<'a>> {
    let mut found = BTreeSet::new();
    let mut seen: HashMap<String, Vec<Named<'a>>> = HashMap::new();
    for other in names.iter().take(NAMES_MAX).filter(|it| it.tool.len() <= NAME_CHARS_MAX) {
        for spelling in spellings(other.tool) {
            let near = seen.entry(spelling).or_default();
            for known in near.iter().filter(|it| it.server != other.server) {
                if found.len() < FOUND_MAX
                    && let Some(rule) = resembles(known.tool, other.tool)
                {
                    found.insert(LookAlike { rule, known: *known, other: *other });
                }
            }
            if near.len() < NEAR_MAX && !near.contains(other) {
                near.push(*other);
            }
        }
    }
    found.into_iter().collect()
}

/// The name as it is drawn, and with each letter left out once: names that differ by one letter share one of these.
fn spellings(name: &str) -> Vec<String> {
    let drawn: Vec<char> = drawn(name).chars().take(NAME_CHARS_MAX * 2).collect();
    let without = |left_out: usize| {
        drawn.iter().enumerate().filter(|it| it.0 != left_out).map(|it| it.1).collect()
    };
    let mut all: Vec<String> = (0..drawn.len()).map(without).collect();
    all.push(drawn.iter().collect());
    all.sort();
    all.dedup();
    all
}

/// Without case and joints, and every letter as the one that it looks like: first as it is written, where `I` and `1` look
/// like `l`, and then in small letters.
fn drawn(name: &str) -> String {
    let plain: String = name.chars().filter(|it| it.is_alphanumeric()).collect();
    let plain: String = skeleton(&plain).collect();
    skeleton(&plain.to_lowercase()).collect()
}

fn resembles(known: &str, other: &str) -> Option<NameRule> {
    if known == other {
        return None;
    }
    let letters = |it: &str| -> String {
        it.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    if letters(known) == letters(other) {
        return Some(NameRule::Variant);
    }
    if drawn(known) == drawn(other) {
        return Some(NameRule::Confusable);
    }
    let (known, other) = (words(known), words(other));
    let mut differing = known.iter().zip(&other).filter(|(a, b)| a != b);
    let (one, two) = differing.next()?;
    let is_single = differing.next().is_none() && known.len() == other.len();
    (is_single && is_slip(one, two)).then_some(NameRule::Near)
}

/// Do two words differ by one letter, and not as words of different meaning do?
fn is_slip(one: &str, other: &str) -> bool {
    let is_long = |it: &str| it.chars().count() >= WORD_CHARS_MIN;
    let endings = |a: &str, b: &str| b.strip_prefix(a).is_some_and(|it| ENDINGS.contains(&it));
    let has_digit = |it: &str| it.bytes().any(|it| it.is_ascii_digit());
    is_long(one)
        && is_long(other)
        && !endings(one, other)
        && !endings(other, one)
        && !has_digit(one)
        && !has_digit(other)
        && is_one_edit(one, other)
}

/// Grammar, not deceit.
const ENDINGS: &[&str] = &["s", "d", "r", "n", "y"];

/// One letter more, less, other, or two letters exchanged.
fn is_one_edit(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same_head = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = |it: &[char]| it.get(same_head..).map(<[char]>::to_vec).unwrap_or_default();
    let (a, b) = (rest(&a), rest(&b));
    let tail = |it: &[char], from: usize| it.get(from..).map(<[char]>::to_vec).unwrap_or_default();
    let exchanged = a.len() >= 2 && b.len() >= 2 && a.first() == b.get(1) && a.get(1) == b.first();
    tail(&a, 1) == b
        || tail(&b, 1) == a
        || tail(&a, 1) == tail(&b, 1)
        || (exchanged && tail(&a, 2) == tail(&b, 2))
}

/// `sendEmail_now` is three words.
fn words(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut before = ' ';
    for found in name.chars() {
        let begins = !found.is_alphanumeric() || (before.is_lowercase() && found.is_uppercase());
        if begins && all.last().is_some_and(|it| !it.is_empty()) {
            all.push(String::new());
        }
        if found.is_alphanumeric()
            && let Some(word) = all.last_mut()
        {
            word.extend(found.to_lowercase());
        }
        before = found;
    }
    all.retain(|it| !it.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(known: &'static str, other: &'static str) -> Option<NameRule> {
        let names = [Named { server: "a", tool: known }, Named { server: "b", tool: other }];
        look_alikes(&names).first().map(|it| it.rule)
    }

    #[test]
    fn names_that_look_alike_are_found() {
        assert_eq!(rule("send_email", "send_emаil"), Some(NameRule::Confusable));
        assert_eq!(rule("list_files", "Iist_files"), Some(NameRule::Confusable));
        assert_eq!(rule("google_search", "goog1e_search"), Some(NameRule::Confusable));
        assert_eq!(rule("send_email", "send_emial"), Some(NameRule::Near));
        assert_eq!(rule("transfer_funds", "tranfer_funds"), Some(NameRule::Near));
        assert_eq!(rule("read_file", "readFile"), Some(NameRule::Variant));
    }

    #[test]
    fn names_that_honestly_resemble_are_not() {
        for (known, other) in [
            ("search", "search"),
            ("get_user", "set_user"),
            ("list_file", "list_files"),
            ("add_tag", "add_tab"),
            ("create_issue", "created_issue"),
            ("query_v1", "query_v2"),
            ("read_file", "write_file"),
            ("get_page1", "get_page2"),
            ("send_mail", "send_mall"),
        ] {
            assert_eq!(rule(known, other), None, "{known} {other}");
        }
        let same =
            [Named { server: "a", tool: "send_email" }, Named { server: "a", tool: "send_emial" }];
        assert!(look_alikes(&same).is_empty());
    }

    #[test]
    fn many_names_take_linear_time() {
        let names: Vec<String> =
            (0..NAMES_MAX).map(|it| format!("tool_{it:08x}_{}", "x".repeat(8))).collect();
        let named: Vec<Named<'_>> = names
            .iter()
            .enumerate()
            .map(|(index, tool)| Named { server: if index % 2 == 0 { "a" } else { "b" }, tool })
            .collect();
        assert!(look_alikes(&named).len() <= FOUND_MAX);
    }
}
