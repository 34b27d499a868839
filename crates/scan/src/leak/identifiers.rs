//! Names in a prompt that nobody outside would know: constants, functions, template variables, and what survives a
//! translation.

use serde::{Deserialize, Serialize};

use super::Kind;
use super::squeeze::Squeezed;

/// Names of a prompt that are kept.
const IDENTIFIERS_MAX: usize = 1024;
/// The longest name, in bytes: what is longer is no name.
const IDENTIFIER_BYTES_MAX: usize = 96;
/// The shortest constant that says something, in letters and digits.
const CONSTANT_LETTERS_MIN: usize = 6;
/// The words that a function's name has at least: one of two words stands in everybody's code.
const FUNCTION_PARTS_MIN: usize = 3;
/// The shortest template variable without a dot in it, likewise.
const VARIABLE_LETTERS_MIN: usize = 8;
/// The shortest number, address or name that is kept as an anchor, likewise.
const ANCHOR_LETTERS_MIN: usize = 3;
/// Anchors of a prompt that are kept.
const ANCHORS_MAX: usize = 256;

/// A name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Identifier {
    pub(super) kind: Kind,
    /// Squeezed.
    pub(super) letters: Vec<u8>,
    /// Words that it is made of.
    pub(super) parts: usize,
    /// Is it written as several words, and not as one name?
    pub(super) is_phrase: bool,
}

/// Finds the names of a prompt: constants (`SILENT_REPLY`), functions (`buildSection`), variables (`${params.tool}`).
pub(super) fn find(prompt: &str) -> Vec<Identifier> {
    let mut found = variables(prompt);
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    found.extend(prompt.split(|it| !is_part(it)).filter_map(identifier));
    found.sort();
    found.dedup();
    found.truncate(IDENTIFIERS_MAX);
    found
}

/// Reads a name as the caller gives it, whatever it looks like.
pub(super) fn given(token: &str) -> Option<Identifier> {
    let inner = token.trim().strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    let is_constant = token.chars().all(|it| !it.is_lowercase());
    let kind = match inner {
        Some(_) => Kind::TemplateVariable,
        None if is_constant || !is_camel_case(token) => Kind::InternalToken,
        None => Kind::InternalFunction,
    };
    let letters = Squeezed::new(inner.unwrap_or(token)).bytes().to_vec();
    let fits = !letters.is_empty() && letters.len() <= IDENTIFIER_BYTES_MAX;
    let is_phrase = token.trim().contains(char::is_whitespace);
    fits.then(|| Identifier { kind, letters, parts: parts(token), is_phrase })
}

/// Finds what stays as it is in any language: numbers, codes, addresses, and names within sentences.
pub(super) fn anchors(prompt: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut begins_sentence = true;
    for chunk in prompt.split_whitespace() {
        let bare = chunk.trim_matches(|it: char| !it.is_alphanumeric());
        let has_digit = bare.bytes().any(|it| it.is_ascii_digit());
        let is_address = bare.contains('@') || bare.contains("://");
        let is_capital = bare.chars().next().is_some_and(char::is_uppercase);
        if has_digit || is_address || (is_capital && !begins_sentence) {
            let letters = Squeezed::new(bare).bytes().to_vec();
            if (ANCHOR_LETTERS_MIN..=IDENTIFIER_BYTES_MAX).contains(&letters.len()) {
                found.push(letters);
            }
        }
        begins_sentence = chunk.ends_with(['.', '!', '?', ':', '"']) || bare.is_empty();
    }
    found.sort();
    found.dedup();
    found.truncate(ANCHORS_MAX);
    found
}

fn identifier(word: &str) -> Option<Identifier> {
    let letters: Vec<u8> =
        word.bytes().filter(|it| *it != b'_').map(|it| it.to_ascii_lowercase()).collect();
    if letters.len() > IDENTIFIER_BYTES_MAX || WELL_KNOWN.contains(&word) {
        return None;
    }
    let bare = word.trim_matches('_');
    let is_constant = bare.contains('_') && !bare.bytes().any(|it| it.is_ascii_lowercase());
    let is_common = bare.split('_').all(|it| COMMON.contains(&it));
    if is_constant && letters.len() >= CONSTANT_LETTERS_MIN && !is_number(&letters) && !is_common {
        return Some(Identifier {
            kind: Kind::InternalToken,
            letters,
            parts: parts(bare),
            is_phrase: false,
        });
    }
    let is_function = is_camel_case(bare) && humps(bare) >= FUNCTION_PARTS_MIN;
    is_function.then_some(Identifier {
        kind: Kind::InternalFunction,
        letters,
        parts: 1,
        is_phrase: false,
    })
}

fn variables(prompt: &str) -> Vec<Identifier> {
    let pieces = prompt.split("${").skip(1);
    let inner = pieces.filter_map(|it| it.split_once('}')).map(|it| it.0);
    let named = inner.filter(|it| it.len() <= IDENTIFIER_BYTES_MAX && !it.contains(['\n', '{']));
    let fits = |it: &Identifier| it.letters.len() >= VARIABLE_LETTERS_MIN || it.parts > 1;
    let variable = |inner: &str| {
        let letters = Squeezed::new(inner).bytes().to_vec();
        Identifier { kind: Kind::TemplateVariable, letters, parts: parts(inner), is_phrase: false }
    };
    named.map(variable).filter(|it| !it.letters.is_empty() && fits(it)).collect()
}

