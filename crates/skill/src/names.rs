//! Names that collide with a skill that is installed, or pass for one that many know.

use model::skill::{Severity, SkillCheck};
use scan::tool::{NameRule, Named, look_alikes};
use serde::Deserialize;

/// Names of one list.
pub const NAMES_MAX: usize = 4_000;

/// The names that a skill's is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Skills that are there already: another one of that name would take their place.
    #[serde(default)]
    pub installed: Vec<String>,
    /// Skills that people know and look for.
    #[serde(default)]
    pub known: Vec<String>,
}

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
#[error(
    "an index is an object with `installed` and `known`, lists of at most {NAMES_MAX} names: {0}"
)]
pub struct IndexError(String);

impl Index {
    /// Reads an index from JSON.
    ///
    /// # Errors
    /// If it is none, or has too many names.
    pub fn parse(text: &str) -> Result<Self, IndexError> {
        let index: Self =
            serde_json::from_str(text).map_err(|error| IndexError(error.to_string()))?;
        if index.installed.len() > NAMES_MAX || index.known.len() > NAMES_MAX {
            return Err(IndexError("too many names".to_owned()));
        }
        Ok(index)
    }
}

/// Returns what speaks against a name.
pub(crate) fn check(name: &str, index: &Index) -> Vec<(SkillCheck, Severity, String)> {
    let mut found = Vec::new();
    let plain = name.trim();
    if let Some(letter) = disguised(plain) {
        let why = format!("`{letter}` in its name looks like another letter");
        found.push((SkillCheck::Typosquatting, Severity::Medium, why));
    }
    let same = |known: &String| known.trim().eq_ignore_ascii_case(plain);
    for (list, is_installed) in [(&index.installed, true), (&index.known, false)] {
        if let Some(known) = list.iter().find(|it| same(it)) {
            if is_installed {
                let why = format!("a skill `{known}` is installed already");
                found.push((SkillCheck::NameCollision, Severity::High, why));
            }
            // It is that skill, by its name.
            continue;
        }
        // Each name of the list is one of its own, so that only this one is compared with them.
        let names = list.iter().map(|tool| Named { server: "index", tool });
        let all: Vec<Named<'_>> = names.chain([Named { server: "skill", tool: plain }]).collect();
        for pair in look_alikes(&all) {
            let (check, severity) = match (is_installed, pair.rule) {
                (true, NameRule::Variant) => (SkillCheck::NameCollision, Severity::High),
                (true, NameRule::Confusable | NameRule::Near) | (false, _) => {
                    (SkillCheck::Typosquatting, Severity::Medium)
                }
            };
            found.push((check, severity, format!("it can be taken for `{}`", pair.known.tool)));
        }
        let longer = list.iter().find(|it| extends(plain, it));
        if let Some(known) = longer {
            let why = format!("it is `{known}` with a word added, and may pass for a kind of it");
            found.push((SkillCheck::Typosquatting, Severity::Medium, why));
        }
    }
    found
}

/// A letter that stands for one that it looks like: a letter of another alphabet among Latin ones, or the one capital `I` among
/// small letters, which is drawn like an `l`.
fn disguised(name: &str) -> Option<char> {
    let has_latin = name.chars().any(|it| it.is_ascii_alphabetic());
    let is_foreign = |it: &char| it.is_alphabetic() && scan::look_alike(*it) != *it;
    let foreign = name.chars().find(is_foreign).filter(|_| has_latin);
    let capitals: Vec<char> = name.chars().filter(|it| it.is_uppercase()).collect();
    let is_inside = name.as_bytes().windows(2).any(|it| match it {
        [before, b'I'] => before.is_ascii_lowercase(),
        _ => false,
    });
    // Words that are joined by their capitals have them at their beginnings.
    let is_joined = name.contains(['-', '_']);
    foreign.or((capitals == ['I'] && is_inside && is_joined).then_some('I'))
}

/// `web-search-pro` passes for a kind of `web-search`. One word is too common to be anybody's.
fn extends(name: &str, known: &str) -> bool {
    let joints = |it: char| matches!(it, '-' | '_' | '.' | ' ');
    let (name, known) = (name.to_ascii_lowercase(), known.trim().to_ascii_lowercase());
    let (parts, of): (Vec<&str>, Vec<&str>) =
        (name.split(joints).collect(), known.split(joints).collect());
    of.len() >= 2 && parts.len() == of.len() + 1 && (parts.starts_with(&of) || parts.ends_with(&of))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(name: &str, installed: &[&str], known: &[&str]) -> Vec<SkillCheck> {
        let list = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        let index = Index { installed: list(installed), known: list(known) };
        check(name, &index).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn collisions_and_look_alikes_are_told_apart() {
        use SkillCheck::{NameCollision as V5, Typosquatting as V6};
        assert_eq!(checks("web-search", &["web-search"], &[]), [V5]);
        assert_eq!(checks("web-search ", &["web-search"], &[]), [V5]);
        assert_eq!(checks("Web_Search", &["web-search"], &[]), [V5]);
        assert_eq!(checks("web-serach", &[], &["web-search"]), [V6]);
        assert_eq!(checks("web-sеarch", &[], &["web-search"]), [V6, V6]);
        assert_eq!(checks("react-devtooIs", &[], &[]), [V6]);
        assert_eq!(checks("поиск", &[], &[]), []);
        assert_eq!(checks("OpenAI", &[], &[]), []);
        assert_eq!(checks("appleIcon", &[], &[]), []);
        assert_eq!(checks("web-search-pro", &[], &["web-search"]), [V6]);
        assert_eq!(checks("web-search", &[], &["web-search"]), []);
        assert_eq!(checks("image-gen", &["web-search"], &["web-search", "pdf"]), []);
        assert_eq!(checks("pdf-tools", &[], &["pdf"]), []);
    }
}
