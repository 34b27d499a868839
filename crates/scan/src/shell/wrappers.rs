//! Commands that run other commands: prefixes, shells, `find -exec`, `xargs`.

use super::engine::{Engine, Output, unknown};
use super::marks::{self, HOLE};
use super::simple::{Call, known};
use super::state::State;
use super::{Class, names, paths};

/// A prefix: its options that take a value, and how many words come before the command.
struct Prefix {
    name: &'static str,
    values: &'static [&'static str],
    words: usize,
}

const fn prefix(name: &'static str, values: &'static [&'static str], words: usize) -> Prefix {
    Prefix { name, values, words }
}

const PREFIXES: [Prefix; 53] = [
    prefix("env", &["-u", "-C", "--unset", "--chdir"], 0),
    prefix("command", &[], 0),
    prefix("builtin", &[], 0),
    prefix("exec", &["-a"], 0),
    prefix("nohup", &[], 0),
    prefix("setsid", &[], 0),
    prefix("nice", &["-n", "--adjustment"], 0),
    prefix("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    prefix("chrt", &["-T", "-P", "-D"], 1),
    prefix("taskset", &[], 1),
    prefix("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    prefix("gtimeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    prefix("stdbuf", &["-i", "-o", "-e"], 0),
    prefix("time", &["-f", "-o", "--format", "--output"], 0),
    prefix("chroot", &["--userspec", "--groups"], 1),
    prefix("unshare", &["-S", "-G", "-R", "-w", "--setuid", "--setgid", "--root", "--wd"], 0),
    prefix("nsenter", &["-t", "-S", "-G", "--target", "--setuid", "--setgid"], 0),
    prefix("strace", &["-e", "-o", "-s", "-u", "-E", "-P", "-a", "-O", "-S"], 0),
    prefix("ltrace", &["-e", "-o", "-s", "-u", "-l", "-a", "-n", "-x"], 0),
    prefix("rlwrap", &["-f", "-b", "-C", "-D", "-H", "-l", "-p", "-P", "-q", "-s", "-S", "-t"], 0),
    prefix("torsocks", &[], 0),
    prefix("torify", &[], 0),
    prefix("proxychains", &["-f"], 0),
    prefix("proxychains4", &["-f"], 0),
    prefix("fakeroot", &["-l", "-i", "-s", "--lib"], 0),
    prefix("xvfb-run", &["-e", "-f", "-n", "-p", "-s", "-w"], 0),
    prefix("dbus-run-session", &[], 0),
    prefix("caffeinate", &["-t", "-w"], 0),
    prefix("unbuffer", &[], 0),
    prefix("catchsegv", &[], 0),
    prefix("numactl", &["-m", "-N", "-C", "-l"], 0),
    prefix("faketime", &["-f"], 1),
    prefix("setpriv", &[], 0),
    prefix("gosu", &[], 1),
    prefix("su-exec", &[], 1),
    prefix("setuidgid", &[], 1),
    prefix("chpst", &["-u", "-U", "-e", "-n", "-m"], 0),
    prefix("softlimit", &["-m", "-d", "-s"], 0),
    prefix("prlimit", &["-p", "--pid"], 0),
    prefix("cgexec", &["-g"], 0),
    prefix("firejail", &[], 0),
    prefix("eatmydata", &[], 0),
    prefix("linux64", &[], 0),
    prefix("linux32", &[], 0),
    prefix("setarch", &[], 1),
    prefix("busybox", &[], 0),
    prefix("toybox", &[], 0),
    prefix("sudo", SUDO, 0),
    prefix("doas", &["-u", "-C", "-a"], 0),
    prefix("pkexec", &["--user"], 0),
    prefix("sem", &["-j", "--id"], 0),
    prefix("noglob", &[], 0),
    prefix("nocorrect", &[], 0),
];
const SUDO: &[&str] = &[
    "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group",
    "--host", "--prompt", "--chdir", "--chroot", "--role", "--type",
];
/// These make another user of who runs the command.
const RAISING: [&str; 3] = ["sudo", "doas", "pkexec"];
/// Options of `xargs` that take a value.
const XARGS: &[&str] = &[
    "-n",
    "-P",
    "-L",
    "-d",
    "-a",
    "-E",
    "-s",
    "--max-args",
    "--max-procs",
    "--max-lines",
    "--delimiter",
    "--arg-file",
    "--max-chars",
    "--process-slot-var",
];

impl Engine<'_> {
    /// Runs what a command runs; `None` if it runs nothing else.
    pub(super) fn unwrap(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        let name = call.name.as_str();
        if names::is_shell(name) {
            return Some(self.shell(call, state));
        }
        match name {
            "find" | "gfind" | "fd" | "fdfind" => return self.find_exec(call, state),
            "xargs" | "gxargs" => return Some(self.xargs(call, state)),
            "parallel" => return Some(self.parallel(call, state)),
            "watch" | "entr" => {
                let rest = after_options(call.args, &["-n", "--interval", "-d"], 0);
                self.run_text(&joined(rest), state, None);
                return Some(unknown());
            }
            "su" | "runuser" | "sg" | "script" | "flock" | "capsh" => {
                return self.with_c(call, state);
            }
            "at" | "batch" => {
                if let Some(stdin) = call.stdin {
                    self.quiet += 1;
                    self.run_text(&super::engine::text(stdin), &mut state.clone(), None);
                    self.quiet -= 1;
                }
                return None;
            }
            _ => {}
        }
        if name.starts_with("ld-linux") || name.starts_with("ld-musl") {
            let rest = after_options(call.args, &["--library-path", "--preload"], 0);
            self.ask("shell-loader", "it starts a program through the loader");
            return Some(self.call(rest.to_vec(), state, call.stdin));
        }
        let prefix = PREFIXES.iter().find(|it| it.name == name)?;
        self.prefixed(prefix, call, state)
    }

    fn prefixed(&mut self, prefix: &Prefix, call: &Call<'_>, state: &mut State) -> Option<Output> {
        let plain = call.plain();
        let asks_where = matches!(prefix.name, "command")
            && plain.iter().take_while(|it| it.starts_with('-')).any(|it| it.contains(['v', 'V']));
        if asks_where {
            self.record_all(call);
            return Some(unknown());
        }
        if prefix.name == "env"
            && let Some(at) = plain.iter().position(|it| {
                it.starts_with("-S") || it.starts_with("-vS") || it.starts_with("--split-string")
            })
        {
            return Some(self.env_split(at, plain, state, call.stdin));
        }
        let mut rest = after_options(call.args, prefix.values, prefix.words);
        let mut inner = state.clone();
        while let Some((name, value)) = rest.first().and_then(|it| assignment(it)) {
            self.judge_variable(name, value, state);
            inner.set_text(name, value);
            rest = rest.get(1..).unwrap_or_default();
        }
        if matches!(prefix.name, "nsenter" | "chroot") {
            self.classes.insert(Class::Privilege);
            self.ask("shell-namespace", format!("`{}` goes to another root", prefix.name));
        }
        let raises = RAISING.contains(&prefix.name);
        if raises {
            self.judge(call, state);
        }
        if rest.is_empty() {
            // `exec` with redirections only, `env` alone.
            if !raises {
                self.status = Some(prefix.name == "exec");
            }
            self.record_all(call);
            return Some(unknown());
        }
        if raises {
            self.prefix.push_str(prefix.name);
            self.prefix.push(' ');
        }
        Some(self.call(rest.to_vec(), &mut inner, call.stdin))
    }

    fn env_split(
        &mut self,
        at: usize,
        plain: &[String],
        state: &State,
        stdin: Option<&[u8]>,
    ) -> Output {
        let first = plain.get(at).cloned().unwrap_or_default();
        let glued = first.trim_start_matches("--split-string=").trim_start_matches("-vS");
        let glued = glued.trim_start_matches("-S").trim_start_matches("--split-string");
        let rest = plain.get(at + 1..).unwrap_or_default().join(" ");
        self.run_text(&format!("env {glued} {rest}"), &mut state.clone(), stdin)
    }

    /// `sh -c TEXT`, `sh FILE`, `sh` with text on stdin.
    fn shell(&mut self, call: &Call<'_>, state: &State) -> Output {
        self.classes.insert(Class::Execute);
        let mut inner = State { vars: state.vars.clone(), ..State::default() };
        inner.files.clone_from(&state.files);
        inner.cwd.clone_from(&state.cwd);
        inner.functions.clone_from(&state.functions);
        let plain = call.plain();
        let takes_value = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];
        let mut at = 0;
        let mut is_text = false;
        let mut reads_stdin = false;
        while let Some(arg) = plain.get(at).filter(|it| it.starts_with(['-', '+'])) {
            at += 1;
            if arg == "--" || arg == "-" {
                break;
            }
            let letters = arg.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or("");
            is_text |= letters.contains('c') || arg == "--command";
            reads_stdin |= letters.contains('s');
            if takes_value.contains(&arg.as_str()) {
                if matches!(arg.as_str(), "--rcfile" | "--init-file")
                    && let Some(file) = plain.get(at)
                {
                    self.run_script_file(file, &mut inner);
                }
                at += 1;
            }
        }
        let rest = call.args.get(at..).unwrap_or_default();
        if is_text {
            let Some((text, args)) = rest.split_first() else { return Output::new() };
            inner.args = args.iter().skip(1).map(|it| marks::plain(it)).collect();
            return self.run_text(text, &mut inner, call.stdin);
        }
        match (rest.first(), call.stdin) {
            (Some(file), _) if !reads_stdin && !marks::plain(file).starts_with("/dev/stdin") => {
                inner.args = rest.iter().skip(1).map(|it| marks::plain(it)).collect();
                let file = marks::plain(file);
                self.record_all(call);
                self.run_script_file(&file, &mut inner)
            }
            (_, Some(stdin)) => {
                inner.args = rest.iter().map(|it| marks::plain(it)).collect();
                let text = super::engine::text(stdin);
                self.run_text(&text, &mut inner, None)
            }
            (_, None) => {
                self.record_all(call);
                if !plain.iter().any(|it| matches!(it.as_str(), "--version" | "--help" | "-n")) {
                    self.ask("shell-spawn", "it starts a shell that takes commands from elsewhere");
                }
                if plain.iter().any(|it| it.starts_with('-') && it.contains('i')) && self.stages > 1
                {
                    self.deny("shell-reverse-shell", "it gives a shell to another command");
                }
                unknown()
            }
        }
    }

    fn run_script_file(&mut self, file: &str, state: &mut State) -> Output {
        let path = paths::resolved(file, state);
        if let Some(text) = state.files.get(&path).cloned() {
            if !path.starts_with("/dev/fd/") {
                self.run_file(file, state);
            }
            return self.run_text(&text, state, None);
        }
        self.run_file(file, state);
        unknown()
    }

    fn find_exec(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        let plain = call.plain();
        let roots: Vec<&String> =
            plain.iter().take_while(|it| !it.starts_with(['-', '(', '!'])).collect();
        let root = roots.first().map_or(".", |it| it.as_str());
        let signs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut at = 0;
        while let Some(found) = plain.get(at..)?.iter().position(|it| signs.contains(&it.as_str()))
        {
            let start = at + found + 1;
            let rest = call.args.get(start..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|it| matches!(marks::plain(it).as_str(), ";" | "+"))
                .unwrap_or(rest.len());
            let place = format!("{}/{HOLE}", root.trim_end_matches('/'));
            let inner: Vec<String> = rest
                .iter()
                .take(length)
                .map(|it| if it.contains("{}") { it.replace("{}", &place) } else { it.clone() })
                .collect();
            self.call(inner, &mut state.clone(), None);
            at = start + length;
        }
        None
    }

    fn xargs(&mut self, call: &Call<'_>, state: &mut State) -> Output {
        let plain = call.plain();
        let at = plain.iter().position(|it| it.starts_with("-I") || it.starts_with("--replace"));
        let mark = at.and_then(|it| {
            let arg = plain.get(it)?;
            let glued = arg.strip_prefix("-I").or_else(|| arg.strip_prefix("--replace="));
            glued
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .or_else(|| plain.get(it + 1).cloned())
        });
        let values: Vec<&str> = XARGS.iter().copied().chain(["-I"]).collect();
        let rest = after_options(call.args, &values, 0);
        let input = known(call.stdin);
        let mut items = if marks::has_hole(&input) {
            vec![HOLE.to_string()]
        } else {
            let by_line = mark.is_some() || plain.iter().any(|it| it.starts_with("-d"));
            xargs_items(&input, by_line).unwrap_or_else(|| vec![HOLE.to_string()])
        };
        items.truncate(super::limits::FIELDS_MAX);
        if rest.is_empty() {
            return items.join(" ").into_bytes();
        }
        let mut fields: Vec<String> = rest.to_vec();
        match mark {
            Some(mark) => {
                let item = items.join(" ");
                fields = fields.iter().map(|it| it.replace(&mark, &item)).collect();
            }
            None => fields.extend(items),
        }
        self.call(fields, &mut state.clone(), None)
    }

    fn parallel(&mut self, call: &Call<'_>, state: &mut State) -> Output {
        let rest = after_options(call.args, &["-j", "--jobs", "-a", "--arg-file", "-S"], 0);
        let end = rest.iter().position(|it| it.starts_with(":::")).unwrap_or(rest.len());
        let (command, items) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let items: Vec<String> = items.iter().skip(1).map(|it| marks::plain(it)).collect();
        let item = if items.is_empty() { known(call.stdin) } else { items.join(" ") };
        if command.is_empty() {
            return self.run_text(&item, &mut state.clone(), None);
        }
        let text = joined(command);
        let text =
            if text.contains("{}") { text.replace("{}", &item) } else { format!("{text} {item}") };
        let before = self.findings.len();
        let output = self.run_text(&text, &mut state.clone(), None);
        // What stands in for the items is an argument, not text that is run.
        if marks::has_hole(&item) && !marks::has_hole(&joined(command)) {
            let kept = self.findings.split_off(before.min(self.findings.len()));
            self.findings.extend(kept.into_iter().filter(|it| it.rule != "shell-dynamic"));
        }
        output
    }

    /// `su -c TEXT`, `script -c TEXT`, `flock FILE COMMAND`.
    fn with_c(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        let plain = call.plain();
        let is_c = |it: &String| matches!(it.as_str(), "-c" | "--command" | "-qc" | "-lc");
        let text = plain.iter().position(is_c).and_then(|it| plain.get(it + 1)).cloned();
        let glued = plain.iter().find_map(|it| it.strip_prefix("--command=")).map(str::to_owned);
        if let Some(text) = text.or(glued) {
            self.judge(call, state);
            if call.name != "script" && call.name != "flock" {
                self.prefix = format!("{} ", call.name);
            }
            return Some(self.run_text(&text, &mut state.clone(), call.stdin));
        }
        if call.name == "flock" {
            let rest = after_options(call.args, &["-w", "-E", "--timeout"], 1);
            if !rest.is_empty() {
                return Some(self.call(rest.to_vec(), state, call.stdin));
            }
        }
        if call.name == "runuser" {
            let rest = after_options(call.args, &["-u", "-g", "-G"], 0);
            self.judge(call, state);
            return Some(self.call(rest.to_vec(), state, call.stdin));
        }
        if call.name == "su"
            && let Some(stdin) = call.stdin
        {
            self.run_text(&super::engine::text(stdin), &mut state.clone(), None);
        }
        None
    }
}

/// What follows the options and the words before the command.
fn after_options<'a>(args: &'a [String], values: &[&str], words: usize) -> &'a [String] {
    let mut at = 0;
    while let Some(arg) = args.get(at).map(|it| marks::plain(it)).filter(|it| it.starts_with('-')) {
        at += 1;
        if arg == "--" {
            break;
        }
        if values.contains(&arg.as_str()) {
            at += 1;
        }
    }
    args.get(at + words..).unwrap_or_default()
}

fn joined(args: &[String]) -> String {
    args.iter().map(|it| marks::plain(it)).collect::<Vec<_>>().join(" ")
}

/// What `xargs` makes of its input: words, or lines. `None`: a quote has no end.
fn xargs_items(text: &str, by_line: bool) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let mut item: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let ends = if by_line { letter == '\n' } else { letter.is_whitespace() };
        match (letter, quote) {
            ('\n', Some(_)) => return None,
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => item.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                item.get_or_insert_default();
            }
            ('\\', None) => item.get_or_insert_default().extend(letters.next()),
            (_, None) if ends => items.extend(item.take()),
            (' ' | '\t', None) if item.is_none() => {}
            (_, None) => item.get_or_insert_default().push(letter),
        }
    }
    items.extend(item);
    quote.is_none().then_some(items)
}

/// `NAME=value`.
fn assignment(arg: &str) -> Option<(&str, &str)> {
    let (name, value) = arg.split_once('=')?;
    let starts = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    (starts && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'))
        .then_some((name, value))
}
