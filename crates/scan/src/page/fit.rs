//! Holds selectors against elements. Where it cannot be known whether one selects, it may.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::attribute::{Attribute, Compare};
use super::pseudo::{Nth, Pseudo};
use super::selector::{Compound, List, Relation, Selector};
use super::tree::{Content, DOCUMENT, Element, Id, Tree};

/// How sure it is that a selector selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    No,
    Maybe,
    Yes,
}

/// A page at which selectors are held.
pub(super) struct Scene<'a> {
    pub(super) tree: &'a Tree,
    /// How much was compared so far.
    pub(super) steps: usize,
    places: OnceCell<Vec<Place>>,
    /// Are boxes meant that a style puts before or after a text, and not the elements themselves?
    pub(super) generated: bool,
    /// The element that has the shadow tree of the styles at work.
    pub(super) host: Option<Id>,
    /// What stands in the slot that is held against selectors.
    pub(super) slotted: Option<Id>,
    /// What was found of lists that stand in many selectors: those of the rules around.
    pub(super) known: HashMap<(*const List, Id), Sure>,
    /// What a selector in `:has` starts from, and how much was compared there.
    pub(super) anchor: Option<Id>,
    pub(super) searched: usize,
    /// What the styles in an `@scope` are for.
    pub(super) root: Option<Id>,
}

/// Where an element stands among the elements of its parent: from the start, from the end, and the same
/// among those of its name.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    first: u32,
    last: u32,
    first_of_type: u32,
    last_of_type: u32,
}

/// An element, and how many of the path stand above it.
pub(super) type Spot = (Id, usize);

