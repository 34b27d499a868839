//! How an element looks: what its own style and everything around it leave of it.

use std::rc::Rc;

use super::dropped::DropKind;
use super::ground::Colours;
use super::hidden::{Around, away, lost, pressed};
use super::property::{FONT_PX_MIN, OPACITY_MIN, Property, Value, Word};
use super::style::{Custom, Style, Styles};
use super::tree::{Element, Id, Tree};
use super::value::{FONT_PX, SCREEN_WIDTH, Transform};

/// How text at a place looks.
#[derive(Clone)]
pub(super) struct Look {
    /// Why nothing in it is seen, and the element that is the reason.
    gone: Option<(DropKind, Id)>,
    /// A box that leaves no room for what is in its flow, and whether what is placed gets out of it.
    pressed: Option<(Id, bool)>,
    invisible: Option<Id>,
    indented: Option<Id>,
    /// The size of letters in pixels, and which element gave it.
    font: (f32, Id),
    /// What is left of all sizes, and because of which element.
    scale: (f32, Id),
    opacity: f32,
    pub(super) colours: Colours,
    /// How many elements stood around the one that painted the background.
    pub(super) painted: usize,
    /// How many stood around the innermost that is out of the flow.
    pub(super) floats: usize,
    around: Around,
    /// No rule of the page reaches into a shadow tree.
    pub(super) in_shadow: bool,
    custom: Custom,
}

impl Look {
    /// Of a page on which nothing is said.
    pub(super) fn of_page(colours: Colours) -> Self {
        Self {
            gone: None,
            pressed: None,
            invisible: None,
            indented: None,
            font: (FONT_PX, 0),
            scale: (1.0, 0),
            opacity: 1.0,
            colours,
            painted: 0,
            floats: 0,
            around: Around::default(),
            in_shadow: false,
            custom: Custom::default(),
        }
    }

    /// Why text here is not seen, and because of which element.
    pub(super) fn hidden(&self) -> Option<(DropKind, Id)> {
        let (scale, by) = self.scale;
        let letters = || match self.font {
            (size, id) if size <= FONT_PX_MIN => Some((DropKind::FontSize, id)),
            _ if scale < SCALE_MIN => Some((DropKind::ZeroSize, by)),
            (size, _) => (size * scale <= FONT_PX_MIN).then_some((DropKind::FontSize, by)),
        };
        let colours = &self.colours;
        self.gone
            .or(self.pressed.map(|it| (DropKind::ZeroSize, it.0)))
            .or(self.invisible.map(|it| (DropKind::Visibility, it)))
            .or_else(letters)
            .or(self.indented.map(|it| (DropKind::OffScreen, it)))
            .or_else(|| colours.vanish(self.opacity).then_some((DropKind::SameColour, colours.by)))
    }

    /// The same, but left out for another reason if there is one.
    pub(super) fn without(mut self, reason: Option<DropKind>, id: Id) -> Self {
        self.gone = self.gone.or(reason.map(|it| (it, id)));
        self
    }

    /// Is nothing of its box seen, whatever stands in it?
    pub(super) fn is_lost_as_box(&self) -> bool {
        self.gone.is_some() || self.pressed.is_some() || self.invisible.is_some()
    }

    /// How an element looks that stands in this, `depth` elements deep.
    pub(super) fn of<'a>(
        &self,
        (id, element): (Id, &'a Element),
        styles: &mut Styles<'a>,
        depth: usize,
    ) -> Self {
        let (style, custom) = if self.in_shadow {
            styles.of_attribute(element, &self.custom)
        } else {
            styles.of((id, element), &self.custom)
        };
        let mut own = self.clone().without(reason_of_attributes(element), id);
        own.custom = custom;
        own.colours.attributes(element, id);
        if !style.is_empty() {
            own.declare(&style, (id, element), (styles, &self.colours), depth);
        }
        let name = &*element.name.local;
        own.around.enter(Rc::new(style), name);
        if name == "table" && has_columns(styles.tree, id) {
            // They may be painted; how is not worked out.
            own.colours.ground = None;
        }
        if name == "html" {
            styles.root_font = own.font.0;
        }
        own
    }

