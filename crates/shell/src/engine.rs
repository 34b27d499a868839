//! What is gathered while a command is followed: findings, the normal form, what is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::acts::Done;
use crate::limits::{
    ALL_TURNS_MAX, COMMANDS_MAX, HANDLED_MAX, MADE_BYTES_MAX, NORMAL_BYTES_MAX, PROBES_MAX,
    READ_AGAIN_BYTES_MAX, READ_AGAIN_MAX, TARGETS_MAX, TURNED_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::steps::Step;
use crate::syntax::Script;
use crate::told::Told;
use crate::{
    Access, Blocklist, Class, Decision, Finding, HOLE, NETWORK, Place, Rule, State, agree, marks,
    paths, syntax,
};

/// What a command prints; unknown parts are marked.
pub(super) type Output = Vec<u8>;
/// What a command reads; nothing where it reads what the whole text reads.
pub(super) type Input<'a> = Option<&'a [u8]>;

/// Commands that do not come back: what stands behind them may not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// `break`, `continue`.
    pub(super) turns: usize,
    /// `return`.
    pub(super) functions: usize,
    /// `exit`.
    pub(super) shells: usize,
}

/// Follows commands without running them.
#[derive(Default)]
pub(super) struct Engine {
    pub(super) blocklist: Rc<Blocklist>,
    pub(super) findings: Vec<Finding>,
    pub(super) normal: String,
    /// What stands before the next command of the normal form.
    pub(super) joint: &'static str,
    /// `sudo` and the like, before the command that they run.
    pub(super) prefix: String,
    /// Above 0, nothing is added to the normal form.
    pub(super) quiet: usize,
    pub(super) classes: BTreeSet<Class>,
    pub(super) places: Vec<Place>,
    pub(super) hosts: Vec<String>,
    pub(super) steps: Vec<Step>,
    pub(super) told: Told,
    pub(super) acts: Vec<Done>,
    /// Variables of the words of this command that are not set here.
    pub(super) unset_names: Vec<String>,
    /// Did the last command surely succeed or fail?
    pub(super) status: Option<bool>,
    pub(super) made: usize,
    pub(super) depth: usize,
    /// Stages of the pipeline that is followed.
    pub(super) stages: usize,
    /// What was left, and how often.
    pub(super) left: Left,
    /// What `>(…)` runs, by the path that stands for it.
    pub(super) sinks: BTreeMap<String, Script>,
    /// Files that were written, fetched or made executable by this text.
    pub(super) fresh: BTreeSet<String>,
    /// Where links, moves and copies of this text put something.
    pub(super) moved: BTreeSet<String>,
    /// What a search hands to a command, and whether it finds nothing but what is made again.
    pub(super) found: Option<(String, bool)>,
    /// Is the process above this one named?
    pub(super) names_parent: bool,
    /// Above 0, nobody waits for what is followed.
    pub(super) aside: usize,
    /// Does something go on without an end, which nobody waits for?
    pub(super) unended: bool,
    /// Does a variable of this text stand among the words of the command?
    pub(super) put_away: bool,
    /// Texts that were hidden in others until a command of this text showed them.
    pub(super) revealed: Vec<String>,
    /// Was everything of a person or the system gone through?
    pub(super) swept: bool,
    /// Was a file read that a pattern names? There may be others that it names, too.
    pub(super) patterned: bool,
    commands: usize,
    /// Arguments that were looked at.
    handled: usize,
    turns: usize,
    /// Bytes that programs turned into others.
    turned: usize,
    /// Texts that all parsers have read, and their bytes.
    checked: BTreeSet<String>,
    again: usize,
    processes: usize,
    probes: usize,
}

impl Engine {
    pub(super) fn new(blocklist: &Rc<Blocklist>) -> Self {
        Self { blocklist: Rc::clone(blocklist), joint: "; ", stages: 1, ..Self::default() }
    }

    pub(super) fn deny(&mut self, rule: Rule, reason: impl Into<String>) {
        self.find(Decision::Deny, rule, reason.into());
    }

    pub(super) fn ask(&mut self, rule: Rule, reason: impl Into<String>) {
        self.find(Decision::StepUp, rule, reason.into());
    }

    /// What is followed and is no part of the normal form.
    pub(super) fn quietly<T>(&mut self, follow: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let result = follow(self);
        self.quiet -= 1;
        result
    }

    /// A text that is run, and is no part of the normal form.
    pub(super) fn run_quietly(&mut self, source: &str, state: &State) {
        self.quietly(|it| it.run_text(source, &mut state.clone(), None));
    }

