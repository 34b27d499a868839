//! Which files are nobody else's business, by their path.

use model::places::names::{Holds, holds, is_environment};
use model::places::{SECRET_FILES, begins, secret_dirs, stands_in};

use super::Classes;

/// Where age keeps keys by itself; elsewhere, a list of anything.
const AGE_KEYS: &str = "keys.txt";

/// What reading this path means. The path is taken as written; confinement is decided elsewhere.
pub(super) fn reading(path: &str) -> Classes {
    let path = path.trim_start_matches(['@', '<']);
    let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/").to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    let Some(name) = parts.last() else { return Classes::NONE };
    let mut found = Classes::NONE;
    let secret = secret_dirs(&parts).any(|it| stands_in(it, &parts))
        || SECRET_FILES.iter().any(|it| ends(it, &parts));
    if secret || is_account_list(&path) || is_environment(name) {
        found |= Classes::SENSITIVE_READ;
    }
    if !is_environment(name) && holds(name) != Holds::Nothing || *name == AGE_KEYS {
        found |= Classes::CREDENTIAL_READ;
    }
    found
}

/// Does a path with these parts end with `place`?
fn ends(place: &str, parts: &[&str]) -> bool {
    let before = parts.len().saturating_sub(place.split('/').count());
    parts.get(before..).is_some_and(|it| begins(place, it))
}

fn is_account_list(path: &str) -> bool {
    const LISTS: &[&str] =
        &["/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/master.passwd"];
    LISTS.contains(&path) || path.starts_with("/proc/") && path.ends_with("/environ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_paths_are_known_by_their_parts() {
        for path in [
            "/home/u/.ssh/id_rsa",
            "~/.ssh/",
            "@/etc/passwd",
            "file:///etc/shadow",
            "/proc/self/environ",
            ".env",
            "app/.env.production",
            "C:\\Users\\u\\.aws\\credentials",
            "~/.config/gh/hosts.yml",
            "~/Library/Keychains/login.keychain-db",
            "~/.netrc",
        ] {
            assert!(reading(path).contains(Classes::SENSITIVE_READ), "{path}");
        }
        for path in ["server.pem", "deploy/tls.key", "credentials.json", "keys.txt", "server.p12"] {
            assert!(reading(path).contains(Classes::CREDENTIAL_READ), "{path}");
        }
    }

    #[test]
    fn ordinary_paths_are_ordinary() {
        for path in [
            "",
            "/",
            "src/main.rs",
            "/etc/hosts",
            ".env.example",
            ".envrc.md",
            "docs/ssh/config.md",
            "id_rsa.pub.md",
            "environment.ts",
            ".config/nvim/init.lua",
            "gh",
            "/etc/passwd.md",
            "keyboard.rs",
        ] {
            assert_eq!(reading(path), Classes::NONE, "{path}");
        }
    }
}
