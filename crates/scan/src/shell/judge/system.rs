//! Commands that change the machine: accounts, services, the kernel, logs, what protects it.

use super::super::Class;
use super::super::engine::Engine;
use super::super::simple::Call;
use super::super::state::State;
use super::option;

const ACCOUNTS: [&str; 25] = [
    "useradd",
    "adduser",
    "usermod",
    "userdel",
    "deluser",
    "groupadd",
    "groupmod",
    "groupdel",
    "addgroup",
    "gpasswd",
    "passwd",
    "chpasswd",
    "chage",
    "chsh",
    "vipw",
    "vigr",
    "pw",
    "dscl",
    "dseditgroup",
    "sysadminctl",
    "dsenableroot",
    "visudo",
    "newusers",
    "ldapadd",
    "pwpolicy",
];
const KERNEL: [&str; 9] = [
    "insmod",
    "modprobe",
    "rmmod",
    "kextload",
    "kextunload",
    "kmutil",
    "kexec",
    "kpatch",
    "bpftool",
];
/// They switch off or weaken what protects the machine, whatever their arguments.
const WEAKENING: [&str; 13] = [
    "setenforce",
    "spctl",
    "csrutil",
    "mdatp",
    "swapoff",
    "sysrc",
    "aa-disable",
    "aa-teardown",
    "aa-complain",
    "esxcli",
    "falconctl",
    "tccutil",
    "setsebool",
];
/// Services that watch.
const WATCHERS: [&str; 22] = [
    "log",
    "audit",
    "falcon",
    "cbdaemon",
    "cbagent",
    "carbon",
    "crowdstrike",
    "sentinel",
    "defend",
    "mdatp",
    "osquery",
    "wazuh",
    "ossec",
    "clam",
    "apparmor",
    "selinux",
    "firewall",
    "ufw",
    "nftables",
    "fail2ban",
    "snoop",
    "umbrella",
];

/// Options of packet filters that change what they let through.
const FILTER_CHANGES: [&str; 18] = [
    "-A",
    "-D",
    "-F",
    "-I",
    "-N",
    "-P",
    "-R",
    "-X",
    "-d",
    "-f",
    "--append",
    "--delete",
    "--flush",
    "--insert",
    "--new-chain",
    "--policy",
    "--replace",
    "--delete-chain",
];

