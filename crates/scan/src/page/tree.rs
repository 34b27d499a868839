//! The tree of a page: nodes in one list that name each other by number, so that no depth of nesting
//! costs stack, neither when it is built nor when it is dropped.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};

/// A node by its number.
pub(super) type Id = usize;

/// The document itself.
pub(super) const DOCUMENT: Id = 0;

/// What stands at a place of the tree.
#[derive(Debug)]
pub(super) enum Content {
    /// The document, or what is inside a `<template>`.
    Root,
    Element(Element),
    Text(StrTendril),
    Comment(StrTendril),
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: Rc<QualName>,
    pub(super) attributes: Vec<Attribute>,
    /// Only a `<template>` has one.
    template: Option<Id>,
    annotation_of_html: bool,
}

impl Element {
    /// The value of an attribute without a namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let named = |it: &&Attribute| &*it.name.local == name && it.name.ns.is_empty();
        self.attributes.iter().find(named).map(|it| &*it.value)
    }

    /// The names in its `class`.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.attribute("class").unwrap_or_default().split_ascii_whitespace()
    }

    pub(super) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }

    pub(super) fn is_math(&self) -> bool {
        self.name.ns == ns!(mathml)
    }

    pub(super) fn is_svg(&self) -> bool {
        self.name.ns == ns!(svg)
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    parent: Option<Id>,
    before: Option<Id>,
    pub(super) after: Option<Id>,
    pub(super) first: Option<Id>,
    last: Option<Id>,
}

/// A finished tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    quirks: bool,
}

impl Tree {
    pub(super) fn get(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        match &self.get(id)?.content {
            Content::Element(element) => Some(element),
            Content::Root | Content::Text(_) | Content::Comment(_) => None,
        }
    }

    /// Is it written as pages were before there were standards? Browsers match its classes in any case.
    pub(super) fn is_quirky(&self) -> bool {
        self.quirks
    }

    pub(super) fn before(&self, id: Id) -> Option<Id> {
        self.get(id)?.before
    }

    pub(super) fn after(&self, id: Id) -> Option<Id> {
        self.get(id)?.after
    }

    pub(super) fn first(&self, id: Id) -> Option<Id> {
        self.get(id)?.first
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = (Id, &Element)> {
        self.nodes.iter().enumerate().filter_map(|(id, it)| match &it.content {
            Content::Element(element) => Some((id, element)),
            Content::Root | Content::Text(_) | Content::Comment(_) => None,
        })
    }

    /// The children that are text, put together.
    pub(super) fn text_of(&self, id: Id) -> String {
        let children = std::iter::successors(self.first(id), |it| self.after(*it));
        let nodes = children.filter_map(|it| self.get(it));
        let texts = nodes.filter_map(|it| match &it.content {
            Content::Text(text) => Some(&**text),
            Content::Root | Content::Element(_) | Content::Comment(_) => None,
        });
        texts.collect()
    }

    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        self.get(id).and_then(|it| it.parent)
    }

    /// What stands inside a `<template>`.
    pub(super) fn template(&self, element: &Element) -> Option<Id> {
        element.template
    }
}

/// A node as the parser holds it. The name stands beside the number, because the parser asks for it
/// all the time.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    id: Id,
    name: Rc<QualName>,
}

/// Takes what the parser finds.
pub(super) struct Builder {
    nodes: RefCell<Vec<Node>>,
    document: Handle,
    /// Nodes made, attributes kept and nodes moved.
    work: Cell<usize>,
    quirks: Cell<bool>,
}

impl Builder {
    pub(super) fn new() -> Self {
        let nameless = QualName::new(None, ns!(), LocalName::from(""));
        let document = Handle { id: DOCUMENT, name: Rc::new(nameless) };
        let builder = Self {
            nodes: RefCell::default(),
            document,
            work: Cell::new(0),
            quirks: Cell::new(false),
        };
        builder.add(Content::Root);
        builder
    }

    /// How much was built so far.
    pub(super) fn work(&self) -> usize {
        self.work.get()
    }

    /// What was built, leaving nothing behind.
    pub(super) fn take(&self) -> Tree {
        Tree { nodes: self.nodes.take(), quirks: self.quirks.get() }
    }

