//! Selectors that ask for what stands below or beside an element, and for what stands around it.

use super::fit::{Scene, Spot, Sure};
use super::pseudo::Nth;
use super::selector::{List, Relation, Selector};
use super::tree::{Content, Id};

/// What an `@scope` is for: from one of these down to those.
#[derive(Debug)]
pub(super) struct Within {
    pub(super) from: List,
    pub(super) to: Option<List>,
}

impl Scene<'_> {
    /// `:has(…)`: does one of these select something below the element at `spot`, or beside it?
    pub(super) fn has(&mut self, list: &List, path: &[Id], spot: Spot) -> Sure {
        let key = (std::ptr::from_ref(list), spot.0);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let before = self.anchor.replace(spot.0);
        let mut above: Vec<Id> = path.get(..spot.1).unwrap_or_default().to_vec();
        let below = |it: &&Selector| matches!(lead(it), Relation::Ancestor | Relation::Parent);
        let (inside, beside): (Vec<&Selector>, Vec<&Selector>) =
            list.selectors.iter().partition(below);
        let mut most = Sure::No;
        if !beside.is_empty() {
            let mut next = self.tree.get(spot.0).and_then(|it| it.after);
            while let Some((id, node)) = next.and_then(|it| Some((it, self.tree.get(it)?))) {
                next = node.after;
                if let Content::Element(_) = node.content {
                    most = most.max(self.one_of(&beside, &above, id));
                    let deep: Vec<&Selector> =
                        beside.iter().copied().filter(|it| it.above.len() > 1).collect();
                    most = most.max(self.below(&deep, &mut above, id));
                }
                if most == Sure::Yes || self.searched > SEARCHED_MAX {
                    break;
                }
            }
        }
        most = most.max(self.below(&inside, &mut above, spot.0));
        self.anchor = before;
        if self.searched > SEARCHED_MAX {
            most = most.max(Sure::Maybe);
        }
        self.remember(key, most);
        most
    }

    /// Does one of these select something in the element?
    fn below(&mut self, selectors: &[&Selector], above: &mut Vec<Id>, root: Id) -> Sure {
        let mut most = Sure::No;
        if selectors.is_empty() {
            return most;
        }
        let depth = above.len();
        let mut left: Vec<(Id, usize)> = Vec::new();
        above.push(root);
        left.extend(self.tree.get(root).and_then(|it| it.first).map(|it| (it, depth + 1)));
        while let Some((id, depth)) = left.pop() {
            let Some(node) = self.tree.get(id) else { continue };
            left.extend(node.after.map(|it| (it, depth)));
            if let Content::Element(_) = node.content {
                above.truncate(depth);
                most = most.max(self.one_of(selectors, above, id));
                left.extend(node.first.map(|it| (it, depth + 1)));
                above.push(id);
            }
            if most == Sure::Yes || self.searched > SEARCHED_MAX {
                break;
            }
        }
        above.truncate(depth);
        most
    }

    fn one_of(&mut self, selectors: &[&Selector], path: &[Id], id: Id) -> Sure {
        let before = self.steps;
        let selects = selectors.iter().map(|it| self.selects(it, path, (id, path.len())));
        let most = selects.max().unwrap_or(Sure::No);
        // It has a measure of its own, beyond which it may be so.
        self.searched += self.steps - before;
        self.steps = before + (self.steps - before) / 8;
        most
    }

    /// `:nth-child(2 of .a)`.
    pub(super) fn stands_among(&mut self, nth: Nth, list: &List, path: &[Id], spot: Spot) -> Sure {
        let mut sure = self.any(list, path, spot);
        if sure == Sure::No {
            return sure;
        }
        let mut at = 1;
        let mut next = Some(spot.0);
        loop {
            next = match (nth.from_end, next) {
                (false, Some(id)) => self.before(id),
                (true, Some(id)) => self.tree.get(id).and_then(|it| it.after),
                (_, None) => break,
            };
            let Some(id) = next else { break };
            match self.any(list, path, (id, spot.1)) {
                Sure::Yes => at += 1,
                Sure::Maybe => sure = Sure::Maybe,
                Sure::No => {}
            }
            self.steps += 1;
            if self.exhausted() {
                return Sure::Maybe;
            }
        }
        if sure == Sure::Maybe || nth.is_at(at) { sure } else { Sure::No }
    }

    /// Does `selector` select the element at `spot` within what an `@scope` is for?
    pub(super) fn selects_within(
        &mut self,
        within: &Within,
        selector: &Selector,
        path: &[Id],
        spot: Spot,
    ) -> Sure {
        let mut most = Sure::No;
        let at =
            |depth: usize| if depth < spot.1 { path.get(depth).copied() } else { Some(spot.0) };
        for depth in (0..=spot.1).rev() {
            let Some(id) = at(depth) else { continue };
            let from = self.any(&within.from, path, (id, depth));
            if from > Sure::No {
                let before = self.root.replace(id);
                let found = self.selects(selector, path, spot).min(from);
                self.root = before;
                most = most.max(found);
            }
            let ends = |it: &List, scene: &mut Self| scene.any(it, path, (id, depth)) == Sure::Yes;
            if most == Sure::Yes || within.to.as_ref().is_some_and(|it| ends(it, self)) {
                break;
            }
        }
        most
    }
}

/// How what is asked for stands to the element.
fn lead(selector: &Selector) -> Relation {
    selector.above.last().map_or(Relation::Ancestor, |it| it.0)
}

/// How often selectors in `:has` may be held against elements.
const SEARCHED_MAX: usize = 4_000_000;
