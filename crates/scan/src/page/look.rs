//! Can an element be seen? Its style sheets, its attributes and what stands above it decide.

use super::colour::{Ink, WHITE};
use super::declare::{Declaration, SWITCHES, Said, Switch, declarations};
use super::dropped::DropKind;
use super::selector::Key;
use super::sheet::Sheet;
use super::tree::{Element, Id, Tree};

/// How an element and what is in it looks, as far as that can hide it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Hidden with all that is in it, why, and from which element on.
    gone: Option<(DropKind, Id)>,
    /// Hidden unless something inside says otherwise.
    invisible: Option<Id>,
    tiny: Option<Id>,
    indented: Option<Id>,
    faded: Option<Id>,
    colour: Option<Ink>,
    back: Back,
}

/// What lies behind the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Back {
    /// Nothing was painted: the page itself.
    #[default]
    Page,
    Plain(Ink),
    Unknown,
}

impl Look {
    /// Why text here is not seen, and which element is the reason.
    pub(super) fn hidden(&self) -> Option<(DropKind, Id)> {
        self.gone
            .or_else(|| Some((DropKind::Visibility, self.invisible?)))
            .or_else(|| Some((DropKind::FontSize, self.tiny?)))
            .or_else(|| Some((DropKind::OffScreen, self.indented?)))
            .or_else(|| Some((DropKind::SameColour, self.faded?)))
    }

    /// The same, but hidden for `kind` unless it was hidden before.
    pub(super) fn without(mut self, kind: DropKind, id: Id) -> Self {
        self.gone = self.gone.or(Some((kind, id)));
        self
    }

    /// How `element` looks, which stands below `path` in something that looks like `self`.
    pub(super) fn of(
        &self,
        element: &Element,
        id: Id,
        styles: &mut Styles<'_>,
        path: &[Id],
    ) -> Self {
        let mut look = *self;
        if look.gone.is_some() {
            return look;
        }
        let style = styles.cascade(element, path);
        look.gone = style.hides(element).map(|it| (it, id));
        let inherited = |which, above: Option<Id>| match style.switch(which) {
            Some(true) => above.or(Some(id)),
            Some(false) => None,
            None => above,
        };
        look.invisible = inherited(Switch::VisibilityHidden, look.invisible);
        look.tiny = inherited(Switch::FontTiny, look.tiny);
        look.indented = inherited(Switch::IndentFar, look.indented);
        look.paint(element, id, &style, styles.sheet.unseen_backgrounds);
        look
    }

    fn paint(&mut self, element: &Element, id: Id, style: &Style, unseen: bool) {
        let is_link = &*element.name.local == "a" && element.attribute("href").is_some();
        self.colour = match style.colour {
            Some(colour) => colour,
            // A link has a colour of its own.
            None if is_link => None,
            None => self.colour,
        };
        self.back = match style.background {
            None => self.back,
            Some(Some(ink)) if ink.is_clear() => self.back,
            Some(Some(ink)) if ink.is_solid() => Back::Plain(ink),
            Some(_) => Back::Unknown,
        };
        let faded = self.colour.is_some_and(|ink| match self.back {
            Back::Unknown => false,
            Back::Page => ink.is_clear() || (!unseen && ink.vanishes_on(WHITE)),
            Back::Plain(back) => ink.vanishes_on(back),
        });
        self.faded = if faded { self.faded.or(Some(id)) } else { None };
    }
}

/// The style sheets of a page at work.
pub(super) struct Styles<'a> {
    pub(super) tree: &'a Tree,
    pub(super) sheet: &'a Sheet,
    steps: usize,
}

