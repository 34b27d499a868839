//! Programs that are fetched by an address and run at once, and parts that editors and browsers run from then on.
//!
//! A name of the registry that a tool has is a matter of the policy: it installs a package. An address is anybody's.

use super::super::Class;
use super::super::engine::Engine;
use super::super::simple::Call;
use super::option;
use crate::Rule;
use crate::tables::Rows;
use crate::tables::Words;

/// They fetch a package, and run it: words that stand before it.
static RUNNERS: Rows = Rows::named("judge.fetched.RUNNERS");
/// Beginnings of addresses that are none of the web's.
const ADDRESSES: [&str; 9] =
    ["bitbucket:", "gist:", "git+", "git://", "git@", "github:", "gitlab:", "hg+", "sourcehut:"];
/// Editors that take parts of others.
static EDITORS: Words = Words::named("judge.fetched.EDITORS");
/// Programs of one house with a word for it.
static PLUGGED: Words = Words::named("judge.fetched.PLUGGED");

impl Engine<'_> {
    pub(super) fn judge_fetched(&mut self, call: &Call<'_>) {
        if runs_an_address(call) {
            self.classes.insert(Class::Network);
            self.classes.insert(Class::PackageInstall);
            self.ask(Rule::RemoteCode, "it runs what somebody else's machine sends");
        }
        if extends(call) {
            self.classes.insert(Class::PackageInstall);
            self.classes.insert(Class::Persistence);
            self.ask(Rule::Persistence, "it installs what runs inside of another program");
        }
        // Flags and wrappers for every later build, and where it fetches from.
        if call.name == "go"
            && call.words().first().is_some_and(|it| it == "env")
            && call.has(&["-w"])
        {
            self.classes.insert(Class::Persistence);
            self.ask(Rule::Persistence, "every later build of `go` does what it says");
        }
    }
}

fn runs_an_address(call: &Call<'_>) -> bool {
    let operands = call.operands();
    let first = operands.first().map(String::as_str).unwrap_or_default();
    if call.name == "go" {
        // With a version it is none of those that the work has chosen.
        let is_module = |it: &String| {
            let (path, version) = it.split_once('@').unwrap_or((it, ""));
            let host = path.split('/').next().unwrap_or_default();
            !version.is_empty() && host.contains('.') && !path.starts_with(['.', '/'])
        };
        return first == "run" && operands.get(1..).unwrap_or_default().iter().any(is_module);
    }
    let name = call.name.as_str();
    let Some(verbs) = RUNNERS.get(name) else { return false };
    if !verbs.is_empty() && !verbs.contains(&first) {
        return false;
    }
    let behind = operands.get(usize::from(!verbs.is_empty())..).unwrap_or_default();
    let is_address = |it: &String| ADDRESSES.iter().any(|begin| it.starts_with(begin));
    let is_listed = |it: &String| {
        let value = it.split_once('=').map_or(it.as_str(), |it| it.1);
        it.starts_with('-') && ADDRESSES.iter().any(|begin| value.starts_with(begin))
    };
    let is_web = |it: &String| name == "deno" && it.contains("://");
    behind.iter().any(|it| is_address(it) || is_web(it))
        || call.plain().iter().any(is_listed)
        || behind.first().is_some_and(|it| has_owner(name, it))
}

/// `owner/name`, which `npm` and its like take for a place of a forge; `@scope/name` is of the registry.
fn has_owner(name: &str, package: &str) -> bool {
    let is_of_npm = matches!(name, "bun" | "bunx" | "npm" | "npx" | "pnpm" | "pnpx" | "yarn");
    let is_word = |it: &str| {
        !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.#".contains(&it))
    };
    is_of_npm
        && !package.starts_with(['.', '/', '~', '@'])
        && package.split_once('/').is_some_and(|(owner, name)| is_word(owner) && is_word(name))
}

/// Does it put something into an editor, a browser or a tool that these run from then on?
fn extends(call: &Call<'_>) -> bool {
    let words = call.words();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    let loads = |it: &String| {
        it.starts_with("--load-extension") || it.starts_with("--disable-extensions-except")
    };
    match call.name.as_str() {
        name if EDITORS.contains(&name) => option(call, None, "install-extension"),
        name if PLUGGED.contains(&name) => first == "installplugins",
        name if ["chrom", "google-chrome", "brave", "microsoft-edge", "vivaldi", "opera"]
            .iter()
            .any(|it| name.starts_with(it)) =>
        {
            call.plain().iter().any(loads)
        }
        "gh" => match (first, second) {
            ("extension" | "extensions" | "ext", "install") => true,
            ("alias", "set" | "import") => {
                option(call, Some('s'), "shell")
                    || second == "import"
                    || call.plain().iter().any(|it| it.starts_with('!'))
            }
            ("config", "set") => {
                words.get(2).is_some_and(|it| matches!(it.as_str(), "editor" | "pager" | "browser"))
                    && !call
                        .operands()
                        .get(3)
                        .is_some_and(|it| super::git_settings::is_known_program(it))
            }
            _ => false,
        },
        "gnome-extensions" => matches!(first, "install" | "enable"),
        "jupyter" => first == "labextension" && second == "install",
        "apm" => first == "install",
        _ => false,
    }
}
