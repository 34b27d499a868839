//! The front matter of a skill: what it says of itself, and what it asks for. It is a claim, shown and never obeyed.

use model::skill::{Severity, SkillCheck};
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use crate::commands::{self, Command};
use crate::install;
use crate::manifests::{permission, walk};
use crate::stance::Stance;

/// The longest front matter that is read, in bytes.
const FRONT_BYTES_MAX: usize = 16 * 1024;
/// How much of a description is shown, in characters.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// What the front matter says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// Why it was not understood.
    pub(crate) problem: Option<&'static str>,
    /// How many bytes of the text it takes.
    pub(crate) bytes: usize,
    /// Commands that install packages.
    pub(crate) installs: Vec<String>,
    texts: Vec<(Vec<String>, String)>,
}

impl Front {
    /// Reads the front matter of a text.
    pub(crate) fn read(text: &str) -> Self {
        let problem = |why| Self { problem: Some(why), ..Self::default() };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
        let Some(rest) = rest else {
            return problem("there is no front matter with a name and a description");
        };
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                let yaml = rest.get(..length).unwrap_or_default();
                return Self::parse(yaml, text.len() - rest.len() + length);
            }
            length += line.len();
            if length > FRONT_BYTES_MAX {
                return problem("the front matter is too long");
            }
        }
        problem("the front matter has no end")
    }

    fn parse(yaml: &str, bytes: usize) -> Self {
        let Ok(value) = serde_saphyr::from_str_with_options::<Value>(yaml, options()) else {
            return Self {
                problem: Some("the front matter is no plain YAML"),
                bytes,
                ..Self::default()
            };
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(shown);
        let mut texts = Vec::new();
        walk(&value, &mut Vec::new(), &mut texts);
        let is_install = |it: &&(Vec<String>, String)| {
            it.0.iter().any(|it| it.eq_ignore_ascii_case("install")) || install::is_one(&it.1)
        };
        let commands = texts.iter().filter(is_install).map(|it| it.1.clone());
        let installs = commands.filter(|it| it.contains(' ')).collect();
        Self {
            name: text("name"),
            description: text("description"),
            problem: None,
            bytes,
            installs,
            texts,
        }
    }

    /// What it asks for: permissions, packages, commands that are run by themselves.
    pub(crate) fn requests(&self) -> Vec<(SkillCheck, Severity, String)> {
        let mut found = Vec::new();
        for (keys, value) in &self.texts {
            if let Some((severity, why)) = permission(keys, value) {
                found.push((SkillCheck::Permissions, severity, why));
            }
            let is_hook = keys.iter().any(|it| it.eq_ignore_ascii_case("hooks"));
            if is_hook && keys.last().is_some_and(|it| it == "command") {
                found.push((
                    SkillCheck::Permissions,
                    Severity::Medium,
                    format!("a hook runs `{}`", shown(value)),
                ));
                let command = Command {
                    text: value,
                    stance: Stance::Program,
                    is_sure: true,
                    has_file: &|_| false,
                };
                let facts = commands::facts(&command).into_iter();
                found.extend(facts.map(|it| (it.check, it.severity, it.why)));
            }
        }
        for command in &self.installs {
            if let Err(refused) = install::judge(command) {
                found.push((
                    SkillCheck::Install,
                    refused.severity(),
                    format!("`{}`: {refused}", shown(command)),
                ));
            }
        }
        found
    }
}

fn shown(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.chars().take(DESCRIPTION_CHARS_MAX).collect()
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: 16,
            max_documents: 1,
            max_nodes: 2000,
            max_merge_keys: 0,
            flow_nesting_limit: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}
