//! What a command with its arguments means: the blocklist first, then everything else.

mod agents;
mod apple;
mod behind;
mod blocklist;
mod brought;
mod burden;
mod cloud;
mod codes;
mod compiled;
mod containers;
mod doors;
mod fetched;
mod files;
mod git_settings;
mod given;
mod here;
mod landing;
mod network;
mod offensive;
mod options;
mod planted;
mod pushed;
mod remade;
mod repos;
mod repositories;
mod rules;
mod sed;
mod sending;
mod services;
mod system;
mod watching;
mod worktree;

pub use blocklist::Blocklist;
pub(super) use blocklist::erases;
pub(super) use brought::UNNAMED;
pub(super) use containers::leads_to_containers;
pub(super) use doors::changes_group;
pub(super) use files::is_everything;
pub(super) use git_settings::is_ssh;
pub(super) use here::is_of_this_machine;
pub(super) use options::{Given, Options};
pub(super) use rules::is_true;
pub(super) use watching::attaches;

use crate::{Access, Call, Engine, HOLE, Rule, State, Words, marks, names, text};

/// Commands whose arguments are words, not places.
static SAYING: Words = Words::named("judge.SAYING");
/// Options whose value is a command: what stands behind the sign is run.
static CARRYING: Words = Words::named("judge.CARRYING");
/// Editors and pagers that run what follows `!`.
const ESCAPING: [&str; 9] = ["vi", "vim", "nvim", "ex", "view", "less", "more", "ed", "gdb"];
/// Databases, which take statements.
pub(super) static DATABASES: Words = Words::named("judge.DATABASES");
/// Editors with a language of their own.
const EDITORS: [&str; 7] = ["vi", "vim", "nvim", "ex", "view", "emacs", "emacsclient"];

impl Engine {
    /// Judges one command.
    pub(super) fn judge(&mut self, call: &Call<'_>, state: &mut State) {
        self.step(call);
        self.judge_blocklist(call, state);
        if call.path.contains('/') {
            self.run_file(&call.path, state);
            let path = super::paths::resolved(&call.path, state);
            if let Some(text) = state.file(&path) {
                self.run_text(&text, &mut state.clone(), None);
            }
        }
        self.judge_files(call, state);
        self.judge_landing(call, state);
        self.judge_network(call, state);
        self.judge_brought(call, state);
        self.judge_system(call, state);
        self.judge_cloud(call, state);
        self.judge_repos(call);
        self.judge_repositories(call, state);
        self.judge_fetched(call);
        self.judge_agents(call);
        self.judge_doors(call);
        self.judge_worktree(call, state);
        self.judge_pushed(call);
        self.judge_sending(call, state);
        self.judge_burden(call);
        self.judge_arguments(call, state);
        self.judge_words(call, state);
    }

    /// Places that are named, whatever the command does with them.
    fn judge_arguments(&mut self, call: &Call<'_>, state: &State) {
        if SAYING.contains(&call.name.as_str()) {
            return;
        }
        let text = searched_for(call);
        let target = call.args.last().filter(|_| files::fills_sample(call, state));
        for (index, arg) in call.args.iter().enumerate() {
            if text == Some(index) || Some(arg) == target {
                continue;
            }
            let value = match arg.split_once('=') {
                Some((name, value)) if name.starts_with('-') || name.len() <= 12 => value,
                Some(_) | None => arg.trim_start_matches('@'),
            };
            // `curl -F file=@/etc/passwd`, `-o/etc/passwd`.
            let value = value.trim_start_matches('@').trim_start_matches("file:");
            let value = value.split('?').next().unwrap_or(value);
            let place = value.find('/').filter(|_| value.starts_with('-'));
            let value = place.and_then(|it| value.get(it..)).unwrap_or(value);
            // `pod:/etc/shadow`: of another machine or a container, and a secret all the same.
            let there = value.split_once(":/").filter(|it| {
                !it.0.contains('/')
                    || (call.name == "kubectl" && !it.0.starts_with(['/', '.', '~']))
            });
            let value = match there {
                Some((host, _))
                    if super::paths::is_secret(value.get(host.len() + 1..).unwrap_or_default()) =>
                {
                    value.get(host.len() + 1..).unwrap_or(value)
                }
                Some(_) | None => value,
            };
            let is_place = value.contains('/') || value.starts_with('.') || is_reader(&call.name);
            let is_address = value.contains(':') && value.contains("://");
            if is_place && !is_address && !value.starts_with('-') && !value.is_empty() {
                self.touch(Access::Read, value, state);
                if is_reader(&call.name) && super::paths::is_disk(value) {
                    self.ask(Rule::RawDevice, "it reads a disk past what its files allow");
                }
            }
        }
    }

