//! Containers, clusters, searches for secrets and what prints them.

use super::option;
use crate::{Call, Class, Engine, Rule, State, Words, listed, paths, text};

/// Programs that run containers.
static CONTAINERS: Words = Words::named("judge.cloud.CONTAINERS");
/// Words people look for when they look for secrets.
static SECRET_WORDS: Words = Words::named("judge.cloud.SECRET_WORDS");
/// A file with such a name is a secret.
static SECRET_FILES: Words = Words::named("judge.cloud.SECRET_FILES");

/// Programs that show or hand on what they are given.
const SHOWING: [&str; 10] =
    ["cat", "head", "tail", "less", "more", "base64", "xxd", "strings", "cp", "curl"];

impl Engine {
    pub(super) fn judge_cloud(&mut self, call: &Call<'_>, state: &mut State) {
        match call.name.as_str() {
            name if CONTAINERS.contains(&name) => self.judge_container(call, state),
            "kubectl" | "oc" | "k3s" => self.judge_cluster(call, state),
            "grep" | "egrep" | "rg" | "ag" | "ack" => self.judge_search(call, state),
            // They search for secrets wherever they are told.
            "trufflehog" | "gitleaks" | "noseyparker" | "detect-secrets"
                if call.args.iter().any(|it| is_far(it, state)) =>
            {
                self.ask(Rule::Credentials, "it searches everything for secrets");
            }
            "find" | "gfind" | "du" | "locate" | "plocate" | "slocate" | "fd" | "fdfind"
            | "mdfind" => {
                self.judge_find(call, state);
            }
            _ => {}
        }
    }

    fn judge_cluster(&mut self, call: &Call<'_>, state: &mut State) {
        let words = call.words();
        let first = words.iter().find(|it| CLUSTER_VERBS.contains(&it.as_str()));
        let first = first.map(String::as_str).unwrap_or_default();
        let plain = call.plain();
        let given = call.stdin.map(text).unwrap_or_default();
        let files = plain.iter().filter_map(|it| state.file(&paths::resolved(it, state)));
        let opens = files.chain([given]).any(|it| opens_machine(&it));
        if opens {
            self.deny(Rule::ContainerEscape, "the container can reach the machine itself");
        }
        if first == "exec" || first == "run" {
            self.classes.insert(Class::Execute);
            let inner = plain.iter().position(|it| it == "--").map(|it| it + 1);
            if let Some(inner) = inner.and_then(|it| call.args.get(it..)) {
                self.call(inner.to_vec(), &mut state.clone(), None);
            }
            if first == "exec" {
                self.ask(Rule::Container, "it runs a command in a container of the cluster");
            }
        }
    }

    /// A search through everything for secrets.
    fn judge_search(&mut self, call: &Call<'_>, state: &State) {
        let recursive = call.short('r') || call.short('R') || option(call, None, "recursive");
        let operands = call.operands();
        let pattern = operands.first().map(|it| it.to_lowercase()).unwrap_or_default();
        let secret = SECRET_WORDS.iter().any(|it| pattern.contains(it));
        let far = operands.iter().skip(1).any(|it| is_far(it, state));
        // `env | grep -i token`.
        let prints = |it: &str| matches!(it, "env" | "printenv" | "set" | "export" | "declare");
        let of_shell =
            self.stages > 1 && self.steps.iter().rev().nth(1).is_some_and(|it| prints(&it.program));
        if secret && of_shell {
            self.ask(Rule::Credentials, "it searches the environment for secrets");
        }
        if secret && far && (recursive || call.name != "grep") {
            self.ask(Rule::Credentials, "it searches everything for secrets");
        }
    }

    fn judge_find(&mut self, call: &Call<'_>, state: &State) {
        self.swept |= listed::roots(call).into_iter().any(|it| {
            let path = paths::resolved(it, state);
            super::files::is_everything(path.trim_end_matches('/'))
        });
        let far = call.args.first().is_none_or(|it| {
            let path = paths::resolved(it, state);
            path.starts_with(['/', '.']) && path != "."
        });
        // Certificates and the like of the work are no secret of somebody else, unless they are shown.
        let shown = call.pairs().any(|it| it.0.starts_with("-exec") && SHOWING.contains(&it.1));
        let named = call.pairs().any(|(flag, name)| {
            matches!(flag, "-name" | "-iname" | "-path")
                && (far || shown || !name.starts_with('*'))
                && SECRET_FILES.contains(&name)
        });
        // These take a name without a flag before it.
        let by_name = matches!(call.name.as_str(), "locate" | "plocate" | "mdfind" | "slocate")
            && call.operands().iter().any(|it| {
                let bare = it.trim_matches('*');
                SECRET_FILES.iter().any(|name| name.trim_matches('*') == bare)
            });
        if named || by_name {
            self.ask(Rule::Credentials, "it searches for secrets");
        }
        let is_special =
            |it: &str| ["4000", "2000", "6000", "=s", "+s"].iter().any(|mode| it.contains(mode));
        if call.pairs().any(|it| it.0 == "-perm" && is_special(it.1)) {
            self.ask(Rule::PrivilegeSearch, "it searches for programs that run as their owner");
        }
    }
}

/// A description of a container that can reach the machine it runs on.
fn opens_machine(manifest: &str) -> bool {
    let opening = ["privileged: true", "hostPID: true", "hostNetwork: true", "hostIPC: true"];
    opening.iter().any(|it| manifest.contains(it))
        || (manifest.contains("hostPath") && manifest.contains("path: /"))
}

/// Not of the work: the system's, or somebody's home.
fn is_far(place: &str, state: &State) -> bool {
    let path = paths::resolved(place, state);
    let everybody = ["/etc", "/home", "/Users", "/opt", "/srv", "/var", "/root", "/mnt"];
    path.starts_with('/')
        && (paths::is_root(&path) || everybody.iter().any(|it| path.starts_with(it)))
}

static CLUSTER_VERBS: Words = Words::named("judge.cloud.CLUSTER_VERBS");
