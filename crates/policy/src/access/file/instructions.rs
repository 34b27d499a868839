//! Files of the workspace that stand among an agent's instructions: the part of a manifest under `instructions`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Set, text};

/// Files that one manifest can name.
const FILES_MAX: usize = 8;
/// Bytes of the path of one.
const PATH_BYTES_MAX: usize = 200;

/// Paths beneath the root of the workspace.
#[derive(Debug, Default)]
pub(super) struct InstructionFiles(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for InstructionFiles {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let files = Set::<Beneath>::deserialize(input)?.0;
        if files.len() > FILES_MAX {
            return Err(D::Error::custom(format!("at most {FILES_MAX} files of instructions")));
        }
        Ok(Self(files.into_iter().map(|it| it.0).collect()))
    }
}

#[derive(Debug)]
struct Beneath(String);

impl<'de> Deserialize<'de> for Beneath {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            let plain = |part: &str| !part.is_empty() && !matches!(part, "." | "..");
            let is_path = it.len() <= PATH_BYTES_MAX
                && it.split('/').all(plain)
                && !it.contains('\\')
                && !it.chars().any(char::is_control);
            match is_path {
                true => Ok(Self(it.to_owned())),
                false => Err(format!(
                    "`{}` is no file beneath the workspace, such as `AGENTS.md`",
                    it.escape_debug()
                )),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use model::AgentId;

    use crate::access::Manifest;

    #[test]
    fn only_files_beneath_the_workspace_can_be_named() {
        let agent = AgentId::parse("main").unwrap();
        let read =
            |list: &str| Manifest::parse(&agent, &format!("---\ninstructions: {list}\n---\n"));
        assert_eq!(read("[AGENTS.md, docs/CLAUDE.md]").unwrap().instructions.len(), 2);
        assert!(Manifest::silent(&agent).instructions.is_empty());
        for wrong in [
            "AGENTS.md",
            "[/etc/passwd]",
            "[../AGENTS.md]",
            "[a//b]",
            "[./a]",
            "[\"\"]",
            "[\"a\\\\b\"]",
            "[a, a]",
            "[a, b, c, d, e, f, g, h, i]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