fn parts(word: &str) -> usize {
    word.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).count()
}

/// `buildSection`: begins small, and a capital follows a small letter.
fn is_camel_case(word: &str) -> bool {
    word.bytes().next().is_some_and(|it| it.is_ascii_lowercase()) && humps(word) > 1
}

/// The words of a name in camel case.
fn humps(word: &str) -> usize {
    let hump =
        |it: &&[u8]| matches!(it, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
    1 + word.as_bytes().windows(2).filter(hump).count()
}

fn is_number(letters: &[u8]) -> bool {
    letters.iter().all(u8::is_ascii_digit)
}

/// Words of constants that everybody has in their own files: that `SECRET_KEY` stands in an answer says nothing about
/// a prompt.
const COMMON: &[&str] = &[
    "ACCESS",
    "ADDRESS",
    "ALL",
    "ANTHROPIC",
    "API",
    "APP",
    "AUTH",
    "AWS",
    "BACKTRACE",
    "BASE",
    "BUILD",
    "CARGO",
    "CLIENT",
    "CONFIG",
    "CONTENT",
    "CREATE",
    "DATA",
    "DATABASE",
    "DATE",
    "DB",
    "DD",
    "DEBUG",
    "DEFAULT",
    "DELETE",
    "DIR",
    "EMAIL",
    "END",
    "ENV",
    "ERROR",
    "FILE",
    "FORMAT",
    "GIT",
    "GITHUB",
    "HOME",
    "HOST",
    "HTTP",
    "HTTPS",
    "ID",
    "INPUT",
    "JAVA",
    "KEY",
    "LD",
    "LENGTH",
    "LEVEL",
    "LIBRARY",
    "LIMIT",
    "LINE",
    "LIST",
    "LOCAL",
    "LOG",
    "MAX",
    "MIN",
    "MM",
    "MODE",
    "MODEL",
    "NAME",
    "NO",
    "NODE",
    "NOT",
    "NUMBER",
    "OPENAI",
    "OPTIONS",
    "OUTPUT",
    "PASSWORD",
    "PATH",
    "PORT",
    "PRELOAD",
    "PRIVATE",
    "PROJECT",
    "PROXY",
    "PUBLIC",
    "PYTHON",
    "READ",
    "REGION",
    "ROOT",
    "RUST",
    "SECRET",
    "SECRETS",
    "SELECT",
    "SERVER",
    "SERVICE",
    "SIZE",
    "START",
    "STATUS",
    "TABLE",
    "TIME",
    "TIMEOUT",
    "TOKEN",
    "TOKENS",
    "TYPE",
    "UPDATE",
    "URL",
    "USER",
    "USERNAME",
    "UTF",
    "VALUE",
    "VERSION",
    "VIRTUAL",
    "WEBHOOK",
    "WRITE",
    "XDG",
    "YYYY",
    "8",
];

/// Functions that stand in everybody's code.
const WELL_KNOWN: &[&str] = &[
    "addEventListener",
    "dangerouslySetInnerHTML",
    "encodeURIComponent",
    "decodeURIComponent",
    "getAttributeNames",
    "getBoundingClientRect",
    "getElementById",
    "getElementsByClassName",
    "getElementsByTagName",
    "getServerSideProps",
    "getStaticProps",
    "hasOwnProperty",
    "isSafeInteger",
    "localeCompare",
    "querySelectorAll",
    "removeEventListener",
    "requestAnimationFrame",
    "toISOString",
    "toLocaleDateString",
    "toLocaleString",
    "toLowerCase",
    "toUpperCase",
    "useLayoutEffect",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prompt: &str) -> Vec<(Kind, String)> {
        let text = |it: Identifier| (it.kind, String::from_utf8(it.letters).unwrap());
        find(prompt).into_iter().map(text).collect()
    }

    #[test]
    fn constants_functions_and_variables_are_found() {
        let prompt =
            "Say QUIET_REPLY_7 or call buildSkillsSection(); ${params.tool} and ${longVariable}.";
        let expected = [
            (Kind::InternalToken, "quietreply7".to_owned()),
            (Kind::InternalFunction, "buildskillssection".to_owned()),
            (Kind::TemplateVariable, "longvariable".to_owned()),
            (Kind::TemplateVariable, "paramstool".to_owned()),
        ];
        assert_eq!(names(prompt), expected);
    }

    #[test]
    fn what_everybody_writes_is_no_name_of_a_prompt() {
        let prompt = "Set NODE_ENV, SECRET_KEY, use useState, getElementById, getMessage, ${name}, A_B, 2024_01_15, README, iPhone, and GitHub.";
        assert_eq!(names(prompt), []);
    }

    #[test]
    fn anchors_are_what_a_translation_keeps() {
        let found = anchors(
            "You are Acme's agent. Never mention code 7741-K. Write to ops@acme.example or Dana.",
        );
        let found: Vec<String> =
            found.into_iter().map(|it| String::from_utf8(it).unwrap()).collect();
        assert_eq!(found, ["7741k", "acmes", "dana", "opsacmeexample"]);
    }

    #[test]
    fn given_tokens_are_taken_as_they_are() {
        assert_eq!(given("${x}").map(|it| it.kind), Some(Kind::TemplateVariable));
        assert_eq!(given("some secret word").map(|it| it.parts), Some(3));
        assert_eq!(given("---"), None);
        assert_eq!(given(&"x".repeat(1000)), None);
    }
}
