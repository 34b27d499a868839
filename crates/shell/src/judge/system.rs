//! Commands that change the machine: accounts, services, the kernel, logs, what protects it.

use super::super::Class;
use super::super::engine::Engine;
use super::super::simple::Call;
use super::super::state::State;
use super::option;
use crate::Rule;
use crate::tables::Words;

static ACCOUNTS: Words = Words::named("judge.system.ACCOUNTS");
static KERNEL: Words = Words::named("judge.system.KERNEL");
/// They switch off or weaken what protects the machine, whatever their arguments.
static WEAKENING: Words = Words::named("judge.system.WEAKENING");
/// Options of packet filters that change what they let through.
static FILTER_CHANGES: Words = Words::named("judge.system.FILTER_CHANGES");

impl Engine<'_> {
    pub(super) fn judge_system(&mut self, call: &Call<'_>, state: &mut State) {
        let name = call.name.as_str();
        let tells = call.has(&["--help", "--version", "-h", "help"]) && call.args.len() == 1;
        if tells {
            return;
        }
        if (ACCOUNTS.contains(&name) && !only_lists(call)) || changes_logins(call) {
            self.classes.insert(Class::Privilege);
            self.ask(Rule::Accounts, format!("`{name}` changes who may log in"));
        }
        if (KERNEL.contains(&name) && !call.args.is_empty()) || changes_start(call) {
            self.classes.insert(Class::Privilege);
            self.ask(Rule::Kernel, format!("`{name}` changes the kernel"));
        }
        if WEAKENING.contains(&name) || weakens(call) {
            self.classes.insert(Class::Privilege);
            self.ask(Rule::SecurityOff, format!("`{name}` changes what protects the machine"));
        }
        if name == "getcap" && call.short('r') && call.has(&["/"]) {
            self.ask(Rule::PrivilegeSearch, "it searches for programs with rights of their own");
        }
        self.judge_services(call);
        self.judge_starting(call, state);
        self.judge_records(call);
        self.judge_watching(call);
        self.judge_volumes(call);
        self.judge_cut_off(call);
        self.judge_apple(call, state);
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
                Rule::Persistence,
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
            "hwclock" => option(call, None, "set") || option(call, None, "date"),
            "newsyslog" => call.short('F'),
            "faillock" | "pam_tally2" => option(call, None, "reset"),
            _ => false,
        };
        if erases {
            self.classes.insert(Class::LogTampering);
            let rule = if call.name == "history" { Rule::History } else { Rule::LogTampering };
            self.ask(rule, format!("`{}` changes the record of what happened", call.name));
        }
    }

    /// Volumes, snapshots and backups.
    fn judge_volumes(&mut self, call: &Call<'_>) {
        let words = call.words();
        let plain = call.plain();
        let has = |wanted: &str| words.iter().any(|it| it.starts_with(wanted));
        let erases = match call.name.as_str() {
            "tmutil" => has("delete") || has("disable"),
            "btrfs" | "zfs" | "zpool" => has("delete") || has("destroy"),
            "lvremove" | "vgremove" | "pvremove" | "userdel" => true,
            "restic" => has("forget") || has("prune"),
            "borg" | "borgmatic" | "kopia" | "snapper" | "multipass" | "limactl" => {
                has("delete") || has("prune") || has("purge")
            }
            "duplicity" => has("remove-"),
            "timeshift" => plain.iter().any(|it| it.starts_with("--delete")),
            "virsh" => {
                has("undefine") || has("destroy") || has("vol-delete") || has("snapshot-delete")
            }
            "vboxmanage" => has("unregistervm") || has("closemedium"),
            "dmsetup" => has("remove_all"),
            _ => false,
        };
        if erases {
            self.classes.insert(Class::Delete);
            self.ask(Rule::Erase, format!("`{}` deletes what cannot be had back", call.name));
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
            "route" => {
                has("flush")
                    || ((has("del") || has("delete")) && has("default"))
                    || has("blackhole")
            }
            "ifdown" => !words.is_empty(),
            "nmcli" => has("off"),
            "rfkill" => has("block"),
            "tc" => has("loss") && has("100%"),
            _ => false,
        };
        if cuts {
            self.ask(Rule::Service, "it takes the machine off its network");
        }
        let is_name = |it: &String| it.ends_with(".dns");
        let leads = match call.name.as_str() {
            "ip" => {
                let all = |it: &String| it == "default" || it.starts_with("0.0.0.0/");
                has("route") && (has("add") || has("replace")) && words.iter().any(all)
            }
            "route" => has("add") && has("default"),
            "nmcli" => (has("modify") || has("mod")) && words.iter().any(is_name),
            "resolvectl" => words.len() > 2 && (has("dns") || has("domain")),
            _ => false,
        };
        if leads {
            self.ask(Rule::Egress, "it leads what the machine sends over another one");
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

/// Does it change who may log in, by one of its words?
fn changes_logins(call: &Call<'_>) -> bool {
    let words = call.words();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let plain = call.plain();
    match call.name.as_str() {
        "authselect" => {
            matches!(first, "select" | "enable-feature" | "disable-feature" | "create-profile")
        }
        "realm" => matches!(first, "permit" | "deny" | "leave"),
        "homectl" => matches!(first, "create" | "passwd" | "update" | "remove" | "firstboot"),
        "samba-tool" => matches!(
            second,
            "create" | "add" | "addmembers" | "setpassword" | "enable" | "delete" | "setexpiry"
        ),
        "pdbedit" => ['a', 'm', 'x', 'r'].iter().any(|it| call.short(*it)),
        "ipa" => ["user-", "group-", "passwd", "hbacrule-", "sudorule-"].iter().any(|it| {
            first.starts_with(it) && !first.ends_with("-show") && !first.ends_with("-find")
        }),
        "net" => {
            matches!(first, "user" | "localgroup" | "group" | "rpc" | "ads")
                && plain
                    .iter()
                    .any(|it| matches!(it.as_str(), "/add" | "add" | "addmem" | "password"))
        }
        // A door of its own, with rules of its own.
        "sshd" | "dropbear" => {
            !call.has(&["-t", "-T"]) && ['o', 'f', 'p', 'E'].iter().any(|it| call.short(*it))
        }
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
        "dracut" => option(call, Some('I'), "install") || option(call, Some('i'), "include"),
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
        "semanage" => {
            first == "permissive" || call.has(&["-a", "-m", "-d", "--add", "--modify", "--delete"])
        }
        "semodule" => ['r', 'd', 'i', 'B', 'u'].iter().any(|it| call.short(*it)),
        "apparmor_parser" => option(call, Some('R'), "remove"),
        "update-crypto-policies" => option(call, None, "set"),
        "fips-mode-setup" => option(call, None, "disable"),
        "grubby" => plain.iter().any(|it| it.starts_with("--args") || it.starts_with("--remove")),
        // An authority that everybody believes from then on.
        "keytool" => {
            plain.iter().any(|it| it.starts_with("-import"))
                && plain.iter().any(|it| it.contains("cacerts"))
        }
        "gsettings" => {
            first == "set"
                && words.iter().any(|it| it.ends_with(".screensaver") || it.ends_with(".lockdown"))
                && words.last().is_some_and(|it| it == "false" || it == "0")
        }
        // Whoever knows the address may come in.
        "xhost" => plain.iter().any(|it| it == "+"),
        "x11vnc" => call.has(&["-nopw"]) && !call.has(&["-localhost"]),
        "vncserver" | "xvnc" | "tigervncserver" => words.iter().any(|it| it == "none"),
        "cryptsetup" => ["luksaddkey", "luksremovekey", "lukschangekey", "lukskillslot", "erase"]
            .contains(&first),
        "bcdedit" | "vssadmin" => true,
        _ => false,
    }
}
