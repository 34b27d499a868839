//! Paths that a program names: whose secrets, whose memory, whose settings?

use model::places::names::{Holds, holds, is_example};
use model::places::{
    INSTRUCTING, KEPT_IN_WORKSPACE, SECRET_DIRS, SECRET_FILES, SHELL_FILES, names, secret_dirs,
    stands_in,
};

/// Files in which agents of the protocol keep what they remember and who they are.
const MEMORY: &[&str] = &[
    "SOUL.md",
    "MEMORY.md",
    "IDENTITY.md",
    "USER.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "BOOT.md",
];

/// What a path is to a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Nothing that is anybody's in particular.
    Plain,
    /// The settings of a project, which often hold keys of its own.
    Environment,
    /// The system's own list of users.
    System,
    /// A secret of the person.
    Secret,
}

/// Says whose secret a path is. Patterns count as what they can stand for.
pub(crate) fn secret(path: &str) -> Place {
    let lower = path.trim().replace('\\', "/").to_ascii_lowercase();
    let parts: Vec<&str> = lower.split('/').filter(|it| !matches!(*it, "" | "." | "~")).collect();
    let Some(name) = parts.last() else { return Place::Plain };
    let in_secret_dir = secret_dirs(&parts).any(|it| stands_in(it, &parts));
    let in_secret_place = SECRET_FILES.iter().chain(names::PLACES).any(|it| stands_in(it, &parts));
    let is_home = path.trim_start().starts_with('~')
        || lower.starts_with("/home/")
        || lower.starts_with("/root/");
    let is_environment = names::is_environment(name) && !is_example(name);
    // The environment of another program, beneath its own folder: `~/.clawdbot/.env`.
    let of_another = parts.iter().rev().skip(1).any(|it| it.starts_with('.') && it.len() > 2);
    match () {
        () if is_pattern(&lower) => by_pattern(&parts, is_home),
        () if in_secret_dir || in_secret_place => Place::Secret,
        () if is_environment && (of_another || is_home) => Place::Secret,
        () if is_environment => Place::Environment,
        () if holds(name) == Holds::Secret => Place::Secret,
        () if matches!(lower.as_str(), "/etc/passwd" | "/etc/shadow" | "/etc/sudoers") => {
            Place::System
        }
        () => Place::Plain,
    }
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// `~/.s*/i*` stands for keys as well; `*.md` in the project does not.
fn by_pattern(parts: &[&str], is_home: bool) -> Place {
    let of_dirs = parts.iter().any(|part| {
        let literal = part.split(['*', '?', '[']).next().unwrap_or_default();
        let hidden = literal.starts_with('.') && literal.len() > 1;
        hidden && SECRET_DIRS.iter().any(|it| it.to_ascii_lowercase().starts_with(literal))
    });
    let of_keys = parts.last().is_some_and(|it| it.starts_with("id_") || it.ends_with(".pem"));
    if (is_home && of_dirs) || of_keys { Place::Secret } else { Place::Plain }
}

/// What is changed if a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Nothing in particular.
    Plain,
    /// What an agent remembers, or who it is.
    Memory,
    /// What instructs agents in a project.
    Instructions,
    /// What agents, editors and git run or obey by themselves.
    Settings,
    /// What a shell runs when it starts.
    Startup,
}

/// Says what writing a path would change.
pub(crate) fn written(path: &str) -> Written {
    let plain = path.trim().replace('\\', "/");
    let parts: Vec<&str> = plain.split('/').filter(|it| !matches!(*it, "" | "." | "~")).collect();
    let Some(name) = parts.last() else { return Written::Plain };
    let is = |list: &[&str]| list.iter().any(|it| it.eq_ignore_ascii_case(name));
    match () {
        () if is(MEMORY) => Written::Memory,
        () if is(INSTRUCTING) => Written::Instructions,
        () if KEPT_IN_WORKSPACE.iter().any(|it| stands_in(it, &parts)) => Written::Settings,
        () if SHELL_FILES.iter().any(|it| stands_in(it, &parts)) => Written::Startup,
        () => Written::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_the_person_are_told_from_settings_of_the_project() {
        for path in [
            "~/.ssh/id_rsa",
            "~/.aws/credentials",
            ".clawdbot/.env",
            "/home/u/.config/gcloud/x.json",
            "~/.s*/i*",
            "C:\\Users\\u\\.ssh\\id_rsa",
            "~/.env",
            "~/.netrc",
            "keys/*.pem",
        ] {
            assert_eq!(secret(path), Place::Secret, "{path}");
        }
        assert_eq!(secret("/etc/passwd"), Place::System);
        assert_eq!(secret(".env"), Place::Environment);
        for path in [".env.example", "a.txt", "src/*.py", "~/notes/*.md", "docs/ssh.md", "", "~"] {
            assert_eq!(secret(path), Place::Plain, "{path}");
        }
    }

    #[test]
    fn what_agents_obey_is_known_wherever_it_lies() {
        assert_eq!(written("~/.proven/workspace/SOUL.md"), Written::Memory);
        assert_eq!(written("memory.md"), Written::Memory);
        assert_eq!(written("./CLAUDE.md"), Written::Instructions);
        assert_eq!(written(".claude/settings.json"), Written::Settings);
        assert_eq!(written("~/.bashrc"), Written::Startup);
        assert_eq!(written("out/report.md"), Written::Plain);
    }
}