    pub(super) fn find(&mut self, decision: Decision, rule: Rule, reason: String) {
        self.classes.extend(rule.class());
        let new = Finding { decision, rule, reason };
        if self.findings.contains(&new) {
            return;
        }
        // The first of its kind is kept, however many others there are: much that is harmless hides nothing that is not.
        let is_first = !self.findings.iter().any(|it| (it.decision, it.rule) == (decision, rule));
        if is_first || self.findings.len() < TARGETS_MAX {
            self.findings.push(new);
        }
    }

    pub(super) fn too_much(&mut self) {
        self.ask(Rule::TooLarge, "it does more than is read");
    }

    /// May another text be tried as a command?
    pub(super) fn may_probe(&self) -> bool {
        self.probes < PROBES_MAX && !self.is_exhausted()
    }

    /// Another reader for a text that may be a command; what it costs is counted here, too.
    pub(super) fn probe(&self) -> Self {
        let mut probe = Self::new(&self.blocklist);
        probe.depth = self.depth + 4;
        probe.commands = self.commands;
        probe.handled = self.handled;
        probe.turns = self.turns;
        probe.turned = self.turned;
        probe.again = self.again;
        probe.probes = self.probes + 1;
        probe
    }

    pub(super) fn probed(&mut self, probe: &Self) {
        (self.commands, self.again, self.probes) = (probe.commands, probe.again, probe.probes);
        (self.turns, self.handled, self.turned) = (probe.turns, probe.handled, probe.turned);
    }

    /// One more command, or too many.
    pub(super) fn count(&mut self) -> bool {
        self.commands += 1;
        if self.commands > COMMANDS_MAX {
            self.too_much();
        }
        self.commands <= COMMANDS_MAX
    }

    /// So many more arguments, or too many.
    pub(super) fn handle(&mut self, arguments: usize) -> bool {
        self.handled += arguments;
        if self.handled > HANDLED_MAX {
            self.too_much();
        }
        self.handled <= HANDLED_MAX
    }

    /// So many more bytes that are turned into others; may they be?
    pub(super) fn turn_text(&mut self, bytes: usize) -> bool {
        self.turned = self.turned.saturating_add(bytes);
        self.turned <= TURNED_BYTES_MAX
    }

    /// Were there too many commands already?
    pub(super) fn is_exhausted(&self) -> bool {
        self.commands > COMMANDS_MAX || self.turns > ALL_TURNS_MAX || self.handled > HANDLED_MAX
    }

    /// One more turn of a loop, or too many.
    pub(super) fn turn(&mut self) -> bool {
        self.turns += 1;
        if self.turns > ALL_TURNS_MAX {
            self.too_much();
        }
        !self.is_exhausted()
    }

    /// A text with another one in each place of a third, unless that makes more than is read.
    pub(super) fn replaced(&mut self, text: &str, old: &str, new: &str) -> String {
        let count = text.matches(old).count();
        if count == 0 {
            return text.to_owned();
        }
        let size = text.len().saturating_add(count.saturating_mul(new.len()));
        self.made = self.made.saturating_add(size);
        if size > VALUE_BYTES_MAX || self.made > MADE_BYTES_MAX {
            self.too_much();
            return self::text(&forgotten(format!("{text}{new}").as_bytes()));
        }
        text.replace(old, new)
    }

    /// Adds a command to the normal form.
    pub(super) fn record(&mut self, fields: &[String]) {
        let prefix = std::mem::take(&mut self.prefix);
        if self.quiet > 0 {
            return;
        }
        if self.normal.len() > NORMAL_BYTES_MAX {
            return self.too_much();
        }
        if !self.normal.is_empty() {
            self.normal.push_str(self.joint);
        }
        self.joint = "; ";
        let words: Vec<String> = fields
            .iter()
            .filter(|it| marks::shown(it).is_empty() == it.is_empty())
            .map(|it| marks::quoted(&paths::homely(it)))
            .collect();
        self.normal.push_str(&prefix);
        self.normal.push_str(&words.join(" "));
    }

    pub(super) fn touch(&mut self, access: Access, path: &str, state: &State) {
        let path = self.note(access, path, state);
        self.judge_place(access, &path);
        if let Some(place) = paths::from_root(&path) {
            self.judge_place(access, &place);
        }
    }

