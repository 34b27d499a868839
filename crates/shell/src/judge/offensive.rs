//! Tools of attackers, by their names and by the names of the scripts that are run.

use crate::{Call, Engine, Rule, Words, names};

/// What is worth a question on its own, whatever its arguments.
static TOOLS: Words = Words::named("judge.offensive.TOOLS");
/// Questions to a directory whose answers are the accounts that can be broken.
const QUESTIONS: [&str; 3] =
    ["1.2.840.113556.1.4.803:=4194304", "1.2.840.113556.1.4.803:=524288", "serviceprincipalname=*"];
/// A script with one of these in its name says what it is for.
static TELLTALE: Words = Words::named("judge.offensive.TELLTALE");

impl Engine {
    /// A command that is named.
    pub(super) fn judge_tool(&mut self, call: &Call<'_>) {
        let fetched = call.plain().iter().filter(|it| it.contains("://") || it.starts_with("git@"));
        let fetched = fetched.filter_map(|it| it.trim_end_matches('/').rsplit('/').next());
        if is_tool(&call.name) || fetched.into_iter().any(|it| is_tool(&it.to_lowercase())) {
            self.ask(Rule::Offensive, format!("`{}` is a tool of attackers", call.name));
        }
        // The sum of a password in its place.
        if call.words().iter().any(|it| it.starts_with("/pth:")) {
            self.ask(Rule::Offensive, "it logs in with a password that it does not know");
        }
        let asks = |it: &String| QUESTIONS.iter().any(|question| it.contains(question));
        if call.name.starts_with("ldap") && call.words().iter().any(asks) {
            self.ask(Rule::Offensive, "it asks for accounts whose passwords can be broken");
        }
    }

    /// A file that is run.
    pub(in super::super) fn judge_run(&mut self, path: &str) {
        let name = names::base(path);
        if is_tool(&name) || TELLTALE.iter().any(|it| name.contains(it)) {
            self.ask(Rule::Offensive, format!("`{name}` is a tool of attackers"));
        }
    }
}

/// `pspy64`, `linpeas.sh`, `psexec.py`, `chisel_1.9.1_linux_amd64`, `xmrig-6.21`: the name is what comes first, and
/// behind it stands only which one it is.
fn is_tool(name: &str) -> bool {
    let known = |it: &str| TOOLS.binary_search(&it).is_ok();
    let stem = name.split_once('.').map_or(name, |it| it.0);
    let bare = stem.trim_end_matches('s').trim_end_matches(|it: char| it.is_ascii_digit());
    let built = stem.split_once(['-', '_']).filter(|(first, rest)| {
        let which = ["linux", "v", "main", "master", "dev"].iter().any(|it| rest.starts_with(it));
        which || rest.starts_with(|it: char| it.is_ascii_digit()) || *first == "impacket"
    });
    [name, stem, bare].into_iter().any(known) || built.is_some_and(|it| known(it.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_in_order() {
        assert!(TOOLS.is_sorted(), "a search by halves needs it");
    }

    #[test]
    fn versions_and_kinds_are_no_part_of_a_name() {
        for name in [
            "pspy64",
            "pspy64s",
            "linpeas.sh",
            "chisel_1.9.1_linux_amd64",
            "xmrig-6.21",
            "psexec.py",
        ] {
            assert!(is_tool(name), "{name}");
        }
        for name in ["hydra-check", "johnny", "john_doe.py", "streaming", "sprayer", "ls"] {
            assert!(!is_tool(name), "{name}");
        }
    }
}
