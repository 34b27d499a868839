//! Programs of other tools that are given on the command line and run commands: recipes, escapes.

use super::git_settings::is_ssh;
use super::options::Options;
use super::pushed::settings;
use crate::wrappers::after_options;
use crate::{Call, Engine, Rows, Rule, State, Words, marks, names, text};

impl Engine {
    /// `\\! command`, `!command`, `.shell command`: programs that run what stands behind a sign.
    pub(super) fn judge_escapes(&mut self, call: &Call<'_>, state: &State) {
        if !ESCAPING.contains(&call.name.as_str()) {
            return;
        }
        let input = call.stdin.map(text).unwrap_or_default();
        let told = call.plain().iter().flat_map(|it| it.lines()).chain(input.lines());
        let signs = ["\\!", "~!", "!", ".shell ", ".system ", "system ", "exec ", "shell "];
        let mut commands: Vec<String> = Vec::new();
        for line in told {
            let line = line.trim_start();
            commands.extend(signs.iter().find_map(|it| line.strip_prefix(it)).map(str::to_owned));
            let inside = line.split("syscmd(").skip(1).filter_map(|it| it.split(')').next());
            commands.extend(inside.map(|it| it.trim_matches(['`', '\'']).to_owned()));
        }
        for command in commands {
            self.run_text(&command, &mut state.clone(), None);
            self.ask(Rule::Spawn, format!("`{}` runs a command", call.name));
        }
    }

    /// `poetry run COMMAND`, `npx -c TEXT`, `git rebase -x TEXT`: followed, and else nothing special.
    pub(super) fn judge_told(&mut self, call: &Call<'_>, state: &State) {
        let plain = call.plain();
        let name = call.name.as_str();
        let mut texts: Vec<String> = Vec::new();
        for options in TELLING.all(name) {
            for (index, arg) in plain.iter().enumerate() {
                let glued = options.iter().find_map(|it| arg.strip_prefix(it)?.strip_prefix('='));
                let next = options.contains(&arg.as_str()).then(|| plain.get(index + 1)).flatten();
                texts.extend(glued.or(next.map(String::as_str)).map(str::to_owned));
            }
        }
        if name == "git" && plain.iter().any(|it| it.starts_with("ext::")) {
            self.ask(Rule::Carried, "an address says what to run");
        }
        if name == "git" {
            let rebase = Options::of(plain, "x", &[]);
            let told = rebase.values("x", "exec").filter(|_| call.has(&["rebase"]));
            texts.extend(told.map(str::to_owned));
            let filters = call.pairs().filter(|it| it.0.ends_with("-filter") || it.0 == "foreach");
            texts.extend(filters.map(|it| it.1.to_owned()));
        }
        if GIVEN.contains(&name) {
            texts.extend(call.operands().iter().filter(|it| it.contains(' ')).cloned());
            let at = plain.iter().position(|it| names::matters(it));
            texts.extend(at.map(|it| quoted(plain.get(it..).unwrap_or_default())));
        }
        // Whatever it is: a shell with a text among the arguments is there to run it.
        let is_text = |it: &[String]| match it {
            [shell, flag] => {
                flag.starts_with('-')
                    && flag.ends_with('c')
                    && !flag.starts_with("--")
                    && names::is_shell(&names::base(shell))
            }
            _ => false,
        };
        if let Some(at) =
            plain.windows(2).position(is_text).filter(|_| !super::SAYING.contains(&name))
        {
            texts.push(quoted(plain.get(at..).unwrap_or_default()));
        }
        texts.extend(set(name, plain));
        let starts_shell = |it: &String| {
            let mut words = it.split(' ').filter(|it| !it.is_empty());
            words.next().is_some_and(|it| names::is_shell(&names::base(it)))
                && words.next().is_some()
        };
        let is_odd = names::MAKES.contains(&name)
            || ["man", "sort", "tcpdump"].contains(&name)
            || COMPILERS.contains(&name);
        if is_odd && texts.iter().any(|it| starts_shell(&it.replace(',', " "))) {
            self.ask(Rule::Carried, "an option says what to run");
        }
        if name == "fzf" {
            texts.extend(plain.iter().flat_map(|it| bound(it)));
        }
        if name == "ansible" {
            texts.extend(call.pairs().filter(|it| it.0 == "-a").map(|it| it.1.to_owned()));
        }
        for text in texts {
            let text = if name.ends_with("cc") { text.replace(',', " ") } else { text };
            self.run_quietly(&text, state);
        }
        self.judge_running(call, state);
    }

    /// Words behind which a command stands.
    fn judge_running(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let plain = call.plain();
        self.quiet += 1;
        if let Some((words, verbs)) = RUNNING.get(name).and_then(<[_]>::split_first)
            && let Ok(words) = words.parse::<usize>()
            && let Some(at) = match verbs.is_empty() {
                true => Some(0),
                false => plain.iter().position(|it| verbs.contains(&it.as_str())).map(|it| it + 1),
            }
        {
            let rest = call.args.get(at..).unwrap_or_default();
            let rest = after_options(rest, &VALUED, words);
            let signed = rest.first().is_some_and(|it| it == "--");
            let rest = rest.get(usize::from(signed)..).unwrap_or_default();
            // A shell of a container, for whoever sits there.
            let is_bare = matches!(rest, [only] if names::is_shell(&names::base(only)));
            let is_seat = is_bare && verbs.contains(&"exec") && words == 1;
            if !rest.is_empty() && !is_seat {
                let mut rest = rest.to_vec();
                if let Some(first) = rest.first_mut() {
                    *first = command_of(first).to_owned();
                }
                self.call(rest, &mut state.clone(), None);
            }
        }
        self.quiet -= 1;
    }
}