    /// Says what is touched, whatever that means.
    pub(super) fn note(&mut self, access: Access, path: &str, state: &State) -> String {
        let path = paths::resolved(path, state);
        self.classes.insert(match access {
            Access::Read => Class::Read,
            Access::Write => Class::Write,
            Access::Delete => Class::Delete,
            Access::Execute => Class::Execute,
        });
        let place = Place { access, path: marks::shown(&paths::homely(&path)) };
        self.add_place(place);
        path
    }

    pub(super) fn reach(&mut self, host: &str) {
        self.classes.insert(Class::Network);
        let host = marks::shown(host).to_lowercase();
        if !host.is_empty() {
            self.add_host(host);
        }
    }

    /// The output of `$(…)`: without line ends at its end.
    pub(super) fn substitution(&mut self, script: &Script, state: &State) -> String {
        let mut inner = state.clone();
        let joint = std::mem::replace(&mut self.joint, "; ");
        let prefix = std::mem::take(&mut self.prefix);
        let left = self.left;
        let output = self.script(script, &mut inner, None);
        self.left = left;
        if self.normal.is_empty() {
            self.joint = joint;
        }
        self.prefix = prefix;
        text(&output).trim_end_matches('\n').to_owned()
    }

    /// `<(…)` and `>(…)`: a path that stands for what runs there.
    pub(super) fn process(&mut self, script: &Script, is_input: bool, state: &mut State) -> String {
        let mut inner = state.clone();
        let stdin = (!is_input).then(unknown);
        let left = self.left;
        let output = self.script(script, &mut inner, stdin.as_deref());
        self.left = left;
        self.processes += 1;
        let path = format!("/dev/fd/{}", 60 + self.processes);
        if is_input {
            state.files.insert(path.clone(), output);
        } else {
            self.sinks.insert(path.clone(), script.clone());
        }
        path
    }

    /// What is written to `>(…)` is read there.
    pub(super) fn pour_into(&mut self, path: &str, output: &[u8], state: &State) {
        if let Some(script) = self.sinks.get(path).cloned() {
            self.quietly(|it| it.script(&script, &mut state.clone(), Some(output)));
        }
    }

    /// Other parsers must see the same commands. What there is too much of for that is a question.
    fn cross_check(&mut self, text: String, names: &[usize]) {
        self.again += text.len();
        if self.again > READ_AGAIN_BYTES_MAX || self.checked.len() >= READ_AGAIN_MAX {
            self.too_much();
            return;
        }
        if let Err(disagreement) = agree::check(&text, names) {
            self.ask(Rule::Disagree, disagreement);
        }
        self.checked.insert(text);
    }

    /// A text that is run as commands in `state`.
    pub(super) fn run_text(&mut self, source: &str, state: &mut State, stdin: Input<'_>) -> Output {
        if source.contains(NETWORK) {
            self.deny(Rule::RemoteCode, "it runs what somebody else's machine sends");
        } else if marks::has_hole(source) {
            self.ask(Rule::Dynamic, "it runs text that only a run would show");
        }
        if source.trim_start().starts_with(marks::UNSET) {
            self.ask(Rule::Dynamic, "it runs text that a variable from outside holds");
        }
        if self.patterned {
            self.ask(Rule::Dynamic, "it runs text after files that only a run would find");
        }
        let plain = marks::plain(source);
        if plain.trim_matches([HOLE, ' ', '\n', '\t']).is_empty() {
            return unknown();
        }
        self.depth += 4;
        let output = match syntax::parse(&plain, self.depth) {
            Ok((script, names)) => {
                // What has holes is a question already.
                if !marks::has_hole(&plain) && !self.checked.contains(&plain) {
                    self.cross_check(plain, &names);
                }
                self.script(&script, state, stdin)
            }
            Err(error) => {
                self.ask(
                    Rule::Unreadable,
                    format!("it runs text that cannot be read: {}", error.0),
                );
                unknown()
            }
        };
        self.depth -= 4;
        // What it does says more than that it was hidden.
        if self.is_revealed(source) {
            self.ask(Rule::Dynamic, "it runs text that was hidden or put away before");
        }
        output
    }
}

/// Output that only a run would show.
pub(super) fn unknown() -> Output {
    HOLE.to_string().into_bytes()
}

/// What is left of output that is too much: where it came from.
pub(super) fn forgotten(output: &[u8]) -> Output {
    if text(output).contains(NETWORK) { from_network() } else { unknown() }
}

/// Output of somebody else's machine.
pub(super) fn from_network() -> Output {
    format!("{NETWORK}{HOLE}").into_bytes()
}

pub(super) fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).replace('\0', "")
}