impl<'a> Scene<'a> {
    pub(super) fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            steps: 0,
            places: OnceCell::new(),
            generated: false,
            host: None,
            slotted: None,
            known: HashMap::new(),
            anchor: None,
            searched: 0,
            root: None,
        }
    }

    /// Was so much compared that the rest of the page is better left unread?
    pub(super) fn exhausted(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Does `selector` select the element at `spot`, which stands below the start of `path`?
    pub(super) fn selects(&mut self, selector: &Selector, path: &[Id], spot: Spot) -> Sure {
        let slotted = |it: &Pseudo| matches!(it, Pseudo::Slotted(_));
        if self.slotted.is_some() && !selector.subject.pseudos.iter().any(slotted) {
            return Sure::No;
        }
        let own = self.fits(&selector.subject, path, spot);
        if own == Sure::No || selector.above.is_empty() {
            return own;
        }
        let mut spots = vec![(spot, own)];
        for (index, (relation, compound)) in selector.above.iter().enumerate() {
            let mut next = Vec::new();
            let last = index + 1 == selector.above.len();
            for (spot, sure) in self.related(*relation, path, &spots) {
                if self.exhausted() {
                    return Sure::Maybe;
                }
                let found = self.fits(compound, path, spot).min(sure);
                if found > Sure::No {
                    next.push((spot, found));
                }
                if last && found == Sure::Yes {
                    return Sure::Yes;
                }
            }
            spots = next;
        }
        spots.iter().map(|it| it.1).max().unwrap_or(Sure::No)
    }

    /// All elements that stand so to one of these, nearest first. Each comes once, as surely as may be.
    fn related(
        &mut self,
        relation: Relation,
        path: &[Id],
        spots: &[(Spot, Sure)],
    ) -> Vec<(Spot, Sure)> {
        let mut found: Vec<(Spot, Sure)> = Vec::new();
        match relation {
            Relation::Ancestor => {
                // Above the deepest that is sure all are sure.
                let deepest = |least| {
                    spots.iter().filter(|it| it.1 >= least).map(|it| it.0.1).max().unwrap_or(0)
                };
                let (sure, maybe) = (deepest(Sure::Yes), deepest(Sure::Maybe));
                for (depth, id) in path.iter().enumerate().take(maybe).rev() {
                    found.push(((*id, depth), if depth < sure { Sure::Yes } else { Sure::Maybe }));
                }
                return found;
            }
            Relation::Parent => {
                for ((_, depth), sure) in spots {
                    let above = depth.checked_sub(1);
                    let parent = above.and_then(|it| Some((*path.get(it)?, it)));
                    found.extend(parent.map(|it| (it, *sure)));
                }
            }
            Relation::Next => {
                for ((id, depth), sure) in spots {
                    found.extend(self.before(*id).map(|it| ((it, *depth), *sure)));
                }
            }
            Relation::Later => {
                for ((id, depth), sure) in spots {
                    let mut at = *id;
                    while let Some(before) = self.before(at) {
                        self.steps += 1;
                        if self.exhausted() {
                            break;
                        }
                        found.push(((before, *depth), *sure));
                        at = before;
                    }
                }
            }
        }
        if spots.len() > 1 {
            found.sort_by(|a, b| b.cmp(a));
            found.dedup_by_key(|it| it.0);
        }
        found
    }

    /// The element before this one, of the same parent.
    pub(super) fn before(&mut self, id: Id) -> Option<Id> {
        let mut at = self.tree.before(id)?;
        loop {
            self.steps += 1;
            match self.tree.get(at)?.content {
                Content::Element(_) => return Some(at),
                Content::Root | Content::Text(_) | Content::Comment(_) => {
                    at = self.tree.before(at)?
                }
            }
        }
    }

    fn fits(&mut self, compound: &Compound, path: &[Id], spot: Spot) -> Sure {
        self.steps += 1;
        // To its own shadow tree an element is nothing but the one that has it.
        let anchors = |it: &Pseudo| matches!(it, Pseudo::Anchor | Pseudo::Is(_));
        let hosts = compound.pseudos.iter().any(Pseudo::is_host);
        if (self.host == Some(spot.0)) != hosts && !compound.pseudos.iter().any(anchors) {
            return Sure::No;
        }
        let Some(element) = self.tree.element(spot.0) else { return Sure::No };
        if compound.tag.as_ref().is_some_and(|it| !it.eq_ignore_ascii_case(&element.name.local)) {
            return Sure::No;
        }
        let old = self.tree.is_old();
        let same = |a: &str, b: &str| if old { a.eq_ignore_ascii_case(b) } else { a == b };
        if !compound.ids.is_empty() {
            let id = element.attribute("id").unwrap_or_default();
            if compound.ids.iter().any(|it| !same(it, id)) {
                return Sure::No;
            }
        }
        if !compound.classes.is_empty() {
            let classes = element.attribute("class").unwrap_or_default();
            self.steps += classes.len() / 8 * compound.classes.len();
            let has = |it: &String| classes.split_ascii_whitespace().any(|one| same(it, one));
            if !compound.classes.iter().all(has) {
                return Sure::No;
            }
        }
        self.steps += compound.attributes.len() * element.attributes.len();
        if !compound.attributes.iter().all(|it| attribute_fits(it, element)) {
            return Sure::No;
        }
        let mut sure = Sure::Yes;
        for pseudo in &compound.pseudos {
            sure = sure.min(self.pseudo_fits(pseudo, path, spot, element));
            if sure == Sure::No {
                break;
            }
        }
        sure
    }

    fn pseudo_fits(&mut self, pseudo: &Pseudo, path: &[Id], spot: Spot, element: &Element) -> Sure {
        let surely = |it: bool| if it { Sure::Yes } else { Sure::No };
        match pseudo {
            Pseudo::Is(list) | Pseudo::Where(list) => self.any(list, path, spot),
            Pseudo::Not(list) => match self.any(list, path, spot) {
                Sure::Yes => Sure::No,
                Sure::Maybe => Sure::Maybe,
                Sure::No => Sure::Yes,
            },
            Pseudo::Host(None) => Sure::Yes,
            Pseudo::HostMaybe => Sure::Maybe,
            Pseudo::Host(Some(list)) => self.outside(list, spot.0),
            Pseudo::Slotted(list) => match self.slotted {
                Some(child) => self.outside(list, child),
                None => Sure::No,
            },
            // Asked of the part itself, whatever element has the shadow tree.
            Pseudo::Part(_) | Pseudo::Never => Sure::No,
            Pseudo::Generated => surely(self.generated),
            Pseudo::Unknown | Pseudo::Doubtful => Sure::Maybe,
            Pseudo::Scope if self.root.is_some() => surely(self.root == Some(spot.0)),
            Pseudo::Has(list) => self.has(list, path, spot),
            Pseudo::Anchor => surely(self.anchor == Some(spot.0)),
            Pseudo::NthOf(nth, list) => self.stands_among(*nth, list, path, spot),
            Pseudo::Root | Pseudo::Scope => surely(self.tree.parent(spot.0) == Some(DOCUMENT)),
            Pseudo::Empty => surely(self.tree.is_empty(spot.0)),
            Pseudo::Link => surely(
                matches!(&*element.name.local, "a" | "area") && element.attribute("href").is_some(),
            ),
            Pseudo::Checked => surely(
                element.attribute("checked").is_some() || element.attribute("selected").is_some(),
            ),
            Pseudo::Open => surely(element.attribute("open").is_some()),
            Pseudo::Disabled(wanted) => {
                let can = matches!(
                    &*element.name.local,
                    "button" | "input" | "select" | "textarea" | "option" | "optgroup" | "fieldset"
                );
                match (can, element.attribute("disabled").is_some() == *wanted) {
                    (true, true) => Sure::Yes,
                    // A group of fields may be disabled as a whole.
                    (true, false) => Sure::Maybe,
                    (false, _) => Sure::No,
                }
            }
            Pseudo::Nth(nth) => surely(self.stands(*nth, spot.0)),
        }
    }

    /// Does one of these select an element that stands around the shadow tree?
    fn outside(&mut self, list: &List, id: Id) -> Sure {
        let before = (self.host.take(), self.slotted.take());
        let found = self.any(list, &[], (id, 0));
        (self.host, self.slotted) = before;
        found
    }

    pub(super) fn any(&mut self, list: &List, path: &[Id], spot: Spot) -> Sure {
        let key = (std::ptr::from_ref(list), spot.0);
        if let Some(known) = self.known.get(&key).filter(|_| !list.is_anchor()) {
            return *known;
        }
        let mut most = Sure::No;
        for selector in &list.selectors {
            if self.exhausted() {
                return Sure::Maybe;
            }
            most = most.max(self.selects(selector, path, spot));
            if most == Sure::Yes {
                break;
            }
        }
        self.remember(key, most);
        most
    }

    pub(super) fn remember(&mut self, key: (*const List, Id), sure: Sure) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(key, sure);
    }

    fn stands(&mut self, nth: Nth, id: Id) -> bool {
        let tree = self.tree;
        let places = self.places.get_or_init(|| places(tree));
        let Some(place) = places.get(id) else { return false };
        let (first, last) = match nth.of_type {
            true => (place.first_of_type, place.last_of_type),
            false => (place.first, place.last),
        };
        if nth.only {
            return first == 1 && last == 1;
        }
        nth.is_at(if nth.from_end { last } else { first })
    }
}

