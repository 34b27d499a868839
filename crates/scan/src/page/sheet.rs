//! Reads the style sheets that stand in a page: linear, and only for what can hide text.

use std::collections::HashMap;
use std::rc::Rc;

use super::condition::{media, supports};
use super::css::{Part, split, tokens, trim};
use super::declare::{Declaration, declare};
use super::fit::Sure;
use super::items::{Item, Items};
use super::layer::{Layers, OUTSIDE};
use super::selector::{Key, List, Selector};

/// The rules of a page that matter, by what they are looked up with.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) rules: Vec<Rule>,
    pub(super) by_key: HashMap<Key, Vec<usize>>,
    pub(super) layers: Layers,
    /// A background may be set that is not seen here: by a file.
    pub(super) unseen_backgrounds: bool,
    /// There were more rules than are kept.
    pub(super) cut: bool,
}

#[derive(Debug)]
pub(super) struct Rule {
    list: Rc<List>,
    index: usize,
    pub(super) declarations: Rc<[Declaration]>,
    /// It may be that it does not hold; then only what hides is taken from it.
    pub(super) unsure: bool,
    pub(super) layer: usize,
}

impl Rule {
    pub(super) fn selector(&self) -> Option<&Selector> {
        self.list.selectors.get(self.index)
    }
}

/// What a `{` opened.
struct Frame<'p, 'a> {
    items: Items<'p, 'a>,
    unsure: bool,
    layer: usize,
    /// The selectors of the rule around, if there is one.
    selectors: Option<Rc<List>>,
    declarations: Vec<Declaration>,
}

impl Sheet {
    /// Adds the text of one `<style>`, of an `old` page or another; `unsure` if it may not hold.
    pub(super) fn add(&mut self, text: &str, old: bool, unsure: bool) {
        let parts = tokens(text);
        let items = Items::of_sheet(&parts);
        let whole =
            Frame { items, unsure, layer: OUTSIDE, selectors: None, declarations: Vec::new() };
        let mut open = vec![whole];
        while let Some(frame) = open.last_mut() {
            let Some(item) = frame.items.next() else {
                self.flush(frame);
                open.pop();
                continue;
            };
            if let Item::Declaration(parts) = item {
                if frame.selectors.is_some() {
                    declare(parts, text, old, &mut frame.declarations);
                }
                continue;
            }
            // What follows a rule in a rule ranks behind it.
            self.flush(frame);
            if let Some(next) = self.opened(&item, frame) {
                open.push(next);
            }
        }
    }

    fn opened<'p, 'a>(
        &mut self,
        item: &Item<'p, 'a>,
        around: &Frame<'p, 'a>,
    ) -> Option<Frame<'p, 'a>> {
        let (block, selectors, sure, layer) = match item {
            Item::Declaration(_) => return None,
            Item::Rule(prelude, block) => {
                let list = List::of_rule(trim(prelude), around.selectors.as_ref())?;
                (*block, Some(Rc::new(list)), Sure::Yes, around.layer)
            }
            Item::At(name, prelude, block) => {
                let name = name.to_ascii_lowercase();
                self.unseen_backgrounds |= name == "import";
                let (layer, known) = self.layer(&name, prelude, block.is_some(), around.layer);
                let sure = condition(&name, prelude)?;
                let sure = if known { sure } else { sure.min(Sure::Maybe) };
                ((*block)?, around.selectors.clone(), sure, layer)
            }
        };
        let doubtful = selectors.as_ref().is_some_and(|it| it.doubtful);
        (sure > Sure::No).then(|| Frame {
            items: Items::of_block(block),
            unsure: around.unsure || sure == Sure::Maybe || doubtful,
            layer,
            selectors,
            declarations: Vec::new(),
        })
    }

    /// The layer that stands below an `@layer`, and whether that is known.
    fn layer(
        &mut self,
        name: &str,
        prelude: &[Part<'_>],
        block: bool,
        around: usize,
    ) -> (usize, bool) {
        if name != "layer" {
            return (around, true);
        }
        let mut last = None;
        for one in split(prelude, ',') {
            let path: Vec<&str> = one.iter().filter_map(Part::word).collect();
            if block || !path.is_empty() {
                last = self.layers.enter(around, &path);
                self.cut |= last.is_none();
            }
        }
        last.map_or((around, false), |it| (it, true))
    }

    fn flush(&mut self, frame: &mut Frame<'_, '_>) {
        let found = std::mem::take(&mut frame.declarations);
        let Some(list) = frame.selectors.as_ref().filter(|_| !found.is_empty()) else { return };
        let declarations: Rc<[Declaration]> = found.into();
        for (index, selector) in list.selectors.iter().enumerate() {
            if self.rules.len() >= RULES_MAX {
                self.cut = true;
                return;
            }
            self.by_key.entry(selector.key()).or_default().push(self.rules.len());
            self.rules.push(Rule {
                list: Rc::clone(list),
                index,
                declarations: Rc::clone(&declarations),
                unsure: frame.unsure,
                layer: frame.layer,
            });
        }
    }
}

/// Does what stands in an `@name` hold? Nothing for those that hold no rules for elements.
fn condition(name: &str, prelude: &[Part<'_>]) -> Option<Sure> {
    match name {
        "media" => Some(media(prelude)),
        "supports" => Some(supports(prelude)),
        "layer" => Some(Sure::Yes),
        "nest" | "container" | "scope" | "document" | "-moz-document" => Some(Sure::Maybe),
        _ => None,
    }
}

/// Rules of a page that say something about what is seen.
const RULES_MAX: usize = 50_000;
