//! What programs are told to do: `git push` of `git -C work push origin`. For rules about commands.
//!
//! Where an option may take the word behind it, both words count: a rule should rather be asked once too
//! often. What only a run would show is said to be unsure.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::{RUNS_MAX, TOLD_MAX, TOLD_WORDS_MAX, WAYS_MAX, WORD_BYTES_MAX};
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
/// Nobody tells these what to do by a word: what stands behind them are files, patterns and texts.
static BARE: Words = Words::named("told.BARE");

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

impl Engine {
    /// Keeps what a command is told.
    pub(super) fn tell<'a>(&mut self, call: Call<'a>) -> Call<'a> {
        let args: Vec<&str> = call.plain().iter().map(String::as_str).collect();
        let mut telling = Telling { told: Told::default(), commands: BTreeMap::new() };
        telling.see(&call.name, &args, RUNS_MAX);
        let told = telling.commands.iter().map(|it| (it.0.0.as_str(), *it.1));
        acts::of(&call, told).into_iter().for_each(|it| self.add_act(it));
        self.told.merge(telling.told);
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
}

/// Arguments of a program.
type Args<'a> = &'a [&'a str];

/// What one command is told, as it is found out.
struct Telling<'a> {
    told: Told,
    /// Programs and commands, each with the arguments behind it and how many these are.
    commands: BTreeMap<(String, usize), Args<'a>>,
}

impl<'a> Telling<'a> {
    fn command(&mut self, text: String, behind: Args<'a>) {
        self.told.command(text.clone());
        self.may_be(text, behind);
    }

    fn may_be(&mut self, text: String, behind: Args<'a>) {
        self.commands.insert((text, behind.len()), behind);
    }

    fn see(&mut self, program: &str, args: Args<'a>, levels: usize) {
        if program.is_empty() || marks::has_hole(program) {
            self.told.unsure = true;
            return;
        }
        self.told.program(program);
        self.may_be(program.to_owned(), args);
        // `git-push` is git's own name of `git push`, and `pip3` is pip.
        if let Some(verb) = program.strip_prefix("git-").filter(|it| is_word(it)) {
            self.told.program("git");
            self.command(format!("git {verb}"), args);
        }
        let bare = program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
        if bare == "pip" && bare != program {
            self.see(bare, args, levels);
        }
        if BARE.contains(&program) {
            return;
        }
        let words = words(TONGUES.all(program).first(), args);
        if acts::knows(program) {
            self.in_a_row(program, words.iter().filter(|it| !it.may_be_value));
            self.in_a_row(program, words.iter());
        }
        if names::interpreter(program).is_some() && !matches!(bare, "deno" | "bun") {
            return self.module(program, args, levels);
        }
        self.verbs(program, &words, 1, program, &mut WAYS_MAX.clone());
    }

    /// The program with its first words: `claude mcp add`. Not all of them may be told to it.
    fn in_a_row<'w>(&mut self, program: &str, words: impl Iterator<Item = &'w Word<'a>>)
    where
        'a: 'w,
    {
        let mut command = program.to_owned();
        for word in words.take(TOLD_WORDS_MAX) {
            command = format!("{command} {}", word.text);
            self.may_be(command.clone(), word.behind);
        }
    }

    /// `python3 -m pip install x`: python is told `pip`, and pip is told `install`.
    fn module(&mut self, program: &str, args: Args<'a>, levels: usize) {
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
            self.told.unsure = true;
            return;
        }
        self.command(format!("{program} {module}"), rest);
        match levels.checked_sub(1) {
            Some(levels) => self.see(module, rest, levels),
            None => self.told.unsure = true,
        }
    }

    /// Every way to read the words behind a program, `depth` words deep so far; so many `ways`, or it is unsure.
    fn verbs(
        &mut self,
        program: &str,
        words: &[Word<'a>],
        depth: usize,
        so_far: &str,
        ways: &mut usize,
    ) {
        for (at, word) in words.iter().enumerate() {
            let Some(left) = ways.checked_sub(1) else {
                self.told.unsure = true;
                return;
            };
            *ways = left;
            if is_word(word.text) {
                let command = format!("{so_far} {}", word.text);
                let rest = words.get(at + 1..).unwrap_or_default();
                let deeper =
                    NESTED.get(program).is_some_and(|it| {
                        it.iter().any(|it| it.parse().is_ok_and(|it: usize| depth < it))
                    }) || (program == "git" && depth == 1 && NESTED_GIT.contains(&word.text));
                self.command(command.clone(), word.behind);
                if deeper {
                    self.verbs(program, rest, depth + 1, &command, ways);
                }
            } else if depth == 1 && !word.may_be_value && TONGUES.get(program).is_some() {
                // A pattern, or a word of which only a run would show what it is.
                self.told.unsure |=
                    marks::has_hole(word.text) || word.text.contains(['*', '?', '[']);
            }
            let goes_on = word.may_be_value || (depth == 1 && MANY.contains(&program));
            if !goes_on {
                break;
            }
        }
    }
}

/// A word behind a program.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    behind: Args<'a>,
    /// It stands behind an option that may take it.
    may_be_value: bool,
}

/// The words that may tell a program what to do, without options and what surely belongs to them.
fn words<'a>(tongue: Option<&Row>, all: Args<'a>) -> Vec<Word<'a>> {
    let mut found = Vec::new();
    let mut may_be_value = false;
    let mut args = all.iter().enumerate();
    while let Some((at, arg)) = args.next() {
        let is_option = arg.len() > 1 && arg.starts_with('-');
        if !is_option {
            // `make CC=gcc install`.
            if !arg.contains('=') {
                let behind = all.get(at + 1..).unwrap_or_default();
                found.push(Word { text: arg, behind, may_be_value });
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

/// Options of a program that stand before what it is told and take the word behind them.
pub(super) fn valued(program: &str) -> &'static [&'static str] {
    let row = TONGUES.get(program).unwrap_or_default();
    row.split(|it| *it == "/").next().unwrap_or_default()
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
