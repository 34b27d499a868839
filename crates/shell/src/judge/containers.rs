//! Containers: what of the machine they are given, and whose machine they run on.

use super::files::is_everything;
use super::here::is_this_machine;
use super::options::Options;
use crate::wrappers::after_options;
use crate::{Access, Call, Class, Engine, HOME, Rule, State, Words, marks, paths};

/// Letters of options that take a value.
const LETTERS: &str = "acehlmopuvw";
/// Options that give a container a part of the machine's own, if they say `host`.
const SHARING: [&str; 6] = ["cgroupns", "ipc", "network", "pid", "userns", "uts"];
/// Whoever has these has the machine.
static SYSTEM: Words = Words::named("judge.containers.SYSTEM");
/// Options before the first word that take a value.
const VALUED: [&str; 7] = ["-H", "--host", "-c", "--context", "--url", "--connection", "--config"];
/// Places where containers run that are this machine.
const NEAR: [&str; 5] = ["colima", "default", "desktop-linux", "orbstack", "rootless"];

impl Engine {
    pub(super) fn judge_container(&mut self, call: &Call<'_>, state: &State) {
        let plain = call.plain();
        let behind = after_options(plain, &VALUED, 0);
        let first = behind.first().map(String::as_str).unwrap_or_default();
        let before = plain.get(..plain.len() - behind.len()).unwrap_or_default();
        let options = Options::of(plain, LETTERS, &[]);
        if first == "build" {
            self.judge_built(call, state);
        }
        if matches!(first, "build" | "buildx" | "save" | "export") {
            self.judge_taken(&options, state);
        }
        let chosen = Options::of(before, "Hcl", &[]);
        let mut contexts = chosen.values("c", "context").chain(chosen.values("", "connection"));
        let mut hosts = chosen.values("H", "host").chain(chosen.values("", "url"));
        if contexts.any(|it| !NEAR.contains(&it)) || hosts.any(is_far) {
            self.ask(Rule::Egress, "the containers are those of another machine");
        }
        self.judge_given(call, &options, state);
    }

    /// What of the machine a container is started with.
    fn judge_given(&mut self, call: &Call<'_>, options: &Options<'_>, state: &State) {
        let plain = call.plain();
        let mut sources = mounted(options, plain);
        for source in &sources {
            if paths::is_secret(&place(source, state)) {
                self.touch(Access::Read, source, state);
            }
        }
        // Options with a value may stand before it.
        let starts = ["run", "exec", "create", "init", "launch", "config"];
        if !call.words().iter().any(|it| starts.contains(&it.as_str())) {
            return;
        }
        self.classes.insert(Class::Execute);
        if options.has("", "rootfs") {
            sources.extend(plain.iter().filter(|it| it.starts_with(['/', '~'])).cloned());
        }
        let is_host = |it: &str| it.split(',').any(|it| it == "host" || it == "name=host");
        let is_on = |it: &str| !matches!(it.to_lowercase().as_str(), "false" | "f" | "0");
        let shares = options.given.iter().any(|it| {
            (SHARING.iter().any(|name| it.is("", name)) && it.value().is_some_and(is_host))
                || (it.begins("privileged") && it.glued.is_none_or(is_on))
                || ["cap-add", "security-opt", "device"].iter().any(|name| it.begins(name))
        });
        let opens = |it: &String| it.contains("docker.sock") || it == "security.privileged=true";
        let sources: Vec<String> = sources.iter().map(|it| place(it, state)).collect();
        if shares || plain.iter().any(opens) || sources.iter().any(|it| is_of_machine(it)) {
            self.deny(Rule::ContainerEscape, "the container can reach the machine itself");
        } else if sources.iter().any(|it| is_everything(it)) {
            self.ask(Rule::Container, "the container is given all that a person has");
        }
        if plain.iter().any(|it| self.fresh.contains(&format!("image:{it}"))) {
            self.ask(Rule::FreshRun, "it runs an image that it built before");
        }
    }

    /// Where what was built or kept is written to: `build -o DIR`, `save -o FILE`.
    fn judge_taken(&mut self, options: &Options<'_>, state: &State) {
        for value in options.values("o", "output").filter(|it| *it != "-") {
            let told = value.split(',').find_map(|it| it.strip_prefix("dest="));
            let Some(target) = told.or((!value.contains('=')).then_some(value)) else { continue };
            let target = place(target, state);
            self.touch(Access::Write, &target, &State::default());
            if is_everything(target.trim_end_matches('/')) {
                let shown = marks::shown(&paths::homely(&target));
                self.ask(Rule::SystemWrite, format!("what it brings lies over `{shown}` then"));
            }
        }
    }
}

/// The folders of this machine in `-v ~/.aws:/aws`, `--mount type=bind,src=/x,dst=/y`, `--opt device=/x`.
fn mounted(options: &Options<'_>, plain: &[String]) -> Vec<String> {
    let volumes = options.values("v", "volume").filter_map(|it| it.split_once(':')).map(|it| it.0);
    let told = options.values("", "mount").chain(options.values("o", "opt"));
    let told = plain.iter().map(String::as_str).chain(told);
    let pairs = told.flat_map(|it| it.split(',')).filter_map(|it| it.split_once('='));
    let bound =
        pairs.filter(|(key, _)| matches!(key.to_lowercase().as_str(), "src" | "source" | "device"));
    let bound = bound.map(|it| it.1);
    let is_place = |it: &&str| it.starts_with(['/', '~', '.']);
    volumes.chain(bound).filter(is_place).map(str::to_owned).collect()
}

/// Where it lies. In the middle of a word, a shell leaves `~` as it is, and tools may not.
fn place(path: &str, state: &State) -> String {
    let home = path.strip_prefix('~').filter(|it| it.is_empty() || it.starts_with('/'));
    paths::resolved(&home.map_or_else(|| path.to_owned(), |it| format!("{HOME}{it}")), state)
}

/// A folder of the system, a disk, or a door to what runs containers.
fn is_of_machine(path: &str) -> bool {
    let is_socket =
        path.ends_with(".sock") && ["/run/", "/var/run/"].iter().any(|it| path.starts_with(it));
    SYSTEM.contains(&path) || path.starts_with("/proc/") || paths::is_disk(path) || is_socket
}

/// Is it the address of another machine? `unix:///run/docker.sock` is none.
fn is_far(address: &str) -> bool {
    let (scheme, rest) = address.split_once("://").unwrap_or(("tcp", address));
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    !matches!(scheme, "unix" | "npipe" | "fd") && !is_this_machine(host)
}

/// Does a variable lead to containers of another machine?
pub(in super::super) fn leads_to_containers(name: &str, value: &str) -> bool {
    !value.is_empty()
        && match name {
            "CONTAINER_HOST" | "DOCKER_HOST" => is_far(value),
            "CONTAINER_CONNECTION" | "DOCKER_CONTEXT" => !NEAR.contains(&value),
            _ => false,
        }
}
