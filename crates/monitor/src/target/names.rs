//! The names that single files out.

/// Names of files that hold secrets, whole.
pub(super) const SECRET_NAMES: &[&str] = &[
    ".env",
    ".boto",
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".msmtprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".pgpass",
    ".s3cfg",
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
    "kubeconfig",
    "login data",
    "logins.json",
    "master.key",
    "private.key",
    "rclone.conf",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "server.key",
    "service-account.json",
    "shadow",
    "key3.db",
    "wallet.dat",
    ".databrickscfg",
    ".terraformrc",
    "terraform.rc",
    "pgpass.conf",
    "application_default_credentials.json",
    "service_account.json",
    "client_secret.json",
    "accesstokens.json",
];
/// Beginnings of names: `.env.local`, `id_rsa.bak`.
pub(super) const SECRET_BEGINNINGS: &[&str] = &[
    ".env.",
    ".env-",
    ".env_",
    ".env~",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "ssh_host_",
];
/// Ends of names.
pub(super) const SECRET_ENDS: &[&str] = &[
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
/// Directories in which everything is a secret, wherever they are.
pub(super) const SECRET_DIRECTORIES: &[&str] = &[
    ".aer",
    ".aws",
    ".azure",
    ".clawdbot",
    ".gnupg",
    ".kube",
    ".lazaret",
    ".password-store",
    ".ssh",
];
/// Parts of paths, besides those of a home (`model::places`); `*` is any one part.
pub(super) const SECRET_PATHS: &[&str] = &[
    ".docker/config.json",
    ".electrum/wallets",
    ".fly/config.yml",
    ".oci/config",
    ".openclaw/credentials",
    ".snowsql/config",
    ".terraform.d/credentials.tfrc.json",
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
    "terraform.tfstate",
    "nuget.config",
];
/// Parts of names.
pub(super) const SENSITIVE_PARTS: &[&str] =
    &["password", "passwd", "token", "secret", "credential"];
/// Words in a name that say that it only shows how it is done.
pub(super) const EXAMPLE_WORDS: &[&str] =
    &["dist", "example", "examples", "sample", "schema", "template", "tmpl"];
/// Ends of programs, pages and pictures, which are named after what they are about.
pub(super) const PROSE_ENDS: &[&str] = &[
    "adoc", "c", "cc", "cpp", "cs", "css", "dart", "ex", "exs", "gif", "go", "h", "hpp", "htm",
    "html", "java", "jpeg", "jpg", "js", "jsx", "kt", "lua", "m", "md", "mdx", "mjs", "mm", "php",
    "pl", "png", "po", "ps1", "py", "pyi", "rb", "rs", "rst", "scala", "scss", "sh", "snap", "sol",
    "sql", "svelte", "svg", "swift", "tex", "tf", "ts", "tsx", "vue", "webp", "xml", "xsd", "zig",
];
/// Certificates and lists of them, which are for everybody.
pub(super) const PUBLIC_STEMS: &[&str] = &["ca-bundle", "ca-certificates", "cacert", "cacerts"];
/// What copies and backups have behind their names.
pub(super) const COPY_ENDS: &[&str] = &[
    ".backup", ".bak", ".bz2", ".copy", ".gz", ".old", ".orig", ".save", ".swo", ".swp", ".tmp",
    ".xz", ".zst", "~", "-", " copy", " - copy",
];
/// Ends of archives.
pub(super) const ARCHIVE_ENDS: &[&str] = &[
    ".7z", ".ear", ".gz", ".bz2", ".jar", ".rar", ".tar", ".tgz", ".war", ".whl", ".xz", ".zip",
    ".zst",
];
/// Memory that every later session reads.
pub(super) const MEMORY_NAMES: &[&str] = &[
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
