//! Files that programs or agents obey later: what is in them is run, or followed, when nobody looks at it.
//!
//! By their names in `model::places`, and by what they are part of: everything in the folder of a repository belongs to
//! the program that keeps it, and a file with the name of a hook, in a folder of hooks, is one wherever that lies.

use model::places::{
    INSTRUCTING, KEPT_ENDS, KEPT_IN_WORKSPACE, OBEYED, SHELL_FILES, behind_agent_data, stands_in,
};
use policy::Target;

use super::files::{class_of_file, followed, normal};
use crate::deed::Obeyed;

/// Folders in which programs keep versions of files, and their own settings.
const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn", ".bzr"];

/// What wires coding agents to us, beside what they keep in folders that are known: files of their settings, and our own
/// programs.
const OURS: &[&str] = &[
    ".claude.json",
    ".config/opencode",
    ".copilot/hooks",
    ".copilot/mcp-config.json",
    "bin/lazaret",
    "lazaret-hook",
];

/// A folder in which this lies, in small letters, is a repository to git, whatever it is called.
const HEAD: &str = "head";

/// What git runs by itself, by its name.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Is it a file that programs or agents obey, by its name or by where it lies?
#[must_use]
pub fn is_obeyed(text: &str) -> bool {
    kind_of_obeyed(text).is_some()
}

/// Where coding agents keep by what they call us, in folders of theirs.
const WIRED: &[&str] = &[
    ".claude/settings.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
];

/// Is it a part of how coding agents are wired to us?
pub(crate) fn is_ours(text: &str) -> bool {
    let path = normal(text);
    path.split('\0').any(|path| {
        let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        OURS.iter().chain(WIRED).any(|it| stands_in(it, &parts))
    })
}

/// Who obeys a file, if anybody does.
pub(crate) fn kind_of_obeyed(text: &str) -> Option<Obeyed> {
    let path = normal(text);
    let found = path.split('\0').find_map(|path| {
        let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        kind_of(&parts).or_else(|| kind_of(&followed(&parts)).filter(|_| parts.contains(&"..")))
    });
    let is_control = || class_of_file(text).contains(Target::ControlPlane);
    found.or_else(|| is_control().then_some(Obeyed::Settings))
}

fn kind_of(parts: &[&str]) -> Option<Obeyed> {
    let parts = behind_agent_data(parts);
    let is_in = |list: &[&str]| list.iter().any(|it| stands_in(it, parts));
    if is_a_hook(parts) {
        return Some(Obeyed::Hook);
    }
    if is_in(INSTRUCTING) {
        return Some(Obeyed::Instructions);
    }
    if is_in(SHELL_FILES) {
        return Some(Obeyed::Startup);
    }
    if is_in(OBEYED) {
        return Some(if is_build(parts) { Obeyed::Ci } else { Obeyed::Startup });
    }
    let is_kept = is_in(KEPT_IN_WORKSPACE)
        || parts.last().is_some_and(|name| KEPT_ENDS.iter().any(|it| name.ends_with(it)))
        || parts.last().is_some_and(|name| name.ends_with(".pth") || *name == "codeowners")
        || is_in(&[".config/direnv", ".github/codeql", ".github/codeql.yml"])
        || is_in(OURS);
    if is_in_a_repository(parts) || parts.last() == Some(&HEAD) || is_named_hook(parts) {
        return Some(Obeyed::Hook);
    }
    is_kept.then_some(Obeyed::Settings)
}

/// Is it a list of what a build server does?
fn is_build(parts: &[&str]) -> bool {
    let telling = ["workflows", "actions", ".circleci", ".buildkite", "jenkinsfile"];
    parts.iter().any(|it| telling.contains(it) || it.ends_with(".yml") || it.ends_with(".yaml"))
}

/// What programs run before or after a commit, by other names than git's.
fn is_named_hook(parts: &[&str]) -> bool {
    let names =
        [".husky", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml"];
    parts.iter().any(|it| names.contains(it))
}

/// `.git` itself as well: it may be a file that leads elsewhere. Of a repository without files around it (`a.git`) the
/// settings and the hooks.
fn is_in_a_repository(parts: &[&str]) -> bool {
    let bare = |it: &[&str]| match it {
        [folder, "config" | "hooks" | "info", ..] => {
            folder.len() > ".git".len() && folder.ends_with(".git")
        }
        _ => false,
    };
    parts.iter().any(|it| REPOSITORIES.contains(it))
        || (0..parts.len()).any(|at| bare(parts.get(at..).unwrap_or_default()))
}

fn is_a_hook(parts: &[&str]) -> bool {
    let [before @ .., name] = parts else { return false };
    HOOKS.contains(name) && before.last().is_some_and(|it| it.contains("hooks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_obeyed_are_known_however_they_are_written() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            ".GIT/Config",
            ".git/info/attributes",
            ".git",
            "sub/.git",
            "vendor/lib/.git/modules/x/config",
            "src/../.git/hooks/post-checkout",
            "./.git//hooks/./pre-push",
            "mirror.git/hooks/post-receive",
            "mirror.git/config",
            "x/HEAD",
            "tools/hooks/commit-msg",
            ".hg/hgrc",
            ".jj/repo/config.toml",
            "/home/me/.bashrc",
            ".zshenv",
            ".profile",
            ".config/fish/config.fish",
            ".vscode/tasks.json",
            "app/.vscode/settings.json",
            ".envrc",
            ".mcp.json",
            ".claude/settings.json",
            "AGENTS.md",
            "docs/Gemini.md",
            "all.code-workspace",
            "x.Sublime-Project",
            ".cursor/rules/a.mdc",
            ".github/workflows/ci.yml",
            ".github/actions/build/action.yml",
            ".gitlab-ci.yml",
            "azure-pipelines.yml",
            "Jenkinsfile",
            ".cargo/config.toml",
            ".gdbinit",
            ".tmux.conf",
            "lib/sitecustomize.py",
            ".config/systemd/user/a.service",
            ".config/autostart/a.desktop",
            "Library/LaunchAgents/a.plist",
        ] {
            assert!(is_obeyed(path), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_ordinary() {
        for path in [
            "",
            "README.md",
            "src/main.rs",
            "src/config",
            "hooks/use-tide.ts",
            "src/hooks/update.ts",
            "docs/git/hooks.md",
            "docs/.gitkeep",
            ".gitignore",
            ".github/dependabot.yml",
            ".github/ISSUE_TEMPLATE/bug.md",
            "package.json",
            "Makefile",
            "config/settings.json",
            "update",
            "git/config",
            "digit/info",
            "Cargo.toml",
            ".cargo/audit.toml",
        ] {
            assert!(!is_obeyed(path), "{path}");
        }
    }
}
