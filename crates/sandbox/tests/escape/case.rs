//! One attempt: a file whose first lines say what must come of it.
//!
//! `# what:` the claim. `# expect:` the errors that may hold it (`# expect-host:` where the file tree is the host's).
//! `# on:` `all`, `namespaces` where only a file tree of its own can hold it, or `landlock` where only that can. `# limits:` of the cage. `# ends:` how
//! it ends, if not with 0. `# world:` what is planted. `# terminal: yes`. `# then: kill` kills the one outside.

use std::path::Path;

/// A file of `corpus/escape`.
#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: &'static str,
    pub(crate) script: String,
    pub(crate) expect: Vec<String>,
    pub(crate) expect_host: Option<Vec<String>>,
    pub(crate) namespaces_only: bool,
    pub(crate) landlock_only: bool,
    pub(crate) limits: Vec<(String, u64)>,
    pub(crate) ends: String,
    pub(crate) dotfiles: bool,
    pub(crate) terminal: bool,
    pub(crate) then_kill: bool,
}

/// All of them, by name.
pub(crate) fn read_all() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/escape");
    let library = std::fs::read_to_string(dir.join("lib.py")).unwrap();
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "lib.py" || name == "README.md" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        all.push(parse(&name, &text, &library));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(all.len() > 30, "the corpus is not there");
    all
}

fn parse(name: &str, text: &str, library: &str) -> Case {
    let (stem, ending) = name.split_once('.').unwrap();
    let mut case = Case { name: stem.to_owned(), ends: "exited 0".to_owned(), ..Case::default() };
    match ending {
        "py" => {
            case.program = "/usr/bin/python3";
            case.script = format!("{library}\n{text}");
        }
        "sh" => {
            case.program = "/bin/sh";
            case.script = text.to_owned();
        }
        _ => panic!("{name}: neither .py nor .sh"),
    }
    let words = |it: &str| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut claimed = false;
    for line in text.lines().take_while(|it| it.starts_with('#')) {
        let Some((key, value)) = line.trim_start_matches('#').trim().split_once(": ") else {
            continue;
        };
        match key {
            "what" => claimed = true,
            "expect" => case.expect = words(value),
            "expect-host" => case.expect_host = Some(words(value)),
            "on" => {
                case.namespaces_only = value == "namespaces";
                case.landlock_only = value == "landlock";
            }
            "limits" => case.limits = words(value).iter().map(|it| limit(it)).collect(),
            "ends" => case.ends = value.to_owned(),
            "world" => case.dotfiles = value == "dotfiles",
            "terminal" => case.terminal = value == "yes",
            "then" => case.then_kill = value == "kill",
            // A comment with a colon.
            _ => {}
        }
    }
    assert!(claimed && !case.expect.is_empty(), "{name}: no claim, or no expected failure");
    case
}

fn limit(text: &str) -> (String, u64) {
    let (name, value) = text.split_once('=').unwrap();
    let (value, unit) = match value.strip_suffix('M') {
        Some(value) => (value, 1 << 20),
        None => (value, 1),
    };
    (name.to_owned(), value.parse::<u64>().unwrap() * unit)
}
