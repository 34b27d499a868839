//! Follows lists, pipelines and compound commands: every branch, known loops turn by turn.

use std::rc::Rc;

use crate::engine::forgotten;
use crate::limits::{DEPTH_MAX, VALUE_BYTES_MAX};
use crate::state::remembered;
use crate::steps::Step;
use crate::syntax::{Chain, Command, Joint, Kind, Pipeline, Redirect, RedirectKind, Script, Word};
use crate::{Access, Engine, Input, Output, State, UNSET, marks, unknown};

/// Where a command reads and prints.
#[derive(Default)]
pub(super) struct Pipes {
    pub(super) stdin: Option<Output>,
    /// The file that takes what is printed.
    pub(super) file: Option<String>,
    /// All files that are written.
    written: Vec<String>,
    /// One of them is a connection to another machine.
    sends: bool,
}

impl Engine {
    pub(super) fn script(
        &mut self,
        script: &Script,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let mut output = Output::new();
        if self.depth > DEPTH_MAX {
            self.too_much();
            return unknown();
        }
        self.depth += 1;
        let left = self.left;
        let mut reached: Option<State> = None;
        for chain in &script.chains {
            if self.is_exhausted() {
                break;
            }
            // After `return` and its like it may not run: it is looked at, but nothing it sets is sure.
            if self.left != left && reached.is_none() {
                reached = Some(state.clone());
                output.extend(unknown());
            }
            if chain.aside {
                output.extend(self.beside(chain, state, stdin));
            } else {
                output.extend(self.chain(chain, state, stdin));
            }
            self.joint = "; ";
            if output.len() > VALUE_BYTES_MAX {
                self.too_much();
                output = forgotten(&output);
            }
        }
        if let Some(reached) = reached {
            state.join(reached);
        }
        self.depth -= 1;
        output
    }

    /// `a &`: a shell of its own, which nobody waits for.
    fn beside(&mut self, chain: &Chain, state: &mut State, stdin: Input<'_>) -> Output {
        let mut inner = state.clone();
        let left = self.left;
        self.aside += 1;
        let output = self.chain(chain, &mut inner, stdin);
        self.aside -= 1;
        self.left = left;
        state.files = inner.files;
        self.status = Some(true);
        output
    }

    fn chain(&mut self, chain: &Chain, state: &mut State, stdin: Input<'_>) -> Output {
        let mut output = self.pipeline(&chain.first, state, stdin);
        // How things stand where an `&&` may have ended it: what follows runs only if none did.
        let mut ended: Vec<State> = Vec::new();
        for (joint, pipeline) in &chain.rest {
            let (sign, wanted) = match joint {
                Joint::And => (" && ", true),
                Joint::Or => (" || ", false),
            };
            if *joint == Joint::Or && !ended.is_empty() {
                ended.drain(..).for_each(|it| state.join(it));
                self.status = None;
            }
            self.joint = sign;
            match (self.status, joint) {
                (Some(status), _) if status == wanted => {
                    output.extend(self.pipeline(pipeline, state, stdin));
                }
                // It does not run, but who knows what else it is good for.
                (Some(_), _) => drop(self.pipeline(pipeline, &mut state.clone(), stdin)),
                (None, Joint::And) => {
                    ended.push(state.clone());
                    output.extend(doubted(self.pipeline(pipeline, state, stdin)));
                }
                (None, Joint::Or) => {
                    let mut maybe = state.clone();
                    let more = self.pipeline(pipeline, &mut maybe, stdin);
                    output.extend(doubted(more));
                    state.join(maybe);
                    self.status = None;
                }
            }
        }
        if !ended.is_empty() {
            ended.into_iter().for_each(|it| state.join(it));
            self.status = None;
        }
        output
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, stdin: Input<'_>) -> Output {
        if let [only] = pipeline.stages.as_slice() {
            let output = self.command(only, state, stdin);
            self.status = self.status.map(|it| it != pipeline.negated);
            return output;
        }
        let before = std::mem::replace(&mut self.stages, pipeline.stages.len());
        let mut flow: Option<Output> = stdin.map(<[u8]>::to_vec);
        for (index, stage) in pipeline.stages.iter().enumerate() {
            if index > 0 {
                self.joint = " | ";
            }
            let mut inner = state.clone();
            let left = self.left;
            flow = Some(self.command(stage, &mut inner, flow.as_deref()));
            self.left = left;
            state.files = inner.files;
        }
        self.stages = before;
        self.status = None;
        flow.unwrap_or_default()
    }

