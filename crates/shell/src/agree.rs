//! Two other parsers must see the commands where we see them.
//!
//! One parser that errs lets a command hide. The grammar that editors use reads the text a second
//! time, a parser in Rust a third; where they differ, or one cannot read it, a person is asked.

use std::cell::RefCell;
use std::ops::ControlFlow;

use shuck_ast::{Command, CompoundCommand, Stmt, StmtSeq};
use shuck_parser::parser::{ParseStatus, Parser};

/// Steps that the third parser may take.
const FUEL: usize = 60_000;
/// Hundreds of steps that the second parser may take, and bytes for which it gets one more.
const GRAMMAR_STEPS: usize = 300;
const BYTES_PER_STEP: usize = 32;
/// What others do not count as commands.
const NO_COMMANDS: [&str; 8] =
    ["declare", "typeset", "export", "readonly", "local", "unset", "unsetenv", "["];

thread_local! {
    static GRAMMAR: RefCell<Option<Grammar>> = RefCell::new(Grammar::new());
}

/// The second parser, and the numbers of what is looked for in its trees.
struct Grammar {
    parser: tree_sitter::Parser,
    command: u16,
    substitution: u16,
    name: u16,
}

impl Grammar {
    fn new() -> Option<Self> {
        let language: tree_sitter::Language = tree_sitter_bash::LANGUAGE.into();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language).ok()?;
        Some(Self {
            parser,
            command: language.id_for_node_kind("command", true),
            substitution: language.id_for_node_kind("command_substitution", true),
            name: language.field_id_for_name("name")?.get(),
        })
    }
}

/// `names` are the places where commands begin, as we see it.
pub(super) fn check(text: &str, names: &[usize]) -> Result<(), &'static str> {
    let mut ours: Vec<usize> =
        names.iter().copied().filter(|it| !is_no_command(text, *it)).collect();
    ours.sort_unstable();
    let mut others = by_grammar(text)?;
    others.sort_unstable();
    // Some read `time a` as one command, some as two; we as one.
    if others != ours {
        return Err("another parser sees other commands in it");
    }
    let third = by_shuck(text)?;
    if third.iter().any(|it| ours.binary_search(it).is_err() && !is_no_command(text, *it)) {
        return Err("another parser sees other commands in it");
    }
    Ok(())
}

fn is_no_command(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find(|it: char| it.is_whitespace() || ";&|()<>".contains(it));
    let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    NO_COMMANDS.contains(&word)
}

/// Counted, not timed: the same text is read in the same way on every machine.
fn tree(parser: &mut tree_sitter::Parser, text: &str) -> Option<tree_sitter::Tree> {
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
    let tree = parser.parse_with_options(&mut from, None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

fn by_grammar(text: &str) -> Result<Vec<usize>, &'static str> {
    GRAMMAR.with_borrow_mut(|it| {
        let grammar = it.as_mut().ok_or("the second parser could not read it")?;
        let tree = tree(&mut grammar.parser, text);
        let tree = tree.filter(|it| !it.root_node().has_error());
        let tree = tree.ok_or("the second parser could not read it")?;
        Ok(names_in(&tree, text, grammar))
    })
}

fn names_in(tree: &tree_sitter::Tree, text: &str, grammar: &Grammar) -> Vec<usize> {
    let mut names = Vec::new();
    let mut cursor = tree.walk();
    let mut in_backticks = 0_usize;
    loop {
        let node = cursor.node();
        let kind = node.kind_id();
        let is_backticks =
            kind == grammar.substitution && text.as_bytes().get(node.start_byte()) == Some(&b'`');
        if kind == grammar.command
            && in_backticks <= node.start_byte()
            && let Some(name) = node.child_by_field_id(grammar.name)
        {
            names.push(name.start_byte());
        }
        // We read the inside of backticks as a text of its own.
        if is_backticks {
            in_backticks = node.end_byte();
        }
        if !is_backticks && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return names;
            }
        }
    }
}

fn by_shuck(text: &str) -> Result<Vec<usize>, &'static str> {
    let read = Parser::with_fuel(text, FUEL).parse();
    if !matches!(read.status, ParseStatus::Clean) {
        return Err("the third parser could not read it");
    }
    let mut names = Vec::new();
    sequence(&read.file.body, &mut names);
    Ok(names)
}

fn sequence(list: &StmtSeq, names: &mut Vec<usize>) {
    list.stmts.iter().for_each(|it| statement(it, names));
}

fn statement(stmt: &Stmt, names: &mut Vec<usize>) {
    match &stmt.command {
        Command::Simple(simple) => {
            let span = simple.name.span;
            // Nothing but assignments.
            if span.start.offset() < span.end.offset() {
                names.push(span.start.offset());
            }
        }
        Command::Binary(binary) => {
            statement(&binary.left, names);
            statement(&binary.right, names);
        }
        Command::Compound(compound) => inside(compound, names),
        Command::Function(function) => statement(&function.body, names),
        Command::AnonymousFunction(function) => statement(&function.body, names),
        Command::Builtin(_) | Command::Decl(_) => {}
    }
}

fn inside(compound: &CompoundCommand, names: &mut Vec<usize>) {
    match compound {
        CompoundCommand::If(it) => {
            sequence(&it.condition, names);
            sequence(&it.then_branch, names);
            for (condition, body) in &it.elif_branches {
                sequence(condition, names);
                sequence(body, names);
            }
            it.else_branch.iter().for_each(|it| sequence(it, names));
        }
        CompoundCommand::For(it) => sequence(&it.body, names),
        CompoundCommand::Repeat(it) => sequence(&it.body, names),
        CompoundCommand::Foreach(it) => sequence(&it.body, names),
        CompoundCommand::ArithmeticFor(it) => sequence(&it.body, names),
        CompoundCommand::While(it) => {
            sequence(&it.condition, names);
            sequence(&it.body, names);
        }
        CompoundCommand::Until(it) => {
            sequence(&it.condition, names);
            sequence(&it.body, names);
        }
        CompoundCommand::Case(it) => it.cases.iter().for_each(|it| sequence(&it.body, names)),
        CompoundCommand::Select(it) => sequence(&it.body, names),
        CompoundCommand::Subshell(it) | CompoundCommand::BraceGroup(it) => sequence(it, names),
        CompoundCommand::Always(it) => {
            sequence(&it.body, names);
            sequence(&it.always_body, names);
        }
        // `time a`: one command for us, of which `a` is an argument.
        CompoundCommand::Time(_)
        | CompoundCommand::Coproc(_)
        | CompoundCommand::Arithmetic(_)
        | CompoundCommand::Conditional(_) => {}
    }
}
