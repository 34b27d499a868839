//! Places: where they really are, and which of them matter.

use super::engine::Engine;
use super::marks::{self, HOLE, UNSET};
use super::state::{HERE, HOME, State};
use super::{Access, Class};

/// Directories and files of secrets, by their names: in any home, at any depth.
const SECRET_NAMES: [&str; 56] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".password-store",
    ".kube",
    ".docker",
    ".anthropic",
    ".claude",
    ".codex",
    ".openai",
    ".oci",
    ".gcloud",
    ".git-credentials",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".history",
    ".ash_history",
    ".fish_history",
    ".python_history",
    ".mysql_history",
    ".psql_history",
    ".Xauthority",
    ".terraform.d",
    ".env",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "Keychains",
    "Cookies",
    "Cookies.binarycookies",
    "Login Data",
    "Web Data",
    "key4.db",
    "key3.db",
    "logins.json",
    "cookies.sqlite",
    "signons.sqlite",
    "credentials.db",
    "access_tokens.db",
    "msal_token_cache.json",
    "accessTokens.json",
    "application_default_credentials.json",
    "login.keychain",
    "login.keychain-db",
    "System.keychain",
];
/// The same, where the name alone says too little.
const SECRET_ENDS: [&str; 18] = [
    ".config/gh",
    ".config/op",
    ".config/gcloud",
    ".config/hub",
    ".config/glab-cli",
    ".config/lab",
    ".config/rclone",
    ".config/anthropic",
    ".config/claude",
    ".config/codex",
    ".config/git/credentials",
    ".subversion/auth",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".m2/settings.xml",
    "sops/age",
    ".local/share/keyrings",
    "Application Support/sops",
];
/// Of the system.
const SECRET_PATHS: [&str; 21] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/master.passwd",
    "/etc/spwd.db",
    "/etc/passwd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/usr/local/etc/sudoers",
    "/etc/krb5.keytab",
    "/etc/security/passwd",
    "/proc/kcore",
    "/dev/mem",
    "/dev/kmem",
    "/run/secrets",
    "/var/run/secrets",
    "/proc/self/environ",
    "/var/lib/sss",
    "/var/db/dslocal",
    "/etc/security/opasswd",
    "/private/var/db/dslocal",
];
/// In a directory of secrets, but none.
const PUBLIC: [&str; 4] = ["known_hosts", "authorized_keys", "config", "config.json"];

/// Whoever writes these owns the machine.
const OWNING: [&str; 15] = [
    "/etc/passwd",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/master.passwd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/usr/local/etc/sudoers",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/etc/pam.d",
    "/etc/security/pam_env.conf",
    "/dev/mem",
    "/dev/kmem",
];
/// Names of devices that hold whole disks.
const DISKS: [&str; 9] = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-"];
/// What starts by itself: of the system.
const STARTING: [&str; 30] = [
    "/etc/cron",
    "/var/spool/cron",
    "/etc/anacrontab",
    "/etc/at.",
    "/etc/systemd",
    "/lib/systemd",
    "/usr/lib/systemd",
    "/run/systemd",
    "/etc/init.d",
    "/etc/rc",
    "/etc/init",
    "/usr/local/etc/rc.d",
    "/etc/profile",
    "/etc/bash",
    "/etc/zsh",
    "/etc/environment",
    "/etc/xdg/autostart",
    "/etc/udev",
    "/etc/motd",
    "/etc/update-motd.d",
    "/etc/emond.d",
    "/private/var/db/emondClients",
    "/Library/LaunchDaemons",
    "/Library/LaunchAgents",
    "/Library/StartupItems",
    "/System/Library/LaunchDaemons",
    "/etc/periodic",
    "/etc/apt/apt.conf.d",
    "/etc/NetworkManager",
    "/etc/modules",
];
/// The same in any home, by the end of the path or a part of it.
const STARTING_NAMES: [&str; 40] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".shrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".xinitrc",
    ".xsession",
    ".xprofile",
    ".inputrc",
    ".vimrc",
    ".gdbinit",
    ".tmux.conf",
    ".gitconfig",
    ".forward",
    "authorized_keys",
    "config.fish",
    "autostart",
    "LaunchAgents",
    "LaunchDaemons",
    "sitecustomize.py",
    "usercustomize.py",
    ".pam_environment",
    ".emacs",
    ".exrc",
    ".mailcap",
    ".pythonrc",
    ".ssh",
    ".envrc",
];
const LOGS: [&str; 13] = [
    "/var/log",
    "/private/var/log",
    "/var/audit",
    "/var/spool/mail",
    "/var/mail",
    "/var/adm",
    "/var/run/utmp",
    "/run/utmp",
    "/run/log",
    "/etc/rsyslog",
    "/etc/syslog",
    "/etc/audit",
    "/etc/libaudit.conf",
];
const SYSTEM: [&str; 19] = [
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/sys",
    "/proc/sys",
    "/proc/1",
    "/var/lib",
    "/var/spool",
    "/var/db",
    "/System",
    "/Library",
    "/private/etc",
    "/opt/local",
    "/root",
    "/dev/shm/..",
];
/// Where anybody can put something.
const SHARED: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/run/shm"];

/// The path in one spelling: from where `cd` went, without dots.
pub(super) fn resolved(path: &str, state: &State) -> String {
    let path = path.replace(UNSET, "");
    let path = path.as_str();
    let path = match path.strip_prefix(HERE) {
        Some(rest) => rest.trim_start_matches('/'),
        None => path,
    };
    let from = state.cwd.as_deref().filter(|_| !path.starts_with(['/', HOLE]));
    let joined = from.map_or_else(|| path.to_owned(), |it| format!("{it}/{path}"));
    let absolute = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if absolute || parts.last().is_some_and(|it| *it != "..") => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    let path = parts.join("/");
    match (absolute, path.is_empty()) {
        (true, _) => format!("/{path}"),
        (false, true) => ".".to_owned(),
        (false, false) => path,
    }
}

