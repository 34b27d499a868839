//! Classes of files, by name. Case, trailing dots and blanks, streams and backslashes do not matter:
//! some disks do not see them either.

use policy::{Target, Targets};
use scan::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

/// Names of files that hold secrets, whole.
const SECRET_NAMES: &[&str] = &[
    ".env",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".pgpass",
    ".vault-token",
    "_netrc",
    "cookies.sqlite",
    "credentials",
    "credentials.json",
    "credentials.yaml",
    "credentials.yml",
    "creds.json",
    "gshadow",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "key4.db",
    "login data",
    "logins.json",
    "master.key",
    "private.key",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "server.key",
    "service-account.json",
    "shadow",
];
/// Beginnings of names: `.env.local`, `id_rsa.bak`.
const SECRET_BEGINNINGS: &[&str] =
    &[".env.", ".env-", ".env_", ".env~", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa"];
/// Ends of names.
const SECRET_ENDS: &[&str] = &[
    ".env",
    ".jks",
    ".kdbx",
    ".key",
    ".keystore",
    ".p12",
    ".pem",
    ".pfx",
    ".ppk",
    ".secret",
    ".secrets",
];
/// Directories in which everything is a secret.
const SECRET_DIRECTORIES: &[&str] =
    &[".aws", ".clawdbot", ".gnupg", ".kube", ".lazaret", ".password-store", ".ssh"];
/// Parts of paths; `*` is any one part.
const SECRET_PATHS: &[&str] = &[
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".openclaw/credentials",
    "proc/*/environ",
    "run/secrets",
];
/// Public halves and lists, which say much but open nothing.
const SENSITIVE_NAMES: &[&str] = &[
    ".gitconfig",
    ".npmrc",
    ".pypirc",
    "authorized_keys",
    "known_hosts",
    ".bash_history",
    ".zsh_history",
];
/// Parts of names.
const SENSITIVE_PARTS: &[&str] = &["password", "passwd", "token", "secret", "credential"];
/// Memory that every later session reads.
const MEMORY_NAMES: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    "heartbeat.md",
    "identity.md",
    "memory.md",
    "soul.md",
    "tools.md",
    "user.md",
    ".cursorrules",
    "copilot-instructions.md",
];
/// What decides what an agent or its host does.
const CONTROL_NAMES: &[&str] = &[
    ".ax-taint.json",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".mcp.json",
    ".profile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "claude_desktop_config.json",
    "config.fish",
    "mcp.json",
    "mcp_config.json",
    "skill.md",
];
/// Directories of the same.
const CONTROL_DIRECTORIES: &[&str] =
    &[".aer", ".claude", ".codex", ".cursor", ".gemini", ".lazaret"];
/// Parts of paths: what other programs run by themselves.
const CONTROL_PATHS: &[&str] = &[
    ".config/autostart",
    ".config/systemd",
    ".git/config",
    ".git/hooks",
    ".github/workflows",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    "etc/cron.d",
    "etc/crontab",
    "etc/systemd",
    "library/launchagents",
    "library/launchdaemons",
];

/// The classes of a path, as it is written and with its `..` followed: who asks for `.ssh/../a` has a
/// reason to name `.ssh`.
#[must_use]
pub fn class_of_path(text: &str) -> Targets {
    let path = normal(text);
    let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    let written = class_of_parts(&parts);
    if !parts.contains(&"..") {
        return written;
    }
    let mut followed = Vec::with_capacity(parts.len());
    for part in parts {
        if part == ".." {
            followed.pop();
        } else {
            followed.push(part);
        }
    }
    written.union(class_of_parts(&followed))
}

fn class_of_parts(parts: &[&str]) -> Targets {
    let Some(name) = parts.last().copied() else { return Targets::NONE };
    // A word is no file: `secret` in a sentence, `token` as a parameter.
    let looks_like_file = parts.len() > 1 || name.contains('.') || name.starts_with("id_");
    let is_in = |directories: &[&str]| parts.iter().any(|it| directories.contains(it));
    let has = |paths: &[&str]| paths.iter().any(|it| has_parts(parts, it));

    let mut found = Targets::NONE;
    let secret = (looks_like_file && SECRET_NAMES.contains(&name))
        || SECRET_BEGINNINGS.iter().any(|it| name.starts_with(it) && !name.ends_with(".pub"))
        || (name != ".key" && SECRET_ENDS.iter().any(|it| name.ends_with(it)))
        || is_in(SECRET_DIRECTORIES)
        || has(SECRET_PATHS);
    if SENSITIVE_NAMES.contains(&name) {
        found = found.with(Target::SensitiveFile);
    } else if secret {
        found = found.with(Target::SecretFile);
    } else if looks_like_file && SENSITIVE_PARTS.iter().any(|it| name.contains(it)) {
        found = found.with(Target::SensitiveFile);
    }
    if MEMORY_NAMES.contains(&name) {
        found = found.with(Target::DurableMemory);
    }
    if CONTROL_NAMES.contains(&name) || is_in(CONTROL_DIRECTORIES) || has(CONTROL_PATHS) {
        found = found.with(Target::ControlPlane);
    }
    found
}

