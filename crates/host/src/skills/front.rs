//! What the front matter of a skill says of it: YAML between two lines of `---`. It is a claim, shown and
//! never obeyed.

use serde::Deserialize;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// How much of a description is shown, in characters.
const DESCRIPTION_CHARS_MAX: usize = 1024;
/// The longest front matter that is read, in bytes.
const FRONT_BYTES_MAX: usize = 16 * 1024;

/// Name and description, as far as they are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// What the skill calls itself. Its folder's name is what counts.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Why its front matter was not understood.
    pub problem: Option<&'static str>,
}

#[derive(Deserialize)]
struct Form {
    name: Option<String>,
    description: Option<String>,
}

impl Front {
    /// Of this skill.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let problem = |why| Self { problem: Some(why), ..Self::default() };
        let lines = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
        let Some(rest) = lines else { return Self::default() };
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                return match rest.get(..length) {
                    Some(yaml) => Self::read(yaml),
                    None => problem("the front matter cannot be read"),
                };
            }
            length += line.len();
            if length > FRONT_BYTES_MAX {
                return problem("the front matter is too long");
            }
        }
        problem("the front matter has no end")
    }

    fn read(yaml: &str) -> Self {
        match serde_saphyr::from_str_with_options::<Form>(yaml, options()) {
            Ok(form) => Self {
                name: form.name.map(|it| shown(&it)),
                description: form.description.map(|it| shown(&it)),
                problem: None,
            },
            Err(_) => {
                Self { problem: Some("the front matter is no plain YAML"), ..Self::default() }
            }
        }
    }
}

fn shown(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(DESCRIPTION_CHARS_MAX)
        .collect()
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: 16,
            max_documents: 1,
            max_nodes: 1000,
            max_merge_keys: 0,
            flow_nesting_limit: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_description_are_read_and_the_rest_is_left_alone() {
        let text = "---\nname: deploy\ndescription: >\n  How to\n  deploy.\nlicense: MIT\nmetadata:\n  a: [1]\n---\n# Deploy\n";
        let front = Front::of(text);
        assert_eq!(front.name.as_deref(), Some("deploy"));
        assert_eq!(front.description.as_deref(), Some("How to deploy."));
        assert_eq!(Front::of("# Deploy\n"), Front::default());
        for bad in [
            "---\nname: a\nname: b\n---\n",
            "---\nname: &a x\ndescription: *a\n---\n",
            "---\nname: [\n---\n",
            "---\nname: a\n",
            &format!("---\ndescription: {}\n---\n", "x".repeat(20_000)),
        ] {
            assert!(Front::of(bad).problem.is_some(), "{bad}");
        }
    }
}
