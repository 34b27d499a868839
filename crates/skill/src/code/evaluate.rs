//! What expressions come to, as far as that is known without running them: constants, names of functions, texts that are put
//! together or decoded.

use std::collections::HashMap;
use std::rc::Rc;

use tree_sitter::Node;

use super::Call;
use super::flow::Made;
use super::fold::{self, HOLE};
use super::grammar::Grammar;
use super::unescape::unescaped;
use crate::kind::Language;

/// Steps that the evaluation of one program may take.
const FUEL: usize = 3_000_000;
/// Bytes whose copying counts as one step.
const BYTES_PER_STEP: usize = 64;
/// Expressions in expressions, in levels.
const LEVELS_MAX: usize = 40;
/// Arguments of one call, and items of one list.
pub(super) const ITEMS_MAX: usize = 256;

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A text; what is not known of it is `*`.
    Text {
        text: Rc<str>,
        /// Was it written in an encoding?
        decoded: bool,
    },
    /// Something that has a name: a module, a function, what a function returned.
    Name(Rc<str>),
    Number(i64),
    List(Rc<[Value]>),
    Unknown,
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text { text: text.into(), decoded: false }
    }

    /// Returns the text, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Name(_) | Self::Number(_) | Self::List(_) | Self::Unknown => None,
        }
    }

    /// Is it, or holds it, a text that was written in an encoding?
    pub(crate) fn is_decoded(&self) -> bool {
        match self {
            Self::Text { decoded, .. } => *decoded,
            Self::List(items) => items.iter().any(Self::is_decoded),
            Self::Name(_) | Self::Number(_) | Self::Unknown => false,
        }
    }
}

