//! What goes where: which files and credentials end up in what a program sends.
//!
//! A second walk over the tree, with what the first one knows of calls. Names take over what the value mentions that they are
//! given; nothing is ever taken away, so that order and branches do not matter. It says what may flow, not what does.

use std::collections::{BTreeSet, HashMap};

use tree_sitter::{Node, Tree};

use super::grammar::Grammar;
use super::rules::{Act, act};
use super::{Program, Value};

/// Nodes that are looked at, those twice that stand in what names are given.
const NODES_MAX: usize = 4_000_000;
/// Names of credentials that are told apart.
const NAMES_MAX: usize = 16;

/// What a value is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// Of what stands in files.
    pub(crate) of_files: bool,
    /// Of files that were gathered in a folder and all beneath it.
    pub(crate) of_trees: bool,
    /// Of variables of the environment that hold credentials, by their names.
    pub(crate) of_credentials: BTreeSet<String>,
}

impl Made {
    fn absorb(&mut self, other: &Self) {
        self.of_files |= other.of_files;
        self.of_trees |= other.of_trees;
        let room = NAMES_MAX.saturating_sub(self.of_credentials.len());
        self.of_credentials.extend(other.of_credentials.iter().take(room).cloned());
    }
}

/// Says of every call of a program what its arguments are made of, where it sends something.
pub(super) fn trace(tree: &Tree, grammar: &Grammar, text: &str, program: &mut Program) {
    let calls = program.calls.iter().enumerate().map(|(at, it)| ((it.start, it.end), at)).collect();
    let mut flow = Flow { grammar, text, calls, names: HashMap::new(), left: NODES_MAX };
    let mut sent = Vec::new();
    let mut cursor = tree.walk();
    loop {
        flow.note(cursor.node(), program);
        let node = cursor.node();
        let is_call = grammar.calls.iter().any(|it| it.0 == node.kind());
        if let Some(at) = flow.calls.get(&span(node)).copied().filter(|_| is_call) {
            sent.push((at, node));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                // What a name is given below may be sent above: in a function that is called later.
                for (at, node) in sent {
                    let made = flow.sent(node, at, program);
                    program.calls.iter_mut().skip(at).take(1).for_each(|it| it.sent = made.clone());
                }
                program.whole &= flow.left > 0;
                return;
            }
        }
    }
}

struct Flow<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    /// The calls of the program, by where they stand.
    calls: HashMap<(usize, usize), usize>,
    names: HashMap<&'a str, Made>,
    left: usize,
}

impl<'a> Flow<'a> {
    /// Remembers what a name is made of: by an assignment, by `for … in …`, by `with … as …`.
    fn note(&mut self, node: Node<'_>, program: &Program) {
        let field = |name: &str| node.child_by_field_name(name);
        let (name, value) = match node.kind() {
            "as_pattern" => (field("alias"), node.named_child(0)),
            "for_statement" | "for_in_statement" | "for_in_clause" => {
                (field("left"), field("right"))
            }
            kind => match self.grammar.assignments.iter().find(|it| it.0 == kind) {
                Some((_, "", right)) => (node.named_child(0), field(right)),
                Some((_, left, right)) => (field(left), field(right)),
                None => return,
            },
        };
        let Some((name, value)) = name.zip(value) else { return };
        let made = self.made(value, program);
        if made == Made::default() {
            return;
        }
        let is_joint = |it: char| !(it.is_alphanumeric() || it == '_' || it == '$');
        let text = self.text.get(name.byte_range()).unwrap_or_default();
        for name in text.split(is_joint).filter(|it| !it.is_empty()) {
            self.names.entry(name).or_default().absorb(&made);
        }
    }

    /// What the body of a request is made of. What stands in its address or its headers is how services know who asks.
    fn sent(&mut self, node: Node<'_>, at: usize, program: &Program) -> Made {
        let mut all = Made::default();
        let call = program.calls.get(at);
        let sends = call.is_some_and(|it| matches!(act(&it.name), Some(Act::Send | Act::Fetch)));
        let row = self.grammar.calls.iter().find(|it| it.0 == node.kind());
        let list = row.and_then(|it| node.child_by_field_name(it.2));
        let Some(list) = list.filter(|_| sends) else { return all };
        let mut cursor = list.walk();
        let parts: Vec<Node<'_>> = list.named_children(&mut cursor).collect();
        for (at, part) in parts.into_iter().enumerate() {
            match self.key(part) {
                Some(key) if HOW.contains(&key) => {}
                None if at == 0 && part.kind() != "object" => {}
                Some(_) | None if part.kind() == "object" => {
                    let mut cursor = part.walk();
                    let pairs: Vec<Node<'_>> = part.named_children(&mut cursor).collect();
                    for pair in pairs {
                        if !self.key(pair).is_some_and(|it| HOW.contains(&it)) {
                            all.absorb(&self.made(pair, program));
                        }
                    }
                }
                Some(_) | None => all.absorb(&self.made(part, program)),
            }
        }
        all
    }

