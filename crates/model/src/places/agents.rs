//! Folders of agents, which hold keys, and much besides that is no secret.

use super::SECRET_DIRS;

/// Folders of agents among those with secrets. A cage shows none of them; but an agent that is not in one keeps its plans, its notes and
/// its work there.
const AGENT_DIRS: &[&str] = &[".claude", ".codex"];

/// What agents keep in such a folder that nobody obeys.
const AGENT_DATA: &[&str] = &[
    "cache",
    "debug",
    "file-history",
    "logs",
    "paste-cache",
    "plans",
    "projects",
    "session-env",
    "sessions",
    "shell-snapshots",
    "tasks",
    "tmp",
    "todos",
    "tool-results",
    "worktrees",
];

/// What is in such a folder and obeyed, but no secret.
const AGENT_SHOWN: &[&str] = &[
    "agents",
    "agents.md",
    "claude.md",
    "commands",
    "hooks",
    "memory",
    "plugins",
    "prompts",
    "rules",
    "settings.json",
    "settings.local.json",
    "skills",
];

/// Is it something in the folder of an agent that is no secret, by the parts of its path in small letters?
#[must_use]
pub fn is_shown_by_agents(parts: &[&str]) -> bool {
    let shown = |it: &[&str]| match it {
        [folder, data] => {
            AGENT_DIRS.contains(folder) && (AGENT_DATA.contains(data) || AGENT_SHOWN.contains(data))
        }
        _ => false,
    };
    parts.windows(2).any(shown)
}

/// Directories in which everything is secret to whoever judges a call by the path that it names, in small letters.
pub fn secret_dirs(parts: &[&str]) -> impl Iterator<Item = &'static str> {
    let is_shown = is_shown_by_agents(parts);
    SECRET_DIRS.iter().copied().filter(move |it| !is_shown || !AGENT_DIRS.contains(it))
}

/// The part of a path behind the data that an agent keeps in its own folder (`.claude/plans/a.md`), in small letters; all of
/// it where there is none. What stands behind is judged like a path of its own: a worktree has hooks and settings, too.
#[must_use]
pub fn behind_agent_data<'a, 'b>(parts: &'b [&'a str]) -> &'b [&'a str] {
    let is_data = |it: &[&str]| match it {
        [folder, data] => AGENT_DIRS.contains(folder) && AGENT_DATA.contains(data),
        _ => false,
    };
    let at = parts.windows(2).rposition(is_data).map_or(0, |it| it.saturating_add(2));
    parts.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_keep_is_no_secret_and_their_keys_are() {
        for path in [
            ".claude/plans/a.md",
            "home/u/.codex/worktrees/x/src/a.rs",
            ".claude/skills/a/skill.md",
        ] {
            let parts: Vec<&str> = path.split('/').collect();
            assert!(is_shown_by_agents(&parts), "{path}");
            assert!(!secret_dirs(&parts).any(|it| it == ".claude"), "{path}");
        }
        for path in
            [".claude/.credentials.json", ".codex/auth.json", ".claude/history.jsonl", "a/plans/b"]
        {
            let parts: Vec<&str> = path.split('/').collect();
            assert!(!is_shown_by_agents(&parts), "{path}");
            assert!(secret_dirs(&parts).any(|it| it == ".claude"), "{path}");
        }
    }

    #[test]
    fn what_stands_behind_data_is_a_path_of_its_own() {
        let parts: Vec<&str> = ".codex/worktrees/x/.git/hooks/pre-commit".split('/').collect();
        assert_eq!(behind_agent_data(&parts), ["x", ".git", "hooks", "pre-commit"]);
        assert_eq!(behind_agent_data(&[".claude", "settings.json"]), [".claude", "settings.json"]);
    }
}
