//! What a work makes again by itself: outputs of builds, caches, what was installed for it.
//!
//! To delete that is a part of every day's work. It must lie in the work, and surely so.

use super::files::is_of_work;
use crate::{Call, Engine, State, Words, history, listed, marks, paths};

/// Folders and files that tools make, and make again when they are gone.
static NAMES: Words = Words::named("judge.remade.NAMES");
/// Endings of files that compilers and their like make.
static ENDINGS: Words = Words::named("judge.remade.ENDINGS");

/// Tests of `find` that take no value, without their dash.
static BARE: Words = Words::named("judge.remade.BARE");
/// Those that take one.
static VALUED: Words = Words::named("judge.remade.VALUED");

impl Engine {
    /// Is it a place of the work that is made again when it is gone, or something below one?
    pub(super) fn is_remade(&self, path: &str, state: &State) -> bool {
        let resolved = paths::resolved(path, state);
        is_of_work(path, state)
            && !history::is_inside(&resolved)
            && resolved.split('/').any(is_remade_name)
            && !self.moved.iter().any(|it| overlap(it, &resolved))
    }

    /// Does a search find nothing but what is made again, or what is empty?
    pub(in super::super) fn finds_only_remade(&self, call: &Call<'_>, state: &State) -> bool {
        if !matches!(call.name.as_str(), "find" | "gfind") || call.has(&["-L", "-follow"]) {
            return false;
        }
        let roots = listed::roots(call);
        if roots.iter().all(|it| self.is_remade(it, state)) {
            return true;
        }
        let is_led = |root: &str| {
            let root = paths::resolved(root, state);
            let is_above = |it: &str| parts(it).count() <= parts(&root).count();
            self.moved.iter().any(|it| overlap(it, &root) && is_above(it))
        };
        if !roots.iter().all(|it| is_of_work(it, state) && !is_led(it)) {
            return false;
        }
        // What was moved there has such a name now, and is none of it.
        let has_name = |it: &String| marks::has_hole(it) || it.split('/').any(is_remade_name);
        let plain = call.plain();
        // What is not, and what is one after the other, is more than its names say.
        if self.moved.iter().any(has_name)
            || plain.iter().any(|it| matches!(it.as_str(), "!" | "-not" | ","))
        {
            return false;
        }
        let tests = plain.iter().map(String::as_str).skip_while(|it| matches!(*it, "-H" | "-P"));
        names_remade(tests.skip_while(|it| !it.starts_with(['-', '('])))
    }
}

/// By its whole name, or by its ending.
fn is_remade_name(part: &str) -> bool {
    let part = marks::plain(part);
    let has_ending = ENDINGS.iter().any(|it| part.len() > it.len() && part.ends_with(it));
    NAMES.contains(&part.as_str()) || has_ending
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|it| *it != ".")
}

/// Is one of two places the other, or below it? Patterns are tried, and what is not known may be anything.
fn overlap(a: &str, b: &str) -> bool {
    let is_same = |(a, b): (&str, &str)| {
        a == b
            || marks::has_hole(a)
            || marks::has_hole(b)
            || marks::matches(a, b)
            || marks::matches(b, a)
    };
    parts(a).zip(parts(b)).all(is_same)
}

/// Does every alternative of a search name what is made again, before it does anything with what it finds?
fn names_remade<'a>(mut tests: impl Iterator<Item = &'a str>) -> bool {
    let is_valued = |it: &str| VALUED.contains(&it) || it.starts_with("newer");
    let mut is_named = false;
    while let Some(test) = tests.next() {
        match test {
            "-o" | "-or" if is_named => is_named = false,
            "-empty" => is_named = true,
            "-name" | "-iname" => is_named |= tests.next().is_some_and(is_remade_name),
            "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                let is_below = |it: &str| it.split('/').any(|it| NAMES.contains(&it));
                is_named |= tests.next().is_some_and(is_below);
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" if is_named => {
                tests.by_ref().take_while(|it| !matches!(*it, ";" | "+")).for_each(drop);
            }
            "-delete" | "-print" | "-print0" | "-ls" if is_named => {}
            "-printf" if is_named => drop(tests.next()),
            _ if BARE.contains(&test.trim_start_matches('-')) => {}
            _ if test.strip_prefix('-').is_some_and(is_valued) => drop(tests.next()),
            _ => return false,
        }
    }
    is_named
}