    pub(super) fn command(
        &mut self,
        command: &Command,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let pipes = self.pipes(&command.redirects, state);
        let stdin = pipes.stdin.as_deref().or(stdin);
        let output = match &command.kind {
            // `$(<file)` prints the file.
            Kind::Simple(simple) if simple.words.is_empty() && simple.assignments.is_empty() => {
                self.status = None;
                pipes.stdin.clone().unwrap_or_default()
            }
            Kind::Simple(simple) => self.simple(simple, state, stdin),
            Kind::Group(script) => self.script(script, state, stdin),
            Kind::Subshell(script) => {
                let mut inner = state.clone();
                let left = self.left;
                let output = self.script(script, &mut inner, stdin);
                self.left = left;
                state.files = inner.files;
                output
            }
            Kind::If { arms, other } => self.branches(arms, other.as_ref(), state, stdin),
            Kind::Loop { condition, body, until } => {
                self.looped(condition, body, *until, state, stdin)
            }
            Kind::For { name, words, body } => {
                self.for_each(name, words.as_deref(), body, state, stdin)
            }
            Kind::ForArithmetic { start, condition, step, body } => {
                self.counted([start, condition, step], body, state, stdin)
            }
            Kind::Case { word, arms } => self.case(word, arms, state, stdin),
            Kind::Function { name, body } => {
                self.define(name, body, state);
                Output::new()
            }
            Kind::Arithmetic(text) => {
                let value = self.arithmetic(text, state);
                self.status = value.parse::<i64>().ok().map(|it| it != 0);
                Output::new()
            }
            Kind::Test(words) => {
                self.condition(words, state);
                Output::new()
            }
        };
        self.record_files(&pipes);
        if pipes.sends {
            self.take_step(Step { sends: true, ..Step::default() });
        }
        self.poured(output, &pipes, state)
    }

    /// Files that are written belong to the normal form.
    fn record_files(&mut self, pipes: &Pipes) {
        if self.quiet > 0 {
            return;
        }
        for target in &pipes.written {
            let shown = marks::quoted(&super::paths::homely(target));
            let space = if self.normal.is_empty() { "" } else { " " };
            self.normal.push_str(&format!("{space}> {shown}"));
        }
    }

    /// What is printed goes on, or into a file.
    pub(super) fn poured(&mut self, output: Output, pipes: &Pipes, state: &mut State) -> Output {
        let Some(file) = &pipes.file else { return output };
        self.judge_planted(&super::engine::text(&output));
        self.pour_into(file, &output, state);
        let mut known = state.files.remove(file).unwrap_or_default();
        known.extend(output);
        state.files.insert(file.clone(), remembered(known));
        Output::new()
    }