impl Engine<'_> {
    pub(super) fn judge_system(&mut self, call: &Call<'_>, state: &mut State) {
        let name = call.name.as_str();
        let tells = call.has(&["--help", "--version", "-h", "help"]) && call.args.len() == 1;
        if tells {
            return;
        }
        if ACCOUNTS.contains(&name) && !only_lists(call) {
            self.classes.insert(Class::Privilege);
            self.ask("shell-accounts", format!("`{name}` changes who may log in"));
        }
        if (KERNEL.contains(&name) && !call.args.is_empty()) || changes_start(call) {
            self.classes.insert(Class::Privilege);
            self.ask("shell-kernel", format!("`{name}` changes the kernel"));
        }
        if WEAKENING.contains(&name) || weakens(call) {
            self.classes.insert(Class::Privilege);
            self.ask("shell-security-off", format!("`{name}` changes what protects the machine"));
        }
        if name == "getcap" && call.short('r') && call.has(&["/"]) {
            self.ask("shell-privilege-search", "it searches for programs with rights of their own");
        }
        self.judge_services(call);
        self.judge_starting(call, state);
        self.judge_records(call);
        self.judge_watching(call);
        self.judge_volumes(call);
        self.judge_cut_off(call);
        self.judge_apple(call);
    }

    fn judge_services(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let is_watcher = words.iter().any(|it| WATCHERS.iter().any(|name| it.contains(name)));
        let (stops, starts) = match call.name.as_str() {
            "systemctl" => (
                matches!(
                    first,
                    "stop" | "disable" | "mask" | "kill" | "isolate" | "rescue" | "emergency"
                ),
                matches!(first, "enable" | "link" | "edit" | "preset" | "set-default"),
            ),
            "service" | "rc-service" => {
                (words.get(1).is_some_and(|it| it == "stop" || it == "onestop"), false)
            }
            "chkconfig" | "update-rc.d" | "rc-update" => (
                words.iter().any(|it| matches!(it.as_str(), "off" | "disable" | "remove" | "del")),
                words.iter().any(|it| matches!(it.as_str(), "on" | "enable" | "add" | "defaults")),
            ),
            "launchctl" => (
                matches!(first, "unload" | "remove" | "bootout" | "disable" | "stop" | "kill"),
                matches!(first, "load" | "submit" | "bootstrap" | "enable" | "start" | "kickstart"),
            ),
            "pkill" | "killall" | "kill" => (is_watcher, false),
            // They ask the manager of services and accounts without its own command.
            "busctl" | "dbus-send" | "gdbus" => {
                let managers =
                    ["freedesktop.systemd1", "freedesktop.accounts", "freedesktop.login1"];
                let calls = call.name == "dbus-send" || first == "call";
                let manager =
                    |it: &String| managers.iter().any(|name| it.to_lowercase().contains(name));
                (calls && call.plain().iter().any(manager), false)
            }
            _ if uninstalls(call) => (is_watcher, false),
            _ => (false, false),
        };
        if stops && is_watcher {
            self.classes.insert(Class::LogTampering);
            self.ask("shell-security-off", "it stops what watches or protects the machine");
        } else if stops {
            self.ask("shell-service", "it stops a service");
        }
        if starts {
            self.classes.insert(Class::Persistence);
            self.ask("shell-persistence", "it makes something start by itself");
        }
    }

    /// What runs later, without being asked.
    fn judge_starting(&mut self, call: &Call<'_>, state: &State) {
        let later = match call.name.as_str() {
            "crontab" => !call.short('l') || call.args.len() > 3,
            "at" | "batch" => call.stdin.is_some() || option(call, Some('f'), "file"),
            "systemd-run" | "schtasks" | "anacron" => !call.args.is_empty(),
            "loginctl" => call.words().first().is_some_and(|it| it == "enable-linger"),
            "update-ca-certificates" | "update-ca-trust" | "certctl" | "trust" => true,
            _ => false,
        };
        if later {
            self.classes.insert(Class::Persistence);
            self.ask(
                "shell-persistence",
                format!("`{}` makes something run or count later", call.name),
            );
        }
        if call.name == "systemd-run" {
            let args: Vec<String> = call
                .args
                .iter()
                .skip_while(|it| it.starts_with('-') || it.contains(':') || it.contains('*'))
                .cloned()
                .collect();
            self.quiet += 1;
            self.call(args, &mut state.clone(), None);
            self.quiet -= 1;
        }
    }

    /// Logs, histories and the clock.
    fn judge_records(&mut self, call: &Call<'_>) {
        let plain = call.plain();
        let words = call.words();
        let erases = match call.name.as_str() {
            "history" => ['c', 'd', 'w', 'r'].iter().any(|it| call.short(*it)),
            "journalctl" => plain.iter().any(|it| it.starts_with("--vacuum") || it == "--rotate"),
            "log" => words.first().is_some_and(|it| it == "erase"),
            "logrotate" => option(call, Some('f'), "force"),
            "dmesg" => option(call, Some('C'), "clear") || option(call, Some('c'), "read-clear"),
            "auditctl" => !plain.iter().all(|it| matches!(it.as_str(), "-l" | "-s" | "-v")),
            "wevtutil" => words.first().is_some_and(|it| it == "cl"),
            "utmpdump" => option(call, Some('r'), "reverse"),
            "date" => {
                option(call, Some('s'), "set")
                    || plain.first().is_some_and(|it| {
                        it.len() >= 8 && it.bytes().all(|it| it.is_ascii_digit() || it == b'.')
                    })
            }
            "timedatectl" => words.first().is_some_and(|it| it == "set-time"),
            _ => false,
        };
        if erases {
            self.classes.insert(Class::LogTampering);
            let rule = if call.name == "history" { "shell-history" } else { "shell-log-tampering" };
            self.ask(rule, format!("`{}` changes the record of what happened", call.name));
        }
    }

    /// Volumes, snapshots and backups.
    fn judge_volumes(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &str| words.iter().any(|it| it.starts_with(wanted));
        let erases = match call.name.as_str() {
            "tmutil" => has("delete") || has("disable"),
            "btrfs" | "zfs" | "zpool" => has("delete") || has("destroy"),
            "lvremove" | "vgremove" | "pvremove" | "userdel" => true,
            "dmsetup" => has("remove_all"),
            _ => false,
        };
        if erases {
            self.classes.insert(Class::Delete);
            self.ask("shell-erase", format!("`{}` deletes what cannot be had back", call.name));
        }
    }

    /// What takes the machine off its network, or leads its packets nowhere.
    fn judge_cut_off(&mut self, call: &Call<'_>) {
        let words = call.words();
        let has = |wanted: &str| words.iter().any(|it| it == wanted);
        let cuts = match call.name.as_str() {
            "ip" => {
                (has("set") && has("down"))
                    || (has("flush") && !has("cache"))
                    || ["blackhole", "unreachable", "prohibit"].iter().any(|it| has(it))
            }
            "ifconfig" => has("down"),
            "ifdown" => !words.is_empty(),
            "nmcli" => has("off"),
            "rfkill" => has("block"),
            _ => false,
        };
        if cuts {
            self.ask("shell-service", "it takes the machine off its network");
        }
    }

    /// What only Apple's machines have.
    fn judge_apple(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        match call.name.as_str() {
            "osascript" => self.ask("shell-spawn", "it runs a script that can control everything"),
            "defaults" if matches!(first, "write" | "delete" | "import") => {
                self.ask("shell-system-write", "it changes settings");
            }
            "security" => {
                self.classes.insert(Class::Credentials);
                self.ask("shell-credentials", "it opens the keychain");
            }
            "scutil" | "networksetup" | "systemsetup" | "nvram" | "pmset"
                if call.args.len() > 1 =>
            {
                self.ask("shell-system-write", "it changes settings");
            }
            "plistbuddy" | "plutil" if call.args.len() > 2 => {
                self.ask("shell-system-write", "it changes settings");
            }
            _ => {}
        }
    }
}

