//! Commands that talk to other machines: whom they reach and what they may carry there.

use super::super::engine::Engine;
use super::super::marks::HOLE;
use super::super::paths;
use super::super::simple::Call;
use super::super::state::State;
use super::super::{Access, Class};
use super::{has_unknown, option};
use crate::net::{Target, exfiltration};

/// They carry files, or a shell, to a machine that they are told.
const CARRYING: [&str; 18] = [
    "scp",
    "sftp",
    "ftp",
    "lftp",
    "tftp",
    "telnet",
    "socat",
    "ssh",
    "rsh",
    "rcp",
    "nscurl",
    "ngrok",
    "cloudflared",
    "croc",
    "wormhole",
    "smbclient",
    "rclone",
    "msmtp",
];
/// They ask a name server, and a name can carry data.
const ASKING: [&str; 7] = ["dig", "nslookup", "host", "drill", "kdig", "ping", "whois"];
/// They talk to machines, and what they carry is seen elsewhere.
const TALKING: [&str; 22] = [
    "git", "gh", "glab", "http", "https", "xh", "aria2c", "axel", "lynx", "w3m", "links", "npm",
    "pip", "pip3", "cargo", "docker", "podman", "aws", "gcloud", "az", "kubectl", "rsync",
];
/// A name with signs of an encoding that is longer carries data, in bytes.
const NAME_BYTES_MAX: usize = 24;
/// Words that install a package, by command.
const INSTALLING: [(&str, &[&str]); 24] = [
    ("apt", &["install", "upgrade", "full-upgrade"]),
    ("apt-get", &["install", "upgrade", "dist-upgrade"]),
    ("aptitude", &["install"]),
    ("dpkg", &["-i", "--install"]),
    ("dnf", &["install", "upgrade"]),
    ("yum", &["install", "update"]),
    ("rpm", &["-i", "-ivh", "-u", "--install"]),
    ("zypper", &["install", "in"]),
    ("pacman", &["-s", "-sy", "-syu", "-u"]),
    ("apk", &["add"]),
    ("brew", &["install", "tap"]),
    ("snap", &["install"]),
    ("flatpak", &["install"]),
    ("nix-env", &["-i", "--install"]),
    ("npm", &["install", "i", "add", "ci"]),
    ("npx", &[]),
    ("yarn", &["add", "install"]),
    ("pnpm", &["add", "install"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("gem", &["install"]),
    ("cargo", &["install", "add"]),
    ("go", &["install", "get"]),
    ("composer", &["require", "install"]),
];

/// What takes `host:path` for a place on another machine, and other words for places on this one.
const COPYING: &[&str] = &["scp", "sftp", "rsync", "git"];

impl Engine<'_> {
    pub(super) fn judge_network(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let installs = INSTALLING.iter().any(|(tool, verbs)| {
            *tool == name
                && (verbs.is_empty()
                    || call.plain().iter().any(|it| verbs.contains(&it.to_lowercase().as_str())))
        });
        if installs {
            self.classes.insert(Class::PackageInstall);
            self.classes.insert(Class::Network);
        }
        if TALKING.contains(&name) {
            self.classes.insert(Class::Network);
        }
        self.judge_hosts(call);
        if CARRYING.contains(&name) {
            self.classes.insert(Class::Network);
            self.judge_carrying(call, state);
        }
        if ASKING.contains(&name) {
            self.classes.insert(Class::Network);
            self.judge_names(call);
        }
        match name {
            "rsync" if call.operands().iter().any(|it| is_remote(it)) => {
                self.ask("shell-egress", "it copies files between machines");
            }
            "openssl"
                if call.words().first().is_some_and(|it| it == "s_client" || it == "s_server") =>
            {
                self.classes.insert(Class::Network);
                self.ask("shell-egress", "it talks to another machine");
                if self.stages > 1 && call.stdin.is_some() {
                    self.deny("shell-reverse-shell", "it passes on what another command says");
                }
            }
            "git" => self.judge_git(call),
            "curl" | "wget" => self.judge_upload(call, state),
            "nc" | "ncat" | "netcat" => {
                let gives =
                    call.short('e') || call.short('c') || call.has(&["--exec", "--sh-exec"]);
                if gives {
                    self.deny("shell-reverse-shell", "it gives a command to another machine");
                }
            }
            "mail" | "mailx" | "sendmail" | "mutt" | "swaks" | "sendemail"
                if call.stdin.is_some() =>
            {
                self.ask("shell-egress", "it sends a message");
            }
            _ => {}
        }
    }

    /// Hosts in URLs, `user@host:` and the first words of commands that take one.
    fn judge_hosts(&mut self, call: &Call<'_>) {
        let takes_host = CARRYING.contains(&call.name.as_str())
            || ASKING.contains(&call.name.as_str())
            || matches!(call.name.as_str(), "curl" | "wget" | "nc" | "ncat" | "netcat");
        for arg in call.plain() {
            if let Some((_, rest)) = arg.split_once("://") {
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let host = host.rsplit('@').next().unwrap_or_default();
                self.reach(host.split(':').next().unwrap_or_default());
            } else if let Some((user, rest)) = arg.split_once('@')
                && (takes_host || call.name == "rsync" || call.name == "git")
                && !user.contains('/')
            {
                self.reach(rest.split([':', '/']).next().unwrap_or_default());
            } else if COPYING.contains(&call.name.as_str())
                && let Some((host, _)) = arg.split_once(':')
                && !host.contains('/')
            {
                self.reach(host);
            } else if takes_host
                && call.name != "scp"
                && !arg.starts_with('-')
                && arg.contains('.')
                && !arg.contains('/')
            {
                self.reach(arg.split(':').next().unwrap_or_default());
            }
        }
    }

    fn judge_carrying(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let only_tells = call.plain().iter().all(|it| it.starts_with('-'));
        let version = call.has(&["-V", "--version", "--help", "-h", "help"]);
        if only_tells && version {
            return;
        }
        if name == "socat" {
            let lower = call.plain().join(" ").to_lowercase();
            if lower.contains("exec:") || lower.contains("system:") {
                self.deny("shell-reverse-shell", "it gives a command to another machine");
            }
        }
        if name == "telnet" && self.stages > 1 {
            self.ask("shell-reverse-shell", "it passes on what another command says");
        }
        if name == "ssh" && call.operands().len() > 1 {
            let remote = call.operands().get(1..).unwrap_or_default().join(" ");
            self.ask("shell-egress", format!("it runs `{remote}` on another machine"));
        }
        for path in call.operands().iter().filter(|it| !is_remote(it)) {
            if matches!(name, "scp" | "sftp" | "rclone") && path.contains('/') {
                self.touch(Access::Read, path, state);
            }
        }
        let reason = format!("`{name}` carries data to another machine");
        self.ask("shell-egress", reason);
    }

    fn judge_names(&mut self, call: &Call<'_>) {
        let to_server = matches!(call.name.as_str(), "whois") && call.short('p');
        let carries = call.operands().iter().any(|it| {
            let target = Target::parse(&format!("http://{}/", it.trim_end_matches('.')));
            let odd = it.len() > NAME_BYTES_MAX && it.contains(['=', '+', '/']);
            it.contains('.') && target.map_or(odd, |it| !exfiltration(&it).is_empty())
        });
        let has_hole = call.args.iter().any(|it| it.contains(HOLE));
        if carries || to_server || has_hole {
            self.ask("shell-egress", "the name that it asks for can carry data");
        }
    }

    fn judge_git(&mut self, call: &Call<'_>) {
        let words = call.words();
        if words.iter().any(|it| it == "push") {
            let forces = option(call, Some('f'), "force") || option(call, None, "mirror");
            if forces {
                self.ask("shell-force-push", "it overwrites what others have");
            }
            if words.iter().any(|it| it.contains("://")) {
                self.ask("shell-egress", "it pushes to a place of its own");
            }
        }
    }

    fn judge_upload(&mut self, call: &Call<'_>, state: &State) {
        for arg in call.plain() {
            let Some((_, path)) = arg.split_once('@') else { continue };
            if !path.is_empty() && path != "-" && !arg.contains("://") {
                self.touch(Access::Read, path.split(';').next().unwrap_or(path), state);
            }
        }
        let plain = call.plain();
        let outputs = ["-o", "-O", "--output", "--output-document"];
        for (index, arg) in plain.iter().enumerate() {
            if outputs.contains(&arg.as_str()) || arg.starts_with("-sO") {
                let target = plain.get(index + 1).filter(|it| !it.contains("://") && *it != "-");
                let from_url = plain.iter().find_map(|it| it.split_once("://"));
                let named = from_url.and_then(|it| it.1.rsplit('/').next()).map(str::to_owned);
                if let Some(path) = target.cloned().or(named).filter(|it| !it.is_empty()) {
                    self.touch(Access::Write, &path, state);
                    self.fresh.insert(paths::resolved(&path, state));
                }
            }
        }
        let carries = plain.iter().any(|it| {
            matches!(
                it.split('=').next().unwrap_or_default(),
                "-d" | "--data"
                    | "--data-binary"
                    | "--data-raw"
                    | "--data-urlencode"
                    | "-F"
                    | "--form"
                    | "-T"
                    | "--upload-file"
                    | "--post-data"
                    | "--post-file"
                    | "--body-file"
                    | "--body-data"
                    | "--json"
            )
        });
        if carries || has_unknown(call) {
            self.ask("shell-egress", "it sends data to another machine");
        }
    }
}

/// `host:path`, `host::module`, `rsync://…`.
fn is_remote(path: &str) -> bool {
    path.contains("://")
        || path.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}
