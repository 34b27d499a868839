//! What stands in a program beside its calls: what names stand for, texts, the environment.

use tree_sitter::Node;

use super::evaluate::{Evaluator, ITEMS_MAX, Value, child};
use super::fold;

/// The shortest text that is looked at on its own, in bytes.
const TEXT_BYTES_MIN: usize = 4;
/// The longest name that is remembered, in bytes.
const NAME_BYTES_MAX: usize = 128;

impl Evaluator<'_> {
    /// Remembers what a name stands for.
    pub(super) fn note_assignment(&mut self, node: Node<'_>) {
        let kind = node.kind();
        if matches!(kind, "import_statement" | "import_from_statement") {
            return self.note_import(node);
        }
        let Some((_, left, right)) = self.grammar.assignments.iter().find(|it| it.0 == kind) else {
            return;
        };
        let left =
            if left.is_empty() { node.named_child(0) } else { node.child_by_field_name(left) };
        let Some((left, right)) = left.zip(node.child_by_field_name(right)) else { return };
        let value = self.value(right, 0);
        match (left.kind(), &value) {
            // `const { exec, spawn: run } = require('child_process')`
            ("object_pattern", Value::Name(module)) => {
                for at in 0..left.named_child_count().min(ITEMS_MAX) {
                    let Some(part) = child(left, at) else { continue };
                    let (name, alias) = match part.kind() {
                        "pair_pattern" => {
                            (part.child_by_field_name("key"), part.child_by_field_name("value"))
                        }
                        _ => (Some(part), Some(part)),
                    };
                    let Some((name, alias)) = name.zip(alias) else { continue };
                    let full = format!("{module}.{}", self.source(name));
                    self.values.insert(self.source(alias).to_owned(), Value::Name(full.into()));
                }
            }
            _ => {
                let name = self.source(left).trim().to_owned();
                if !name.is_empty() && name.len() <= NAME_BYTES_MAX && value != Value::Unknown {
                    self.values.insert(name, value);
                }
            }
        }
    }

    /// `import os as o`, `from os import system as y`, `import fs from 'fs'`, `import { exec as e } from 'child_process'`.
    fn note_import(&mut self, node: Node<'_>) {
        let module = node.child_by_field_name("module_name").or(node.child_by_field_name("source"));
        let module = module.map(|it| fold::module(self.source(it)));
        let mut left = vec![node];
        let mut steps = 0;
        while let Some(at) = left.pop() {
            steps += 1;
            if steps > ITEMS_MAX {
                break;
            }
            let field = |name: &str| at.child_by_field_name(name).map(|it| self.source(it));
            let (name, alias) = match at.kind() {
                "aliased_import" | "import_specifier" => {
                    (field("name"), field("alias").or(field("name")))
                }
                "dotted_name" => (Some(self.source(at)), Some(self.source(at))),
                "identifier" | "namespace_import" => {
                    let name = self.source(at).trim_start_matches(['*', ' ']);
                    (None, Some(name.strip_prefix("as ").unwrap_or(name).trim()))
                }
                _ => {
                    left.extend((0..at.named_child_count()).filter_map(|it| child(at, it)));
                    continue;
                }
            };
            let full = match (&module, name) {
                (Some(module), Some(name)) if *module != name => format!("{module}.{name}"),
                (Some(module), _) => module.clone(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => continue,
            };
            if let Some(alias) = alias {
                self.values.insert(alias.to_owned(), Value::Name(full.into()));
            }
        }
    }

    /// The text of a node that is one, as a whole.
    pub(super) fn text(&mut self, node: Node<'_>, parent: Option<Node<'_>>) -> Option<String> {
        let of_texts = |kind: &str| {
            self.grammar.texts.contains(&kind)
                || self.grammar.joined.contains(&kind)
                || self.grammar.sums.contains(&kind)
        };
        let inner = parent.is_some_and(|it| {
            let kind = it.kind();
            self.grammar.joined.contains(&kind) || self.grammar.sums.contains(&kind)
        });
        if inner || !of_texts(node.kind()) {
            return None;
        }
        self.value(node, 0).as_text().filter(|it| it.len() >= TEXT_BYTES_MIN).map(str::to_owned)
    }

    /// Is the whole environment taken here, to be handed on?
    pub(super) fn takes_environment(&mut self, node: Node<'_>, parent: Option<Node<'_>>) -> bool {
        let is_member = self.grammar.members.iter().any(|it| it.0 == node.kind());
        let is_name = self.grammar.names.contains(&node.kind());
        if !is_member && !is_name {
            return false;
        }
        let Value::Name(name) = self.value(node, 0) else { return false };
        if !self.grammar.environment.contains(&&*name) {
            return false;
        }
        let Some(parent) = parent else { return false };
        let members = self.grammar.members.iter().find(|it| it.0 == parent.kind());
        if let Some((_, _, field)) = members {
            let taken = parent.child_by_field_name(field).map_or("", |it| self.source(it));
            return parent.child_by_field_name(field) != Some(node)
                && matches!(taken, "items" | "copy" | "values");
        }
        // One variable, or what a child process is given anyway.
        let is_part = self.grammar.subscripts.iter().any(|it| it.0 == parent.kind());
        let is_given = matches!(
            parent.kind(),
            "keyword_argument"
                | "pair"
                | "dictionary_splat"
                | "spread_element"
                | "import_from_statement"
                | "aliased_import"
                | "assignment"
                | "variable_declarator"
                | "comparison_operator"
        );
        !is_part && !is_given
    }
}
