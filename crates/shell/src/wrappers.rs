//! Commands that run other commands: prefixes with their options.

use crate::simple::pairs;
use crate::{Call, Engine, Input, Output, Rows, Rule, State, marks, names, unknown};

/// Commands that stand before others: how many words come before the command, and options that take a value.
static PREFIXES: Rows = Rows::named("wrappers.PREFIXES");
/// These make another user of who runs the command.
pub(super) const RAISING: [&str; 9] =
    ["sudo", "sudo-rs", "doas", "pkexec", "dzdo", "gksu", "gksudo", "kdesu", "kdesudo"];
/// A person sits before a shell that these start.
const SEATS: [&str; 6] = ["abduco", "dtach", "foot", "kitty", "srun", "xterm"];

struct Prefix<'a> {
    name: &'a str,
    values: &'static [&'static str],
    words: usize,
}

impl Engine {
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
            "watch" => {
                let rest = after_options(call.args, &["-n", "--interval", "-q", "--equexit"], 0);
                self.run_text(&joined(rest), state, None);
                return Some(unknown());
            }
            "entr" => {
                let rest = after_options(call.args, &[], 0);
                let options = call.args.get(..call.args.len() - rest.len()).unwrap_or_default();
                if options.iter().any(|it| it.starts_with('-') && it.contains('s')) {
                    return Some(self.run_text(&joined(rest), &mut state.clone(), None));
                }
                return Some(self.call(rest.to_vec(), state, None));
            }
            "su" | "runuser" | "sg" | "script" | "flock" | "capsh" => {
                return self.with_c(call, state);
            }
            "at" | "batch" => {
                if let Some(stdin) = call.stdin {
                    self.run_quietly(&super::engine::text(stdin), state);
                }
                return None;
            }
            _ => {}
        }
        if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" {
            let rest = after_options(call.args, &["--library-path", "--preload"], 0);
            self.ask(Rule::Loader, "it starts a program through the loader");
            return Some(self.call(rest.to_vec(), state, call.stdin));
        }
        if super::settings::prints_settings(call) {
            return None;
        }
        let (words, values) = PREFIXES.get(name)?.split_first()?;
        let prefix = Prefix { name, values, words: words.parse().ok()? };
        self.prefixed(&prefix, call, state)
    }

    fn prefixed(
        &mut self,
        prefix: &Prefix<'_>,
        call: &Call<'_>,
        state: &mut State,
    ) -> Option<Output> {
        let plain = call.plain();
        let asks_where = matches!(prefix.name, "command")
            && plain.iter().take_while(|it| it.starts_with('-')).any(|it| it.contains(['v', 'V']));
        if asks_where {
            self.record_all(call);
            return Some(unknown());
        }
        if prefix.name == "env"
            && let Some(at) = plain.iter().position(|it| is_split(it))
        {
            return Some(self.env_split(at, plain, state, call.stdin));
        }
        let mut rest = behind(prefix, call);
        self.judge_prefix(call);
        let mut inner = state.clone();
        if let Some(place) = begun_at(prefix.name, call.args) {
            inner.cwd = Some(super::paths::resolved(&place, state));
        }
        while let Some((name, value)) = rest.first().and_then(|it| assignment(it)) {
            self.judge_variable(name, value, state);
            inner.set_text(name, value);
            rest = rest.get(1..).unwrap_or_default();
        }
        if super::judge::attaches(call)
            && matches!(prefix.name, "strace" | "ltrace" | "truss" | "ktrace")
        {
            self.judge(call, state);
        }
        self.otherwise(prefix, call, rest, &inner);
        if matches!(prefix.name, "nsenter" | "chroot") {
            self.ask(Rule::Namespace, format!("`{}` goes to another root", prefix.name));
        }
        let raises = RAISING.contains(&prefix.name);
        if raises {
            self.judge(call, state);
        }
        if prefix.name == "unshare" && rest.is_empty() && !plain.is_empty() {
            self.ask(Rule::Namespace, "it starts a shell with rights of its own");
        }
        if rest.is_empty() {
            // `exec` with redirections only, `env` alone.
            if !raises {
                self.status = Some(prefix.name == "exec");
                self.step(call);
            }
            self.record_all(call);
            return Some(unknown());
        }
        let is_bare = matches!(rest, [only] if names::is_shell(&names::base(only)));
        if is_bare && SEATS.contains(&prefix.name) {
            self.record_all(call);
            return Some(unknown());
        }
        if raises {
            self.prefix.push_str(prefix.name);
            self.prefix.push(' ');
        }
        Some(self.call(rest.to_vec(), &mut inner, call.stdin))
    }

    /// An option that is not known may take the word behind it: then another command is run.
    fn otherwise(&mut self, prefix: &Prefix<'_>, call: &Call<'_>, rest: &[String], state: &State) {
        let mut at = 0;
        while let Some(arg) = call.args.get(at).filter(|it| it.starts_with('-') && *it != "--") {
            let is_glued = arg.contains('=') || (arg.len() > 2 && !arg.starts_with("--"));
            let is_value = |it: &String| !it.starts_with('-');
            let takes = !is_glued && call.args.get(at + 1).is_some_and(is_value);
            at += 1 + usize::from(takes);
        }
        let other = call.args.get(at + prefix.words..).unwrap_or_default();
        let is_program = |it: &String| {
            let folder = it.rsplit_once('/').map_or("bin", |it| it.0);
            folder.ends_with("bin") && !it.starts_with('-') && assignment(it).is_none()
        };
        if other.len() < rest.len() && other.first().is_some_and(is_program) {
            self.quietly(|it| it.call(other.to_vec(), &mut state.clone(), None));
        }
    }

    fn env_split(
        &mut self,
        at: usize,
        plain: &[String],
        state: &State,
        stdin: Input<'_>,
    ) -> Output {
        let first = plain.get(at).cloned().unwrap_or_default();
        let long = first.strip_prefix("--split-string");
        let glued = long.map(|it| it.trim_start_matches('='));
        let glued = glued.or_else(|| first.split_once('S').map(|it| it.1)).unwrap_or_default();
        // What is split is one argument; those behind it stay what they are.
        let (text, behind) = match plain.get(at + 1) {
            Some(next) if glued.is_empty() => (next.as_str(), at + 2),
            Some(_) | None => (glued, at + 1),
        };
        let rest: Vec<String> = plain.iter().skip(behind).map(|it| marks::quoted(it)).collect();
        self.run_text(&format!("env {text} {}", rest.join(" ")), &mut state.clone(), stdin)
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
        // The one of BSD has the command behind its file.
        if matches!(call.name.as_str(), "flock" | "script") {
            let rest = after_options(call.args, &["-w", "-E", "--timeout", "-t", "-T"], 1);
            if !rest.is_empty() {
                return Some(self.call(rest.to_vec(), state, call.stdin));
            }
        }
        if call.name == "sg"
            && super::judge::changes_group(call)
            && let Some(text) = call.operands().get(1).cloned()
        {
            self.judge(call, state);
            return Some(self.run_text(&text, &mut state.clone(), call.stdin));
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

/// The words behind a prefix and what belongs to it.
fn behind<'a>(prefix: &Prefix<'_>, call: &Call<'a>) -> &'a [String] {
    // What the words before it say can be said by options, too.
    let is_told =
        prefix.name == "runcon" && call.plain().first().is_some_and(|it| it.starts_with('-'));
    let words = if is_told || prefix.name == "setarch" { 0 } else { prefix.words };
    let rest = after_options(call.args, prefix.values, words);
    let is_machine = prefix.name == "setarch"
        && rest.first().is_some_and(|it| it.contains(|it: char| it.is_ascii_digit()));
    rest.get(usize::from(is_machine)..).unwrap_or_default()
}

/// `env -C DIR`: where the command begins.
fn begun_at(prefix: &str, args: &[String]) -> Option<String> {
    if prefix != "env" {
        return None;
    }
    let glued = |it: &String| {
        let short = it.strip_prefix("-C").filter(|it| !it.is_empty());
        short.or_else(|| it.strip_prefix("--chdir=")).map(str::to_owned)
    };
    let next = pairs(args).find(|it| matches!(it.0, "-C" | "--chdir"));
    next.map(|it| it.1.to_owned()).or_else(|| args.iter().find_map(glued))
}

/// `-S`, alone or behind other letters.
fn is_split(arg: &str) -> bool {
    let letters = arg.strip_prefix('-').and_then(|it| it.split_once('S')).map(|it| it.0);
    arg.starts_with("--split-string")
        || letters.is_some_and(|it| it.chars().all(|it| "iv0".contains(it)))
}

/// What follows the options and the words before the command.
pub(super) fn after_options<'a>(args: &'a [String], values: &[&str], words: usize) -> &'a [String] {
    let mut at = 0;
    while let Some(arg) = args.get(at).map(|it| marks::plain(it)).filter(|it| it.starts_with('-')) {
        at += 1;
        if arg == "--" {
            break;
        }
        if values.contains(&arg.as_str()) || ends_valued(&arg, values) {
            at += 1;
        }
    }
    args.get(at + words..).unwrap_or_default()
}

/// Letters in one word of which only the last takes a value, which is the next word: `-iu NAME`.
fn ends_valued(arg: &str, values: &[&str]) -> bool {
    let letters = arg.strip_prefix('-').filter(|it| it.len() > 1 && !it.starts_with('-'));
    let is_valued = |letter: char| values.contains(&format!("-{letter}").as_str());
    let first = letters.and_then(|it| it.char_indices().find(|it| is_valued(it.1)));
    first
        .zip(letters)
        .is_some_and(|((at, letter), all)| at > 0 && at + letter.len_utf8() == all.len())
}

pub(super) fn joined(args: &[String]) -> String {
    args.iter().map(|it| marks::plain(it)).collect::<Vec<_>>().join(" ")
}

/// `NAME=value`.
fn assignment(arg: &str) -> Option<(&str, &str)> {
    let (name, value) = arg.split_once('=')?;
    let starts = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    (starts && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'))
        .then_some((name, value))
}
