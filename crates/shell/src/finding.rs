//! What `find` deletes of what it finds: all of it, or what its tests name.
//!
//! Tests are counted and not tried: one that may leave something out is said to.

use crate::history::is_history;
use crate::{Call, Rows, Words, marks};

/// Which of the places that a command is about it deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The places themselves.
    Named,
    /// All that a search finds there.
    All,
    /// What the tests of a search name.
    Some,
}

/// How a search deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Deletes,
    /// By the command that it runs here, at this argument.
    Runs(usize),
}

/// What a search deletes.
pub(super) struct Taken<'a> {
    pub(super) which: Which,
    /// The test that names where all versions of a work are kept.
    pub(super) history: Option<&'a str>,
}

/// Tests that everything passes, and what else leaves nothing out.
static EVERY: Words = Words::named("finding.EVERY");
/// The same with a value, whatever it is.
static EVERY_VALUE: Words = Words::named("finding.EVERY_VALUE");
/// The same with certain values.
static EVERY_OF: Rows = Rows::named("finding.EVERY_OF");

/// What stands between parentheses, or between none: one alternative after the other.
#[derive(Default)]
struct Group<'a> {
    /// Does the alternative that is read leave something out?
    picks: bool,
    /// Did one before it leave out nothing?
    passed_all: bool,
    is_negated: bool,
    history: Option<&'a str>,
}

/// What a search deletes in this way. Tests count from left to right, as `find` tries them: those behind leave out nothing.
pub(super) fn taken<'a>(call: &'a Call<'_>, deed: Deed) -> Taken<'a> {
    let plain = call.plain();
    let begin = options(plain);
    let begin = begin + plain.iter().skip(begin).take_while(|it| is_root(it)).count();
    let mut args = plain.iter().map(String::as_str).enumerate().skip(begin);
    let mut groups = vec![Group::default()];
    let mut taken = Taken { which: Which::Some, history: None };
    let (mut before, mut is_negated) = ("", false);
    while let Some((at, arg)) = args.next() {
        let depth = groups.len();
        let Some(group) = groups.last_mut() else { break };
        let was_negated = std::mem::take(&mut is_negated);
        match arg {
            "!" | "-not" => is_negated = !was_negated,
            "(" => groups.push(Group { is_negated: was_negated, ..Group::default() }),
            ")" if depth > 1 => {
                let Some(inner) = groups.pop() else { break };
                let Some(outer) = groups.last_mut() else { break };
                outer.picks |= inner.picks && !inner.passed_all;
                outer.history = inner.history.filter(|_| !inner.is_negated).or(outer.history);
            }
            "-o" | "-or" | "," => {
                group.passed_all |= !group.picks;
                group.picks = false;
                // What is not gone into is not deleted by what comes next.
                if depth == 1 || before == "-prune" {
                    group.history = None;
                }
            }
            _ if deed == Deed::Runs(at) || (deed == Deed::Deletes && arg == "-delete") => {
                let is_all = groups.iter().all(|it| !it.picks);
                taken.which = if is_all { Which::All } else { taken.which };
                let mut named = groups.iter().rev().filter(|it| !it.is_negated);
                taken.history = named.find_map(|it| it.history).or(taken.history);
                if is_all || deed != Deed::Deletes {
                    break;
                }
            }
            "-delete" => {}
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = args.by_ref().map(|it| it.1).find(|it| matches!(*it, ";" | "+"));
                group.picks |= end != Some("+");
            }
            _ if EVERY.contains(&arg) => {}
            _ if is_valued(arg) => {
                let value = args.next().map_or("", |it| it.1);
                group.picks |= !finds_every(arg, value, deed);
                if !was_negated && names_history(arg, value) {
                    group.history = Some(value);
                }
            }
            _ => group.picks = true,
        }
        before = arg;
    }
    taken
}

fn is_valued(test: &str) -> bool {
    test == "-type" || EVERY_VALUE.contains(&test) || EVERY_OF.get(test).is_some()
}

/// Does everything pass a test with this value?
fn finds_every(test: &str, value: &str, deed: Deed) -> bool {
    match test {
        // Folders go only when they are empty, unless a command takes what is in them, too.
        "-type" => value.contains('f') || deed != Deed::Deletes,
        _ => {
            EVERY_VALUE.contains(&test) || EVERY_OF.get(test).is_some_and(|it| it.contains(&value))
        }
    }
}

/// Does a test of names or paths name what holds all versions of a work?
fn names_history(test: &str, value: &str) -> bool {
    let is_name = matches!(test, "-name" | "-iname" | "-path" | "-ipath");
    let is_path = matches!(test, "-wholename" | "-iwholename");
    // Here `*` stands for what begins with a dot as well.
    let pattern = marks::with_patterns(value.trim_start_matches('*'));
    (is_name || is_path) && is_history(&pattern)
}

/// How many arguments stand before the places where `find` looks.
pub(super) fn options(args: &[String]) -> usize {
    let mut count = 0;
    loop {
        match args.get(count).map(String::as_str) {
            Some("-D") => count += 2,
            Some("-H" | "-L" | "-P" | "-E" | "-X" | "-s" | "-x") => count += 1,
            Some(arg) if arg.starts_with("-O") => count += 1,
            Some(_) | None => return count,
        }
    }
}

/// Is it a place where `find` looks, and no test?
pub(super) fn is_root(arg: &str) -> bool {
    !arg.starts_with(['-', '(', '!'])
}
