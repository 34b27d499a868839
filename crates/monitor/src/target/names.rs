//! The names that single files out.

/// Lists of accounts of a system, which `model::places::names` does not know: elsewhere a file may be called so.
pub(super) const ACCOUNT_LISTS: &[&str] = &["gshadow", "shadow"];
/// Parts of paths, besides those of a home (`model::places`); `*` is any one part.
pub(super) const SECRET_PATHS: &[&str] = &[
    "dev/kmem",
    "dev/mem",
    "dev/port",
    "etc/ssl/private",
    "proc/*/auxv",
    "proc/*/environ",
    "proc/*/fd",
    "proc/*/mem",
    "proc/*/task",
    "proc/kcore",
    "run/secrets",
    "system32/config/sam",
];
/// Public halves and lists, which say much but open nothing.
pub(super) const SENSITIVE_NAMES: &[&str] = &[
    ".gitconfig",
    ".npmrc",
    ".pypirc",
    "authorized_keys",
    "known_hosts",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".viminfo",
    ".yarnrc.yml",
    ".condarc",
    "nuget.config",
];
/// Parts of names.
pub(super) const SENSITIVE_PARTS: &[&str] =
    &["password", "passwd", "token", "secret", "credential"];
/// Ends of archives.
pub(super) const ARCHIVE_ENDS: &[&str] = &[
    ".7z", ".ear", ".gz", ".bz2", ".jar", ".rar", ".tar", ".tgz", ".war", ".whl", ".xz", ".zip",
    ".zst",
];
/// Memory that every later session reads.
pub(super) const MEMORY_NAMES: &[&str] = &[
    "heartbeat.md",
    "identity.md",
    "memory.md",
    "soul.md",
    "tools.md",
    "user.md",
    ".cursorrules",
    "copilot-instructions.md",
    ".clinerules",
    ".windsurfrules",
];
/// What decides what an agent or its host does, besides what shells run (`model::places`).
pub(super) const CONTROL_NAMES: &[&str] = &[
    ".ax-taint.json",
    ".envrc",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".mcp.json",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".vimrc",
    "authorized_keys",
    "claude_desktop_config.json",
    "config.fish",
    "jenkinsfile",
    "ld.so.preload",
    "mcp.json",
    "mcp_config.json",
    "skill.md",
    "sudoers",
];
/// Directories of the same.
pub(super) const CONTROL_DIRECTORIES: &[&str] =
    &[".aer", ".claude", ".codex", ".cursor", ".gemini", ".lazaret"];
/// Parts of paths: what other programs run by themselves.
pub(super) const CONTROL_PATHS: &[&str] = &[
    ".circleci",
    ".config/autostart",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".devcontainer",
    ".git/config",
    ".git/hooks",
    ".git/info",
    ".git/modules/*/config",
    ".git/modules/*/hooks",
    ".githooks",
    ".github/workflows",
    ".husky",
    ".ssh/rc",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    "etc/cron.d",
    "etc/crontab",
    "etc/profile",
    "etc/profile.d",
    "etc/sudoers.d",
    "etc/systemd",
    "library/launchagents",
    "library/launchdaemons",
    "var/spool/cron",
];
