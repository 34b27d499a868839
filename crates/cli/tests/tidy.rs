//! House rules that a compiler cannot see, for the whole workspace.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 400;
const TEST_FILE_LINES_MAX: usize = 600;
const FN_LINES_MAX: usize = 70;

fn root() -> PathBuf {
    files::resolved(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Files with this ending below `dir`, without what was built: a module may be called `target`, too.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let built =
        ["target", "fuzz/target", "bench/mcp-http/peer/target", ".git"].map(|it| root().join(it));
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !built.contains(&path) {
                found.extend(files(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = files(&root().join("crates"), ".rs");
    found.extend(files(&root().join("fuzz"), ".rs"));
    found.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_string_lossy();
    let is_below = |folder: &str| path.components().any(|it| it.as_os_str() == folder);
    is_below("tests") || is_below("testkit") || name == "tests"
}

#[test]
fn files_fit_in_a_head() {
    for (path, text) in sources() {
        let max = if is_test(&path) { TEST_FILE_LINES_MAX } else { FILE_LINES_MAX };
        let lines = text.lines().count();
        assert!(lines <= max, "{}: {lines} lines, at most {max}", path.display());
    }
}

#[test]
fn functions_fit_on_a_screen() {
    for (path, text) in sources() {
        let mut open: Option<(usize, String)> = None;
        for (number, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            let indent = line.get(..line.len() - trimmed.len()).unwrap();
            let begins = trimmed.starts_with("fn ") || trimmed.contains(" fn ");
            if open.is_none() && begins && !trimmed.starts_with("//") && !line.ends_with(';') {
                open = Some((number, format!("{indent}}}")));
            }
            // A trait's method over several lines has no body to measure.
            let declared = |end: &str| line.starts_with(&end.replace('}', ")"));
            if line.ends_with(';') && open.as_ref().is_some_and(|(_, end)| declared(end)) {
                open = None;
            }
            if let Some((start, end)) = &open
                && line.trim_end() == end
            {
                let lines = number - start + 1;
                let at = format!("{}:{}", path.display(), start + 1);
                assert!(lines <= FN_LINES_MAX, "{at}: {lines} lines, at most {FN_LINES_MAX}");
                open = None;
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{}: begin with a line of `//!`", path.display());
    }
}

#[test]
fn no_file_lies_around_unused() {
    for (path, _) in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = path.parent().unwrap();
        let in_folder = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let above = folder.with_extension("rs");
        let parents = match stem.as_str() {
            "main" | "lib" => continue,
            "mod" => {
                let up = folder.parent().unwrap();
                let name = folder.file_name().unwrap().to_string_lossy().into_owned();
                let read = |it: &str| fs::read_to_string(up.join(it)).unwrap_or_default();
                let all = ["main.rs", "lib.rs", "mod.rs"].map(read).concat();
                assert!(declares(&all, &name), "{}: nobody declares it", path.display());
                continue;
            }
            _ => ["main.rs", "lib.rs", "mod.rs"].map(in_folder).concat(),
        };
        // What must not compile is declared by nobody.
        let top = ["benches", "examples", "targets", "permit", "secret"]
            .iter()
            .any(|it| folder.ends_with(it))
            || folder.ends_with("tests") && is_program(folder, &stem);
        let above = fs::read_to_string(above).unwrap_or_default();
        let used = top || declares(&parents, &stem) || declares(&above, &stem);
        assert!(used, "{}: nobody declares it", path.display());
    }
}

/// A file directly in `tests/` is a program of its own where cargo looks for programs, or where the
/// manifest names it: one that neither holds for would never run.
fn is_program(tests: &Path, stem: &str) -> bool {
    let Ok(manifest) = fs::read_to_string(tests.with_file_name("Cargo.toml")) else {
        return false;
    };
    !manifest.contains("autotests = false")
        || manifest.contains(&format!("path = \"tests/{stem}.rs\""))
}

/// What commands share stands in files that know no command. A file that imports the dispatcher, which imports all
/// commands, would make a circle of all of them.
#[test]
fn no_command_imports_the_dispatcher() {
    let cli = root().join("crates/cli/src");
    for (path, text) in sources() {
        let is_command = path.starts_with(&cli) && path != cli.join("main.rs");
        let imports = text.contains("crate::run::") || text.contains("super::run::run");
        assert!(!(is_command && imports), "{}: imports the dispatcher", path.display());
    }
}

/// Tests alone need it: what is in it may panic.
#[test]
fn the_program_does_not_contain_the_testkit() {
    for path in files(&root().join("crates"), "Cargo.toml") {
        let text = fs::read_to_string(&path).unwrap();
        let program = text.split("[dev-dependencies]").next().unwrap();
        let names = program.lines().any(|it| it.starts_with("testkit") && it.contains("workspace"));
        assert!(!names, "{}: names testkit", path.display());
    }
}

fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| line.trim().ends_with(&format!("mod {module};")))
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here so that this file does not find itself.
    let marks =
        [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["unimplemented", "!"]].map(|it| it.concat());
    for (path, text) in sources() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{}: {mark}", path.display());
        }
        let bare = text.lines().any(|line| line.trim() == "#[ignore]");
        assert!(!bare, "{}: an ignored test says why", path.display());
    }
}

#[test]
fn every_folder_of_modules_is_looked_at() {
    let all = sources();
    let has = |end: &str| all.iter().any(|(path, _)| path.ends_with(end));
    assert!(has("monitor/src/target/mod.rs") && has("sandbox/src/cage/sys.rs"));
    let root = root();
    assert!(!all.iter().any(|(path, _)| path.starts_with(root.join("fuzz/target"))));
}

#[test]
fn documents_say_what_is_so_and_not_where_it_was_ordered() {
    let words = ["the seed", "of seed", "seed 0", "seeds/"];
    for path in files(&root(), ".md") {
        let text = fs::read_to_string(&path).unwrap().to_lowercase();
        for word in words {
            assert!(!text.contains(word), "{}: `{word}`", path.display());
        }
    }
}

#[test]
fn every_crate_takes_lints_and_versions_from_the_workspace() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut all = String::new();
    for path in files(&root().join("crates"), "Cargo.toml") {
        let text = fs::read_to_string(&path).unwrap();
        let at = path.display();
        if path.ends_with("sandbox/Cargo.toml") {
            assert_lints_but_for_unsafe(&workspace, &text);
        } else {
            assert!(text.contains("[lints]\nworkspace = true"), "{at}: take the workspace's lints");
        }
        assert!(text.contains("description = "), "{at}: say what it is");
        let versions = text.lines().filter(|line| line.contains("version = \""));
        assert_eq!(versions.count(), 0, "{at}: versions stand in the workspace");
        all.push_str(&text);
    }
    let section = workspace.split("[workspace.dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    for line in section.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')) {
        let name = line.split(" = ").next().unwrap();
        let used = all.contains(&format!("{name}.workspace"))
            || all.contains(&format!("{name} = {{ workspace"));
        assert!(used, "{name} is listed in the workspace and used by nobody");
    }
}

