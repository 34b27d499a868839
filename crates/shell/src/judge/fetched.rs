//! Programs that are fetched by an address and run at once, and parts that editors and browsers run from then on.
//!
//! A name of the registry that a tool has is a matter of the policy: it installs a package. An address is anybody's.

use crate::{Call, Class, Engine, Rows, Rule};

/// They fetch a package, and run it: words that stand before it.
static RUNNERS: Rows = Rows::named("judge.fetched.RUNNERS");
/// Beginnings of addresses that are none of the web's.
const ADDRESSES: [&str; 9] =
    ["bitbucket:", "gist:", "git+", "git://", "git@", "github:", "gitlab:", "hg+", "sourcehut:"];

impl Engine {
    pub(super) fn judge_fetched(&mut self, call: &Call<'_>) {
        if runs_an_address(call) {
            self.classes.insert(Class::Network);
            self.classes.insert(Class::PackageInstall);
            self.ask(Rule::RemoteCode, "it runs what somebody else's machine sends");
        }
        if extends(call) {
            self.classes.insert(Class::PackageInstall);
            self.ask(Rule::Persistence, "it installs what runs inside of another program");
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

/// `gh config set pager PROGRAM`, which `gh` runs from then on.
fn extends(call: &Call<'_>) -> bool {
    let is_run = |it: &String| matches!(it.as_str(), "editor" | "pager" | "browser");
    call.name == "gh"
        && call.words().get(..2).is_some_and(|it| it == ["config", "set"])
        && call.words().get(2).is_some_and(is_run)
        && !call.operands().get(3).is_some_and(|it| super::git_settings::is_known_program(it))
}