/// Is it asked what there is, and told to change nothing?
fn only_lists(call: &Call<'_>) -> bool {
    let (asks, more): (&[&str], &[&str]) = match call.name.as_str() {
        "chage" => (&["-l", "--list", "-il", "-li"], &["-i", "--iso8601"]),
        "passwd" => (&["-S", "--status", "-Sa", "-aS"], &["-a", "--all"]),
        // What Apple's reads behind it is a place to change.
        "chsh" if call.operands().is_empty() => (&["-l", "--list-shells"], &[]),
        _ => return false,
    };
    let mut options = call.plain().iter().filter(|it| it.starts_with('-'));
    call.has(asks) && options.all(|it| asks.contains(&it.as_str()) || more.contains(&it.as_str()))
}

/// Does it take a package of the system away?
fn uninstalls(call: &Call<'_>) -> bool {
    let first = call.words().first().map(String::as_str).unwrap_or_default();
    match call.name.as_str() {
        "apt" | "apt-get" | "aptitude" | "dnf" | "yum" | "microdnf" | "zypper" | "apk" | "snap"
        | "flatpak" | "brew" | "pkg" => matches!(
            first,
            "remove" | "purge" | "erase" | "autoremove" | "rm" | "del" | "delete" | "uninstall"
        ),
        "dpkg" => ['r', 'P'].iter().any(|it| call.short(*it)) || call.has(&["--remove", "--purge"]),
        "rpm" => option(call, Some('e'), "erase"),
        "pacman" => call.short('R') || call.has(&["--remove"]),
        _ => false,
    }
}

/// Does it change what the machine starts with?
fn changes_start(call: &Call<'_>) -> bool {
    match call.name.as_str() {
        "grub-install" | "grub2-install" => !call.args.is_empty(),
        "efibootmgr" => ['B', 'c', 'o', 'n', 'b'].iter().any(|it| call.short(*it)),
        "mokutil" => call.has(&["--import", "--delete", "-i"]),
        "flashrom" => call.short('w') || call.short('E') || call.has(&["--write", "--erase"]),
        "kmod" => call.has(&["insert", "remove"]),
        _ => false,
    }
}

fn weakens(call: &Call<'_>) -> bool {
    let plain = call.plain();
    let words = call.words();
    let first = words.first().map(String::as_str).unwrap_or_default();
    match call.name.as_str() {
        "ufw" => !matches!(first, "status" | "show" | "version" | "app" | "help" | ""),
        // Who adds a rule can open a port, shut out a watcher or lead traffic elsewhere.
        "iptables" | "ip6tables" | "ebtables" | "arptables" | "pfctl" => {
            plain.iter().any(|it| FILTER_CHANGES.contains(&it.as_str()))
        }
        "iptables-restore" | "ip6tables-restore" => !option(call, Some('t'), "test"),
        "nft" => {
            option(call, Some('f'), "file")
                || matches!(first, "flush" | "delete" | "destroy" | "add" | "insert" | "replace")
        }
        "firewall-cmd" => ["--remove", "--add", "--panic-on", "--set-", "--direct"]
            .iter()
            .any(|start| plain.iter().any(|it| it.starts_with(start))),
        "sysctl" => option(call, Some('w'), "write") || plain.iter().any(|it| it.contains('=')),
        "mokutil" => plain.iter().any(|it| it.starts_with("--disable")),
        // Whoever answers is believed.
        "git" | "npm" | "pnpm" | "yarn" => {
            first == "config"
                && words.iter().any(|it| it == "http.sslverify" || it == "strict-ssl")
                && words.last().is_some_and(|it| it == "false")
        }
        "ulimit" => false,
        "bcdedit" | "vssadmin" => true,
        _ => false,
    }
}
