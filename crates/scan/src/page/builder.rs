//! Builds the tree of a page from what the parser finds.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};

use super::tree::{Content, DOCUMENT, Element, Id, Node, Tree};

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
        let name = Rc::new(QualName::new(None, ns!(), LocalName::from("")));
        let document = Handle { id: DOCUMENT, name };
        let (nodes, work, quirks) = (RefCell::default(), Cell::new(0), Cell::new(false));
        let builder = Self { nodes, document, work, quirks };
        builder.add(Content::Root);
        builder
    }

    /// How much was built so far.
    pub(super) fn work(&self) -> usize {
        self.work.get()
    }

    /// What was built, leaving nothing behind.
    pub(super) fn take(&self) -> Tree {
        Tree { nodes: self.nodes.take(), is_quirky: self.quirks.get() }
    }

    fn add(&self, content: Content) -> Id {
        self.spend(1);
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { content, ..Node::default() });
        nodes.len() - 1
    }

    fn spend(&self, work: usize) {
        self.work.set(self.work.get().saturating_add(work));
    }

    fn with<T: Default>(&self, id: Id, change: impl FnOnce(&mut Node) -> T) -> T {
        self.nodes.borrow_mut().get_mut(id).map(change).unwrap_or_default()
    }

    fn of_element<T: Default>(&self, id: Id, get: impl FnOnce(&mut Element) -> T) -> T {
        self.with(id, |it| match &mut it.content {
            Content::Element(element) => get(element),
            Content::Root | Content::Text(_) | Content::Comment(_) => T::default(),
        })
    }

    /// Makes two nodes neighbours; where there is none, the other stands at the edge of `parent`.
    fn line_up(&self, parent: Id, before: Option<Id>, after: Option<Id>) {
        match before {
            Some(before) => self.with(before, |it| it.after = after),
            None => self.with(parent, |it| it.first = after),
        }
        match after {
            Some(after) => self.with(after, |it| it.before = before),
            None => self.with(parent, |it| it.last = before),
        }
    }

    fn detach(&self, id: Id) {
        let at = self.with(id, |it| (it.parent.take(), it.before.take(), it.after.take()));
        if let (Some(parent), before, after) = at {
            self.line_up(parent, before, after);
        }
    }

    /// Puts something into `parent`: before `after`, or at its end.
    fn insert(&self, parent: Id, after: Option<Id>, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(node.id);
        }
        let before = match after {
            Some(after) => self.with(after, |it| it.before),
            None => self.with(parent, |it| it.last),
        };
        let id = match child {
            NodeOrText::AppendNode(node) => node.id,
            // Text beside text is one text.
            NodeOrText::AppendText(text) if before.is_some_and(|it| self.lengthens(it, &text)) => {
                return;
            }
            NodeOrText::AppendText(text) => self.add(Content::Text(text)),
        };
        self.line_up(parent, before, Some(id));
        self.line_up(parent, Some(id), after);
        self.with(id, |it| it.parent = Some(parent));
    }

    fn lengthens(&self, id: Id, more: &StrTendril) -> bool {
        self.with(id, |it| {
            let Content::Text(text) = &mut it.content else { return false };
            text.push_tendril(more);
            true
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
        let id = self.add(Content::Element(Element {
            name: Rc::clone(&name),
            attributes: attrs,
            template: flags.template.then(|| self.add(Content::Root)),
            annotation_of_html: flags.mathml_annotation_xml_integration_point,
        }));
        Handle { id, name }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        Handle { id: self.add(Content::Comment(text)), ..self.document.clone() }
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        self.create_comment(data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert(parent.id, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        other: &Handle,
        child: NodeOrText<Handle>,
    ) {
        match self.with(element.id, |it| it.parent) {
            Some(parent) => self.insert(parent, Some(element.id), child),
            None => self.insert(other.id, None, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let id = self.of_element(target.id, |it| it.template).unwrap_or(target.id);
        Handle { id, ..self.document.clone() }
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.quirks.set(mode == QuirksMode::Quirks);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        if let Some(parent) = self.with(sibling.id, |it| it.parent) {
            self.insert(parent, Some(sibling.id), child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        self.spend(attrs.len());
        self.of_element(target.id, |element| {
            for new in attrs {
                let known = element.attributes.iter().any(|it| it.name == new.name);
                if !known && element.attributes.len() < ATTRIBUTES_MAX {
                    element.attributes.push(new);
                }
            }
        });
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        while let Some(id) = self.with(node.id, |it| it.first) {
            self.spend(1);
            let name = Rc::clone(&self.document.name);
            self.insert(new_parent.id, None, NodeOrText::AppendNode(Handle { id, name }));
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.of_element(handle.id, |it| it.annotation_of_html)
    }
}

/// How many attributes the `<html>` and `<body>` of a page gather from later tags of these names.
const ATTRIBUTES_MAX: usize = 256;