    pub(super) fn pipes(&mut self, redirects: &[Redirect], state: &mut State) -> Pipes {
        let mut pipes = Pipes::default();
        for redirect in redirects {
            let target = self.text(&redirect.target, state).replace(UNSET, "");
            let is_descriptor = target.bytes().all(|it| it.is_ascii_digit() || it == b'-');
            let kind =
                match (redirect.kind == RedirectKind::Duplicate && !is_descriptor, redirect.fd) {
                    (true, Some(0)) => RedirectKind::Read,
                    (true, _) => RedirectKind::WriteBoth,
                    (false, _) => redirect.kind,
                };
            pipes.sends |= kind != RedirectKind::HereText
                && (target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/"));
            // A descriptor of its own can be read by its name, also later.
            let named = redirect.fd.filter(|it| *it > 2).map(|it| format!("/dev/fd/{it}"));
            match kind {
                RedirectKind::HereText => {
                    named.map(|it| state.files.insert(it, target.clone().into_bytes()));
                    pipes.stdin = Some(target.into_bytes());
                }
                RedirectKind::Duplicate => {
                    let known = state.files.get(&format!("/dev/fd/{target}")).cloned();
                    if redirect.fd == Some(0) && known.is_some() {
                        pipes.stdin = known;
                    }
                }
                RedirectKind::Read => {
                    let path = super::paths::resolved(&target, state);
                    let known = state.files.get(&path).cloned();
                    named.zip(known.clone()).map(|(name, it)| state.files.insert(name, it));
                    pipes.stdin = Some(known.unwrap_or_else(unknown));
                    let reads = vec![marks::plain(&target)];
                    self.take_step(Step { reads, ..Step::default() });
                    self.opened(&target, Access::Read, state);
                }
                RedirectKind::ReadWrite => self.opened(&target, Access::Write, state),
                RedirectKind::Write | RedirectKind::WriteBoth => {
                    self.opened(&target, Access::Write, state);
                    if !target.starts_with("/dev/") {
                        pipes.written.push(target.clone());
                    }
                    let is_sink = self.sinks.contains_key(&target);
                    if matches!(redirect.fd, None | Some(1))
                        && (is_sink || !target.starts_with("/dev/"))
                    {
                        let path = super::paths::resolved(&target, state);
                        self.fresh.insert(path.clone());
                        pipes.file = Some(path);
                    }
                }
            }
        }
        pipes
    }

    fn branches(
        &mut self,
        arms: &[(Script, Script)],
        other: Option<&Script>,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let mut output = Output::new();
        let mut after = Vec::new();
        // Does an arm before surely run?
        let mut decided = false;
        let all = arms.iter().map(|it| (Some(&it.0), &it.1)).chain(other.map(|it| (None, it)));
        let mut sure = true;
        for (condition, body) in all {
            if let Some(condition) = condition {
                let mut inner = state.clone();
                self.script(condition, if sure { state } else { &mut inner }, stdin);
                sure &= self.status.is_some();
            }
            let holds = if condition.is_none() { Some(true) } else { self.status };
            let mut inner = state.clone();
            let more = self.script(body, &mut inner, stdin);
            match holds {
                // It does not run, but who knows what else it is good for.
                _ if decided => {}
                Some(false) => {}
                Some(true) if sure => {
                    output.extend(more);
                    *state = inner;
                    decided = true;
                }
                Some(true) | None => {
                    output.extend(doubted(more));
                    after.push(inner);
                }
            }
        }
        after.into_iter().for_each(|it| state.join(it));
        self.status = None;
        output
    }

    fn case(
        &mut self,
        word: &Word,
        arms: &[(Vec<Word>, Script)],
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let text = marks::plain(&self.text(word, state));
        let mut is_sure = !marks::has_hole(&text);
        let mut decided = false;
        let mut output = Output::new();
        let mut after = Vec::new();
        for (patterns, body) in arms {
            let mut fits = false;
            for pattern in patterns {
                let pattern = self.text(pattern, state);
                is_sure &= !marks::has_hole(&pattern) && !pattern.contains('(');
                fits |= marks::matches(&pattern, &text);
            }
            let mut inner = state.clone();
            let more = self.script(body, &mut inner, stdin);
            match (is_sure, fits) {
                _ if decided => {}
                (true, true) => {
                    output.extend(more);
                    *state = inner;
                    decided = true;
                }
                (true, false) => {}
                (false, _) => {
                    output.extend(doubted(more));
                    after.push(inner);
                }
            }
        }
        after.into_iter().for_each(|it| state.join(it));
        self.status = None;
        output
    }

    /// The body is looked at though nobody may call it: a later command can.
    fn define(&mut self, name: &str, body: &Command, state: &mut State) {
        let mut inner = state.clone();
        inner.functions.remove(name);
        inner.args.clear();
        self.quiet += 1;
        let left = self.left;
        self.command(body, &mut inner, None);
        self.left = left;
        self.quiet -= 1;
        state.functions.insert(name.to_owned(), Rc::new(body.clone()));
        self.status = Some(true);
    }
}

/// What may be printed or not.
fn doubted(output: Output) -> Output {
    if output.is_empty() { output } else { [output, unknown()].concat() }
}
