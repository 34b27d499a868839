//! Which files of the home directory are the user's own settings, and which only lie beside them.
//!
//! Dot folders hold both: `~/.cargo/config.toml` is the user's, `~/.cargo/registry` is full of what strangers published. Where tools keep what
//! they fetched has as many names as there are tools; where settings stand is the same everywhere: near the top. So what lies deeper
//! is nobody's own, but for the folders that coding agents read their user's instructions from.

use std::path::{Component, Path};

use hooks::Host;

/// Dot folders in which not even what is near the top is a setting.
const FETCHED: &[&str] = &[".cache", ".npm", ".local", ".m2", ".Trash"];
/// The folder that has one of its own for each program.
const SHARED: &str = ".config";
/// Folders in which agents keep what their user had them write down.
const WRITTEN: &[&str] = &[".claude/plans", ".codex/prompts", ".codex/memories"];
/// Where Claude Code keeps what it remembers of a project, below a folder for each, and long results, below one for each session too.
const PROJECTS: &str = ".claude/projects";
const REMEMBERED: &[(usize, &str)] = &[(1, "memory"), (2, "tool-results")];
/// What a folder has that was cloned.
const GIT: &str = ".git";

/// Is `path` one of the settings of the user whose home directory is `home`?
pub(crate) fn is_own(path: &Path, home: &Path) -> bool {
    let Ok(below) = path.strip_prefix(home) else { return false };
    let names: Option<Vec<&str>> = below.components().map(name).collect();
    let Some(names) = names else { return false };
    let Some(first) = names.first().filter(|it| it.starts_with('.')) else { return false };
    if FETCHED.contains(first) {
        return false;
    }
    if is_of_agent(below) {
        return true;
    }
    let depth = if *first == SHARED { names.len().saturating_sub(1) } else { names.len() };
    // Of a folder it is not known what of it is read.
    depth <= 2 && !path.is_dir() && (is_agents(first) || !is_cloned(path, home))
}

fn name(part: Component<'_>) -> Option<&str> {
    part.as_os_str().to_str()
}

/// Does it lie where an agent looks for instructions of its user, or keeps what that user had it write?
fn is_of_agent(below: &Path) -> bool {
    let of_project = below.strip_prefix(PROJECTS).ok();
    let is_at = |(at, folder): &(usize, &str)| {
        of_project.and_then(|it| it.components().nth(*at)).and_then(name) == Some(*folder)
    };
    folders().chain(WRITTEN.iter().copied()).any(|it| below.starts_with(it))
        || REMEMBERED.iter().any(is_at)
}

/// Is it the folder of an agent? People keep those in repositories of their own.
fn is_agents(first: &str) -> bool {
    folders().filter_map(|it| it.split('/').next()).any(|it| it == first)
}

fn folders() -> impl Iterator<Item = &'static str> {
    Host::ALL.into_iter().flat_map(|it| {
        let all = hooks::dialect(it).instructions;
        all.folders.iter().chain(all.commands).map(|it| it.0)
    })
}

/// Was one of the folders between it and the home directory cloned from somewhere?
fn is_cloned(path: &Path, home: &Path) -> bool {
    let between = path.ancestors().skip(1).take_while(|it| *it != home);
    between.take_while(|it| it.starts_with(home)).any(|it| it.join(GIT).exists())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_stand_near_the_top_and_what_was_fetched_lies_deeper() {
        let home = Path::new("/home/me");
        for own in [
            ".bashrc",
            ".gitconfig",
            ".claude.json",
            ".ssh/config",
            ".cargo/config.toml",
            ".gradle/gradle.properties",
            ".config/starship.toml",
            ".config/git/config",
            ".claude/settings.json",
            ".claude/CLAUDE.md",
            ".claude/agents/review.md",
            ".claude/skills/pdf/SKILL.md",
            ".claude/skills/pdf/forms/fill.md",
            ".claude/plans/one.md",
            ".claude/projects/-home-me-one/memory/MEMORY.md",
            ".claude/projects/-home-me-one/0c97/tool-results/b1.txt",
            ".cursor/rules/style.mdc",
        ] {
            assert!(is_own(&home.join(own), home), "{own}");
        }
        for foreign in [
            ".cargo/registry/src/index.crates.io-1949cf8c6b5b557f/serde-1.0.0/README.md",
            ".cargo/git/checkouts/tool/1a2b3c4/README.md",
            ".rustup/toolchains/stable/share/doc/README.md",
            ".gradle/caches/modules-2/files-2.1/a/b.pom",
            ".nuget/packages/a/1.0.0/README.md",
            ".gem/ruby/3.1.0/gems/a/README.md",
            ".nvm/versions/node/v20/lib/node_modules/a/README.md",
            ".pyenv/versions/3.12/lib/python3.12/site-packages/a/__init__.py",
            ".bun/install/cache/a/README.md",
            ".pub-cache/hosted/pub.dev/a/README.md",
            ".vscode/extensions/a/README.md",
            ".claude/plugins/marketplaces/a/README.md",
            ".claude/projects/-home-me-one/0c97.jsonl",
            ".config/opencode/node_modules/a/README.md",
            ".npm/_logs/a.log",
            ".cache/page.html",
            "Downloads/a.txt",
            "go/pkg/mod/a/README.md",
        ] {
            assert!(!is_own(&home.join(foreign), home), "{foreign}");
        }
        assert!(!is_own(Path::new("/srv/me/.bashrc"), home));
    }

    #[test]
    fn a_folder_and_a_clone_are_no_settings() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for folder in [".cargo", ".oh-my-zsh/.git", ".config/nvim/.git", ".claude/.git"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for (path, own) in [
            (".cargo", false),
            (".cargo/config.toml", true),
            (".oh-my-zsh/README.md", false),
            (".config/nvim/init.lua", false),
            (".config/git/config", true),
            (".claude/CLAUDE.md", true),
        ] {
            assert_eq!(is_own(&home.join(path), home), own, "{path}");
        }
    }
}