impl<'a> Styles<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet) -> Self {
        Self { tree, sheet, steps: 0 }
    }

    /// Was so much compared that the rest of the page is better left unread?
    pub(super) fn exhausted(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Everything said about the element, the weightier over the lighter.
    fn cascade(&mut self, element: &Element, path: &[Id]) -> Style {
        let mut style = Style::default();
        style.old_attributes(element);
        let mut rules = self.matching(element, path);
        let rank =
            |it: &usize| (self.sheet.rules.get(*it).map(|it| it.selector.specificity()), *it);
        rules.sort_by_cached_key(rank);
        rules.dedup();
        let inline = declarations(element.attribute("style").unwrap_or_default());
        for important in [false, true] {
            for rule in rules.iter().filter_map(|it| self.sheet.rules.get(*it)) {
                self.steps += rule.declarations.len();
                style.take(&rule.declarations, important);
            }
            style.take(&inline, important);
        }
        style
    }

    fn matching(&mut self, element: &Element, path: &[Id]) -> Vec<usize> {
        let sheet = self.sheet;
        if sheet.rules.is_empty() {
            return Vec::new();
        }
        let classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
        let keys = classes
            .map(|it| Key::Class(it.to_ascii_lowercase()))
            .chain(element.attribute("id").map(|it| Key::Id(it.trim().to_ascii_lowercase())))
            .chain([Key::Tag((*element.name.local).to_ascii_lowercase()), Key::Any]);
        let mut found = Vec::new();
        for key in keys {
            for index in sheet.by_key.get(&key).into_iter().flatten() {
                let Some(rule) = sheet.rules.get(*index).filter(|_| !self.exhausted()) else {
                    break;
                };
                if rule.selector.selects(self.tree, path, element, &mut self.steps) {
                    found.push(*index);
                }
            }
        }
        found
    }
}

/// What holds for one element after all was weighed.
#[derive(Debug, Default)]
struct Style {
    switches: [Option<bool>; SWITCHES],
    colour: Option<Option<Ink>>,
    background: Option<Option<Ink>>,
}

impl Style {
    fn switch(&self, which: Switch) -> Option<bool> {
        self.switches.get(which as usize).copied().flatten()
    }

    fn is(&self, which: Switch) -> bool {
        self.switch(which) == Some(true)
    }

    fn take(&mut self, declarations: &[Declaration], important: bool) {
        for declaration in declarations.iter().filter(|it| it.important == important) {
            match declaration.said {
                Said::Switch(which, on) => {
                    if let Some(switch) = self.switches.get_mut(which as usize) {
                        *switch = Some(on);
                    }
                }
                Said::Colour(ink) => self.colour = Some(ink),
                Said::Background(ink) => self.background = Some(ink),
            }
        }
    }

    /// Attributes from before there were style sheets.
    fn old_attributes(&mut self, element: &Element) {
        let name = &*element.name.local;
        let colour = match name {
            "font" => element.attribute("color"),
            "body" => element.attribute("text"),
            _ => None,
        };
        self.colour = colour.map(Ink::parse_attribute);
        if matches!(
            name,
            "body" | "table" | "tr" | "td" | "th" | "thead" | "tbody" | "tfoot" | "marquee"
        ) {
            self.background = element.attribute("bgcolor").map(Ink::parse_attribute);
            if element.attribute("background").is_some() {
                self.background = Some(None);
            }
        }
    }

    /// Why the element is hidden with everything in it.
    fn hides(&self, element: &Element) -> Option<DropKind> {
        let truth = |name| element.attribute(name).map(|it| it.trim().to_ascii_lowercase());
        let far = [Switch::LeftFar, Switch::RightFar, Switch::TopFar, Switch::BottomFar];
        let flat = self.is(Switch::WidthZero) || self.is(Switch::HeightZero);
        let limited = self.is(Switch::WidthLimitZero) || self.is(Switch::HeightLimitZero);
        if self.is(Switch::DisplayNone) {
            Some(DropKind::DisplayNone)
        } else if element.attribute("hidden").is_some()
            && self.switch(Switch::DisplayNone).is_none()
        {
            Some(DropKind::HiddenAttribute)
        } else if truth("aria-hidden").as_deref() == Some("true") {
            Some(DropKind::AriaHidden)
        } else if self.is(Switch::ContentHidden) {
            Some(DropKind::Visibility)
        } else if self.is(Switch::OpacityZero) {
            Some(DropKind::Opacity)
        } else if self.is(Switch::ClipPathEmpty)
            || (self.is(Switch::Clipped) && self.is(Switch::OutOfFlow))
        {
            Some(DropKind::Clipped)
        } else if (flat || limited) && self.is(Switch::OverflowHidden) {
            Some(DropKind::ZeroSize)
        } else if self.is(Switch::MarginFar)
            || self.is(Switch::TransformAway)
            || (self.switch(Switch::OutOfFlow).is_some() && far.iter().any(|it| self.is(*it)))
        {
            Some(DropKind::OffScreen)
        } else {
            None
        }
    }
}

/// How often selectors may be held against elements.
const STEPS_MAX: usize = 10_000_000;