    /// Takes over what is declared.
    pub(super) fn declare(
        &mut self,
        style: &Style,
        (id, element): (Id, &Element),
        (styles, outer): (&Styles<'_>, &Colours),
        depth: usize,
    ) {
        use Property as P;
        let (font, root) = (self.font.0, styles.root_font);
        match style.get(P::FontSize) {
            Some(Value::Length(size)) => self.font = (size.resolve(font, root, font), id),
            Some(Value::Initial | Value::Unknown) => self.font = (FONT_PX, id),
            _ => {}
        }
        let shown = matches!(style.get(P::Animation), Some(Value::Animation(name))
            if styles.sheet.animations.get(&**name) == Some(&true));
        match style.get(P::Visibility) {
            Some(Value::Word(Word::Hidden)) if !shown => {
                self.invisible = self.invisible.or(Some(id));
            }
            Some(Value::Word(_) | Value::Initial) => self.invisible = None,
            _ => {}
        }
        let boxless = style.is(P::Display, Word::Contents);
        self.colours.declare(style, id, outer, boxless);
        let font = (self.font.0, root);
        if let Some(Value::Length(indent)) = style.get(P::TextIndent) {
            let full = indent.percent >= 99.0 || indent.about() >= SCREEN_WIDTH;
            let far = away(indent.resolve(font.0, root, 0.0)) || (full && style.is_cut());
            self.indented = far.then_some(id);
        }
        if boxless {
            return;
        }
        if style.is(P::Position, Word::Absolute) || style.is(P::Position, Word::Fixed) {
            self.floats = depth + 1;
            self.pressed = self.pressed.filter(|it| !it.1);
        }
        if matches!(style.get(P::BackgroundColor), Some(Value::Paint(_)))
            || matches!(style.get(P::BackgroundImage), Some(Value::Image(_)))
        {
            self.painted = depth;
        }
        let moved = self.fade_and_scale(style, id, shown);
        let reason = displayed(style, element)
            .or((self.opacity < OPACITY_MIN).then_some(DropKind::Opacity))
            .or_else(|| lost(style, &self.around, &moved, font));
        self.gone = self.gone.or(reason.map(|it| (it, id)));
        let escapes = pressed(style, &self.around, &element.name.local, font);
        self.pressed = self.pressed.or(escapes.map(|it| (id, it)));
    }

    /// Takes over opacity, zoom and transforms; gives the latter.
    fn fade_and_scale(&mut self, style: &Style, id: Id, shown: bool) -> Transform {
        use Property as P;
        let number = |property| match style.get(property) {
            Some(Value::Number(number)) => Some(*number),
            Some(Value::Filter(opacity, _)) => Some(*opacity),
            _ => None,
        };
        let share = |property| number(property).unwrap_or(1.0).clamp(0.0, 1.0);
        let change = |property| match style.get(property) {
            Some(Value::Transform(it)) => *it,
            _ => Transform::NONE,
        };
        let moved = change(P::Transform).then(change(P::Translate)).then(change(P::Scale));
        if !shown {
            self.opacity *= share(P::Opacity) * share(P::Filter);
            let zoom = number(P::Zoom).filter(|it| *it > 0.0).unwrap_or(1.0);
            let scale = moved.least() * zoom;
            self.scale = if scale == 1.0 { self.scale } else { (self.scale.0 * scale, id) };
        }
        moved
    }
}

/// Why attributes leave an element out.
fn reason_of_attributes(element: &Element) -> Option<DropKind> {
    let is = |name, value: &str| {
        element.attribute(name).is_some_and(|it| it.trim().eq_ignore_ascii_case(value))
    };
    if is("aria-hidden", "true") {
        Some(DropKind::AriaHidden)
    } else if is("hidden", "until-found") {
        Some(DropKind::HiddenAttribute)
    } else {
        (&*element.name.local == "marquee" && is("width", "0")).then_some(DropKind::ZeroSize)
    }
}

/// Why `display` and `content-visibility` do.
fn displayed(style: &Style, element: &Element) -> Option<DropKind> {
    if style.is(Property::Display, Word::None) {
        let by_attribute = element.attribute("hidden").is_some();
        return Some(if by_attribute { DropKind::HiddenAttribute } else { DropKind::DisplayNone });
    }
    style.is(Property::ContentVisibility, Word::Hidden).then_some(DropKind::Visibility)
}

/// Does a table say anything of its columns?
fn has_columns(tree: &Tree, table: Id) -> bool {
    let children = std::iter::successors(tree.first(table), |it| tree.after(*it)).take(COLUMNS_MAX);
    let mut elements = children.filter_map(|it| tree.element(it));
    elements.any(|it| matches!(&*it.name.local, "col" | "colgroup"))
}

/// Children of a table among which columns are looked for: they stand at its beginning.
const COLUMNS_MAX: usize = 16;
/// What is scaled down to less, with all around it, has no size.
const SCALE_MIN: f32 = 0.05;