/// Evaluates the expressions of one program, in their order.
pub(super) struct Evaluator<'a> {
    pub(super) grammar: &'a Grammar,
    text: &'a str,
    pub(super) values: HashMap<String, Value>,
    fuel: usize,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(grammar: &'a Grammar, text: &'a str) -> Self {
        Self { grammar, text, values: HashMap::new(), fuel: FUEL }
    }

    pub(super) fn is_spent(&self) -> bool {
        self.fuel == 0
    }

    fn spend(&mut self, bytes: usize) -> bool {
        self.fuel = self.fuel.saturating_sub(1 + bytes / BYTES_PER_STEP);
        self.fuel > 0
    }

    pub(super) fn source(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The call that a node is.
    pub(super) fn call(&mut self, node: Node<'_>) -> Option<Call> {
        let row = self.grammar.calls.iter().find(|it| it.0 == node.kind())?;
        let (start, end) = (node.start_byte(), node.end_byte());
        let (name, args, named) = match self.grammar.kind {
            Language::PowerShell => self.command(node),
            Language::Python | Language::JavaScript => self.applied(node, row.1, row.2, 0),
        };
        (!name.is_empty()).then(|| Call { name, args, named, sent: Made::default(), start, end })
    }

    /// Name, arguments and named arguments of a call.
    fn applied(
        &mut self,
        node: Node<'_>,
        function: &str,
        arguments: &str,
        level: usize,
    ) -> (String, Vec<Value>, Vec<(String, Value)>) {
        let mut args = Vec::new();
        let mut named = Vec::new();
        let mut name = String::new();
        if let Some(function) = node.child_by_field_name(function) {
            let members = self.grammar.members;
            let member = members.iter().find(|it| it.0 == function.kind());
            let object = member.and_then(|it| function.child_by_field_name(it.1));
            let object = object.map(|it| self.value(it, level + 1));
            let method = member.and_then(|it| function.child_by_field_name(it.2));
            match (object, method) {
                // A method of a text has it as its first argument.
                (Some(text @ (Value::Text { .. } | Value::List(_))), Some(method)) => {
                    name = format!("text.{}", self.source(method));
                    args.push(text);
                }
                _ => {
                    if let Value::Name(full) = self.value(function, level + 1) {
                        name = full.to_string();
                    }
                }
            }
        }
        let list = node.child_by_field_name(arguments);
        let count = list.map_or(0, |it| it.named_child_count()).min(ITEMS_MAX);
        for part in list.into_iter().flat_map(|it| (0..count).filter_map(move |at| child(it, at))) {
            self.argument(part, level, &mut args, &mut named);
        }
        (name, args, named)
    }

    fn argument(
        &mut self,
        part: Node<'_>,
        level: usize,
        args: &mut Vec<Value>,
        named: &mut Vec<(String, Value)>,
    ) {
        if let Some((_, key, value)) = self.grammar.pairs.iter().find(|it| it.0 == part.kind()) {
            let key = part.child_by_field_name(key).map(|it| self.source(it).to_owned());
            let value = part.child_by_field_name(value).map(|it| self.value(it, level + 1));
            named.extend(key.zip(value));
        } else if part.kind() == "object" {
            // The options of JavaScript are an object.
            for at in 0..part.named_child_count().min(ITEMS_MAX) {
                if let Some(pair) = child(part, at) {
                    let mut unnamed = Vec::new();
                    self.argument(pair, level + 1, &mut unnamed, named);
                }
                if level > LEVELS_MAX {
                    break;
                }
            }
            args.push(Value::Unknown);
        } else if part.kind() != "comment" {
            args.push(self.value(part, level + 1));
        }
    }

    /// A command of PowerShell, or a method of .NET.
    fn command(&mut self, node: Node<'_>) -> (String, Vec<Value>, Vec<(String, Value)>) {
        let elements = node.child_by_field_name("command_elements");
        let name = match node.child_by_field_name("command_name") {
            Some(name) => self.source(name).to_ascii_lowercase(),
            // `[Convert]::FromBase64String(…)`
            None => self.source(node).split('(').next().unwrap_or_default().to_ascii_lowercase(),
        };
        let mut args = Vec::new();
        let mut named = Vec::new();
        let mut option: Option<String> = None;
        let from = elements.unwrap_or(node);
        for at in 0..from.named_child_count().min(ITEMS_MAX) {
            let Some(part) = child(from, at) else { continue };
            match part.kind() {
                "command_argument_sep" | "type_literal" | "member_name" => {}
                "command_parameter" => {
                    let text = self.source(part).trim_start_matches('-').to_ascii_lowercase();
                    option = Some(text);
                }
                _ => {
                    let value = self.value(part, 1);
                    named.extend(option.take().map(|it| (it, value.clone())));
                    args.push(value);
                }
            }
        }
        (name, args, named)
    }

    /// What an expression comes to.
    pub(super) fn value(&mut self, node: Node<'_>, level: usize) -> Value {
        if level > LEVELS_MAX || !self.spend(0) {
            return Value::Unknown;
        }
        let grammar = self.grammar;
        let kind = node.kind();
        let is = |list: &[&str]| list.contains(&kind);
        if is(grammar.texts) {
            return self.literal(node, level);
        }
        if is(grammar.joined) {
            let parts: Vec<Value> = self.children(node, level);
            return fold::concatenated(&parts, "");
        }
        if is(grammar.sums) {
            return self.sum(node, level);
        }
        if is(grammar.lists) {
            return Value::List(self.children(node, level).into());
        }
        if is(grammar.names) {
            let name = self.source(node);
            return self.values.get(name).cloned().unwrap_or_else(|| Value::Name(name.into()));
        }
        if let Some((_, object, name)) = grammar.members.iter().find(|it| it.0 == kind) {
            return self.member(node, object, name, level);
        }
        if let Some((_, object, index)) = grammar.subscripts.iter().find(|it| it.0 == kind) {
            return self.subscript(node, object, index, level);
        }
        if let Some((_, function, arguments)) = grammar.calls.iter().find(|it| it.0 == kind) {
            let (name, args, _) = match grammar.kind {
                Language::PowerShell => self.command(node),
                Language::Python | Language::JavaScript => {
                    self.applied(node, function, arguments, level)
                }
            };
            let value = fold::returned(&name, &args);
            self.spend(value.as_text().map_or(0, str::len));
            return value;
        }
        match kind {
            "integer" | "number" => self.source(node).parse().map_or(Value::Unknown, Value::Number),
            "object" | "dictionary" | "lambda" | "arrow_function" | "function_expression" => {
                Value::Unknown
            }
            // Brackets, `await`, and the many layers of PowerShell.
            _ if node.named_child_count() == 1 => {
                child(node, 0).map_or(Value::Unknown, |it| self.value(it, level + 1))
            }
            _ => Value::Unknown,
        }
    }

    fn children(&mut self, node: Node<'_>, level: usize) -> Vec<Value> {
        let count = node.named_child_count().min(ITEMS_MAX);
        let parts: Vec<Node<'_>> = (0..count).filter_map(|it| child(node, it)).collect();
        parts.into_iter().map(|it| self.value(it, level + 1)).collect()
    }

    /// A text as it stands there, with `*` for what is put into it.
    fn literal(&mut self, node: Node<'_>, level: usize) -> Value {
        if self.grammar.kind == Language::PowerShell {
            let text = self.source(node).trim_matches(['"', '\'', '@', '\n', '\r']);
            self.spend(text.len());
            return Value::text(&fold::expanded(text));
        }
        let mut text = String::new();
        let is_raw =
            self.source(node).split(['"', '\'']).next().is_some_and(|it| it.contains(['r', 'R']));
        for at in 0..node.named_child_count().min(ITEMS_MAX * 16) {
            let Some(part) = child(node, at) else { continue };
            let kind = part.kind();
            match () {
                () if self.grammar.escapes.contains(&kind) => {
                    text.push_str(&unescaped(self.source(part)))
                }
                () if self.grammar.fragments.contains(&kind) => match is_raw {
                    true => text.push_str(self.source(part)),
                    false => text.push_str(&unescaped(self.source(part))),
                },
                () if matches!(kind, "interpolation" | "template_substitution") => {
                    let inner = child(part, 0).map(|it| self.value(it, level + 1));
                    text.push_str(inner.as_ref().and_then(Value::as_text).unwrap_or(HOLE));
                }
                () => {}
            }
            if text.len() > fold::TEXT_BYTES_MAX {
                break;
            }
        }
        self.spend(text.len());
        Value::text(&text)
    }

    /// `a + b + c`, however long, and `path / name`.
    fn sum(&mut self, node: Node<'_>, level: usize) -> Value {
        let operator = node.child_by_field_name("operator").map_or("+", |it| self.source(it));
        let joint = match operator {
            "+" => "",
            "/" => "/",
            _ => return Value::Unknown,
        };
        let mut parts = Vec::new();
        let mut at = Some(node);
        while let Some(sum) = at {
            let is_sum = self.grammar.sums.contains(&sum.kind());
            if !is_sum || parts.len() >= ITEMS_MAX {
                parts.push(self.value(sum, level + 1));
                break;
            }
            let count = sum.named_child_count();
            let left = sum.child_by_field_name("left").or_else(|| child(sum, 0));
            let right =
                sum.child_by_field_name("right").or_else(|| child(sum, count.saturating_sub(1)));
            if count == 1 {
                at = left;
                continue;
            }
            parts.extend(right.map(|it| self.value(it, level + 1)));
            at = left;
        }
        parts.reverse();
        let value = fold::concatenated(&parts, joint);
        self.spend(value.as_text().map_or(0, str::len));
        value
    }

    fn member(&mut self, node: Node<'_>, object: &str, name: &str, level: usize) -> Value {
        if self.grammar.kind == Language::PowerShell {
            return Value::Name(self.source(node).to_ascii_lowercase().into());
        }
        let object = node.child_by_field_name(object).map(|it| self.value(it, level + 1));
        let name = node.child_by_field_name(name).map_or("", |it| self.source(it));
        fold::member(object.as_ref(), name)
    }

    fn subscript(&mut self, node: Node<'_>, object: &str, index: &str, level: usize) -> Value {
        let object = node.child_by_field_name(object).map(|it| self.value(it, level + 1));
        let Some(index) = node.child_by_field_name(index) else { return Value::Unknown };
        if let (Some(Value::Text { text, decoded }), "::-1") = (&object, self.source(index)) {
            let text: String = text.chars().rev().collect();
            return Value::Text { text: text.into(), decoded: *decoded };
        }
        match self.value(index, level + 1) {
            Value::Text { text, .. } => fold::member(object.as_ref(), &text),
            Value::Name(_) | Value::Number(_) | Value::List(_) | Value::Unknown => Value::Unknown,
        }
    }
}

/// The named child at a position.
pub(super) fn child(node: Node<'_>, at: usize) -> Option<Node<'_>> {
    node.named_child(u32::try_from(at).ok()?)
}
