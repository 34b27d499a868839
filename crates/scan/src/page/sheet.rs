//! Reads the style sheets that stand in a page: linear, and only for what can hide text.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::condition::{media, supports};
use super::css::{Part, Token, components, inside, split, tokens, trim};
use super::declare::{Declaration, Switch, declare, raw};
use super::drawn::Drawn;
use super::fit::Sure;
use super::items::{Item, Items};
use super::layer::{Layers, OUTSIDE};
use super::letters::family_of;
use super::relative::Within;
use super::selector::{Key, List, Selector};

/// The rules of a page that matter, by what they are looked up with.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) rules: Vec<Rule>,
    pub(super) by_key: HashMap<Key, Vec<usize>>,
    pub(super) layers: Layers,
    pub(super) drawn: Rc<Drawn>,
    /// Rules for boxes before or after a text that are placed and painted.
    pub(super) decorations: Vec<usize>,
    /// Rules for parts of shadow trees, from outside.
    pub(super) for_parts: Vec<usize>,
    /// Fonts whose letters have no size.
    pub(super) flat_fonts: HashSet<String>,
    /// What animations come to in the end, by name.
    pub(super) keyframes: HashMap<String, Vec<Declaration>>,
    /// Of these it is not known whether they hold.
    pub(super) doubtful_animations: HashSet<String>,
    /// With what they begin.
    pub(super) first_pictures: HashMap<String, Vec<Declaration>>,
    /// What properties of the page's own stand for where nothing was said.
    pub(super) own: Vec<(Rc<str>, Rc<str>)>,
    /// Style sheets that stand in an address and are still to be read.
    imports: Vec<String>,
    /// A background may be set that is not seen here: by a file.
    pub(super) unseen_backgrounds: bool,
    /// The page says that it is dark, outside of its styles.
    pub(super) is_dark: bool,
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
    /// It holds in a part of the page.
    pub(super) within: Option<Rc<Within>>,
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
    within: Option<Rc<Within>>,
    declarations: Vec<Declaration>,
}

impl Sheet {
    /// Of a shadow tree in a page with these styles: of theirs only what is drawn counts there.
    pub(super) fn within(page: &Self) -> Self {
        let drawn = Rc::clone(&page.drawn);
        let flat_fonts = page.flat_fonts.clone();
        let unseen_backgrounds = page.unseen_backgrounds;
        Self { drawn, flat_fonts, unseen_backgrounds, ..Self::default() }
    }

    /// Adds the text of one `<style>`, of an `old` page or another; `unsure` if it may not hold.
    pub(super) fn add(&mut self, text: &str, old: bool, unsure: bool) {
        self.read(text, old, unsure);
        for _ in 0..IMPORTS_MAX {
            let Some(text) = self.imports.pop() else { return };
            // It should have come first; so only what hides is taken from it.
            self.read(&text, old, true);
        }
    }