/// So often an address may be encoded over and over.
const ENCODINGS_MAX: usize = 3;

/// The form in which names are compared.
fn normal(text: &str) -> String {
    let mut decoded = text.trim().to_owned();
    for _ in 0..ENCODINGS_MAX {
        if decoded.contains('%') {
            decoded = percent_decoded(&decoded);
        }
    }
    if decoded.is_ascii() {
        return joined(&decoded.replace('\\', "/").to_ascii_lowercase());
    }
    // Some disks hold `ｓoul.md` and `ſoul.md` for `soul.md`; no honest name has either.
    let plain: String = decoded.nfkc().filter(|it| !is_invisible(*it)).collect();
    joined(&plain.replace('\\', "/").to_lowercase())
}

fn joined(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        // `name::$DATA` and `name.` are `name` to some systems.
        let part = part.split_once("::").map_or(part, |(name, _)| name);
        if part.chars().all(|it| it == '.') { part } else { part.trim_end_matches(['.', ' ']) }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.first_chunk::<2>().and_then(|it| std::str::from_utf8(it).ok());
        match code.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Do the parts of `path` stand somewhere in `parts`, side by side?
fn has_parts(parts: &[&str], path: &str) -> bool {
    let wanted: Vec<&str> = path.split('/').collect();
    let same = |(part, wanted): (&&str, &&str)| *wanted == "*" || part == wanted;
    parts.windows(wanted.len()).any(|it| it.iter().zip(&wanted).all(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_any_of_their_names() {
        for path in [
            ".env",
            "/srv/app/.env.local",
            "prod.env",
            ".env~",
            ".ENV",
            "id_rsa",
            "~/.ssh/id_rsa.bak",
            "server.PEM",
            "C:\\Users\\x\\.aws\\credentials",
            ".env::$DATA",
            "/home/a/%2Essh/config",
            ".env. ",
            "/etc/shadow",
            "/proc/self/environ",
            "/proc/4711/environ",
            "~/.docker/config.json",
            "%252Eenv",
            "a/../.env",
            "x/．env",
            "/app/.env/.",
            ".config/x/../gcloud/a",
        ] {
            assert!(class_of_path(path).contains(Target::SecretFile), "{path}");
        }
        for path in [
            "readme.md",
            "environment.md",
            "keys.rs",
            "credentials",
            "token",
            "/src/keyboard.ts",
            "notes/env",
            "a.key.rs",
        ] {
            assert!(!class_of_path(path).contains(Target::SecretFile), "{path}");
        }
    }

    #[test]
    fn memory_and_control_plane_are_known() {
        for path in [
            "SOUL.md",
            "soul.md ",
            "ſoul.md",
            "so\u{200b}ul.md",
            "work/MEMORY.md",
            "CLAUDE.md",
            "a/AGENTS.MD.",
        ] {
            assert!(class_of_path(path).contains(Target::DurableMemory), "{path}");
        }
        for path in [
            ".mcp.json",
            "x/.claude/settings.json",
            ".git/hooks/pre-commit",
            ".git/x/../hooks/a",
            ".ax-taint.json",
            "/home/u/.bashrc",
        ] {
            assert!(class_of_path(path).contains(Target::ControlPlane), "{path}");
        }
        assert_eq!(class_of_path("src/main.rs"), Targets::NONE);
        assert_eq!(class_of_path(""), Targets::NONE);
    }

    #[test]
    fn lists_beside_secrets_are_sensitive() {
        for path in ["~/.ssh/known_hosts", ".npmrc", "config/api_token.txt", "passwords.csv"] {
            assert!(class_of_path(path).contains(Target::SensitiveFile), "{path}");
        }
    }
}
