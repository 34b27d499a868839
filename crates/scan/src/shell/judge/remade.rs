//! What a work makes again by itself: outputs of builds, caches, what was installed for it.
//!
//! To delete that is a part of every day's work. It must lie in the work, and surely so.

use super::super::listed;
use super::super::marks;
use super::super::paths;
use super::super::simple::Call;
use super::super::state::State;
use super::files::is_of_work;

/// Folders and files that tools make, and make again when they are gone.
const NAMES: [&str; 64] = [
    ".DS_Store",
    ".angular",
    ".astro",
    ".build",
    ".bundle",
    ".cache",
    ".coverage",
    ".dart_tool",
    ".docusaurus",
    ".eggs",
    ".eslintcache",
    ".gradle",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".output",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".sass-cache",
    ".serverless",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    ".webpack",
    ".zig-cache",
    "CMakeCache.txt",
    "CMakeFiles",
    "DerivedData",
    "Pods",
    "Thumbs.db",
    "__pycache__",
    "_build",
    "_site",
    "artifacts",
    "bower_components",
    "build",
    "cdk.out",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "dist",
    "dist-newstyle",
    "elm-stuff",
    "htmlcov",
    "node_modules",
    "obj",
    "out",
    "playwright-report",
    "storybook-static",
    "target",
    "test-results",
    "venv",
    "zig-cache",
    "zig-out",
];
/// Endings of files that compilers and their like make.
const ENDINGS: [&str; 19] = [
    ".class",
    ".egg-info",
    ".gcda",
    ".gcno",
    ".gcov",
    ".hi",
    ".ko",
    ".o",
    ".obj",
    ".orig",
    ".pdb",
    ".profdata",
    ".profraw",
    ".pyc",
    ".pyo",
    ".rej",
    ".swp",
    ".tmp",
    ".tsbuildinfo",
];

/// Is it a place of the work that is made again when it is gone, or something below one?
pub(super) fn is_remade(path: &str, state: &State) -> bool {
    let resolved = paths::resolved(path, state);
    let is_history = |it: &str| matches!(it, ".git" | ".hg" | ".jj" | ".svn");
    is_of_work(path, state)
        && !resolved.split('/').any(is_history)
        && resolved.split('/').any(is_remade_name)
}

/// By its whole name, or by its ending.
fn is_remade_name(part: &str) -> bool {
    let part = marks::plain(part);
    let has_ending = ENDINGS.iter().any(|it| part.len() > it.len() && part.ends_with(it));
    NAMES.contains(&part.as_str()) || has_ending
}

/// Does a search find nothing but what is made again, or what is empty?
pub(in super::super) fn finds_only_remade(call: &Call<'_>, state: &State) -> bool {
    if !matches!(call.name.as_str(), "find" | "gfind") {
        return false;
    }
    let roots = listed::roots(call);
    if !roots.iter().all(|it| is_of_work(it, state)) {
        return false;
    }
    if roots.iter().all(|it| is_remade(it, state)) {
        return true;
    }
    let plain = call.plain();
    // What is not, and what is one after the other, is more than its names say.
    if plain.iter().any(|it| matches!(it.as_str(), "!" | "-not" | ",")) {
        return false;
    }
    let tests = plain.iter().position(|it| it.starts_with(['-', '('])).unwrap_or(plain.len());
    let tests = without_commands(plain.get(tests..).unwrap_or_default());
    tests.split(|it| matches!(*it, "-o" | "-or")).all(names_remade)
}

/// The tests of one alternative: at least one of them leaves nothing else.
fn names_remade(tests: &[&str]) -> bool {
    let by_name = tests.windows(2).any(|it| match it {
        [test, name] => match *test {
            "-name" | "-iname" => is_remade_name(name),
            "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                name.split('/').any(|it| NAMES.contains(&it))
            }
            _ => false,
        },
        _ => false,
    });
    by_name || tests.contains(&"-empty")
}

/// The words of a search that are none of a command which it runs.
fn without_commands(tests: &[String]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut rest = tests.iter().map(String::as_str);
    while let Some(test) = rest.next() {
        if matches!(test, "-exec" | "-execdir" | "-ok" | "-okdir") {
            rest.by_ref().take_while(|it| !matches!(*it, ";" | "+")).for_each(drop);
        } else {
            kept.push(test);
        }
    }
    kept
}
