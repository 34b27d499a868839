//! Commands that talk to other machines: whom they reach and what they may carry there.

use super::here;
use super::pushed::remotes;
use super::sending::{Login, addressed, host};
use crate::{Access, Call, Class, Engine, HOLE, NETWORK, Rows, Rule, State, Words, paths, text};
use scan::net::{Target, exfiltration};

/// They carry files, or a shell, to a machine that they are told.
static CARRYING: Words = Words::named("judge.network.CARRYING");
/// They ask a name server, and a name can carry data.
const ASKING: [&str; 7] = ["dig", "nslookup", "host", "drill", "kdig", "ping", "whois"];
/// Options of `curl` and `wget` by which they go elsewhere than their address says.
static LEADING: Words = Words::named("judge.network.LEADING");
/// They talk to machines, and what they carry is seen elsewhere.
static TALKING: Words = Words::named("judge.network.TALKING");
/// A name with signs of an encoding that is longer carries data, in bytes.
const NAME_BYTES_MAX: usize = 24;
/// Words that install a package, by command.
static INSTALLING: Rows = Rows::named("judge.network.INSTALLING");

/// What takes `host:path` for a place on another machine, and other words for places on this one.
const COPYING: &[&str] = &["scp", "sftp", "rsync"];

impl Engine {
    pub(super) fn judge_network(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let installs = INSTALLING.get(name).is_some_and(|verbs| {
            verbs.is_empty()
                || call.plain().iter().any(|it| verbs.contains(&it.to_lowercase().as_str()))
        });
        if installs {
            self.classes.insert(Class::PackageInstall);
            self.classes.insert(Class::Network);
            self.judge_origin(call);
            if call.args.iter().any(|it| paths::is_shared(&paths::resolved(it, state))) {
                self.ask(Rule::TempRun, "it installs what anybody can have put there");
            }
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
        self.judge_exchange(call, state);
        match name {
            "rsync" if call.operands().iter().any(|it| is_remote(it)) => {
                self.ask(Rule::Egress, "it copies files between machines");
            }
            "openssl"
                if call.words().first().is_some_and(|it| it == "s_client" || it == "s_server") =>
            {
                self.ask(Rule::Egress, "it talks to another machine");
                if self.stages > 1 && call.stdin.is_some() {
                    self.deny(Rule::ReverseShell, "it passes on what another command says");
                }
            }
            "curl" | "wget" => self.judge_upload(call, state),
            _ => {}
        }
    }

    /// What is run from, deleted on or published at another machine.
    fn judge_exchange(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        match name {
            // PowerShell's way to run a text.
            "iex" | "invoke-expression"
                if call.stdin.is_some_and(|it| text(it).contains(NETWORK)) =>
            {
                self.deny(Rule::RemoteCode, "it runs what somebody else's machine sends");
            }
            _ => {}
        }
        let far = call
            .operands()
            .last()
            .is_some_and(|it| is_remote(it) || paths::resolved(it, state).starts_with('/'));
        if name == "rsync" && far && call.plain().iter().any(|it| it.starts_with("--delete")) {
            self.ask(Rule::Erase, "it deletes what is not in the source");
        }
        let elsewhere = ["--registry", "--repository-url"];
        let is_elsewhere =
            |it: &String| elsewhere.contains(&it.split('=').next().unwrap_or_default());
        if call.words().first().is_some_and(|it| it == "publish" || it == "upload")
            && call.plain().iter().any(is_elsewhere)
        {
            self.ask(Rule::Egress, "it publishes at a place of its own");
        }
    }

    /// A package from a place of its own, or one that nobody signed: what it brings is run.
    fn judge_origin(&mut self, call: &Call<'_>) {
        static UNSIGNED: Words = Words::named("judge.network.UNSIGNED");
        // A list of packages is named by an address, too; in the clear, anybody can answer for it.
        let listed = |it: &str| {
            let lists =
                ["--index-url", "-i", "--extra-index-url", "--registry", "--source", "--repo"];
            lists.contains(&it) || it == "--find-links" || it == "-f" || it == "-r" || it == "-c"
        };
        let plain = call.plain();
        let before = std::iter::once("").chain(plain.iter().map(String::as_str));
        let foreign = before.zip(plain).any(|(before, arg)| {
            let (option, value) = arg.split_once('=').unwrap_or((before, arg));
            let is_local = here::is_of_this_machine(value);
            let is_list = listed(option);
            (value.contains("http://") || (value.contains("://") && !is_list)) && !is_local
        });
        if foreign || call.has(&UNSIGNED) {
            self.ask(Rule::RemoteCode, "it installs what somebody else's machine sends");
        }
    }

    /// Hosts in URLs, `user@host:` and the first words of commands that take one.
    fn judge_hosts(&mut self, call: &Call<'_>) {
        let takes_host = CARRYING.contains(&call.name.as_str())
            || ASKING.contains(&call.name.as_str())
            || matches!(call.name.as_str(), "curl" | "wget" | "nc" | "ncat" | "netcat");
        let named = match call.name.as_str() {
            "ssh" => Some(Login::of(call).hosts()),
            "git" => Some(remotes(call)),
            _ => None,
        };
        if let Some(named) = named {
            named.into_iter().for_each(|it| self.reach(&it));
            return;
        }
        if let Some(places) = self.fetched_from(call) {
            places.iter().for_each(|it| self.reach(&host(it)));
            return;
        }
        for arg in call.plain() {
            if arg.contains("://") {
                addressed(call, arg).into_iter().for_each(|it| self.reach(&it));
            } else if let Some((user, rest)) = arg.split_once('@')
                && (takes_host || call.name == "rsync")
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

    /// The addresses that `curl` or `wget` is given, without their schemes. Where an option may lead elsewhere, that is not
    /// sure, and words are taken for addresses as far as they look like some.
    fn fetched_from(&mut self, call: &Call<'_>) -> Option<Vec<String>> {
        if !matches!(call.name.as_str(), "curl" | "wget") {
            return None;
        }
        let Some((places, _)) = here::addresses(call) else {
            let leads = |it: &String| LEADING.iter().any(|option| it.starts_with(option));
            self.told.unsure |= call.plain().iter().any(leads);
            return None;
        };
        let without_scheme = |it: &str| {
            let rest = it.split_once("://").map_or(it, |it| it.1);
            rest.trim_start_matches('/').to_owned()
        };
        Some(places.into_iter().map(without_scheme).collect())
    }

    fn judge_carrying(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let lists = ["about", "ls", "lsd", "lsf", "lsl", "listremotes", "size", "tree", "version"];
        let is_run = |it: &String| it.contains("command") || it.contains("-ssh");
        let only_lists = call.words().first().is_some_and(|it| lists.contains(&it.as_str()));
        if name == "rclone" && only_lists && !call.plain().iter().any(is_run) {
            return;
        }
        let only_tells = call.plain().iter().all(|it| it.starts_with('-'));
        let version = call.has(&["-V", "--version", "--help", "-h", "help"]);
        if only_tells && version {
            return;
        }
        if name == "socat" {
            let lower = call.plain().join(" ").to_lowercase();
            if lower.contains("exec:") || lower.contains("system:") {
                self.deny(Rule::ReverseShell, "it gives a command to another machine");
            }
        }
        if name == "telnet" && self.stages > 1 {
            self.ask(Rule::ReverseShell, "it passes on what another command says");
        }
        if let Some(remote) = (name == "ssh").then(|| Login::of(call)).and_then(|it| it.command()) {
            self.ask(Rule::Egress, format!("it runs `{remote}` on another machine"));
        }
        for path in call.operands().iter().filter(|it| !is_remote(it)) {
            if matches!(name, "scp" | "sftp" | "rclone") && path.contains('/') {
                self.touch(Access::Read, path, state);
            }
        }
        let reason = format!("`{name}` carries data to another machine");
        self.ask(Rule::Egress, reason);
    }

    fn judge_names(&mut self, call: &Call<'_>) {
        // A port of `whois`, the bytes of `ping`.
        let to_server = matches!(call.name.as_str(), "whois" | "ping") && call.short('p');
        let carries = call.operands().iter().any(|it| {
            let target = Target::parse(&format!("http://{}/", it.trim_end_matches('.')));
            let odd = it.len() > NAME_BYTES_MAX && it.contains(['=', '+', '/']);
            it.contains('.') && target.map_or(odd, |it| !exfiltration(&it).is_empty())
        });
        let has_hole = call.args.iter().any(|it| it.contains(HOLE));
        if carries || to_server || has_hole {
            self.ask(Rule::Egress, "the name that it asks for can carry data");
        }
    }
}

/// `host:path`, `host::module`, `rsync://…`.
fn is_remote(path: &str) -> bool {
    path.contains("://")
        || path.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}