/// As a person would write it.
pub(super) fn homely(path: &str) -> String {
    for (from, to) in [(HOME, "~"), (HERE, ".")] {
        if let Some(rest) = path.strip_prefix(from)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("{to}{rest}");
        }
    }
    path.to_owned()
}

/// Is the path this place or below it? Patterns in the path are tried.
fn within(path: &str, place: &str) -> bool {
    if !marks::has_pattern(path) {
        return path.strip_prefix(place).is_some_and(|it| it.is_empty() || it.starts_with('/'));
    }
    let mut parts = path.split('/');
    place.split('/').all(|wanted| parts.next().is_some_and(|it| marks::matches(it, wanted)))
}

/// Does a part of the path match one of the names?
fn has_part(path: &str, names: &[&str]) -> bool {
    path.split('/').any(|part| {
        let letters = part.chars().filter(char::is_ascii_alphanumeric).count();
        let pattern = letters > 1 && marks::has_pattern(part);
        names.contains(&part) || (pattern && names.iter().any(|it| marks::matches(part, it)))
    })
}

/// `/`, a home, the working directory, or a directory that the system stands on.
pub(super) fn is_root(path: &str) -> bool {
    let bare = marks::plain(path);
    let bare = bare.trim_end_matches('*').trim_end_matches('/');
    if (bare.is_empty() && path.starts_with('/')) || bare == HOME {
        return true;
    }
    let depth = bare.split('/').filter(|it| !it.is_empty()).count();
    bare.starts_with('/') && depth == 1 && !SHARED.contains(&bare)
}

/// Below a place where anybody can put something.
pub(super) fn is_shared(path: &str) -> bool {
    SHARED.iter().any(|it| path.strip_prefix(it).is_some_and(|rest| rest.starts_with('/')))
}

pub(super) fn is_secret(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    if path.ends_with(".pub") || (path.contains(".ssh/") && PUBLIC.contains(&last)) {
        return false;
    }
    SECRET_PATHS.iter().any(|it| within(path, it))
        || has_part(path, &SECRET_NAMES)
        || SECRET_ENDS.iter().any(|it| path.contains(it))
        || (path.starts_with("/proc/")
            && ["/environ", "/mem", "/maps"].iter().any(|it| path.ends_with(it)))
        || (path.starts_with("/etc/ssh/") && path.contains("_key"))
        || last.starts_with(".env.") && last != ".env.example"
}

/// A whole disk or a part of one.
pub(super) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    let name = name.strip_prefix("mapper/").map_or(name, |_| "disk");
    DISKS.iter().any(|it| name.starts_with(it))
}

fn is_starting(path: &str) -> bool {
    if path.ends_with("known_hosts") {
        return false;
    }
    STARTING.iter().any(|it| path.starts_with(it))
        || has_part(path, &STARTING_NAMES)
        || path.contains(".git/hooks/")
        || path.ends_with(".pth")
        || path.contains("/systemd/user")
}

pub(super) fn is_log(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    LOGS.iter().any(|it| path.starts_with(it)) || last.ends_with("_history")
}

fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|it| within(path, it)) && !is_shared(path)
}

impl Engine<'_> {
    /// What it means that this place is read, written, deleted or run.
    pub(super) fn judge_place(&mut self, access: Access, path: &str) {
        let shown = marks::shown(&homely(path));
        match access {
            Access::Read => {
                if is_secret(path) {
                    self.classes.insert(Class::Credentials);
                    self.ask("shell-credentials", format!("`{shown}` holds secrets"));
                }
            }
            Access::Write => self.judge_write(path, &shown),
            Access::Delete => {
                if OWNING.iter().any(|it| within(path, it)) {
                    self.deny("shell-system-file", format!("without `{shown}` nobody can log in"));
                } else if is_log(path) {
                    self.classes.insert(Class::LogTampering);
                    self.ask(
                        "shell-log-tampering",
                        format!("`{shown}` is a record of what happened"),
                    );
                } else if is_system(path) || is_secret(path) {
                    self.ask("shell-erase", format!("it deletes `{shown}`"));
                }
            }
            Access::Execute => {
                if is_shared(path) {
                    let reason = format!("`{shown}` lies where anybody can put something");
                    self.ask("shell-temp-run", reason);
                }
            }
        }
    }

    fn judge_write(&mut self, path: &str, shown: &str) {
        if OWNING.iter().any(|it| within(path, it)) {
            self.classes.insert(Class::Privilege);
            self.deny("shell-system-file", format!("whoever writes `{shown}` owns the machine"));
        } else if is_disk(path) {
            self.deny("shell-raw-device", format!("it writes to the disk `{shown}` itself"));
        } else if is_starting(path) {
            self.classes.insert(Class::Persistence);
            self.ask("shell-persistence", format!("`{shown}` is run later, without being asked"));
        } else if is_log(path) {
            self.classes.insert(Class::LogTampering);
            self.ask("shell-log-tampering", format!("`{shown}` is a record of what happened"));
        } else if is_secret(path) {
            self.classes.insert(Class::Credentials);
            self.ask("shell-credentials", format!("`{shown}` holds secrets"));
        } else if is_system(path) {
            self.ask("shell-system-write", format!("`{shown}` belongs to the system"));
        } else if is_shared(path) && path.split('/').any(|it| it.starts_with('.') && it.len() > 1) {
            self.ask("shell-hidden-file", format!("`{shown}` is hidden where anybody can write"));
        }
    }
}