    fn add(&self, content: Content) -> Id {
        self.spend(1);
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node {
            content,
            parent: None,
            before: None,
            after: None,
            first: None,
            last: None,
        });
        nodes.len() - 1
    }

    fn spend(&self, work: usize) {
        self.work.set(self.work.get().saturating_add(work));
    }

    fn with<T: Default>(&self, id: Id, change: impl FnOnce(&mut Node) -> T) -> T {
        self.nodes.borrow_mut().get_mut(id).map(change).unwrap_or_default()
    }

    fn detach(&self, id: Id) {
        let (parent, before, after) =
            self.with(id, |it| (it.parent.take(), it.before.take(), it.after.take()));
        match before {
            Some(before) => self.with(before, |it| it.after = after),
            None => parent.into_iter().for_each(|it| self.with(it, |it| it.first = after)),
        }
        match after {
            Some(after) => self.with(after, |it| it.before = before),
            None => parent.into_iter().for_each(|it| self.with(it, |it| it.last = before)),
        }
    }

    fn attach(&self, parent: Id, id: Id) {
        self.detach(id);
        let last = self.with(parent, |it| it.last.replace(id));
        self.with(id, |it| (it.parent, it.before) = (Some(parent), last));
        match last {
            Some(last) => self.with(last, |it| it.after = Some(id)),
            None => self.with(parent, |it| it.first = Some(id)),
        }
    }

    fn attach_before(&self, sibling: Id, id: Id) {
        self.detach(id);
        let Some(parent) = self.with(sibling, |it| it.parent) else { return };
        let before = self.with(sibling, |it| it.before.replace(id));
        self.with(id, |it| {
            (it.parent, it.before, it.after) = (Some(parent), before, Some(sibling));
        });
        match before {
            Some(before) => self.with(before, |it| it.after = Some(id)),
            None => self.with(parent, |it| it.first = Some(id)),
        }
    }

    /// Text beside text is one text.
    fn lengthens(&self, id: Option<Id>, more: &StrTendril) -> bool {
        let Some(id) = id else { return false };
        self.with(id, |it| match &mut it.content {
            Content::Text(text) => {
                text.push_tendril(more);
                true
            }
            Content::Root | Content::Element(_) | Content::Comment(_) => false,
        })
    }

    fn template_of(&self, id: Id) -> Option<Id> {
        self.with(id, |it| match &it.content {
            Content::Element(element) => element.template,
            Content::Root | Content::Text(_) | Content::Comment(_) => None,
        })
    }
}

impl TreeSink for Builder {
    type Handle = Handle;
    type Output = Tree;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Tree {
        self.take()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.document.clone()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.spend(attrs.len());
        let name = Rc::new(name);
        let template = flags.template.then(|| self.add(Content::Root));
        let id = self.add(Content::Element(Element {
            name: Rc::clone(&name),
            attributes: attrs,
            template,
            annotation_of_html: flags.mathml_annotation_xml_integration_point,
        }));
        Handle { id, name }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        Handle { id: self.add(Content::Comment(text)), name: Rc::clone(&self.document.name) }
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        self.create_comment(data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        match child {
            NodeOrText::AppendNode(node) => self.attach(parent.id, node.id),
            NodeOrText::AppendText(text) => {
                if !self.lengthens(self.with(parent.id, |it| it.last), &text) {
                    self.attach(parent.id, self.add(Content::Text(text)));
                }
            }
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        other: &Handle,
        child: NodeOrText<Handle>,
    ) {
        if self.with(element.id, |it| it.parent).is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(other, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let id = self.template_of(target.id).unwrap_or(target.id);
        Handle { id, name: Rc::clone(&self.document.name) }
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.quirks.set(mode == QuirksMode::Quirks);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        match child {
            NodeOrText::AppendNode(node) => self.attach_before(sibling.id, node.id),
            NodeOrText::AppendText(text) => {
                if !self.lengthens(self.with(sibling.id, |it| it.before), &text) {
                    self.attach_before(sibling.id, self.add(Content::Text(text)));
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        self.spend(attrs.len());
        self.with(target.id, |it| {
            if let Content::Element(element) = &mut it.content {
                for new in attrs {
                    if element.attributes.len() < ATTRIBUTES_MAX
                        && !element.attributes.iter().any(|it| it.name == new.name)
                    {
                        element.attributes.push(new);
                    }
                }
            }
        });
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        while let Some(child) = self.with(node.id, |it| it.first) {
            self.spend(1);
            self.attach(new_parent.id, child);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.with(handle.id, |it| match &it.content {
            Content::Element(element) => element.annotation_of_html,
            Content::Root | Content::Text(_) | Content::Comment(_) => false,
        })
    }
}

/// How many attributes the `<html>` and `<body>` of a page gather from later tags of these names.
const ATTRIBUTES_MAX: usize = 256;
