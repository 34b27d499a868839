//! What is fetched from elsewhere, and where it lies then: to run it is to run what somebody else sends.

use super::has_unknown;
use super::here::{self, Here};
use super::options::{Given, Options};
use crate::{Access, Call, Engine, Rule, State, Words, marks, paths};

/// Among what was made before: files of which only a run would show the names.
pub(in super::super) const UNNAMED: &str = "unnamed:";
/// Options that let the other end say the names, or bring many.
static NAMED_THERE: Words = Words::named("judge.brought.NAMED_THERE");
/// Tools that copy between a store and this machine, and those that make a folder of somebody else's work.
const STORES: [&str; 6] = ["aws", "gcloud", "gsutil", "mc", "rclone", "s5cmd"];
const CLONING: [&str; 6] = ["bzr", "gh", "git", "glab", "hg", "svn"];

/// Files and folders that a command brings.
#[derive(Default)]
struct Brought {
    files: Vec<String>,
    folders: Vec<String>,
    has_unnamed: bool,
}

impl Engine {
    pub(super) fn judge_brought(&mut self, call: &Call<'_>, state: &State) {
        let brought = match call.name.as_str() {
            "curl" | "wget" | "aria2c" => by_address(call),
            name if CLONING.contains(&name) => by_clone(call),
            name if STORES.contains(&name) => by_copy(call),
            _ => return,
        };
        for path in brought.files {
            self.touch(Access::Write, &path, state);
            self.fresh.insert(paths::resolved(&path, state));
        }
        let folders = brought.folders.iter().map(|it| paths::resolved(it, state));
        self.fresh.extend(folders.map(|it| format!("clone:{it}")));
        if brought.has_unnamed {
            self.fresh.insert(UNNAMED.to_owned());
        }
    }

    pub(super) fn judge_upload(&mut self, call: &Call<'_>, state: &State) {
        // A file as it is, or as the text of a field: `x=<.env`.
        let options = here::given(call);
        let fields = options.values("F", "form").filter(|_| call.name == "curl");
        let fields = fields.filter_map(|it| it.split_once("=<"));
        let whole = call.plain().iter().filter(|it| !it.contains("://"));
        let whole = whole.filter_map(|it| it.split_once('@'));
        for (_, path) in whole.chain(fields).filter(|it| !matches!(it.1, "" | "-")) {
            self.touch(Access::Read, path.split(';').next().unwrap_or(path), state);
        }
        let is_elsewhere = here::spoken_to(call, state) != Here::Surely;
        if is_elsewhere && (here::has_body(call) || has_unknown(call)) {
            self.ask(Rule::Egress, "it sends data to another machine");
        }
    }
}

/// `curl -o FILE`, `wget -P DIR`, or named as in the address.
fn by_address(call: &Call<'_>) -> Brought {
    let (output, folder, many) = match call.name.as_str() {
        "curl" => ("o", "", "JK"),
        "wget" => ("O", "P", "imprx"),
        _ => ("o", "d", "MTi"),
    };
    let options = here::given(call);
    let named: Vec<&str> = options.values(output, "output-document").collect();
    let is_named_there = match call.name.as_str() {
        "curl" => options.has("O", "remote-name-all"),
        _ => named.is_empty(),
    };
    let is_open = |it: &str| it.contains(['%', '{', '[', '#', marks::HOLE]);
    let mut has_unnamed = named.iter().any(|it| is_open(it))
        || options
            .given
            .iter()
            .any(|it| it.is(many, "") || NAMED_THERE.iter().any(|name| it.is("", name)));
    let mut files: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
    for address in options.words.iter().filter(|_| is_named_there) {
        let all = last_parts(address);
        has_unnamed |= all.is_empty() || all.iter().any(|it| is_open(it));
        files.extend(all);
    }
    let written = ["cookie-jar", "dump-header"].iter().flat_map(|it| options.values("", it));
    let letters = options.values(if call.name == "curl" { "cD" } else { "ao" }, "");
    let told = options.values("w", "write-out").filter(|_| call.name == "curl");
    let told = told.flat_map(|it| it.split("%output{").skip(1));
    let told = told.filter_map(|it| it.split('}').next()).map(|it| it.trim_start_matches('>'));
    files.extend(written.chain(letters).chain(told).map(str::to_owned));
    files.retain(|it| !it.is_empty() && it != "-" && !it.contains("://"));
    let folders = ["output-dir", "directory-prefix", "dir"];
    let folder = options.given.iter().rfind(|it| it.is_one_of(folder, &folders));
    if let Some(folder) = folder.and_then(Given::value) {
        let inside: Vec<String> = files.iter().map(|it| format!("{folder}/{it}")).collect();
        files.extend(inside);
    }
    Brought { files, has_unnamed, ..Brought::default() }
}

