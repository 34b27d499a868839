//! Where tools put what they unpack, copy or make: an option or an operand of theirs names it.

use super::files::{is_everything, is_unpacking};
use crate::{Access, Call, Engine, Rows, Rule, State, Words, marks, paths};

/// Options whose value is a file or a folder that is written, by command.
static OPTIONS: Rows = Rows::named("judge.landing.OPTIONS");
/// They change the files that they are given.
static CHANGING: Words = Words::named("judge.landing.CHANGING");

/// They unpack, pack or list.
const ARCHIVERS: [&str; 12] =
    ["7z", "7za", "7zr", "7zz", "bsdtar", "cpio", "gtar", "rar", "tar", "unar", "unrar", "unzip"];

impl Engine {
    pub(super) fn judge_landing(&mut self, call: &Call<'_>, state: &State) {
        let targets: Vec<String> = named(call).into_iter().chain(last(call)).collect();
        if unpacks(call) {
            // Without a place of its own, it is unpacked where `cd` went.
            let here = state.cwd.iter().filter(|_| targets.is_empty());
            let root = targets
                .iter()
                .chain(here)
                .map(|it| paths::resolved(it, state))
                .find(|it| is_everything(it.trim_end_matches('/')));
            if let Some(root) = root {
                let shown = marks::shown(&paths::homely(&root));
                self.ask(Rule::SystemWrite, format!("it unpacks over what is in `{shown}`"));
            }
            if call.name.ends_with("tar") && (letters(call, 'P') || call.has(&["--absolute-names"]))
            {
                self.ask(Rule::SystemWrite, "it unpacks to wherever the archive says");
            }
        }
        for path in targets {
            self.touch(Access::Write, &path, state);
            // Archives may be only looked at.
            if paths::resolved(&path, state) == "/" && !ARCHIVERS.contains(&call.name.as_str()) {
                self.ask(Rule::SystemWrite, "what it brings lies over the system then");
            }
            if call.name == "install" || call.name == "cp" || call.name == "mv" {
                self.fresh.insert(paths::resolved(&path, state));
            }
        }
        if call.name == "run-parts" {
            for folder in call.operands() {
                self.run_file(&format!("{folder}/part"), state);
            }
        }
        for (name, value) in exported(call) {
            self.judge_variable(&name, &value, state);
        }
        let changes = CHANGING.contains(&call.name.as_str());
        let in_place = !matches!(call.name.as_str(), "yq") || call.short('i');
        for path in call.operands().iter().filter(|it| changes && in_place && it.contains('/')) {
            self.touch(Access::Write, path, state);
        }
    }
}

/// Variables for everything that is started from then on.
fn exported(call: &Call<'_>) -> Vec<(String, String)> {
    let pair = |it: &String| it.split_once('=').map(|it| (it.0.to_owned(), it.1.to_owned()));
    match (call.name.as_str(), call.operands()) {
        ("systemctl", [verb, rest @ ..]) if verb == "set-environment" => {
            rest.iter().filter_map(pair).collect()
        }
        ("dbus-update-activation-environment", rest) => rest.iter().filter_map(pair).collect(),
        ("launchctl", [verb, name, value]) if verb == "setenv" => {
            vec![(name.clone(), value.clone())]
        }
        _ => Vec::new(),
    }
}

/// Does it take files out of an archive?
fn unpacks(call: &Call<'_>) -> bool {
    let first = call.words().first().map(String::as_str).unwrap_or_default();
    match call.name.as_str() {
        "tar" | "gtar" | "bsdtar" => {
            (letters(call, 'x') && !packs(call)) || call.has(&["--extract", "--get"])
        }
        "unzip" => !['l', 't', 'p', 'c', 'v', 'z', 'Z'].iter().any(|it| call.short(*it)),
        "7z" | "7za" | "7zz" | "7zr" | "unrar" | "rar" => matches!(first, "x" | "e"),
        "cpio" => ['i', 'p'].iter().any(|it| call.short(*it)) || call.has(&["--extract"]),
        "unar" => true,
        _ => false,
    }
}

/// Is it one of the letters that `tar` is told? Only the first word of them needs no sign before it.
fn letters(call: &Call<'_>, wanted: char) -> bool {
    let is_bare = |it: &String| !it.starts_with('-') && it.contains(wanted);
    call.short(wanted) || call.plain().first().is_some_and(is_bare)
}

/// The values of the options that name where.
fn named(call: &Call<'_>) -> Vec<String> {
    let options = OPTIONS.get(&call.name).unwrap_or_default();
    if options.is_empty() || (call.name.ends_with("tar") && packs(call)) {
        return Vec::new();
    }
    let args = call.args;
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let glued = options.iter().find_map(|option| {
            let rest = arg.strip_prefix(option)?;
            if option.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
        });
        let glued = glued.filter(|it| it.starts_with(['/', '~', '.']));
        let next = options.contains(&arg.as_str()).then(|| args.get(index + 1)).flatten();
        found.extend(glued.map(str::to_owned).or_else(|| next.cloned()));
    }
    found
}

/// The last operand, where it is the target.
fn last(call: &Call<'_>) -> Option<String> {
    let operands = call.operands();
    let is_target = match call.name.as_str() {
        "rsync" => operands.len() > 1,
        "git" => operands.len() > 2 && operands.first().is_some_and(|it| it == "clone"),
        "xxd" => call.short('r') && operands.len() > 1,
        "split" | "csplit" => operands.len() > 1,
        // Behind the word and the archive.
        "unrar" | "rar" => operands.len() > 2 && unpacks(call),
        _ => false,
    };
    let target = call.args.iter().rev().find(|it| !it.starts_with('-'));
    target.filter(|it| is_target && !it.contains(':')).cloned()
}

/// `tar -C DIR -c` reads there. Told to do both, it does the other.
fn packs(call: &Call<'_>) -> bool {
    if call.plain().iter().enumerate().any(|(at, it)| is_unpacking(it, at == 0)) {
        return false;
    }
    let creates = |it: &String| {
        let letters = it.strip_prefix('-').unwrap_or(it);
        !letters.starts_with('-') && letters.contains('c') && !letters.contains('/')
    };
    call.plain().first().is_some_and(creates)
        || call.plain().iter().any(|it| it == "--create" || (it.starts_with('-') && creates(it)))
}
