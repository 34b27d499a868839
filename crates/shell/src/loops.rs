//! Loops: turn by turn where the list or the input is known.

use crate::engine::Left;
use crate::limits::TURNS_MAX;
use crate::syntax::{Command, Joint, Kind, Pipeline, Script, Word, literal};
use crate::{Engine, HOLE, Input, Output, Rule, State, arithmetic, marks, unknown};

impl Engine {
    /// `while` and `until`.
    pub(super) fn looped(
        &mut self,
        condition: &Script,
        body: &Script,
        until: bool,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let idle: &[&str] = if until { &["false"] } else { &NOTHING };
        if is_idle(condition, idle) && is_idle(body, &NOTHING) {
            self.ask(Rule::Endless, "it turns without an end and does nothing");
        }
        let known = stdin.filter(|it| !marks::has_hole(&String::from_utf8_lossy(it)));
        let (before, left) = (state.clone(), self.left);
        let output = match (known, reading(condition)) {
            (Some(input), Some(words)) => self.read_by_turn(condition, body, &words, state, input),
            _ if is_counted(condition) => self.turns(condition, body, until, state, stdin),
            _ => None,
        };
        let output = output.filter(|_| self.left == left);
        self.status = None;
        if let Some(output) = output {
            return output;
        }
        *state = before;
        let mut inner = state.clone();
        self.script(condition, &mut inner, stdin);
        let output = self.script(body, &mut inner, stdin);
        if self.aside > 0 && self.left == left && is_idle(condition, idle) {
            self.unended = true;
        }
        let changed = inner.vars != state.vars || inner.args != state.args;
        state.join(inner);
        if changed || known.is_some_and(|it| it.contains(&b'\n')) {
            self.turned(condition, body, state, stdin.is_some());
        }
        self.left.turns = left.turns;
        self.status = None;
        if output.is_empty() { output } else { [output, unknown()].concat() }
    }

    /// The turns after the first: what the first one changed or read is another thing then.
    fn turned(&mut self, condition: &Script, body: &Script, state: &State, reads: bool) {
        let mut inner = state.clone();
        let stdin = reads.then(unknown);
        self.quiet += 1;
        self.script(condition, &mut inner, stdin.as_deref());
        self.script(body, &mut inner, stdin.as_deref());
        self.quiet -= 1;
    }

    /// `while read line`: one turn for each line, or for so many letters.
    fn read_by_turn(
        &mut self,
        condition: &Script,
        body: &Script,
        words: &[String],
        state: &mut State,
        input: &[u8],
    ) -> Option<Output> {
        let text = String::from_utf8(input.to_vec()).ok()?;
        let turns = by_turn(words, &text)?;
        if turns.len() > TURNS_MAX {
            return None;
        }
        let mut output = Output::new();
        let mut rest = text.as_str();
        for turn in turns {
            rest = rest.get(turn.len()..).unwrap_or_default();
            if !self.turn() {
                return None;
            }
            self.script(condition, state, Some(turn.as_bytes()));
            output.extend(self.script(body, state, Some(rest.as_bytes())));
        }
        // The last `read` fails and leaves nothing, or what has no line end. The body does not run then,
        // unless `||` says that it does, but who knows what else it is good for.
        self.script(condition, state, Some(rest.as_bytes()));
        if condition.chains.iter().all(|it| it.rest.is_empty()) || rest.is_empty() {
            self.script(body, &mut state.clone(), None);
        } else {
            output.extend(self.script(body, state, Some(b"")));
        }
        Some(output)
    }

    /// `while ((i--))`.
    fn turns(
        &mut self,
        condition: &Script,
        body: &Script,
        until: bool,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Option<Output> {
        let mut output = Output::new();
        for _ in 0..TURNS_MAX {
            self.script(condition, state, stdin);
            if self.status? == until {
                return Some(output);
            }
            if !self.turn() {
                return None;
            }
            output.extend(self.script(body, state, stdin));
        }
        None
    }

    pub(super) fn for_each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Script,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let mut items = match words {
            Some(words) => self.arguments(words, state),
            None => state.args.clone(),
        };
        items.retain(|it| it != marks::GONE);
        if items.len() > TURNS_MAX {
            self.too_much();
        }
        let left = self.left;
        let before = state.clone();
        let mut output = Output::new();
        for item in items.iter().take(TURNS_MAX) {
            if !self.turn() {
                break;
            }
            state.set_text(name, marks::plain(item));
            output.extend(self.script(body, state, stdin));
        }
        if items.is_empty() {
            let mut inner = state.clone();
            inner.set_text(name, HOLE.to_string());
            output.extend(self.script(body, &mut inner, stdin));
            state.join(inner);
        }
        self.status = None;
        self.left_early(left, before, state, output)
    }