/// The command that a package brings: `prettier@3`, `@scope/tool@1`, `ruff==0.4`. A path is none.
fn command_of(package: &str) -> &str {
    let bare = match package.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map_or(scoped, |it| it.1),
        None if package.contains('/') => return package,
        None => package,
    };
    bare.split(['@', '=']).next().unwrap_or(bare)
}

/// What keys of `fzf` run: `enter:execute(TEXT)`.
fn bound(arg: &str) -> Vec<String> {
    const ACTIONS: [&str; 6] =
        ["execute(", "execute-silent(", "become(", "reload(", "reload-sync(", "transform("];
    let behind = |action: &&str| arg.split(*action).skip(1).map(str::to_owned).collect::<Vec<_>>();
    let all = ACTIONS.iter().flat_map(behind);
    all.map(|it| it.rsplit_once(')').map_or(it.clone(), |it| it.0.to_owned())).collect()
}

/// What an editor hands to a shell: `!TEXT`, `:silent !TEXT`, `%!TEXT`, `r !TEXT`. Behind a word, `!` forces it.
pub(super) fn escaped(command: &str) -> Option<&str> {
    let named = command.trim_start_matches(':');
    if let Some(text) = named.strip_prefix("term ").or(named.strip_prefix("terminal ")) {
        return Some(text);
    }
    let starts = |at: usize| {
        let before = command.get(..at).unwrap_or_default();
        let read = ["r", "re", "rea", "read"].contains(&before.trim_start_matches(':'));
        before.is_empty() || read || before.ends_with(|it: char| " :%.$,;|'".contains(it))
    };
    let (at, _) = command.match_indices('!').find(|it| starts(it.0))?;
    command.get(at + 1..)
}

/// Settings among the arguments that say what is run.
fn set(name: &str, plain: &[String]) -> Vec<String> {
    const RUN: [&str; 4] = ["alias.", "hooks.", "tunnels:", "merge-tools."];
    let settings = plain.iter().filter_map(|it| it.split_once('='));
    match name {
        "git" => configured(plain),
        "hg" | "svn" => settings
            .filter(|(key, _)| RUN.iter().any(|it| key.contains(it)))
            .map(|it| it.1.trim_start_matches('!').to_owned())
            .collect(),
        // Another shell alone is nothing special.
        _ if names::MAKES.contains(&name) => settings
            .filter(|(key, value)| PROGRAMS.contains(key) && !names::is_shell(&names::base(value)))
            .map(|it| it.1.to_owned())
            .collect(),
        _ => Vec::new(),
    }
}

/// What `git` runs because a setting says so: `-c diff.external=TEXT`, `config core.pager TEXT`, `ext::TEXT`.
fn configured(plain: &[String]) -> Vec<String> {
    let settings = settings(plain).filter(|it| is_run(it.0)).map(|it| it.1);
    let fetched = plain.iter().filter_map(|it| it.strip_prefix("ext::"));
    let texts = settings.chain(fetched).map(|it| it.trim_start_matches('!').to_owned());
    texts.filter(|it| !it.starts_with('-') && !is_ssh(it)).collect()
}

/// Does a setting of `git` with this name hold a command, or a folder of them?
fn is_run(key: &str) -> bool {
    static KEYS: Words = Words::named("judge.given.KEYS");
    const ENDINGS: [&str; 8] =
        [".textconv", ".driver", ".clean", ".smudge", ".process", ".cmd", ".command", ".program"];
    let key = key.to_lowercase();
    KEYS.contains(&key.as_str())
        || (key.contains('.') && ENDINGS.iter().any(|it| key.ends_with(it)))
        || key.starts_with("pager.")
}

/// As it would be written.
fn quoted(words: &[String]) -> String {
    words.iter().map(|it| marks::quoted(it)).collect::<Vec<_>>().join(" ")
}

/// They run what they are given: as one text, or as words.
static GIVEN: Words = Words::named("judge.given.GIVEN");
/// They run what stands behind a sign in what they read.
static ESCAPING: Words = Words::named("judge.given.ESCAPING");
/// Options whose value is run.
static TELLING: Rows = Rows::named("judge.given.TELLING");
/// Options that may stand between, with a value of their own.
static VALUED: Words = Words::named("judge.given.VALUED");
/// Compilers that run another program if they are told to.
const COMPILERS: [&str; 2] = ["gcc", "cc"];
/// Variables of recipes that name programs.
const PROGRAMS: [&str; 12] =
    ["AR", "AS", "CC", "CPP", "CXX", "INSTALL", "LD", "MAKE", "PYTHON", "RM", "SHELL", "STRIP"];
/// Words behind which a command stands, and how many words come between.
static RUNNING: Rows = Rows::named("judge.given.RUNNING");