/// rustdoc reads a whole crate in order to look for examples: only where there are some does it have to.
#[test]
fn examples_are_tried_in_every_crate_that_has_any() {
    for path in files(&root().join("crates"), "Cargo.toml") {
        let source = path.with_file_name("src");
        if !source.join("lib.rs").is_file() {
            continue;
        }
        let has_examples =
            files(&source, ".rs").iter().any(|it| has_example(&fs::read_to_string(it).unwrap()));
        let says_none = fs::read_to_string(&path).unwrap().contains("[lib]\ndoctest = false");
        assert!(
            has_examples != says_none,
            "{}: `doctest = false` says that no comment has an example",
            path.display()
        );
    }
}

/// Whether a comment of documentation opens a block of Rust.
fn has_example(text: &str) -> bool {
    let mut is_open = false;
    let fences = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        comment.trim_start().strip_prefix("```")
    });
    fences.into_iter().any(|language| {
        is_open = !is_open;
        let first = language.trim().split(',').next().unwrap_or_default();
        is_open && ["", "rust", "compile_fail", "no_run", "should_panic"].contains(&first)
    })
}

/// `sandbox` speaks to the kernel: it has every lint of the workspace, and `unsafe` denied instead of forbidden.
fn assert_lints_but_for_unsafe(workspace: &str, own: &str) {
    for section in ["rust", "clippy"] {
        let all = workspace.split(&format!("[workspace.lints.{section}]\n")).nth(1).unwrap();
        for line in all.split("\n[").next().unwrap().lines().filter(|it| it.contains(" = ")) {
            let line = line.replace("unsafe_code = \"forbid\"", "unsafe_code = \"deny\"");
            assert!(own.contains(&line), "sandbox/Cargo.toml lacks `{line}`");
        }
    }
}

/// What must not come into the tree, by whatever way, and why.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "rustls is the one TLS"),
    ("reqwest", "its resolver hook is no guard against requests turned inward"),
    ("serde_yaml", "unmaintained"),
    ("serde_yml", "unsound"),
    ("brush-parser", "hangs and aborts on hostile text"),
    ("libloading", "a provider is a row of a table; nothing is loaded by its name"),
];

