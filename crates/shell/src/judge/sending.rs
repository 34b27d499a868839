//! What tools send to other machines, and how they name these.

use super::here::is_this_machine;
use super::{has_unknown, option};
use crate::spelled::literals;
use crate::wrappers::after_options;
use crate::{Access, Call, Class, Engine, Rule, State, Words, names};

/// They name a machine with `-h`, or `--host`.
static HOSTED: Words = Words::named("judge.sending.HOSTED");
/// They say what is sent with words of their own: `http POST host name=value file@path`.
const SPEAKING: [&str; 6] = ["http", "https", "httpie", "xh", "xhs", "ht"];
/// Options of theirs that take a value.
static SPOKEN_VALUED: Words = Words::named("judge.sending.SPOKEN_VALUED");
/// Options of `ssh` that take a value.
static SSH_VALUED: Words = Words::named("judge.sending.SSH_VALUED");

impl Engine {
    pub(super) fn judge_sending(&mut self, call: &Call<'_>, state: &State) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        match call.name.as_str() {
            // What is published is meant to be; where else than usual is judged apart.
            "twine" if first == "upload" => {
                self.classes.insert(Class::Network);
            }
            name if SPEAKING.contains(&name) => self.judge_spoken(call, state),
            name if HOSTED.contains(&name) => {
                for host in hosted(call) {
                    self.reach(&host);
                }
            }
            _ => {}
        }
    }

    /// `[METHOD] URL [ITEM …]`.
    fn judge_spoken(&mut self, call: &Call<'_>, state: &State) {
        let before = std::iter::once("").chain(call.plain().iter().map(String::as_str));
        let valued = before.zip(call.plain()).filter(|it| !SPOKEN_VALUED.contains(&it.0));
        let operands: Vec<&String> =
            valued.map(|it| it.1).filter(|it| !it.starts_with('-')).collect();
        let is_method = |it: &&&String| {
            operands.len() > 1 && it.len() <= 7 && it.bytes().all(|it| it.is_ascii_alphabetic())
        };
        let method = operands.first().filter(is_method).map(|it| it.to_uppercase());
        let mut rest = operands.iter().skip(usize::from(method.is_some()));
        let Some(address) = rest.next() else { return };
        let authority = address.split_once("://").map_or(address.as_str(), |it| it.1);
        let host = host(authority);
        // `:8080/path` is this machine.
        let is_here = host.is_empty() || is_this_machine(&host);
        if !address.contains("://") && !host.is_empty() {
            self.reach(&host);
        }
        let mut carries = call.stdin.is_some() || option(call, None, "raw");
        for item in rest {
            carries |= is_data(item);
            let file = item.split_once('@').map(|it| it.1).filter(|it| !it.is_empty());
            if let Some(path) = file.filter(|_| !item.contains("==")) {
                self.touch(Access::Read, path.split(';').next().unwrap_or(path), state);
            }
        }
        let changes = method.is_some_and(|it| !matches!(it.as_str(), "GET" | "HEAD" | "OPTIONS"));
        if !is_here && (carries || changes || has_unknown(call)) {
            self.ask(Rule::Egress, "it sends data to another machine");
        }
    }
}

/// `name=value`, `name:=value`, `name@file`; `name==value` is a part of the address, `name:value` of what stands before it.
fn is_data(item: &str) -> bool {
    let at = item.find(['=', '@', ':']);
    let sign = at.and_then(|it| item.get(it..)).unwrap_or_default();
    ["=", "@", ":="].iter().any(|it| sign.starts_with(it)) && !sign.starts_with("==")
}

/// The machines that options of databases and their like name.
fn hosted(call: &Call<'_>) -> Vec<String> {
    let plain = call.plain();
    let mut hosts = Vec::new();
    for (index, arg) in plain.iter().enumerate() {
        let next = plain.get(index + 1).filter(|_| arg == "-h" || arg == "--host");
        let glued = arg
            .strip_prefix("--host=")
            .or_else(|| arg.strip_prefix("-h").filter(|it| it.contains('.') || *it == "localhost"));
        // `host=machine dbname=name`, in one word.
        let told = arg.split([' ', '&', '?']).find_map(|it| it.strip_prefix("host="));
        let found = next.map(String::as_str).or(glued).or(told);
        hosts.extend(found.filter(|it| !it.starts_with(['-', '/', '@'])).map(host));
    }
    hosts
}

/// Letters of an address up to where a name ends.
pub(super) fn host(authority: &str) -> String {
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    if let Some((number, _)) = place.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return number.to_owned();
    }
    let is_part = |it: char| it.is_alphanumeric() || "-._~%".contains(it) || !it.is_ascii();
    place.chars().take_while(|it| is_part(*it)).collect()
}

/// The machines whose addresses stand in an argument. In code they stand between quotes.
pub(super) fn addressed(call: &Call<'_>, arg: &str) -> Vec<String> {
    let is_code = names::interpreter(&call.name).is_some() && arg.contains(['"', '\'', '`']);
    let texts = if is_code { literals(arg) } else { Vec::new() };
    // `php://stdin` is no machine.
    let in_text = |it: &str| {
        let (scheme, rest) = it.split_once("://")?;
        (!scheme.ends_with("php")).then(|| host(rest))
    };
    let hosts: Vec<String> = texts.iter().filter_map(|it| in_text(it)).collect();
    if hosts.is_empty() { in_text(arg).into_iter().collect() } else { hosts }
}

/// What `ssh` is told, without its options.
pub(super) struct Login<'a> {
    machine: Option<&'a String>,
    words: &'a [String],
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Login<'a> {
    pub(super) fn of(call: &Call<'a>) -> Self {
        let rest = after_options(call.args, &SSH_VALUED, 0);
        let (machine, behind) = rest.split_first().unzip();
        // Options may stand behind the machine, too.
        let words = after_options(behind.unwrap_or_default(), &SSH_VALUED, 0);
        let count = call.args.len() - words.len();
        let before = call.args.get(..count).unwrap_or_default();
        let pairs = before.iter().zip(before.iter().skip(1));
        let options = pairs.map(|it| (it.0.as_str(), it.1.as_str())).collect();
        Self { machine, words, options }
    }

    /// What is run there.
    pub(super) fn command(&self) -> Option<String> {
        let words: Vec<String> =
            self.words.iter().map(|it| super::super::marks::plain(it)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The machine, and those on the way to it.
    pub(super) fn hosts(&self) -> Vec<String> {
        let jumps = self.options.iter().filter(|it| it.0 == "-J").flat_map(|it| it.1.split(','));
        let through = self.options.iter().filter(|it| it.0 == "-W").map(|it| it.1);
        let machine = self.machine.iter().map(|it| it.as_str());
        let all = jumps.chain(through).chain(machine);
        all.map(|it| host(it.split_once("://").map_or(it, |it| it.1))).collect()
    }
}