/// How a file is named after its address: without what is asked there, or with it.
fn last_parts(address: &str) -> Vec<String> {
    let rest = address.split_once("://").map_or(address, |it| it.1);
    let rest = rest.split('#').next().unwrap_or(rest);
    let path = rest.split('?').next().unwrap_or(rest);
    let Some((_, last)) = path.rsplit_once('/').filter(|it| !it.1.is_empty()) else {
        // As `wget` names what has no name.
        return if marks::has_hole(path) { Vec::new() } else { vec!["index.html".to_owned()] };
    };
    let asked = rest.get(path.len()..).unwrap_or_default();
    let both = [last.to_owned(), format!("{last}{asked}")];
    both.into_iter().take(1 + usize::from(!asked.is_empty())).collect()
}

/// `git clone`, `gh repo clone`, `svn checkout`, `gh release download`: any of its words may be the folder.
fn by_clone(call: &Call<'_>) -> Brought {
    const CLONES: [&str; 5] = ["branch", "checkout", "clone", "co", "export"];
    let operands = call.operands();
    let verb = operands.iter().take(2).position(|it| match call.name.as_str() {
        "svn" | "bzr" => CLONES.contains(&it.as_str()),
        _ => it == "clone",
    });
    if let Some(verb) = verb {
        let rest = operands.get(verb + 1..).unwrap_or_default();
        let own = rest.iter().map(|it| it.trim_end_matches('/').trim_end_matches(".git"));
        let named = own.clone().filter_map(|it| it.rsplit(['/', ':']).next());
        let folders = own.chain(named).filter(|it| !it.is_empty()).map(str::to_owned).collect();
        return Brought { folders, ..Brought::default() };
    }
    let is_download = matches!(call.name.as_str(), "gh" | "glab")
        && operands.iter().take(2).any(|it| it == "download");
    if !is_download {
        return Brought::default();
    }
    let options = Options::of(call.plain(), "ADOpRn", &["dir", "output"]);
    let files: Vec<String> = options.values("O", "output").map(str::to_owned).collect();
    let folders: Vec<String> = options.values("D", "dir").map(str::to_owned).collect();
    let has_unnamed = files.is_empty() && folders.is_empty();
    Brought { files, folders, has_unnamed }
}

/// `aws s3 cp s3://bucket/s s`: the last word is a file, or a folder for it.
fn by_copy(call: &Call<'_>) -> Brought {
    const VERBS: [&str; 7] = ["copy", "copyto", "cp", "get", "mv", "rsync", "sync"];
    const VALUED: [&str; 5] = ["endpoint-url", "exclude", "include", "profile", "region"];
    let words = Options::of(call.plain(), "", &VALUED).words;
    let copies = words.iter().take(2).any(|it| VERBS.contains(it));
    let is_far = |it: &&&str| it.contains(':');
    match words.split_last() {
        Some((target, sources)) if copies && !is_far(&target) => {
            let far: Vec<&&str> = sources.iter().filter(is_far).collect();
            let has_unnamed = !far.is_empty() && matches!(*target, "." | "./");
            let inside =
                far.iter().flat_map(|it| last_parts(it)).map(|it| format!("{target}/{it}"));
            let own = far.first().map(|_| (*target).to_owned());
            let folders = own.iter().cloned().collect();
            Brought { files: own.into_iter().chain(inside).collect(), folders, has_unnamed }
        }
        Some(_) | None => Brought::default(),
    }
}