    fn judge_words(&mut self, call: &Call<'_>, state: &mut State) {
        let name = call.name.as_str();
        self.judge_tool(call);
        for text in given(call) {
            self.run_quietly(text, state);
            self.ask(Rule::Carried, "an option says what to run");
        }
        for arg in call.plain() {
            // Each of them has one of these signs.
            let may_carry = arg.contains(['=', ' ']);
            let carried = CARRYING.iter().filter(|_| may_carry).find_map(|it| arg.split_once(it));
            if let Some((_, text)) = carried {
                self.run_quietly(text, state);
                self.ask(Rule::Carried, "an option says what to run");
            }
            let arg = arg.trim_start_matches('+');
            let escaped = || given::escaped(arg).or(arg.contains("set shell=").then_some(arg));
            if ESCAPING.contains(&name)
                && let Some(text) = escaped()
            {
                self.run_text(text, &mut state.clone(), None);
                self.ask(Rule::Spawn, format!("`{name}` runs a command"));
            }
        }
        if names::MAKES.contains(&name) {
            let options = Options::of(call.plain(), "fCI", &["file", "makefile", "directory"]);
            let files = options.values("f", "file").chain(options.values("", "makefile"));
            let folders = options.values("C", "directory").map(|it| format!("{it}/Makefile"));
            for file in files.map(str::to_owned).chain(folders) {
                self.touch(Access::Execute, &file, state);
                if state.files.contains_key(&super::paths::resolved(&file, state)) {
                    self.ask(Rule::FreshRun, "it runs recipes that it wrote before");
                }
            }
        }
        self.judge_editors(call, state);
        self.judge_escapes(call, state);
        self.judge_told(call, state);
        self.judge_behind(call, state);
        if DATABASES.contains(&name) {
            let given = call.stdin.map(text).unwrap_or_default();
            let told = format!("{}\n{given}", call.plain().join(" "));
            self.judge_named("SQL", &told.to_lowercase());
        }
        if call.stdin.is_some() && !SAYING.contains(&name) {
            self.mentions(call, state);
        }
    }

    /// What programs of editors run or write.
    fn judge_editors(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        if EDITORS.contains(&name) {
            for arg in call.plain().iter().filter(|it| it.contains(['(', ' '])) {
                self.code(arg, state, 0);
            }
        }
        if !matches!(name, "sed" | "gsed") {
            return;
        }
        for program in call.operands() {
            self.judge_planted(program);
        }
        let options = Options::of(call.plain(), "efl", &["expression", "file"]);
        let told: Vec<&str> = options.values("e", "expression").collect();
        // Behind `-i`, some take the ending of a copy for a word of its own.
        let is_ending = |it: &&str| it.is_empty() || it.starts_with('.');
        let mut words = options.words.iter().copied().skip_while(is_ending);
        let first = words.next().filter(|_| told.is_empty() && !options.has("f", "file"));
        for program in told.iter().copied().chain(first).map(sed::read) {
            for path in program.writes {
                self.touch(Access::Write, path, state);
                self.fresh.insert(super::paths::resolved(path, state));
            }
            for text in program.runs {
                self.run_text(text, &mut state.clone(), None);
                self.ask(Rule::Spawn, "`sed` runs a command");
            }
        }
    }
}

