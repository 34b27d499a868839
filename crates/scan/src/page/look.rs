//! How an element looks: what its own style and everything around it leave of it.

use super::colour::{Colour, Paint};
use super::dropped::DropKind;
use super::hidden::{away, lost, pressed};
use super::property::{Display, FONT_PX_MIN, OPACITY_MIN, Position, Style};
use super::style::{Place, Styles};
use super::tree::{Element, Id};
use super::value::{SCREEN_WIDTH, Transform};

/// How text at a place looks.
#[derive(Clone)]
pub(super) struct Look {
    pub(super) place: Place,
    /// Why text here is not seen, and because of which element.
    pub(super) unseen: Option<(DropKind, Id)>,
    /// Why nothing in it is seen, whatever it looks like.
    gone: Option<DropKind>,
    /// A box leaves no room for what is in its flow: may what is placed get out of it?
    pressed: Option<bool>,
    /// What is left of all sizes.
    scale: f32,
    opacity: f32,
    /// What lies behind the text; nothing if it is not known.
    pub(super) ground: Option<Colour>,
    /// What transparent letters let through: a background that is clipped to them.
    letters: Option<Option<Colour>>,
    /// A filter or a blend changes colours here.
    recoloured: bool,
    /// How many elements stood around the one that painted the background.
    pub(super) painted: usize,
    /// How many stood around the innermost that is out of the flow.
    pub(super) floats: usize,
    /// Something that things are placed in.
    pub(super) holds: bool,
    /// The page shows nothing beside the screen.
    pub(super) cuts_page: bool,
    /// Lines begin where nobody looks.
    indented: bool,
}

impl Look {
    /// Of a page on which nothing is said; `plain` if no style sheet in a file can have painted it.
    pub(super) fn of_page(plain: bool, dark: bool) -> Self {
        let ground = if dark { Colour::DARK_PAGE } else { Colour::WHITE };
        let color = Paint::Known(if dark { Colour::WHITE } else { Colour::BLACK });
        Self {
            place: Place::of(Style { color, ..Style::default() }),
            unseen: None,
            gone: None,
            pressed: None,
            scale: 1.0,
            opacity: 1.0,
            ground: plain.then_some(ground),
            letters: None,
            recoloured: false,
            painted: 0,
            floats: 0,
            holds: false,
            cuts_page: false,
            indented: false,
        }
    }

    /// The same, but left out for another reason if there is one.
    pub(super) fn without(mut self, reason: Option<DropKind>, id: Id) -> Self {
        if let (Some(kind), None) = (reason, self.gone) {
            (self.gone, self.unseen) = (reason, Some((kind, id)));
        }
        self
    }

    /// Is nothing of its box seen, whatever stands in it?
    pub(super) fn is_lost_as_box(&self) -> bool {
        let small = self.pressed.is_some() || self.scale < SCALE_MIN;
        self.gone.is_some() || small || self.place.style.hidden
    }

    /// Can something of this colour be told from the text? What is not known can.
    pub(super) fn differs_from(&self, paint: Option<Colour>) -> bool {
        self.ink().zip(paint).is_none_or(|(ink, paint)| !ink.vanishes_on(paint))
    }

    /// The same on a ground that is not known.
    pub(super) fn on_something(mut self) -> Self {
        self.ground = None;
        self.unseen = self.unseen.filter(|it| it.0 != DropKind::SameColour);
        self
    }

    /// How an element looks that stands in this, `depth` elements deep.
    pub(super) fn of<'a>(
        &self,
        of: (Id, &'a Element),
        styles: &mut Styles<'a>,
        depth: usize,
    ) -> Self {
        self.in_place(styles.of(of, &self.place), of, depth)
    }

