//! What programs are told to do: `git push` of `git -C work push origin`. For rules about commands.
//!
//! Where an option may take the word behind it, both words count: a rule should rather be asked once too
//! often. What only a run would show is said to be unsure.

use std::collections::BTreeSet;

use crate::acts::ACTS_MAX;
use crate::tables::Row;
use crate::{Call, Engine, Rows, Words, acts, marks, names};

/// Options of a program that stand before what it is told: those that take the word behind them, `/`, those that take none.
static TONGUES: Rows = Rows::named("told.TONGUES");
/// Programs whose words have words behind them, and how deep.
static NESTED: Rows = Rows::named("told.NESTED");
/// Words of git that have words behind them.
static NESTED_GIT: Words = Words::named("told.NESTED_GIT");
/// Each word behind these is told.
static MANY: Words = Words::named("told.MANY");
/// What runs the program behind it: by itself, or told so.
static RUNNERS: Rows = Rows::named("told.RUNNERS");
/// Nobody tells these what to do by a word: what stands behind them are files, patterns and texts.
static BARE: Words = Words::named("told.BARE");

/// How many programs and commands of one text are kept.
const TOLD_MAX: usize = 256;
/// How many arguments are looked at for what a program is told.
const ARGUMENTS_MAX: usize = 64;
/// The longest word that tells a program what to do, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// A program that runs a program that runs a program, in levels.
const RUNS_MAX: usize = 4;

/// What the programs of a text are, and what they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Programs, without their folders.
    pub programs: BTreeSet<String>,
    /// Programs with what they are told: `git push`, `gh pr create`.
    pub commands: BTreeSet<String>,
    /// Is there one of which only a run would show what it is told, or are there too many?
    pub unsure: bool,
}

impl Engine<'_> {
    /// Keeps what a command is told.
    pub(super) fn tell<'a>(&mut self, call: Call<'a>) -> Call<'a> {
        let args: Vec<&str> = call.plain().iter().map(String::as_str).collect();
        let mut told = Told::default();
        told.see(&call.name, &args, RUNS_MAX);
        let room = ACTS_MAX.saturating_sub(self.acts.len());
        self.acts.extend(acts::of(&call.name, &args, &told).into_iter().take(room));
        self.told.merge(told);
        call
    }
}

impl Told {
    /// All of both.
    pub(super) fn merge(&mut self, other: Self) {
        other.programs.into_iter().for_each(|it| self.program(&it));
        other.commands.into_iter().for_each(|it| self.command(it));
        self.unsure |= other.unsure;
    }

    fn program(&mut self, name: &str) {
        if self.programs.len() < TOLD_MAX {
            self.programs.insert(name.to_owned());
        } else {
            self.unsure |= !self.programs.contains(name);
        }
    }

    fn command(&mut self, text: String) {
        if self.commands.len() < TOLD_MAX {
            self.commands.insert(text);
        } else {
            self.unsure |= !self.commands.contains(&text);
        }
    }

    fn see(&mut self, program: &str, args: &[&str], levels: usize) {
        if program.is_empty() || marks::has_hole(program) {
            self.unsure = true;
            return;
        }
        self.program(program);
        // `git-push` is git's own name of `git push`, and `pip3` is pip.
        if let Some(verb) = program.strip_prefix("git-").filter(|it| is_word(it)) {
            self.program("git");
            self.command(format!("git {verb}"));
        }
        let bare = program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        if bare == "pip" && bare != program {
            self.see(bare, args, levels);
        }
        if names::interpreter(program).is_some() && !matches!(bare, "deno" | "bun") {
            return self.module(program, args, levels);
        }
        if BARE.contains(&program) {
            return;
        }
        let words = words(TONGUES.all(program).first(), args);
        self.verbs(program, &words, 1, program);
        self.runs(program, args, levels);
    }

