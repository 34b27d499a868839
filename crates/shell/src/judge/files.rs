//! Commands that change files: what they write, whom they let in, what they pack.

use super::option;
use super::options::Options;
use crate::{Access, Call, Engine, HOME, Rule, State, Words, marks, names, paths};

/// The last argument is written; the others are read.
const COPYING: [&str; 8] = ["cp", "mv", "install", "ln", "ditto", "gcp", "gmv", "rename"];
/// All arguments are written.
static WRITING: Words = Words::named("judge.files.WRITING");
static PACKING: Words = Words::named("judge.files.PACKING");
/// They compile and run what they are given.
static RUNNING: Words = Words::named("judge.files.RUNNING");
/// How the names of their sources end.
static SOURCES: Words = Words::named("judge.files.SOURCES");
/// Folders of a home that programs make for what a person keeps.
const PERSONAL: [&str; 5] = ["Documents", "Desktop", "Pictures", "Downloads", "Library"];
/// Directories of which a copy of everything is a loot.
const LOOT: [&str; 9] =
    ["/etc", "/var", "/var/log", "/home", "/Users", "/root", "/", "/var/spool/mail", "/var/mail"];

impl Engine {
    pub(super) fn judge_files(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let operands: Vec<&String> = call.args.iter().filter(|it| !it.starts_with('-')).collect();
        if COPYING.contains(&name)
            && let Some((target, sources)) = operands.split_last()
        {
            self.copied(call, sources, target, state);
            let options = Options::of(call.args, "tS", &["target-directory", "suffix"]);
            let folders = options.values("t", "target-directory");
            self.moved.extend(folders.map(|it| paths::resolved(it, state)));
        }
        if WRITING.contains(&name) {
            for path in &operands {
                self.touch(Access::Write, path, state);
                if name != "mkdir" {
                    self.fresh.insert(paths::resolved(path, state));
                }
            }
        }
        self.judge_emptied(call, &operands, state);
        let edits = option(call, Some('i'), "in-place");
        if matches!(name, "sed" | "gsed" | "perl" | "ruby") && edits {
            for path in operands.iter().skip(1) {
                self.touch(Access::Write, path, state);
            }
        }
        match name {
            "chmod" | "gchmod" => self.judge_chmod(call, &operands, state),
            "chown" | "chgrp" | "chattr" | "setfacl" if are_own(&operands, state) => {}
            "chown" | "chgrp" => {
                self.ask(Rule::Permissions, "it gives files to somebody else");
            }
            "chattr" | "setfacl" => {
                self.ask(Rule::Permissions, format!("`{name}` changes what files may do"));
            }
            "touch" if changes_times(call, state) => {
                self.ask(Rule::LogTampering, "it gives files another time");
            }
            _ => {}
        }
        self.judge_compiled(call, state);
        let runs = RUNNING.contains(&name) || (name == "go" && call.has(&["run"]));
        if runs {
            for path in operands.iter().filter(|it| it.as_str() != "run") {
                let is_source = path.contains('/') || SOURCES.iter().any(|it| path.ends_with(it));
                if is_source {
                    self.run_source(path, state);
                }
            }
            self.judge_classes(call, state);
            if call.has(&["-"]) {
                self.code_on_stdin(call, state);
            }
        }
        if names::MAKES.contains(&name) {
            for path in &operands {
                self.fresh.insert(paths::resolved(path, state));
            }
        }
        self.judge_packing(call, &operands, state);
    }

    /// What is deleted after a search, or has nothing left in it.
    fn judge_emptied(&mut self, call: &Call<'_>, operands: &[&String], state: &State) {
        let name = call.name.as_str();
        // What deletes the files themselves is judged with the blocklist.
        if name == "truncate" && self.swept && self.stages > 1 {
            self.ask(Rule::Erase, "it deletes what was found everywhere");
        }
        // Nothing is left of what was in it.
        let far = |it: &&String| {
            let path = paths::resolved(it, state);
            path.starts_with('/') && !paths::is_shared(&path)
        };
        if name == "truncate" && operands.iter().any(far) {
            self.ask(Rule::Erase, "it takes away what is in files outside of the work");
        }
    }