#[test]
fn the_lock_file_holds_only_known_sources_and_nothing_banned() {
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = fs::read_to_string(root().join(lock)).unwrap();
        for line in text.lines() {
            if let Some(source) = line.strip_prefix("source = ") {
                let official = "\"registry+https://github.com/rust-lang/crates.io-index\"";
                assert_eq!(source, official, "{lock}");
            }
            for (name, why) in BANNED {
                assert!(line != format!("name = \"{name}\""), "{lock}: {name}: {why}");
            }
        }
    }
}

#[test]
fn documents_name_what_is_there() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let architecture = read("ARCHITECTURE.md");
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(architecture.contains(&format!("crates/{name}")), "ARCHITECTURE.md: crates/{name}");
    }
    let codes = read("crates/aegx/README.md");
    for code in aegx::Code::ALL {
        assert!(codes.contains(&format!("`{}`", code.as_str())), "crates/aegx/README.md: {code:?}");
    }
    let readme = read("README.md");
    for needed in ["scripts/test", "lazaret -- demo", "SECURITY.md", "ARCHITECTURE.md"] {
        assert!(readme.contains(needed), "README.md: {needed}");
    }
    for name in ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = read(name);
        for link in text.split("](").skip(1).filter_map(|it| it.split(')').next()) {
            let path = link.split('#').next().unwrap();
            let outside = path.is_empty() || path.contains("://");
            assert!(outside || root().join(path).exists(), "{name}: {link} leads nowhere");
        }
    }
}