    fn read(&mut self, text: &str, old: bool, unsure: bool) {
        let parts = tokens(text);
        let items = Items::of_sheet(&parts);
        let (selectors, within, declarations) = (None, None, Vec::new());
        let whole = Frame { items, unsure, layer: OUTSIDE, selectors, within, declarations };
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
            if let Item::At(name, prelude, Some(block)) = item
                && name.to_ascii_lowercase().ends_with("keyframes")
            {
                let unsure = frame.unsure;
                self.animation(prelude, block, text, old, unsure);
            } else if let Item::At(name, prelude, Some(block)) = item
                && name.eq_ignore_ascii_case("property")
            {
                self.property(prelude, block, text);
            } else if let Item::At(name, _, Some(block)) = item
                && name.eq_ignore_ascii_case("font-face")
            {
                self.font(block);
            } else if let Some(next) = self.opened(&item, frame) {
                open.push(next);
            }
        }
    }

    fn opened<'p, 'a>(
        &mut self,
        item: &Item<'p, 'a>,
        around: &Frame<'p, 'a>,
    ) -> Option<Frame<'p, 'a>> {
        let mut within = None;
        let (block, selectors, sure, layer) = match item {
            Item::Declaration(_) => return None,
            Item::Rule(prelude, block) => {
                let list = List::of_rule(trim(prelude), around.selectors.as_ref())?;
                (*block, Some(Rc::new(list)), Sure::Yes, around.layer)
            }
            Item::At(name, prelude, block) => {
                let name = name.to_ascii_lowercase();
                if name == "import" {
                    self.import(prelude);
                }
                let (layer, known) = self.layer(&name, prelude, block.is_some(), around.layer);
                let sure = condition(&name, prelude)?;
                let mut sure = if known { sure } else { sure.min(Sure::Maybe) };
                if name == "scope" {
                    within = within_of(prelude).map(Rc::new);
                    // One in another one may be for less.
                    let whole = within.is_some() && around.within.is_none();
                    sure = if whole { Sure::Yes } else { sure };
                }
                ((*block)?, around.selectors.clone(), sure, layer)
            }
        };
        let doubtful = selectors.as_ref().is_some_and(|it| it.doubtful);
        (sure > Sure::No).then(|| Frame {
            items: Items::of_block(block),
            unsure: around.unsure || sure == Sure::Maybe || doubtful,
            layer,
            selectors,
            within: within.or_else(|| around.within.clone()),
            declarations: Vec::new(),
        })
    }

    /// Another style sheet: one that stands in the address itself is read, any other is out of reach.
    fn import(&mut self, prelude: &[Part<'_>]) {
        let mut words = prelude.iter().filter_map(Part::address);
        match words.next().and_then(of_data) {
            Some(text) if self.imports.len() < IMPORTS_MAX => self.imports.push(text),
            Some(_) | None => self.unseen_backgrounds = true,
        }
    }

    /// Keeps what a property of the page's own stands for at first.
    fn property(&mut self, prelude: &[Part<'_>], block: &[Part<'_>], text: &str) {
        let Some(name) = prelude.iter().find_map(Part::word) else { return };
        for item in Items::of_block(block) {
            let Item::Declaration(parts) = item else { continue };
            if self.own.len() < KEYFRAMES_MAX
                && parts.first().is_some_and(|it| it.is_word("initial-value"))
            {
                let value = trim(split(parts, ':').nth(1).unwrap_or_default());
                self.own.push((Rc::from(name), Rc::from(raw(value, text))));
            }
        }
    }

    /// Keeps the name of a font whose letters have no size.
    fn font(&mut self, block: &[Part<'_>]) {
        let (mut family, mut flat) = (None, false);
        for item in Items::of_block(block) {
            let Item::Declaration(parts) = item else { continue };
            let value = trim(split(parts, ':').nth(1).unwrap_or_default());
            match parts.first() {
                Some(it) if it.is_word("font-family") => family = family_of(value),
                Some(it) if it.is_word("size-adjust") => {
                    let size = value.first().map(|it| &it.token);
                    flat = matches!(size, Some(Token::Share(it)) if *it <= FLAT_SHARE);
                }
                Some(_) | None => {}
            }
        }
        self.flat_fonts.extend(family.filter(|_| flat && self.flat_fonts.len() < KEYFRAMES_MAX));
    }

    /// Keeps what the last picture of an animation says, and the first.
    fn animation(
        &mut self,
        prelude: &[Part<'_>],
        block: &[Part<'_>],
        text: &str,
        old: bool,
        unsure: bool,
    ) {
        let name = prelude.iter().find_map(|it| it.word().or_else(|| it.text()));
        let Some(name) = name.filter(|_| self.keyframes.len() < KEYFRAMES_MAX) else { return };
        let picture = |word: &str, share: f64| {
            let mut found = Vec::new();
            for item in Items::of_block(block) {
                let Item::Rule(when, block) = item else { continue };
                if !when.iter().any(|it| it.is_word(word) || it.token == Token::Share(share)) {
                    continue;
                }
                for item in Items::of_block(block) {
                    if let Item::Declaration(parts) = item {
                        declare(parts, text, old, &mut found);
                    }
                }
            }
            found.iter_mut().for_each(|it| it.important = false);
            found
        };
        let before = self.keyframes.insert(name.to_owned(), picture("to", 100.0));
        // Of two by one name it is not known which counts.
        if unsure || before.is_some() {
            self.doubtful_animations.insert(name.to_owned());
        }
        self.first_pictures.insert(name.to_owned(), picture("from", 0.0));
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
        let decorates = declarations.iter().any(Declaration::paints)
            && declarations.iter().any(|it| it.turns_on(Switch::OutOfFlow))
            && !declarations.iter().any(|it| {
                let far = [
                    Switch::DisplayNone,
                    Switch::VisibilityHidden,
                    Switch::LeftFar,
                    Switch::RightFar,
                    Switch::TopFar,
                    Switch::BottomFar,
                    Switch::WidthZero,
                    Switch::HeightZero,
                ];
                far.iter().any(|which| it.turns_on(*which))
            });
        for (index, selector) in list.selectors.iter().enumerate() {
            if self.rules.len() >= RULES_MAX {
                self.cut = true;
                return;
            }
            if decorates && selector.is_generated() {
                self.decorations.push(self.rules.len());
            }
            if selector.is_part() {
                self.for_parts.push(self.rules.len());
            }
            self.by_key.entry(selector.key()).or_default().push(self.rules.len());
            self.rules.push(Rule {
                list: Rc::clone(list),
                index,
                declarations: Rc::clone(&declarations),
                unsure: frame.unsure,
                layer: frame.layer,
                within: frame.within.clone(),
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

/// `(.from) to (.to)`; nothing if it is for what the styles stand in.
fn within_of(prelude: &[Part<'_>]) -> Option<Within> {
    let mut lists = Vec::new();
    for one in components(prelude).filter(|it| it.first().is_some_and(|it| it.is('('))) {
        lists.push(List::of_rule(trim(inside(one)), None)?);
    }
    let mut lists = lists.into_iter();
    Some(Within { from: lists.next()?, to: lists.next() })
}

/// The style sheet that stands in an address: `data:text/css,…`.
pub(super) fn of_data(address: &str) -> Option<String> {
    let rest = address.trim().get(..5).filter(|it| it.eq_ignore_ascii_case("data:"))?.len();
    let (kind, text) = address.trim().get(rest..)?.split_once(',')?;
    let kind = kind.to_ascii_lowercase();
    kind.starts_with("text/css").then_some(())?;
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |it: &u8| char::from(*it).to_digit(16);
        let code = match (first, after) {
            (b'%', [high, low, ..]) => hex(high).zip(hex(low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
        bytes.push(code.and_then(|it| u8::try_from(it).ok()).unwrap_or(*first));
    }
    if kind.ends_with(";base64") {
        bytes.retain(|it| !it.is_ascii_whitespace() && *it != b'=');
        bytes = data_encoding::BASE64_NOPAD.decode(&bytes).ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Letters of this share of their size are not seen.
const FLAT_SHARE: f64 = 10.0;
/// Style sheets in addresses that one style sheet imports.
const IMPORTS_MAX: usize = 16;
/// Animations of a page, and properties that it makes up.
const KEYFRAMES_MAX: usize = 1000;
/// Rules of a page that say something about what is seen.
const RULES_MAX: usize = 50_000;