    /// `python3 -m pip install x`: python is told `pip`, and pip is told `install`.
    fn module(&mut self, program: &str, args: &[&str], levels: usize) {
        let is_module = |it: &&str| {
            let letters = it.strip_prefix('-').filter(|it| !it.starts_with('-'));
            letters.is_some_and(|it| it.contains('m') && it.chars().all(|it| it.is_alphanumeric()))
        };
        // Behind the script stand the arguments of the script.
        let options = args.iter().take_while(|it| it.starts_with('-') || is_value(args, it));
        let Some(at) = options.clone().position(is_module) else { return };
        let option = args.get(at).copied().unwrap_or_default();
        let glued = option.split_once('m').map_or("", |it| it.1);
        let (module, rest) = match args.get(at + 1..) {
            _ if !glued.is_empty() => (glued, args.get(at + 1..).unwrap_or_default()),
            Some([module, rest @ ..]) => (*module, rest),
            Some([]) | None => return,
        };
        if marks::has_hole(module) {
            self.unsure = true;
            return;
        }
        self.command(format!("{program} {module}"));
        if let Some(levels) = levels.checked_sub(1) {
            self.see(module, rest, levels);
        }
    }

    /// Every way to read the words behind a program, `depth` words deep so far.
    fn verbs(&mut self, program: &str, words: &[Word<'_>], depth: usize, so_far: &str) {
        for (at, word) in words.iter().enumerate() {
            if is_word(word.text) {
                let command = format!("{so_far} {}", word.text);
                let rest = words.get(at + 1..).unwrap_or_default();
                let deeper =
                    NESTED.get(program).is_some_and(|it| {
                        it.iter().any(|it| it.parse().is_ok_and(|it: usize| depth < it))
                    }) || (program == "git" && depth == 1 && NESTED_GIT.contains(&word.text));
                self.command(command.clone());
                if deeper && self.commands.len() < TOLD_MAX {
                    self.verbs(program, rest, depth + 1, &command);
                }
            } else if depth == 1 && !word.may_be_value && TONGUES.get(program).is_some() {
                // A pattern, or a word of which only a run would show what it is.
                self.unsure |= marks::has_hole(word.text) || word.text.contains(['*', '?', '[']);
            }
            let goes_on = word.may_be_value || (depth == 1 && MANY.contains(&program));
            if !goes_on {
                break;
            }
        }
    }

    /// `npx prettier`, `uv run pytest`: what is run is a program, too.
    fn runs(&mut self, program: &str, args: &[&str], levels: usize) {
        let Some(levels) = levels.checked_sub(1) else { return };
        for verbs in RUNNERS.all(program) {
            let mut rest = args.iter().copied().skip_while(|it| it.starts_with('-'));
            if !verbs.iter().all(|verb| rest.next() == Some(verb)) {
                continue;
            }
            let rest: Vec<&str> =
                rest.skip_while(|it| it.starts_with('-')).take(ARGUMENTS_MAX).collect();
            let Some((name, args)) = rest.split_first() else { continue };
            // `prettier@3`, `@scope/tool@1`.
            let name = name.rsplit('/').next().unwrap_or(name);
            let name = name.split(['@', '=']).next().unwrap_or(name).to_lowercase();
            self.see(&name, args, levels);
        }
    }
}

/// A word behind a program.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    /// It stands behind an option that may take it.
    may_be_value: bool,
}

/// The words that may tell a program what to do, without options and what surely belongs to them.
fn words<'a>(tongue: Option<&Row>, args: &[&'a str]) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    let mut may_be_value = false;
    let mut args = args.iter().take(ARGUMENTS_MAX);
    while let Some(arg) = args.next() {
        let is_option = arg.len() > 1 && arg.starts_with('-');
        if !is_option {
            // `make CC=gcc install`.
            if !arg.contains('=') {
                found.push(Word { text: arg, may_be_value });
            }
            may_be_value = false;
            continue;
        }
        let known = tongue.map(|it| {
            let mut kinds = it.split(|it| *it == "/").map(|it| it.contains(arg));
            (kinds.next() == Some(true), kinds.next() == Some(true))
        });
        match known {
            Some((true, _)) => {
                args.next();
                may_be_value = false;
            }
            Some((_, true)) => may_be_value = false,
            Some((false, false)) | None => {
                may_be_value = !arg.contains('=') && *arg != "--" && !arg.starts_with("--no-");
            }
        }
    }
    found
}

