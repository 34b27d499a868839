//! The elements of the tree, as selectors look at them.
//!
//! INVARIANT (Fuelled): whatever a selector looks at, it reaches through an [`ElementRef`], and each step to another
//! element takes from the fuel that all matching of a page shares. Without fuel an element has no neighbours, so that
//! matching ends; [`super::style::Styles`] sees it and the page is cut there.

use std::cell::Cell;

use selectors::OpaqueElement;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;

use super::selector::{ALWAYS, Name, Names};
use super::tree::{Content, DOCUMENT, Element, Id, Node, Tree};
use super::value::is_one_of;

/// What is left to be spent on one page.
#[derive(Debug)]
pub(super) struct Fuel(Cell<usize>);

impl Fuel {
    pub(super) fn new(steps: usize) -> Self {
        Self(Cell::new(steps))
    }

    /// Takes so much; false if there is not so much, and nothing is left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.get() == 0
    }
}

/// Lists what no element of a page without scripts is or has.
macro_rules! never {
    ($($name:ident($($kind:ty),*);)+) => {
        $(fn $name(&self, $(_: $kind),*) -> bool { false })+
    };
}

/// An element of the tree, as selectors look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementRef<'a> {
    pub(super) tree: &'a Tree,
    pub(super) id: Id,
    pub(super) element: &'a Element,
    pub(super) fuel: &'a Fuel,
    /// What a step costs.
    pub(super) price: usize,
}

impl ElementRef<'_> {
    /// The first element on the way that begins at `get` of this one and goes on by `next`.
    fn seek(&self, get: fn(&Node) -> Option<Id>, next: fn(&Node) -> Option<Id>) -> Option<Self> {
        let mut at = get(self.tree.get(self.id)?);
        while let Some(id) = at
            && self.fuel.spend(self.price)
        {
            if let Some(element) = self.tree.element(id) {
                return Some(Self { id, element, ..*self });
            }
            at = next(self.tree.get(id)?);
        }
        None
    }

    fn has(&self, attribute: &str) -> bool {
        self.element.attribute(attribute).is_some()
    }
}

impl selectors::Element for ElementRef<'_> {
    type Impl = Names;

    never! {
        add_element_unique_hashes(&mut BloomFilter);
        has_custom_state(&Name);
        is_html_slot_element();
        is_part(&Name);
        is_pseudo_element();
        match_pseudo_element(&Name, &mut MatchingContext<'_, Names>);
        parent_node_is_shadow_root();
    }

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.element)
    }

    fn parent_element(&self) -> Option<Self> {
        self.seek(|it| it.parent, |_| None)
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.seek(|it| it.before, |it| it.before)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.seek(|it| it.after, |it| it.after)
    }

    fn first_element_child(&self) -> Option<Self> {
        self.seek(|it| it.first, |it| it.after)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.element.is_html()
    }

    fn has_local_name(&self, name: &Name) -> bool {
        *self.element.name.local == *name.as_ref()
    }

    fn has_namespace(&self, namespace: &Name) -> bool {
        *self.element.name.ns == *namespace.as_ref()
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.element.name == other.element.name
    }

    fn attr_matches(
        &self,
        _: &NamespaceConstraint<&Name>,
        name: &Name,
        operation: &AttrSelectorOperation<&Name>,
    ) -> bool {
        self.fuel.spend(self.element.attributes.len() / NAMES_OF_A_STEP)
            && self.element.attribute(name.as_ref()).is_some_and(|it| {
                self.fuel.spend(it.len() / BYTES_OF_A_STEP) && operation.eval_str(it)
            })
    }

    fn match_non_ts_pseudo_class(&self, name: &Name, _: &mut MatchingContext<'_, Names>) -> bool {
        match name.as_ref() {
            "link" | "any-link" | "-webkit-any-link" => self.is_link(),
            "checked" => self.has("checked") || self.has("selected"),
            name => is_one_of(ALWAYS, name),
        }
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        matches!(self.element.local(), "a" | "area") && self.has("href")
    }

    fn has_id(&self, id: &Name, case: CaseSensitivity) -> bool {
        let own = self.element.attribute("id");
        own.is_some_and(|it| case.eq(it.as_bytes(), id.as_ref().as_bytes()))
    }

    fn has_class(&self, name: &Name, case: CaseSensitivity) -> bool {
        let own = self.element.attribute("class").unwrap_or_default();
        self.fuel.spend(own.len() / BYTES_OF_A_STEP)
            && own
                .split_ascii_whitespace()
                .any(|it| case.eq(it.as_bytes(), name.as_ref().as_bytes()))
    }

    fn imported_part(&self, _: &Name) -> Option<Name> {
        None
    }

    fn is_empty(&self) -> bool {
        let mut nodes = self.tree.children(self.id).filter_map(|it| self.tree.get(it));
        nodes.all(|it| self.fuel.spend(1) && matches!(it.content, Content::Comment(_)))
    }

    fn is_root(&self) -> bool {
        self.element.is_html()
            && self.tree.get(self.id).is_some_and(|it| it.parent == Some(DOCUMENT))
    }
}

/// Attributes that are looked at for one step's fuel, and bytes of a value that are compared.
const NAMES_OF_A_STEP: usize = 8;
const BYTES_OF_A_STEP: usize = 64;
