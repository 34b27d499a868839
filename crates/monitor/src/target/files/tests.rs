//! Which files a call names, by its words and by its places.

use super::*;

/// The long way: every place is cut up and laid beside every part.
#[test]
fn what_is_left_out_at_once_would_not_have_been_found() {
    let has_slowly = |parts: &[&str], path: &str| {
        let wanted: Vec<&str> = path.split('/').collect();
        let same = |(part, wanted): (&&str, &&str)| *wanted == "*" || part == wanted;
        parts.windows(wanted.len()).any(|it| it.iter().zip(&wanted).all(same))
    };
    let stands_slowly = |place: &str, parts: &[&str]| {
        let count = place.split('/').count();
        let same = |seen: &[&str]| {
            seen.iter().zip(place.split('/')).all(|(part, it)| part.eq_ignore_ascii_case(it))
        };
        parts.windows(count).any(same)
    };
    let places = || model::places::SECRET_DIRS.iter().chain(SECRET_FILES).chain(SHELL_FILES);
    let paths = || SECRET_PATHS.iter().chain(CONTROL_PATHS).chain(places());
    let mut found = 0;
    for one in paths().copied().chain(["", "*", "http:", "..", "é", "a.example:80"]) {
        let (first, last) = (one.split('/').next().unwrap(), one.rsplit('/').next().unwrap());
        for text in [
            one.to_owned(),
            format!("home/ann/{one}/x"),
            one.to_ascii_uppercase(),
            format!("{one}x"),
            format!("x{one}"),
            first.to_owned(),
            format!("{first}/x/{last}"),
            format!("{last}/{one}"),
        ] {
            let parts: Vec<&str> = text.split('/').collect();
            for path in paths() {
                let has = has_parts(&parts, path);
                assert_eq!(has, has_slowly(&parts, path), "{path} in {text}");
                let stands = stands_in(path, &parts);
                assert_eq!(stands, stands_slowly(path, &parts), "{path} in {text}");
                let count = path.split('/').count();
                let start = parts.get(..count).is_some_and(|it| stands_slowly(path, it));
                assert_eq!(begins(path, &parts), start, "{path} in {text}");
                found += usize::from(has) + usize::from(stands) + usize::from(start);
            }
        }
    }
    assert!(found > 1000, "{found}");
}

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
        "backup.zip!/.env",
        "backup.tar.gz#app/.env",
        "jar:file:/x.jar!/conf/server.key",
        "x.zip::.env",
        "server.key.bak",
        "copy of .netrc",
        "credentials (1).json",
        ".env copy",
        "/etc/shadow-",
        "$HOME/.claude/x",
        "/home/u/.npmrc",
        "/Users/u/.docker/x",
        "C:\\Users\\u\\.codex\\auth",
        "~/.cargo/credentials.toml",
        "~/Library/Keychains/login.keychain-db",
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
        ".env.example",
        ".env.local.sample",
        "example.env",
        "id_rsa.pub",
        "deploy/id_ed25519.pub",
        "docs/credentials.md",
        "id_rsa_test.go",
        "public.pem",
        "jwt_public.key",
        ".claude/skills/x/SKILL.md",
        "/home/u/project/.docker/Dockerfile",
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
        "CLAUDE.local.md",
        "docs/WARP.md",
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
    for path in [
        "~/.ssh/known_hosts",
        "~/.ssh/id_rsa.pub",
        "app/.npmrc",
        "config/api_token.txt",
        "passwords.csv",
    ] {
        assert!(class_of_path(path).contains(Target::SensitiveFile), "{path}");
    }
}