/// Is it the value of an option of an interpreter?
fn is_value(args: &[&str], it: &&&str) -> bool {
    let at = args.iter().position(|other| std::ptr::eq(other, *it)).unwrap_or(0);
    let before = at.checked_sub(1).and_then(|it| args.get(it));
    before.is_some_and(|it| matches!(*it, "-W" | "-X" | "-I" | "-r" | "-m"))
}

/// Can it be what a program is told? A path or an address is none.
fn is_word(text: &str) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b':');
    let first = text.bytes().next().is_some_and(|it| it.is_ascii_alphabetic());
    first && text.len() <= WORD_BYTES_MAX && text.bytes().all(legal)
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn commands(text: &str) -> Vec<String> {
        read(text).told.commands.into_iter().collect()
    }

    #[test]
    fn a_program_is_told_what_stands_behind_its_options() {
        for text in [
            "git push",
            "git push origin main",
            "git -C work push",
            "git -c user.name=x --git-dir .git --no-pager push -f",
            "/usr/bin/git push",
            "sudo git push",
            "env A=b git push",
            "timeout 5 git push",
            "cd x && git push",
            "echo main | xargs git push origin",
            "sh -c 'git push'",
            "x=push; git $x",
            "git -c alias.p=push p",
            "/usr/lib/git-core/git-push origin",
            "python3 -c 'import os; os.system(\"git push\")'",
        ] {
            assert!(
                commands(text).contains(&"git push".to_owned()),
                "{text}: {:?}",
                commands(text)
            );
        }
        assert_eq!(commands("git --no-pager -C push log"), ["git log"]);
        assert_eq!(commands("git log push"), ["git log"]);
        assert_eq!(commands("ls -la src"), [""; 0]);
    }

    #[test]
    fn a_module_is_told_and_its_interpreter_is_not() {
        assert_eq!(commands("python3 -m pip install x"), ["pip install", "python3 pip"]);
        assert_eq!(commands("python3 -Im pip install x"), ["pip install", "python3 pip"]);
        assert_eq!(commands("python3 -mpip install x"), ["pip install", "python3 pip"]);
        assert_eq!(commands("python3 setup.py install"), [""; 0]);
        assert!(!commands("python3 tool -m pip install").contains(&"python3 pip".to_owned()));
        assert_eq!(commands("node server install"), [""; 0]);
        let told = read("python3 -m pip install x").told;
        assert_eq!(told.programs.into_iter().collect::<Vec<_>>(), ["pip", "python3"]);
        assert_eq!(commands("pip3 install x"), ["pip install", "pip3 install"]);
    }

    #[test]
    fn programs_that_run_programs_are_seen_through() {
        assert!(commands("npx wrangler deploy").contains(&"wrangler deploy".to_owned()));
        assert!(
            commands("npx -y @cloudflare/wrangler@3 deploy").contains(&"wrangler deploy".into())
        );
        assert!(commands("uv run alembic upgrade head").contains(&"alembic upgrade".to_owned()));
        assert!(commands("bundle exec cap deploy").contains(&"cap deploy".to_owned()));
    }

    #[test]
    fn words_of_words_are_told_together() {
        assert_eq!(commands("gh pr create --title x"), ["gh pr", "gh pr create"]);
        assert_eq!(commands("git remote add o u"), ["git remote", "git remote add"]);
        assert_eq!(commands("make clean install"), ["make clean", "make install"]);
        assert!(commands("docker image push a/b").contains(&"docker image push".to_owned()));
    }

    #[test]
    fn an_option_that_may_take_a_word_hides_none() {
        let found = commands("deployctl --stage live release now");
        assert_eq!(found, ["deployctl live", "deployctl release"]);
    }

    #[test]
    fn what_only_a_run_would_show_is_unsure() {
        for text in ["git $(cat verb)", "git pu?h", "git -c 'alias.p=!sh x' p", "$(cat name) push"]
        {
            assert!(read(text).told.unsure, "{text}");
        }
        for text in ["git push", "git add *.rs", "ls *.rs", "git commit -m \"$(cat m)\""] {
            assert!(!read(text).told.unsure, "{text}");
        }
    }
}