    fn copied(&mut self, call: &Call<'_>, sources: &[&String], target: &str, state: &State) {
        if fills_sample(call, state) {
            self.note(Access::Write, target, state);
        } else {
            self.touch(Access::Write, target, state);
        }
        let in_folder = target.ends_with('/');
        let target = paths::resolved(target, state);
        match call.name.as_str() {
            // Only a run would show what it makes of the names.
            "rename" => drop(self.moved.insert(marks::HOLE.to_string())),
            // A link here, with the name of what it leads to.
            "ln" if sources.is_empty() => {
                let last = target.rsplit('/').next().unwrap_or_default();
                self.moved.insert(paths::resolved(last, state));
            }
            _ if in_folder || target == "." => {}
            _ => drop(self.moved.insert(target.clone())),
        }
        if target.rsplit_once("/bin/").is_some_and(|it| names::matters(it.1)) {
            self.ask(Rule::Masquerade, "a program gets the name of another");
        }
        for source in sources {
            let from = paths::resolved(source, state);
            let is_program = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/"]
                .iter()
                .any(|it| from.starts_with(it));
            if is_program && call.name != "ln" {
                self.ask(Rule::Masquerade, "a program of the system gets another name");
            }
            if call.name == "mv" {
                if paths::is_root(&from) {
                    self.deny(Rule::EraseRoot, "it takes everything away from where it is");
                }
                self.touch(Access::Delete, source, state);
            }
            // `find ~ -exec cp {} …`, `cp /home/$(whoami)`.
            if parent_of_found(&from) || (LOOT.contains(&from.as_str()) && call.name != "ln") {
                self.ask(Rule::Collection, "it gathers what it finds of a person or the system");
            }
            let last = from.rsplit('/').next().unwrap_or_default();
            let inside = format!("{}/{last}", target.trim_end_matches('/'));
            self.moved.insert(paths::resolved(&inside, &State::default()));
            if in_folder {
                self.touch(Access::Write, &inside, &State::default());
            }
            self.fresh.insert(inside);
        }
        self.fresh.insert(target);
    }

    fn judge_chmod(&mut self, call: &Call<'_>, operands: &[&String], state: &State) {
        let mode = operands.first().map(|it| marks::plain(it)).unwrap_or_default();
        let mode =
            if call.has(&["+x", "a+x", "u+x", "+rx", "+rwx"]) { "+x".to_owned() } else { mode };
        for path in operands.iter().skip(1) {
            self.touch(Access::Write, path, state);
            // A file of the work may be run, and so it may be made one that can.
            if !is_of_work(path, state) {
                self.fresh.insert(paths::resolved(path, state));
            }
        }
        let octal = mode.bytes().all(|it| it.is_ascii_digit()) && !mode.is_empty();
        let special = octal && mode.len() > 3 && !mode.starts_with('0');
        let world =
            octal && mode.bytes().last().is_some_and(|it| matches!(it, b'2' | b'3' | b'6' | b'7'));
        let symbolic = !octal
            && mode.split(',').any(|it| {
                let who = it.split(['+', '=', '-']).next().unwrap_or_default();
                let what = it.split(['+', '=']).nth(1).unwrap_or_default();
                what.contains('s')
                    || (what.contains('w') && (who.contains(['a', 'o']) || who.is_empty()))
            });
        let far = operands.iter().skip(1).any(|it| it.starts_with('/'));
        let recursive = option(call, Some('R'), "recursive");
        if special || (symbolic && mode.contains('s')) {
            self.ask(Rule::Permissions, "it makes a program run as its owner");
        } else if world || symbolic {
            self.ask(Rule::Permissions, "it lets everybody write");
        } else if far || (recursive && octal) {
            self.ask(Rule::Permissions, "it changes who may do what");
        }
    }

    fn judge_packing(&mut self, call: &Call<'_>, operands: &[&String], state: &State) {
        let name = call.name.as_str();
        let plain = call.plain();
        if PACKING.contains(&name) && self.swept && self.stages > 1 {
            self.ask(Rule::Collection, "it packs what was found everywhere");
        }
        if PACKING.contains(&name) {
            let extracts = matches!(name, "tar" | "bsdtar" | "gtar")
                && plain.iter().enumerate().any(|(at, it)| is_unpacking(it, at == 0));
            let skip = usize::from(matches!(name, "zip" | "7z" | "7za" | "rar"));
            // Names in an archive have no slash before them.
            for member in operands.iter().filter(|it| extracts && !it.starts_with('/')) {
                if paths::is_secret(&format!("/{}", marks::plain(member))) {
                    self.touch(Access::Read, &format!("/{member}"), &State::default());
                }
            }
            for path in operands.iter().skip(skip).filter(|_| !extracts) {
                let resolved = paths::resolved(path, state);
                let resolved = paths::from_root(&resolved).unwrap_or(resolved);
                let homely = paths::homely(&resolved);
                let below_home = homely.strip_prefix("~/").unwrap_or("x");
                let all_home =
                    homely == "~" || below_home.starts_with(marks::UNSET) || below_home.is_empty();
                let parent = resolved.rsplit_once('/').map(|it| it.0).unwrap_or_default();
                let in_log = resolved.starts_with("/var/log/");
                let all = LOOT.contains(&resolved.as_str())
                    || (LOOT.contains(&parent) && marks::has_pattern(&resolved))
                    || is_of_everybody(&resolved);
                let found = parent_of_found(&resolved);
                if all || all_home || in_log || found || is_personal(&resolved) {
                    self.ask(Rule::Collection, "it packs everything of a person or the system");
                }
            }
        }
        let far = |it: &&String| LOOT.contains(&paths::resolved(it, state).as_str());
        if name == "rsync" && operands.len() > 1 && operands.first().is_some_and(far) {
            self.ask(Rule::Collection, "it copies everything of people or the system");
        }
        if matches!(name, "cp" | "mv")
            && operands.iter().any(|it| it.contains("/Mail") || it.contains("/mail/"))
        {
            self.ask(Rule::Collection, "it takes mail");
        }
    }
}