    /// How an element looks that has the style of `place`.
    pub(super) fn in_place(
        &self,
        place: Place,
        (id, element): (Id, &Element),
        depth: usize,
    ) -> Self {
        let mut own = Self { place: place.clone(), ..self.clone() };
        let (style, outer) = (&*place.style, &*self.place.style);
        let silent = element.says("aria-hidden", "true").then_some(DropKind::AriaHidden);
        own.gone = own.gone.or(silent);
        let boxless = style.display == Display::Contents;
        if !boxless {
            if style.position >= Position::Absolute {
                own.floats = depth + 1;
                own.pressed = own.pressed.filter(|escapes| !escapes);
            }
            own.paint(style, depth);
            let moved = style.transform.then(style.translate).then(style.scale);
            own.opacity *= style.opacity.clamp(0.0, 1.0) * style.filter.0;
            own.scale *= moved.least() * if style.zoom > 0.0 { style.zoom } else { 1.0 };
            let faded = (own.opacity < OPACITY_MIN).then_some(DropKind::Opacity);
            let gone = own.gone.or_else(|| displayed(style, element)).or(faded);
            own.gone = gone.or_else(|| lost(style, &moved, self));
            own.pressed = own.pressed.or_else(|| pressed(style, outer, element.local()));
            let root = matches!(element.local(), "html" | "body");
            own.holds |= (moved != Transform::NONE || style.position > Position::Static) && !root;
            own.cuts_page |= root && style.overflow_x;
        }
        own.indented &= style.text_indent == outer.text_indent;
        own.indented |= style.text_indent.is_some_and(|it| {
            let full = it.percent >= 99.0 || it.px >= SCREEN_WIDTH;
            away(it.px) || (full && style.is_cut())
        });
        own.recoloured |= style.mix_blend || style.filter.1;
        own.unseen = own.reason().map(|kind| match self.unseen {
            Some((known, root)) if known == kind => (kind, root),
            _ => (kind, id),
        });
        own
    }

    /// Why text here is not seen.
    fn reason(&self) -> Option<DropKind> {
        let style = &*self.place.style;
        if let Some(gone) = self.gone {
            return Some(gone);
        }
        let ways = [
            (self.pressed.is_some(), DropKind::ZeroSize),
            (style.hidden, DropKind::Visibility),
            (style.font <= FONT_PX_MIN, DropKind::FontSize),
            (self.scale < SCALE_MIN, DropKind::ZeroSize),
            (style.font * self.scale <= FONT_PX_MIN, DropKind::FontSize),
            (self.indented, DropKind::OffScreen),
            (self.vanishes(), DropKind::SameColour),
        ];
        ways.into_iter().find(|it| it.0).map(|it| it.1)
    }

    /// The colour of the letters; nothing if it is not known.
    fn ink(&self) -> Option<Colour> {
        let style = &*self.place.style;
        style.fill.known(style.color.known(None))
    }

    /// Has text the colour of what lies behind it, with all that fades it?
    fn vanishes(&self) -> bool {
        let style = &*self.place.style;
        let Some(mut ink) = self.ink() else { return false };
        if ink.is_clear()
            && let Some(letters) = self.letters
        {
            let Some(letters) = letters else { return false };
            ink = letters;
        }
        let lost = |ink: Colour| {
            ink.is_clear() || self.ground.is_some_and(|it| ink.faded(self.opacity).vanishes_on(it))
        };
        let stroke = Some(style.stroke).filter(|_| style.stroke_width >= STROKE_PX_MIN);
        let lines = [style.text_shadow, stroke].into_iter().flatten();
        let mut seen = lines.map(|it| it.known(style.color.known(None)).is_none_or(|it| !lost(it)));
        !self.recoloured && lost(ink) && !seen.any(|it| it)
    }

    /// Paints what the style says behind the text.
    fn paint(&mut self, style: &Style, depth: usize) {
        if style.dark {
            self.ground = self.ground.map(|_| Colour::DARK_PAGE);
        }
        let image = style.background_image;
        let image = if style.background_sized { image.map(|_| Paint::Unknown) } else { image };
        for layer in [Some(style.background_color), image].into_iter().flatten() {
            let layer = layer.known(style.color.known(None));
            if layer.is_some_and(Colour::is_clear) {
                continue;
            }
            self.painted = depth;
            if style.background_clip_text {
                self.letters = Some(layer);
            } else {
                self.letters = None;
                self.ground = layer.and_then(|it| it.over(self.ground));
            }
        }
        if style.box_shadow_inset {
            self.ground = None;
        }
    }
}

/// Why `display` and `content-visibility` leave an element out.
fn displayed(style: &Style, element: &Element) -> Option<DropKind> {
    let kind = match style.display {
        Display::None => DropKind::DisplayNone,
        _ if style.content_hidden => DropKind::Visibility,
        Display::Contents | Display::Flex | Display::Other => return None,
    };
    let by_attribute = element.attribute("hidden").map(|_| DropKind::HiddenAttribute);
    by_attribute.or(Some(kind))
}

/// What is scaled down to less, with all around it, has no size.
const SCALE_MIN: f32 = 0.05;
/// The thinnest edge of letters that is seen, in pixels.
const STROKE_PX_MIN: f32 = 0.4;
