//! The tree of a page: nodes in one list that name each other by number, so that no depth of nesting
//! costs stack, neither when it is built nor when it is dropped.

use std::rc::Rc;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, ns};

/// A node by its number.
pub(super) type Id = usize;

/// The document itself.
pub(super) const DOCUMENT: Id = 0;

/// What stands at a place of the tree.
#[derive(Debug, Default)]
pub(super) enum Content {
    /// The document, or what is inside a `<template>`.
    #[default]
    Root,
    Element(Element),
    Text(StrTendril),
    Comment(StrTendril),
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: Rc<QualName>,
    pub(super) attributes: Vec<Attribute>,
    /// What stands inside a `<template>`.
    pub(super) template: Option<Id>,
    pub(super) annotation_of_html: bool,
}

impl Element {
    /// The value of an attribute without a namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let named = |it: &&Attribute| &*it.name.local == name && it.name.ns.is_empty();
        self.attributes.iter().find(named).map(|it| &*it.value)
    }

    /// Is an attribute this word, in any case?
    pub(super) fn says(&self, name: &str, word: &str) -> bool {
        self.attribute(name).is_some_and(|it| it.trim().eq_ignore_ascii_case(word))
    }

    pub(super) fn local(&self) -> &str {
        &self.name.local
    }

    pub(super) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }
}

#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) parent: Option<Id>,
    pub(super) before: Option<Id>,
    pub(super) after: Option<Id>,
    pub(super) first: Option<Id>,
    pub(super) last: Option<Id>,
}

/// A finished tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Is it written as pages were before there were standards? Browsers match its classes in any case.
    pub(super) is_quirky: bool,
}

impl Tree {
    pub(super) fn get(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        element_of(self.get(id)?)
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = (Id, &Element)> {
        self.nodes.iter().enumerate().filter_map(|(id, it)| Some((id, element_of(it)?)))
    }

    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let first = self.get(id).and_then(|it| it.first);
        std::iter::successors(first, |it| self.get(*it)?.after)
    }

    pub(super) fn element_children(&self, id: Id) -> impl Iterator<Item = (Id, &Element)> {
        self.children(id).filter_map(|it| Some((it, self.element(it)?)))
    }

    /// The children that are text, put together.
    pub(super) fn text_of(&self, id: Id) -> String {
        let nodes = self.children(id).filter_map(|it| self.get(it));
        nodes
            .filter_map(|it| if let Content::Text(it) = &it.content { Some(&**it) } else { None })
            .collect()
    }
}

fn element_of(node: &Node) -> Option<&Element> {
    if let Content::Element(element) = &node.content { Some(element) } else { None }
}