    pub(super) fn counted(
        &mut self,
        [start, condition, step]: [&str; 3],
        body: &Script,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        let mut output = Output::new();
        self.arithmetic(start, state);
        let left = self.left;
        let before = state.clone();
        for _ in 0..TURNS_MAX {
            let holds = self.arithmetic(condition, state);
            if holds == "0" || !self.turn() {
                return self.left_early(left, before, state, output);
            }
            output.extend(self.script(body, state, stdin));
            if marks::has_hole(&holds) || arithmetic::evaluate(step, state).is_none() {
                output.extend(unknown());
                return output;
            }
        }
        self.too_much();
        output
    }

    /// A loop that `break` or its like may have ended: what it changed is not known.
    fn left_early(
        &mut self,
        left: Left,
        before: State,
        state: &mut State,
        output: Output,
    ) -> Output {
        if self.left == left {
            return output;
        }
        self.left.turns = left.turns;
        state.join(before);
        [output, unknown()].concat()
    }
}

/// The words of `read`, if that is the condition and it reads what the loop reads.
fn reading(condition: &Script) -> Option<Vec<String>> {
    let [chain] = condition.chains.as_slice() else { return None };
    let [stage] = chain.first.stages.as_slice() else { return None };
    let Kind::Simple(simple) = &stage.kind else { return None };
    let ends_whole = match chain.rest.as_slice() {
        [] => true,
        // A last line without an end is a line, too.
        [(Joint::Or, Pipeline { stages, negated: false })] => is_comparison(stages),
        _ => false,
    };
    if !ends_whole || !stage.redirects.is_empty() || chain.first.negated {
        return None;
    }
    let words: Vec<String> = simple.words.iter().map(literal).collect::<Option<_>>()?;
    (words.first()? == "read").then_some(words)
}

/// What each turn reads: a line, what stands before a sign (`-d,`), so many letters (`-n2`). What has no
/// end is read, but `read` fails then.
fn by_turn<'a>(words: &[String], text: &'a str) -> Option<Vec<&'a str>> {
    let mut end = '\n';
    let mut size = None;
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let Some(letters) = word.strip_prefix('-') else { continue };
        let at = letters.find(['n', 'N', 'd', 't', 'u', 'p', 'a', 'i']);
        let Some((_, option)) = at.and_then(|it| letters.split_at_checked(it)) else { continue };
        let mut option = option.chars();
        let sign = option.next()?;
        let glued = option.as_str();
        let value = if glued.is_empty() { rest.next()?.as_str() } else { glued };
        match sign {
            'd' => end = value.chars().next()?,
            'n' | 'N' => size = Some(value.parse::<usize>().ok().filter(|it| *it > 0)?),
            'a' | 'p' => {}
            _ => return None,
        }
    }
    let Some(size) = size else {
        return Some(text.split_inclusive(end).filter(|it| it.ends_with(end)).collect());
    };
    // Lines end earlier, and an end of the input that is not whole fails.
    let line = text.strip_suffix('\n').unwrap_or(text);
    if line.contains('\n') || !line.is_ascii() || !line.len().is_multiple_of(size) {
        return None;
    }
    (0..line.len() / size).map(|it| line.get(it * size..(it + 1) * size)).collect()
}

/// They do nothing, and say that it is well.
const NOTHING: [&str; 2] = [":", "true"];

/// Nothing but these words.
fn is_idle(script: &Script, words: &[&str]) -> bool {
    script.chains.iter().all(|chain| match (chain.first.stages.as_slice(), chain.rest.as_slice()) {
        ([Command { kind: Kind::Simple(simple), .. }], []) => match simple.words.as_slice() {
            [word] => literal(word).is_some_and(|it| words.contains(&it.as_str())),
            _ => false,
        },
        _ => false,
    })
}

/// Does arithmetic or a comparison decide how long it goes on?
fn is_counted(condition: &Script) -> bool {
    let [chain] = condition.chains.as_slice() else { return false };
    chain.rest.is_empty() && is_comparison(&chain.first.stages)
}

fn is_comparison(stages: &[Command]) -> bool {
    let [stage] = stages else { return false };
    let compares = |it: String| matches!(it.as_str(), "[" | "test" | "let");
    if let Kind::Simple(simple) = &stage.kind {
        return simple.words.first().and_then(literal).is_some_and(compares);
    }
    matches!(&stage.kind, Kind::Arithmetic(_) | Kind::Test(_))
}
