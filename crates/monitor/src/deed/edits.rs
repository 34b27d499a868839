//! What an edit of a file does beyond the file: an obeyed file, a check that is switched off, a program that runs when
//! somebody installs.

use model::ToolCall;
use serde_json::Value;
use shell::Act;

use super::{Deed, Deeds, Kind, of_file};
use crate::target::FILE_PARAMS;

/// Folders with what others wrote, wherever they stand.
const OF_OTHERS: &[&str] = &[
    "node_modules",
    "site-packages",
    "dist-packages",
    "vendor",
    "third_party",
    "downloads",
    ".cargo",
    "go/pkg",
];
/// Lines of a patch that name the file they are for.
const PATCHED: &[&str] = &[
    "*** Update File: ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "+++ b/",
    "+++ ",
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
    let args = call.call.args();
    let mut paths: Vec<&str> = Vec::new();
    for (param, value) in args {
        let is_path = FILE_PARAMS.contains(&param.as_str())
            || param.contains("path")
            || param.contains("file");
        if is_path {
            texts(value, &mut paths);
        }
    }
    let mut pieces = Vec::new();
    for (param, value) in
        args.iter().filter(|(param, _)| !paths.is_empty() || param.as_str() != "path")
    {
        if !param.starts_with("old") {
            texts(value, &mut pieces);
        }
    }
    let old: Vec<&str> =
        args.iter().filter(|it| it.0.starts_with("old")).filter_map(|it| it.1.as_str()).collect();
    for line in pieces.iter().flat_map(|it| it.lines()) {
        let named = PATCHED.iter().find_map(|it| line.strip_prefix(it));
        paths.extend(named.map(str::trim).filter(|it| *it != "/dev/null"));
    }
    let mut acts: Vec<Deed> = paths.iter().filter_map(|it| of_file(it)).collect();
    for path in &paths {
        acts.extend(source(path));
    }
    let first = paths.first().copied().unwrap_or_default();
    acts.extend(weakened(first, &old.join("\n"), &pieces.join("\n")));
    if acts.is_empty() { Deeds::Work } else { Deeds::Acts(acts) }
}

fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|it| texts(it, found)),
        Value::Object(fields) => {
            fields.iter().filter(|it| !it.0.starts_with("old")).for_each(|it| texts(it.1, found));
        }
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
fn weakened(path: &str, old: &str, new: &str) -> Option<Deed> {
    let name = name_of(path);
    let deed =
        |act: Act, what: String| Deed { kind: Kind::Command(act), what, object: name.to_owned() };
    let adds = |marks: &[&'static str]| {
        marks.iter().find(|it| new.contains(**it) && !old.contains(**it)).copied()
    };
    if name == "package.json"
        && let Some(key) = adds(INSTALLING)
    {
        return Some(deed(Act::Extend, format!("a program that runs at {key} in `{path}`")));
    }
    if let Some(mark) = adds(OPENING) {
        return Some(deed(Act::Weaken, format!("`{mark}` in `{path}`")));
    }
    // A new file has nothing that could be switched off.
    if old.is_empty() && !new.contains("\n-") {
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
            let line = line.trim().trim_start_matches(['-', '+']).trim();
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
    path.split(['/', '\\']).any(|part| OF_OTHERS.contains(&part))
}

/// Does a call that looks at files look at those of others?
pub(crate) fn looks_at_others(call: &ToolCall) -> bool {
    let mut found = Vec::new();
    call.call.args().values().for_each(|it| texts(it, &mut found));
    found.into_iter().any(is_of_others)
}