/// Whatever is found in a folder that holds everything of a person or the system.
fn parent_of_found(path: &str) -> bool {
    let Some((parent, last)) = path.rsplit_once('/') else { return false };
    let is_hole = last.chars().all(|it| it == marks::HOLE) && !last.is_empty();
    is_hole && is_everything(parent)
}

/// `/home/*/Documents`: of each of them.
fn is_of_everybody(path: &str) -> bool {
    ["/home/", "/Users/"].iter().any(|it| {
        let who = path.strip_prefix(it).and_then(|it| it.split('/').next());
        who.is_some_and(marks::has_pattern)
    })
}

/// A folder that holds everything of a person or the system.
pub(in super::super) fn is_everything(path: &str) -> bool {
    let whose = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    let is_home = whose.is_some_and(|it| !it.is_empty() && !it.contains('/'));
    path.is_empty() || path == HOME || LOOT.contains(&path) || is_home
}

/// `~/Documents`: what a person keeps, and no work.
fn is_personal(path: &str) -> bool {
    let path = path.trim_end_matches('*').trim_end_matches('/');
    path.rsplit_once('/').is_some_and(|(home, folder)| {
        home != "/" && PERSONAL.contains(&folder) && is_everything(home)
    })
}

/// Surely a file of the work.
pub(super) fn is_of_work(path: &str, state: &State) -> bool {
    let is_known = |it: &str| !marks::has_hole(it) && !it.contains(marks::UNSET);
    let is_below =
        |it: &str| !it.starts_with(['/', '~']) && !it.split('/').any(|part| part == "..");
    let cwd = state.cwd.as_deref().unwrap_or(".");
    [path, cwd, &paths::resolved(path, state)].iter().all(|it| is_known(it) && is_below(it))
}

/// Who or what, and then only files of the work: nobody else has less or more for it.
fn are_own(operands: &[&String], state: &State) -> bool {
    let Some((who, files)) = operands.split_first() else { return false };
    // However many noughts it has: who has none is root.
    let is_nought = |it: &str| it.ends_with('0') && it.trim_start_matches(['+', '0']).is_empty();
    let is_root = who.split([':', '.']).any(|it| matches!(it, "root" | "wheel") || is_nought(it));
    let is_own = |it: &&String| {
        let is_plain = !marks::has_pattern(it)
            && !marks::has_hole(it)
            && !it.split('/').any(|part| part == "..");
        is_plain && state.cwd.is_none() && !paths::resolved(it, state).starts_with('/')
    };
    !is_root && !marks::has_hole(who) && !files.is_empty() && files.iter().all(is_own)
}

/// `x`, `-tf`, `--extract`: what `tar` does with what is there. Only the first letters need no sign before them.
pub(super) fn is_unpacking(arg: &str, is_first: bool) -> bool {
    let letters = arg.strip_prefix('-').or(is_first.then_some(arg)).unwrap_or_default();
    let is_short = letters.bytes().all(|it| it.is_ascii_alphabetic());
    matches!(arg, "--extract" | "--get" | "--list")
        || (is_short && letters.contains(['x', 't']) && !letters.contains(['c', 'r', 'u']))
}

/// `touch -t`, `-d`, `-r`: another time than now, for files that are not the work's, or one that something else has.
fn changes_times(call: &Call<'_>, state: &State) -> bool {
    let options = Options::of(call.args, "tdr", &["date", "reference", "time"]);
    let sets = ["date", "reference", "time"].iter().any(|it| options.has("tdr", it));
    let mut places = options.words.iter().copied().chain(options.values("r", "reference"));
    sets && !places.all(|it| is_of_work(it, state))
}

/// What a work has for others to fill in: `cp .env.example .env`.
pub(super) fn fills_sample(call: &Call<'_>, state: &State) -> bool {
    let [from, to] = call.operands() else { return false };
    let is_sample = |ending: &&str| from.strip_suffix(*ending) == Some(to);
    call.name == "cp"
        && [from, to].iter().all(|it| is_of_work(it, state))
        && [".example", ".sample", ".template", ".dist"].iter().any(is_sample)
}
