//! What commands list: places below others, of which only a run would show which they are.

use crate::judge::is_everything;
use crate::{Call, Engine, HOLE, Output, State, Words, finding, marks, paths};

/// Behind a place: whatever lies somewhere below it.
const BELOW: &str = "/\u{E000}/\u{E000}";
/// A place that was found in the work and is made again when it is gone; which one, only a run would show.
pub(super) const REMADE_LINE: &str = "./\u{E000}\u{E008}/__pycache__";
/// They print some of the lines that they read, as they are.
static KEEPING: Words = Words::named("listed.KEEPING");
/// Searches of everything that is known of a machine.
const INDEXED: [&str; 4] = ["locate", "plocate", "slocate", "mdfind"];
/// What makes `find` and `fd` print no places.
static SILENCING: Words = Words::named("listed.SILENCING");

/// Where a command looks for what it lists.
pub(super) fn roots<'a>(call: &Call<'a>) -> Vec<&'a str> {
    let roots = match call.name.as_str() {
        "find" | "gfind" => {
            let args = call.args.iter().skip(finding::options(call.plain()));
            args.take_while(|it| finding::is_root(it)).map(String::as_str).collect()
        }
        "fd" | "fdfind" => of_fd(call.args),
        _ => call.args.iter().filter(|it| !it.starts_with('-')).map(String::as_str).collect(),
    };
    if roots.is_empty() { vec!["."] } else { roots }
}

/// Behind the pattern, or told by an option; a value of another option may be among them.
fn of_fd(args: &[String]) -> Vec<&str> {
    let (mut roots, mut words) = (Vec::new(), Vec::new());
    let is_folder = |it: &(&str, &str)| matches!(it.0, "--search-path" | "--base-directory");
    let mut rest = args.iter().map(String::as_str);
    while let Some(arg) = rest.next() {
        match arg {
            // What it runs ends with a sign of its own.
            "-x" | "-X" | "--exec" | "--exec-batch" => {
                rest.by_ref().take_while(|it| *it != ";").for_each(drop);
            }
            "--search-path" | "--base-directory" | "-C" => roots.extend(rest.next()),
            _ if arg.starts_with('-') => {
                roots.extend(arg.split_once('=').filter(is_folder).map(|it| it.1));
            }
            word => words.push(word),
        }
    }
    roots.extend(words.into_iter().skip(1));
    roots
}

/// What is printed by a command that lists places outside of the work; `None`: it is none of these.
pub(super) fn printed(engine: &Engine, call: &Call<'_>, state: &State) -> Option<Output> {
    if INDEXED.contains(&call.name.as_str()) {
        return Some(format!("{BELOW}\n").into_bytes());
    }
    let plain = call.plain();
    let lists = match call.name.as_str() {
        "find" | "gfind" | "fd" | "fdfind" => {
            let says_more = |it: (&str, &str)| it.0 == "-printf" && !it.1.contains("%p");
            !call.pairs().any(says_more) && !call.has(&SILENCING)
        }
        "rg" => call.has(&["--files"]),
        "get-childitem" | "gci" => true,
        _ => false,
    };
    if !lists {
        return None;
    }
    if engine.finds_only_remade(call, state) && !plain.iter().any(|it| it.starts_with("-printf")) {
        return Some(format!("{REMADE_LINE}\n").into_bytes());
    }
    let roots = roots(call);
    let resolved = roots.iter().map(|it| (it.starts_with('/'), paths::resolved(it, state)));
    // A folder that `cd` went to is the work, unless it is everybody's.
    let far = resolved.filter(|(is_named, it)| *is_named || is_everybodys(it));
    let mut lines: Vec<String> = far.map(|it| below(&it.1)).collect();
    if lines.is_empty() {
        return None;
    }
    if lines.len() < roots.len() {
        lines.push(HOLE.to_string());
    }
    Some((lines.join("\n") + "\n").into_bytes())
}

fn below(root: &str) -> String {
    format!("{}{BELOW}", root.trim_end_matches('/'))
}

/// A root, a home, or a directory that the system stands on: no folder that somebody works in.
pub(super) fn is_everybodys(path: &str) -> bool {
    paths::is_root(path)
        && (is_everything(path.trim_end_matches(['/', '*'])) || paths::is_system(path))
}

/// The place below which something lies that was listed.
pub(super) fn root_of(path: &str) -> Option<&str> {
    let root = path.strip_suffix(BELOW)?;
    Some(if root.is_empty() { "/" } else { root })
}

/// The lines of a text as they are, if they are places that were listed; what else there is stands at the end.
pub(super) fn items(text: &str) -> Option<Vec<String>> {
    let lines = || text.lines().filter(|it| !it.is_empty());
    let mut items: Vec<String> = lines()
        .filter(|it| root_of(it).is_some() || *it == REMADE_LINE)
        .map(str::to_owned)
        .collect();
    if items.is_empty() {
        return None;
    }
    if items.len() < lines().count() {
        items.push(HOLE.to_string());
    }
    Some(items)
}

/// Does a command pass on places that were listed as they are?
pub(super) fn passes(name: &str, text: &str) -> bool {
    KEEPING.contains(&name) && marks::has_hole(text) && items(text).is_some()
}
