//! Where tools put what they unpack, copy or make: an option or an operand of theirs names it.

use super::super::Access;
use super::super::engine::Engine;
use super::super::paths;
use super::super::simple::Call;
use super::super::state::State;
use super::files::is_unpacking;

/// Options whose value is a file or a folder that is written, by command.
const OPTIONS: [(&str, &[&str]); 29] = [
    ("cp", &["-t", "--target-directory"]),
    ("mv", &["-t", "--target-directory"]),
    ("ln", &["-t", "--target-directory"]),
    ("install", &["-t", "--target-directory"]),
    ("unzip", &["-d"]),
    ("unar", &["-o", "--output-directory"]),
    ("7z", &["-o"]),
    ("7za", &["-o"]),
    ("7zz", &["-o"]),
    ("tar", &["-C", "--directory", "--one-top-level"]),
    ("gtar", &["-C", "--directory", "--one-top-level"]),
    ("bsdtar", &["-C", "--directory"]),
    ("cpio", &["-D", "--directory"]),
    ("aria2c", &["-d", "--dir", "-o", "--out"]),
    ("wget", &["-P", "--directory-prefix"]),
    ("curl", &["--output-dir"]),
    ("openssl", &["-out"]),
    ("gpg", &["-o", "--output"]),
    ("gpg2", &["-o", "--output"]),
    ("age", &["-o", "--output"]),
    ("sort", &["-o", "--output"]),
    ("base64", &["-o", "--output"]),
    ("uudecode", &["-o"]),
    ("gcc", &["-o"]),
    ("cc", &["-o"]),
    ("clang", &["-o"]),
    ("go", &["-o"]),
    ("rustc", &["-o"]),
    ("dtc", &["-o"]),
];
/// They change the files that they are given.
const CHANGING: [&str; 12] = [
    "chrpath",
    "codesign",
    "crudini",
    "ed",
    "ex",
    "install_name_tool",
    "objcopy",
    "patchelf",
    "red",
    "sponge",
    "strip",
    "yq",
];

impl Engine<'_> {
    pub(super) fn judge_landing(&mut self, call: &Call<'_>, state: &State) {
        for path in named(call).into_iter().chain(last(call)) {
            self.touch(Access::Write, &path, state);
            if paths::resolved(&path, state) == "/" {
                self.ask("shell-system-write", "what it brings lies over the system then");
            }
            if call.name == "install" || call.name == "cp" || call.name == "mv" {
                self.fresh.insert(paths::resolved(&path, state));
            }
        }
        if call.name == "run-parts" {
            for folder in call.operands() {
                self.run_file(&format!("{folder}/part"), state);
            }
        }
        for (name, value) in exported(call) {
            self.judge_variable(&name, &value, state);
        }
        if let Some(folder) = cloned(call) {
            self.fresh.insert(format!("clone:{}", paths::resolved(&folder, state)));
        }
        let changes = CHANGING.contains(&call.name.as_str());
        let in_place = !matches!(call.name.as_str(), "yq") || call.short('i');
        for path in call.operands().iter().filter(|it| changes && in_place && it.contains('/')) {
            self.touch(Access::Write, path, state);
        }
    }
}

/// Variables for everything that is started from then on.
fn exported(call: &Call<'_>) -> Vec<(String, String)> {
    let pair = |it: &String| it.split_once('=').map(|it| (it.0.to_owned(), it.1.to_owned()));
    match (call.name.as_str(), call.operands()) {
        ("systemctl", [verb, rest @ ..]) if verb == "set-environment" => {
            rest.iter().filter_map(pair).collect()
        }
        ("dbus-update-activation-environment", rest) => rest.iter().filter_map(pair).collect(),
        ("launchctl", [verb, name, value]) if verb == "setenv" => {
            vec![(name.clone(), value.clone())]
        }
        _ => Vec::new(),
    }
}

/// The folder that `git clone` makes.
fn cloned(call: &Call<'_>) -> Option<String> {
    let (verb, rest) = call.operands().split_first()?;
    if call.name != "git" || verb != "clone" {
        return None;
    }
    let from = rest.iter().position(|it| it.contains(':') || it.contains('/'))?;
    let named = rest.get(from)?.trim_end_matches('/').trim_end_matches(".git");
    let own = rest.get(from + 1).cloned();
    own.or_else(|| named.rsplit(['/', ':']).next().map(str::to_owned))
}

/// The values of the options that name where.
fn named(call: &Call<'_>) -> Vec<String> {
    let options = OPTIONS.iter().filter(|it| it.0 == call.name).flat_map(|it| it.1.iter());
    let options: Vec<&str> = options.copied().collect();
    if options.is_empty() || (call.name.ends_with("tar") && packs(call)) {
        return Vec::new();
    }
    let args = call.args;
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let glued = options.iter().find_map(|option| {
            let rest = arg.strip_prefix(option)?;
            if option.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
        });
        let glued = glued.filter(|it| it.starts_with(['/', '~', '.']));
        let next = options.contains(&arg.as_str()).then(|| args.get(index + 1)).flatten();
        found.extend(glued.map(str::to_owned).or_else(|| next.cloned()));
    }
    found
}

/// The last operand, where it is the target.
fn last(call: &Call<'_>) -> Option<String> {
    let operands = call.operands();
    let is_target = match call.name.as_str() {
        "rsync" => operands.len() > 1,
        "git" => operands.len() > 2 && operands.first().is_some_and(|it| it == "clone"),
        "xxd" => call.short('r') && operands.len() > 1,
        "split" | "csplit" => operands.len() > 1,
        _ => false,
    };
    let target = call.args.iter().rev().find(|it| !it.starts_with('-'));
    target.filter(|it| is_target && !it.contains(':')).cloned()
}

/// `tar -C DIR -c` reads there. Told to do both, it does the other.
fn packs(call: &Call<'_>) -> bool {
    if call.plain().iter().enumerate().any(|(at, it)| is_unpacking(it, at == 0)) {
        return false;
    }
    let creates = |it: &String| {
        let letters = it.strip_prefix('-').unwrap_or(it);
        !letters.starts_with('-') && letters.contains('c') && !letters.contains('/')
    };
    call.plain().first().is_some_and(creates)
        || call.plain().iter().any(|it| it == "--create" || (it.starts_with('-') && creates(it)))
}