fn places(tree: &Tree) -> Vec<Place> {
    let mut all = vec![Place::default(); tree.len()];
    let mut elements: Vec<(Id, &str)> = Vec::new();
    for parent in 0..tree.len() {
        elements.clear();
        let mut child = tree.get(parent).and_then(|it| it.first);
        while let Some((id, node)) = child.and_then(|id| Some((id, tree.get(id)?))) {
            if let Content::Element(element) = &node.content {
                elements.push((id, &element.name.local));
            }
            child = node.after;
        }
        for backwards in [false, true] {
            let mut seen: HashMap<&str, u32> = HashMap::new();
            for (index, (id, name)) in (1_u32..).zip(&elements) {
                let of_type = seen.entry(name).or_default();
                *of_type += 1;
                let Some(place) = all.get_mut(*id) else { continue };
                if backwards {
                    (place.last, place.last_of_type) = (index, *of_type);
                } else {
                    (place.first, place.first_of_type) = (index, *of_type);
                }
            }
            elements.reverse();
        }
    }
    all
}

fn attribute_fits(wanted: &Attribute, element: &Element) -> bool {
    let Some(found) = element.attribute(&wanted.name) else { return false };
    let lower = |it: &str| if wanted.any_case { it.to_ascii_lowercase() } else { it.to_owned() };
    let (found, value) = (lower(found), lower(&wanted.value));
    let some = !value.is_empty();
    match wanted.compare {
        Compare::Exists => true,
        Compare::Is => found == value,
        Compare::Word => found.split_ascii_whitespace().any(|it| it == value),
        Compare::Dash => {
            found.strip_prefix(&value).is_some_and(|it| it.is_empty() || it.starts_with('-'))
        }
        Compare::Starts => some && found.starts_with(&value),
        Compare::Ends => some && found.ends_with(&value),
        Compare::Holds => some && found.contains(&value),
    }
}

/// Lists and elements of which it is kept whether they fit.
const KNOWN_MAX: usize = 100_000;
/// How often selectors may be held against elements.
const STEPS_MAX: usize = 10_000_000;