    /// The name of a named argument.
    fn key(&self, part: Node<'_>) -> Option<&'a str> {
        let row = self.grammar.pairs.iter().find(|it| it.0 == part.kind())?;
        let key = part.child_by_field_name(row.1)?;
        Some(self.text.get(key.byte_range())?.trim_matches(['"', '\'']))
    }

    /// What an expression is made of, by the names and the calls in it.
    fn made(&mut self, node: Node<'_>, program: &Program) -> Made {
        let mut all = Made::default();
        let mut cursor = node.walk();
        loop {
            let here = cursor.node();
            let Some(left) = self.left.checked_sub(1) else { return all };
            self.left = left;
            // `a` of `x.a`, of `f(a=…)` and of `{a: …}` is no variable.
            let is_part =
                matches!(cursor.field_name(), Some("attribute" | "property" | "name" | "key"));
            if self.grammar.names.contains(&here.kind()) && !is_part {
                let name = self.text.get(here.byte_range()).unwrap_or_default();
                if let Some(made) = self.names.get(name) {
                    all.absorb(made);
                }
            }
            if let Some(call) = self.calls.get(&span(here)).and_then(|it| program.calls.get(*it)) {
                match act(&call.name) {
                    _ if is_gathering(&call.name, &call.args) => all.of_trees = true,
                    Some(Act::Read | Act::Open) => all.of_files = true,
                    _ => {}
                }
            }
            all.of_credentials.extend(self.credential(here, program));
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return all;
                }
            }
        }
    }

    /// The variable of the environment that an expression takes, if it is called a credential.
    fn credential(&self, node: Node<'_>, program: &Program) -> Option<String> {
        let call = self.calls.get(&span(node)).and_then(|it| program.calls.get(*it));
        let by_call = call.filter(|it| VARIABLES.contains(&it.name.as_str()));
        let name = match by_call {
            Some(call) => call.args.first().and_then(Value::as_text)?.to_owned(),
            None => {
                let mut rows = self.grammar.members.iter().chain(self.grammar.subscripts);
                let row = rows.find(|it| it.0 == node.kind())?;
                let object = node.child_by_field_name(row.1)?;
                let object = self.text.get(object.byte_range())?;
                if !self.grammar.environment.contains(&object) {
                    return None;
                }
                let name = self.text.get(node.child_by_field_name(row.2)?.byte_range())?;
                name.trim_matches(['"', '\'']).to_owned()
            }
        };
        is_credential(&name).then_some(name)
    }
}

/// Arguments that say how something is sent, and not what.
const HOW: &[&str] =
    &["headers", "auth", "cookies", "timeout", "verify", "method", "params", "url", "proxies"];
/// Functions that give a variable of the environment.
const VARIABLES: &[&str] = &["os.getenv", "os.environ.get", "getenv", "environ.get"];

/// Does it go through a folder and all beneath it?
fn is_gathering(name: &str, args: &[Value]) -> bool {
    let by_pattern =
        ["glob.glob", "glob.iglob", "glob.sync", "glob", "globby", "fast-glob", "fast-glob.sync"];
    let is_deep = || args.iter().filter_map(Value::as_text).any(|it| it.contains("**"));
    matches!(name, "os.walk" | "Path.walk")
        || name.ends_with(".rglob")
        || ((by_pattern.contains(&name) || name.ends_with(".glob")) && is_deep())
}

/// Is a variable called a credential: `API_KEY`, `GITHUB_TOKEN`?
fn is_credential(name: &str) -> bool {
    let parts =
        ["key", "token", "secret", "password", "passwd", "pat", "credential", "credentials"];
    name.split('_').any(|it| parts.contains(&it.to_ascii_lowercase().as_str()))
}

fn span(node: Node<'_>) -> (usize, usize) {
    (node.start_byte(), node.end_byte())
}
