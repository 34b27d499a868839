//! What an edit of a file does beyond the file: an obeyed file, a check that is switched off, a program that runs when
//! somebody installs.

use std::collections::BTreeMap;

use model::ToolCall;
use serde_json::Value;
use shell::Act;

use super::changes::{self, Change};
use super::{Deed, Deeds, Kind, of_file, removal};

/// Folders with what others wrote, wherever they stand.
const OF_OTHERS: &[&[&str]] = &[
    &["node_modules"],
    &["site-packages"],
    &["dist-packages"],
    &["vendor"],
    &["third_party"],
    &["downloads"],
    &[".cargo"],
    &["go", "pkg"],
];
/// Files that say where packages come from.
const SOURCES: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "pip.conf",
    ".pypirc",
    "nuget.config",
    ".gemrc",
    "bunfig.toml",
];
/// Keys of `package.json` whose programs run when somebody installs.
const INSTALLING: &[&str] = &[
    "\"preinstall\"",
    "\"install\"",
    "\"postinstall\"",
    "\"prepare\"",
    "\"prepublish\"",
    "\"prepack\"",
];
/// Marks of a test that is not run.
const SKIPPED: &[&str] = &[
    "t.Skip(",
    ".skip(",
    "@pytest.mark.skip",
    "@unittest.skip",
    "pytest.skip(",
    "#[ignore",
    "@Disabled",
    "@Ignore",
    "xit(",
    "xdescribe(",
    "GTEST_SKIP",
    "it.todo(",
];
/// What lets somebody in, or a check fall, in whatever file it stands.
const OPENING: &[&str] = &[
    "pull_request_target",
    "write-all",
    "privileged: true",
    "/var/run/docker.sock",
    "pid: host",
    "verify=False",
    "rejectUnauthorized: false",
    "InsecureSkipVerify: true",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "StrictHostKeyChecking no",
    "bypassPermissions",
    "dangerouslySkipPermissions",
    "sslVerify = false",
    "strict-ssl=false",
];
/// Parts of the names of settings that protect.
const PROTECTING: &[&str] = &[
    "verify",
    "verification",
    "auth",
    "secur",
    "signature",
    "signed",
    "ssl",
    "tls",
    "csrf",
    "permission",
    "protect",
    "enforce",
    "sandbox",
    "checksum",
    "integrity",
    "encrypt",
    "audit",
    "strict",
    "csp",
    "hsts",
    "mfa",
    "2fa",
    "require",
    "validat",
    "sanitiz",
    "escape",
];
/// Values that switch something off, and those that they take the place of.
const OFF: &[&str] = &[
    "false",
    "off",
    "no",
    "0",
    "none",
    "disabled",
    "\"off\"",
    "'off'",
    "\"none\"",
    "\"disabled\"",
    "'none'",
    "allow",
];
const ON: &[&str] = &[
    "true",
    "on",
    "yes",
    "1",
    "strict",
    "enabled",
    "\"on\"",
    "'on'",
    "required",
    "\"required\"",
    "\"strict\"",
    "\"enabled\"",
    "deny",
];

/// What a call that writes files does.
pub(super) fn of(call: &ToolCall) -> Deeds {
    let acts = of_changes(&changes::of(call.call.args()));
    if acts.is_empty() { Deeds::Work } else { Deeds::Acts(acts) }
}

fn of_changes(changes: &BTreeMap<String, Change>) -> Vec<Deed> {
    let of_one = |(path, change): (&String, &Change)| {
        let removal = removal::of(path, change);
        let deeds = [of_file(path), source(path), weakened(path, change), removal];
        deeds.into_iter().flatten()
    };
    changes.iter().flat_map(of_one).collect()
}

fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|it| texts(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| texts(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn source(path: &str) -> Option<Deed> {
    let name = name_of(path);
    SOURCES.contains(&name.to_lowercase().as_str()).then(|| Deed {
        kind: Kind::Command(Act::Source),
        what: format!("writing `{path}`"),
        object: name.to_owned(),
    })
}

/// What was on and is off, what is tested no more, what runs from then on.
fn weakened(path: &str, change: &Change) -> Option<Deed> {
    let (old, new) = (change.old.as_str(), change.new.as_str());
    let name = name_of(path);
    let deed =
        |act: Act, what: String| Deed { kind: Kind::Command(act), what, object: name.to_owned() };
    let count = |text: &str, mark: &str| text.matches(mark).count();
    let adds =
        |marks: &[&'static str]| marks.iter().find(|it| count(new, it) > count(old, it)).copied();
    if name == "package.json"
        && let Some(key) = adds(INSTALLING)
    {
        return Some(deed(Act::Extend, format!("a program that runs at {key} in `{path}`")));
    }
    if let Some(mark) = adds(OPENING) {
        return Some(deed(Act::Weaken, format!("`{mark}` in `{path}`")));
    }
    // A new file has nothing that could be switched off.
    if old.is_empty() {
        return None;
    }
    if let Some(mark) = adds(SKIPPED) {
        return Some(deed(Act::Weaken, format!("a test that is skipped (`{mark}`) in `{path}`")));
    }
    let key = switched_off(old, new)?;
    Some(deed(Act::Weaken, format!("`{key}` is switched off in `{path}`")))
}

/// The name of a protecting setting that is on in `old` and off in `new`.
fn switched_off(old: &str, new: &str) -> Option<String> {
    let settings = |text: &str, values: &[&str]| -> Vec<String> {
        let of_line = |line: &str| {
            let line = line.trim().trim_start_matches('-').trim();
            let (key, value) = line.split_once([':', '='])?;
            let value = value.trim().trim_end_matches([',', ';']).trim().to_lowercase();
            let key = key.trim().trim_matches(['"', '\'', ' ']).to_lowercase();
            let protects = PROTECTING.iter().any(|it| key.contains(it));
            (protects && values.contains(&value.as_str())).then_some(key)
        };
        text.lines().filter_map(of_line).collect()
    };
    let on = settings(old, ON);
    settings(new, OFF).into_iter().find(|it| on.contains(it))
}

/// Does it lie where others wrote?
pub(super) fn is_of_others(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|it| !it.is_empty()).collect();
    let is_below = |folder: &[&str]| parts.windows(folder.len()).any(|it| it == folder);
    OF_OTHERS.iter().any(|it| is_below(it))
}

/// Does a call that looks at files look at those of others?
pub(crate) fn looks_at_others(call: &ToolCall) -> bool {
    let mut found = Vec::new();
    call.call.args().values().for_each(|it| texts(it, &mut found));
    found.into_iter().any(is_of_others)
}

#[cfg(test)]
mod tests {
    use model::{Call, RawCall};
    use serde_json::json;

    use super::super::Obeyed;
    use super::*;

    /// The acts of an edit, each with the name of its file.
    fn acts(args: &Value) -> Vec<(Kind, String)> {
        let args = args.to_string();
        let raw = RawCall { tool: "apply_patch", args: args.as_bytes() };
        let changes = changes::of(Call::parse(&raw).unwrap().args());
        of_changes(&changes).into_iter().map(|it| (it.kind, it.object)).collect()
    }

    #[test]
    fn each_file_of_a_patch_is_judged() {
        let patch = "*** Begin Patch\n*** Update File: src/lib.rs\n@@\n-a\n+b\n\
                     *** Update File: package.json\n@@\n {\n+  \"postinstall\": \"node x.js\",\n\
                     *** Add File: .github/workflows/x.yml\n+on: push\n\
                     *** Add File: .git/hooks/pre-commit\n+#!/bin/sh\n";
        let found = acts(&json!({ "input": patch }));
        for (kind, name) in [
            (Kind::Command(Act::Extend), "package.json"),
            (Kind::Obeyed(Obeyed::Ci), "x.yml"),
            (Kind::Obeyed(Obeyed::Hook), "pre-commit"),
        ] {
            assert!(found.contains(&(kind, name.to_owned())), "{name} {found:?}");
        }
        assert_eq!(acts(&json!({ "input": "*** Update File: a.rs\n@@\n-a\n+b\n" })), []);
    }

    #[test]
    fn what_a_patch_takes_away_is_not_what_it_brings() {
        let weakens = |old: &str, new: &str| {
            let patch = format!("--- a/conf.yml\n+++ b/conf.yml\n@@\n-{old}\n+{new}\n");
            acts(&json!({ "patch": patch }))
                == [(Kind::Command(Act::Weaken), "conf.yml".to_owned())]
        };
        assert!(weakens("verify_tls: true", "verify_tls: false"));
        assert!(!weakens("verify_tls: false", "verify_tls: true"));
        assert!(weakens("test(a)", "test.skip(a)"));
        assert!(!weakens("test.skip(a)", "test(a)"));
        assert!(!weakens("privileged: true", "privileged: false"));
    }

    #[test]
    fn one_more_of_several_edits_counts() {
        let edits = |second: &str| {
            let first = json!({"old_string": "it.skip(a)", "new_string": "it.skip(a) // b"});
            let second = json!({"old_string": "it(c)", "new_string": second});
            acts(&json!({"file_path": "a.test.ts", "edits": [first, second]}))
        };
        assert_eq!(edits("it.skip(c)"), [(Kind::Command(Act::Weaken), "a.test.ts".to_owned())]);
        assert_eq!(edits("it(d)"), []);
    }

    #[test]
    fn what_others_wrote_lies_in_their_folders() {
        for path in ["/home/a/go/pkg/mod/x.go", "web/node_modules/x/index.js", "C:\\Downloads\\x"] {
            assert!(is_of_others(path), "{path}");
        }
        for path in ["go/src/pkg/x.go", "pkg/go/x.go", "src/vendors.rs", ""] {
            assert!(!is_of_others(path), "{path}");
        }
    }
}