/// Which argument of a search is what it looks for, and no place.
fn searched_for(call: &Call<'_>) -> Option<usize> {
    const SEARCHING: [&str; 7] = ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"];
    const VALUED: [&str; 12] =
        ["-A", "-B", "-C", "-m", "-d", "-D", "-g", "-t", "-T", "--color", "-j", "--max-count"];
    let plain = call.plain();
    let elsewhere = |it: &String| {
        let letters = it.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
        letters.contains(['e', 'f']) || it.starts_with("--regexp") || it.starts_with("--file")
    };
    if !SEARCHING.contains(&call.name.as_str()) || plain.iter().any(elsewhere) {
        return None;
    }
    let mut at = 0;
    while let Some(arg) = plain.get(at).filter(|it| it.starts_with('-')) {
        at += if VALUED.contains(&arg.as_str()) { 2 } else { 1 };
    }
    (at < plain.len()).then_some(at)
}

/// These read the files that they are given, with or without a slash in the name.
fn is_reader(name: &str) -> bool {
    [
        "cat", "tac", "less", "more", "head", "tail", "nl", "od", "xxd", "strings", "base64",
        "grep", "egrep", "fgrep", "rg", "awk", "sed", "sort", "cut", "wc", "source", "zip", "tar",
        "gzip", "cp", "vim", "vi", "nano", "emacs", "sqlite3", "hexdump", "diff", "tee",
    ]
    .contains(&name)
}

/// Commands of debuggers that run nothing but the program.
static DEBUGGING: Words = Words::named("judge.DEBUGGING");

/// Values of options that are run: `rsync -e sh`, `tar -I sh`, `git config alias.x '!sh'`.
fn given<'a>(call: &'a Call<'_>) -> Vec<&'a str> {
    let flags: &[&str] = match call.name.as_str() {
        "tar" | "bsdtar" | "gtar" => &["-I", "-F", "--to-command", "--info-script"],
        "zip" => &["-TT"],
        "expect" => &["-c"],
        "gdb" | "lldb" => &["-ex", "-o"],
        _ => &[],
    };
    // A debugger has commands of its own; some of them run others.
    let debugs = matches!(call.name.as_str(), "gdb" | "lldb");
    let runs = |it: &&str| !debugs || !DEBUGGING.contains(&it.trim());
    let plain = call.plain();
    let valued = call.pairs().filter(|it| flags.contains(&it.0)).map(|it| it.1);
    // `rsync -avze TEXT`: letters in one word.
    let options = Options::of(plain, "efBMT", &[]);
    let shells: Vec<&str> = options.values("e", "").filter(|_| call.name == "rsync").collect();
    let told = plain.iter().filter(|_| call.name == "git");
    let told = told.filter_map(|it| it.strip_prefix('!').or_else(|| Some(it.split_once("=!")?.1)));
    let valued = valued.chain(shells).filter(runs);
    let words = valued.map(|it| it.trim_start_matches("shell ").trim_start_matches("spawn "));
    words.filter(|it| !is_ssh(it)).chain(told).collect()
}

/// `-x`, `--long` or `--long=…`.
fn option(call: &Call<'_>, short: Option<char>, long: &str) -> bool {
    let is_long = |it: &String| {
        it.strip_prefix("--")
            .is_some_and(|it| it.split('=').next().is_some_and(|it| !it.is_empty() && it == long))
    };
    short.is_some_and(|it| call.short(it)) || call.plain().iter().any(is_long)
}

/// The same, and any beginning of the name: most programs take that for it.
fn abbreviated(call: &Call<'_>, short: Option<char>, long: &str) -> bool {
    let is_long = |it: &String| {
        let name = it.strip_prefix("--").and_then(|it| it.split('=').next()).unwrap_or_default();
        !name.is_empty() && long.starts_with(name)
    };
    short.is_some_and(|it| call.short(it))
        || call.plain().iter().take_while(|it| *it != "--").any(is_long)
}

fn has_unknown(call: &Call<'_>) -> bool {
    call.args.iter().any(|it| marks::has_hole(it)) || call.path.contains(HOLE)
}
