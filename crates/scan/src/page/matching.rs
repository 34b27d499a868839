//! The rules that select one element: those of its own tree, of the shadow tree that it has, of the slot that it
//! stands in, and of what stands around its shadow tree.

use super::fit::Sure;
use super::pseudo::Pseudo;
use super::selector::{Key, Specificity};
use super::sheet::{Rule, Sheet};
use super::style::Styles;
use super::tree::{Element, Id};

/// A rule that selects, by rank.
pub(super) struct Match<'a> {
    pub(super) layer: usize,
    pub(super) specificity: Specificity,
    pub(super) index: usize,
    pub(super) rule: &'a Rule,
    pub(super) unsure: bool,
}

impl<'a> Styles<'a> {
    pub(super) fn matching(&mut self, element: &Element, id: Id, path: &[Id]) -> Vec<Match<'a>> {
        let sheet = self.sheet;
        let mut found: Vec<Match<'a>> = Vec::new();
        self.collect(sheet, element, (id, path), &mut found);
        // What a tree says of its own elements outranks what others say of them.
        for one in &mut found {
            one.layer = 1 + self.ranks.get(one.rule.layer).copied().unwrap_or_default();
        }
        let host = self.scene.host;
        if let Some(shadow) = self.shadows.get(&id) {
            self.scene.host = Some(id);
            self.collect(&shadow.sheet, element, (id, path), &mut found);
            self.scene.host = host;
        }
        if let Some((child, slot, scope)) = self.slot.take() {
            if let Some(element) = self.scene.tree.element(slot).filter(|_| child == id) {
                self.scene.host = scope.shadow.map(|it| it.1);
                self.scene.slotted = Some(child);
                self.collect(scope.sheet, element, (slot, &scope.path), &mut found);
                (self.scene.slotted, self.scene.host) = (None, host);
            }
            self.slot = Some((child, slot, scope));
        }
        if let (Some(names), Some(outer)) = (element.attribute("part"), self.outer) {
            self.collect_parts(outer, names, &mut found);
        }
        found
    }

    /// Adds the rules of a sheet that select, at the lowest rank.
    fn collect(
        &mut self,
        sheet: &'a Sheet,
        element: &Element,
        (id, path): (Id, &[Id]),
        found: &mut Vec<Match<'a>>,
    ) {
        if sheet.rules.is_empty() {
            return;
        }
        let classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
        let keys = classes
            .map(|it| Key::Class(it.to_ascii_lowercase()))
            .chain(element.attribute("id").map(|it| Key::Id(it.to_ascii_lowercase())))
            .chain([Key::Tag((*element.name.local).to_ascii_lowercase()), Key::Any]);
        for key in keys {
            for index in sheet.by_key.get(&key).into_iter().flatten() {
                let Some(rule) = sheet.rules.get(*index).filter(|_| !self.exhausted()) else {
                    break;
                };
                let Some(selector) = rule.selector() else { continue };
                let spot = (id, path.len());
                let sure = match &rule.within {
                    Some(within) => self.scene.selects_within(within, selector, path, spot),
                    None => self.scene.selects(selector, path, spot),
                };
                if sure == Sure::No {
                    continue;
                }
                let (specificity, unsure) = (selector.specificity, sure == Sure::Maybe);
                let unsure = rule.unsure || unsure;
                found.push(Match { layer: 0, specificity, index: *index, rule, unsure });
            }
        }
    }

    /// Adds the rules from outside for parts of these names; which element has the tree is not looked at.
    fn collect_parts(&mut self, outer: &'a Sheet, names: &str, found: &mut Vec<Match<'a>>) {
        for index in &outer.for_parts {
            let Some(rule) = outer.rules.get(*index).filter(|_| !self.exhausted()) else { break };
            let Some(selector) = rule.selector() else { continue };
            self.spend(1 + names.len() / 8);
            let has = |it: &String| names.split_ascii_whitespace().any(|one| one == it);
            let is_named = |it: &Pseudo| {
                if let Pseudo::Part(wanted) = it { wanted.iter().all(has) } else { false }
            };
            if selector.subject.pseudos.iter().any(is_named) {
                let specificity = selector.specificity;
                found.push(Match { layer: 0, specificity, index: *index, rule, unsure: true });
            }
        }
    }
}