/// Who may make a path of something else than a literal or a constant, and what of. Everybody else takes
/// `files::safe_path`, `files::segment` or a `files::Relative` beneath a `files::Dir`.
///
/// INVARIANT (OnePathWay): clippy bans the other ways (`canonicalize`, `absolute`, `PathBuf::push`); `join` has too many
/// honest uses for a ban, so they are counted here.
const JOINERS: &[(&str, &str)] = &[
    ("aegx/src/archive/extract.rs", "a name of an archive, one plain part after the other"),
    ("aegx/src/archive/temporary.rs", "a random name"),
    ("aegx/src/bundle/builder.rs", "names of the format"),
    ("aegx/src/bundle/files.rs", "names of the format"),
    ("aegx/src/bundle/pending.rs", "names of the format"),
    ("aegx/src/bundle/transaction.rs", "names of the format, digests"),
    ("aegx/src/fuzzing.rs", "a process number; no part of the program"),
    ("aegx/src/source.rs", "names of the format"),
    ("browser/src/profile.rs", "a hash and random letters; names of a fixed list"),
    ("cli/src/demo/mod.rs", "a time; a name that was just listed"),
    ("cli/src/evidence/bench.rs", "a time"),
    (
        "cli/src/exec/changeable.rs",
        "where a link or a word leads, of which only is asked whether it is in the cage",
    ),
    ("cli/src/exec/line.rs", "a process number"),
    (
        "cli/src/exec/line_of_servers.rs",
        "a word of a configuration, of which only is asked whether it leads into the cage",
    ),
    ("cli/src/exec/presets/mod.rs", "paths of the tables, which are plain by their type"),
    ("cli/src/exec/settings.rs", "the last part of a path that the person names"),
    ("cli/src/gate/bench.rs", "a time"),
    ("cli/src/ipc.rs", "a name of a session"),
    ("cli/src/policy/live.rs", "names of a fixed list"),
    ("cli/src/replay/gate.rs", "a time"),
    ("cli/src/skills/run.rs", "the name of a skill, which is plain by its type"),
    ("egress/src/event.rs", "no path: an address"),
    ("evidence/src/blobs.rs", "digests"),
    ("evidence/src/chain.rs", "no path: a chain and its seal"),
    ("evidence/src/import.rs", "digests, and members that `aegx` has verified"),
    ("evidence/src/layout.rs", "names of the layout"),
    ("evidence/src/segment/files.rs", "numbers; a name that was just listed"),
    ("evidence/src/torn.rs", "numbers and digests"),
    ("evidence/src/tree.rs", "numbers"),
    ("files/src/path/fuzzing.rs", "what `segment` took; no part of the program"),
    ("files/src/path/relative.rs", "what `Relative::parse` took"),
    ("host/src/admission.rs", "names of the layout; a name of an agent"),
    (
        "host/src/doors/hook/instructing.rs",
        "names that a host has for its instructions, of a fixed list",
    ),
    ("host/src/manifests.rs", "a name of an agent"),
    ("host/src/models/desk.rs", "a path of the settings, which is plain by its type"),
    ("host/src/plugins/copy.rs", "names of a walk, one plain part after the other"),
    ("host/src/plugins/registry.rs", "the name of a package, with one character replaced"),
    ("host/src/skills/git/leaving.rs", "UUIDs"),
    ("host/src/skills/git/mod.rs", "names of refs, of UUIDs and constants"),
    ("host/src/skills/git/object.rs", "digests"),
    ("host/src/skills/git/proposal.rs", "UUIDs"),
    ("host/src/skills/pins.rs", "the name of a skill, which is plain by its type"),
    ("host/src/workspace/mod.rs", "what `segment` took"),
    ("sandbox/src/audit/read.rs", "names of the kernel's files"),
    ("sandbox/src/cage/bubblewrap.rs", "where a program would be found, to say whether it is"),
    ("sandbox/src/cage/cgroup.rs", "names of the kernel's files, and a process number"),
    ("sandbox/src/cage/closed.rs", "names that were just listed, below the system's settings"),
    ("sandbox/src/cage/fresh.rs", "random letters"),
    (
        "sandbox/src/cage/git.rs",
        "names that were just listed, below a workspace; where a file of git leads, to be kept or judged",
    ),
    ("sandbox/src/cage/given.rs", "names of a fixed list, below the home and the workspaces"),
    ("sandbox/src/cage/kept/aside.rs", "a name that was just made, below a workspace"),
    ("sandbox/src/cage/kept.rs", "names of a fixed list, below a workspace"),
    ("sandbox/src/cage/leads.rs", "where a file of git leads, as git goes there"),
    ("sandbox/src/cage/mounts.rs", "names of a fixed list"),
    ("sandbox/src/cage/nested.rs", "names that were just listed, below a workspace"),
    ("sandbox/src/cage/view.rs", "names of fixed lists, below the home and the workspaces"),
    ("sandbox/src/cage/way.rs", "names of a path, of which only is asked whether they are links"),
    ("sandbox/src/probe.rs", "names of the kernel's files"),
    ("sandbox/src/seatbelt/launch.rs", "random letters"),
    (
        "sandbox/src/seatbelt/policy.rs",
        "names of fixed lists; where a link of the operator's leads, by its text",
    ),
    ("sandbox/src/seatbelt/running.rs", "the program, of which only is asked whether it is there"),
    ("scan/src/net/fuzzing.rs", "no path: an address"),
    ("scan/src/net/target.rs", "no path: an address"),
    ("setup/src/managed.rs", "names of the files that agents read for a whole machine"),
    ("setup/src/unguarded.rs", "names of the files of other programs, of a fixed list"),
    ("shell/src/expand.rs", "no path: words of a command"),
    ("shell/src/follow.rs", "no path: what may be known of a command"),
    ("shell/src/letters.rs", "no path: words of a command"),
    ("shell/src/loops.rs", "no path: what may be known of a command"),
    ("store/src/sqlite/schema.rs", "the name that a file has"),
    ("store/src/workspace/passing.rs", "digests, and a name of a session behind one"),
    (
        "store/src/workspace/registry.rs",
        "digests and numbers; a path that was just looked at, of which only is asked whether it is there",
    ),
    ("store/src/workspace/related.rs", "digests"),
    ("vault/src/file.rs", "names of the layout"),
    ("vault/src/plugin.rs", "the name of a program that `age` names, in folders of `PATH`"),
];

#[test]
fn only_those_who_may_make_a_path_of_more_than_a_literal() {
    let crates = root().join("crates");
    let mut found = Vec::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_test(path)) {
        let Ok(name) = path.strip_prefix(&crates) else { continue };
        let is_source = name.components().nth(1).is_some_and(|it| it.as_os_str() == "src");
        if is_source && joins_something(&text) {
            found.push(name.to_string_lossy().into_owned());
        }
    }
    let listed: Vec<&str> = JOINERS.iter().map(|it| it.0).collect();
    assert_eq!(found, listed, "who joins, and who is listed");
}

/// Is there a `join` of anything but a literal or a constant, outside of tests? Of texts and of threads, too: this
/// only reads, and does not know types.
fn joins_something(text: &str) -> bool {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let (program, _) = text.split_at(end);
    program.split(".join(").skip(1).any(|it| {
        let argument = it.trim_start().trim_start_matches('&');
        let word = argument.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap();
        let is_constant = !word.is_empty() && word.chars().all(|it| !it.is_lowercase());
        !(argument.starts_with('"') || argument.starts_with(')') || is_constant)
    })
}
