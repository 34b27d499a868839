//! Programs in Python, JavaScript and PowerShell, read as trees: which calls there are, and what their arguments come to.
//!
//! One walk for all three. A grammar says how calls, names, texts and assignments are called in its language; what calls
//! mean stands in the table of `rules`. Nothing is run. Work is bounded by counting.

mod evaluate;
mod flow;
pub(crate) mod fold;
mod grammar;
mod notes;
mod rules;
mod unescape;

use std::ops::ControlFlow;

use crate::kind::Language;

pub(crate) use evaluate::Value;

pub(crate) use rules::{Act, act};

use evaluate::Evaluator;
use flow::Made;
use grammar::Grammar;

/// Hundreds of steps that a parser may take, and bytes for which it gets one more.
const GRAMMAR_STEPS: usize = 1_000;
const BYTES_PER_STEP: usize = 8;
/// Calls that are kept.
const CALLS_MAX: usize = 20_000;
/// Nodes that are looked at.
const NODES_MAX: usize = 2_000_000;

/// A call of a function, or a command.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The function by its full name, as far as it is known: `os.system`, `require().exec`.
    pub(crate) name: String,
    pub(crate) args: Vec<Value>,
    /// Arguments with names.
    pub(crate) named: Vec<(String, Value)>,
    /// What it sends, if it sends something.
    pub(crate) sent: Made,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What a program does, as far as it can be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) calls: Vec<Call>,
    /// Texts that stand in it, with those that are put together of constants.
    pub(crate) texts: Vec<(String, usize, usize)>,
    /// Where the whole environment is taken, and not one variable.
    pub(crate) environment: Vec<(usize, usize)>,
    /// Was it read to its end, without running out of steps?
    pub(crate) whole: bool,
}

/// Reads a program.
pub(crate) fn read(language: Language, text: &str) -> Program {
    let Some(grammar) = Grammar::of(language) else { return Program::default() };
    let Some(tree) = parse(&grammar, text) else { return Program::default() };
    let mut evaluator = Evaluator::new(&grammar, text);
    let mut program = calls(&tree, &mut evaluator);
    flow::trace(&tree, &grammar, text, &mut program);
    program
}

/// Goes through the tree once.
fn calls(tree: &tree_sitter::Tree, evaluator: &mut Evaluator<'_>) -> Program {
    let mut program = Program { whole: true, ..Program::default() };
    let mut cursor = tree.walk();
    // `Node::parent` looks from the root downwards each time, which is quadratic in a deep tree.
    let mut ancestors = Vec::new();
    let mut seen = 0;
    loop {
        let node = cursor.node();
        let parent = ancestors.last().copied();
        seen += 1;
        if seen > NODES_MAX || program.calls.len() >= CALLS_MAX || evaluator.is_spent() {
            program.whole = false;
            break;
        }
        evaluator.note_assignment(node);
        if let Some(call) = evaluator.call(node) {
            program.calls.push(call);
        }
        if let Some(text) = evaluator.text(node, parent) {
            program.texts.push((text, node.start_byte(), node.end_byte()));
        }
        if evaluator.takes_environment(node, parent) {
            program.environment.push((node.start_byte(), node.end_byte()));
        }
        if cursor.goto_first_child() {
            ancestors.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return program;
            }
            ancestors.pop();
        }
    }
    program
}

/// Counted, not timed: the same text is read in the same way on every machine.
fn parse(grammar: &Grammar, text: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&grammar.language).ok()?;
    let mut left = GRAMMAR_STEPS + text.len() / BYTES_PER_STEP;
    let mut progress = |_: &tree_sitter::ParseState| match left.checked_sub(1) {
        Some(rest) => {
            left = rest;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut progress);
    let mut from = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut from, None, Some(options))
}
