//! Can an element be seen? Its style sheets, its attributes and what stands above it decide.

use super::colour::{BLACK, Ink, WHITE};
use super::declare::{Paint, Switch, Wide};
use super::dropped::DropKind;
use super::own::Own;
use super::parts::usually_hidden;
use super::sheet::Sheet;
use super::style::{Style, Styles};
use super::tree::{Element, Id};
use super::value::{FAINT, TINY_PIXELS};

/// How an element and what is in it looks, as far as that can hide it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// Hidden with all that is in it, why, and from which element on.
    gone: Option<(DropKind, Id)>,
    /// Hidden unless something inside says otherwise.
    veiled: Option<(DropKind, Id)>,
    /// What hides, by switches.
    on: u64,
    /// The size of letters in pixels.
    size: f64,
    /// What all opacities around come to.
    opacity: f64,
    colour: Option<Ink>,
    fill: Option<Option<Ink>>,
    back: Back,
    blend: Blend,
    own: Own,
}

/// What lies behind the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Back {
    /// Nothing was painted: the page itself.
    Page,
    Plain(Ink),
    Unknown,
}

/// How the text goes together with what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blend {
    Covers,
    Lightens,
    Darkens,
    Unknown,
}

impl Look {
    /// Of the page itself. What is not seen here may have given it another colour.
    pub(super) fn of_page(sheet: &Sheet) -> Self {
        let unseen = sheet.unseen_backgrounds;
        Self {
            gone: None,
            veiled: None,
            on: 0,
            size: 16.0,
            opacity: 1.0,
            colour: (!unseen).then_some(BLACK),
            fill: None,
            back: Back::Page,
            blend: Blend::Covers,
            own: Own::default().with(&sheet.own, &mut 0),
        }
    }

    /// Why text here is not seen, and which element is the reason.
    pub(super) fn hidden(&self) -> Option<(DropKind, Id)> {
        self.gone.or(self.veiled)
    }

    /// The same, but hidden for `kind`, if there is one, unless it was hidden before.
    pub(super) fn without(mut self, kind: Option<DropKind>, id: Id) -> Self {
        self.gone = self.gone.or(kind.map(|it| (it, id)));
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
        let mut look = self.clone();
        if look.gone.is_some() {
            return look;
        }
        let style = styles.cascade(element, id, path, &self.own);
        look.on = style.computed(self.on);
        if let Some((pixels, times)) = style.size {
            look.size = pixels + times * self.size;
        }
        look.opacity *= style.opacity;
        look.gone = look.hides(element, &style).map(|it| (it, id));
        let faded = look.paint(element, &style, styles.sheet.unseen_backgrounds);
        let why = look.veil(faded);
        look.veiled = match (why, self.veiled) {
            (Some(kind), Some(before)) if before.0 == kind => Some(before),
            (Some(kind), _) => Some((kind, id)),
            (None, _) => None,
        };
        look.own = style.own;
        look
    }

    fn is(&self, which: Switch) -> bool {
        self.on & which.bit() != 0
    }

    fn any(&self, switches: &[Switch]) -> bool {
        switches.iter().any(|it| self.is(*it))
    }

    /// Why text here cannot be seen, unless what is inside says otherwise.
    fn veil(&self, faded: bool) -> Option<DropKind> {
        if self.any(&[Switch::VisibilityHidden, Switch::TextSecret]) {
            Some(DropKind::Visibility)
        } else if self.size <= TINY_PIXELS || self.is(Switch::FontFlat) {
            Some(DropKind::FontSize)
        } else if self.any(&[Switch::IndentFar, Switch::LettersSqueezed]) {
            Some(DropKind::OffScreen)
        } else {
            faded.then_some(DropKind::SameColour)
        }
    }

    /// Why the element is hidden with everything in it.
    fn hides(&self, element: &Element, style: &Style) -> Option<DropKind> {
        let aria = element
            .attribute("aria-hidden")
            .is_some_and(|it| it.trim().eq_ignore_ascii_case("true"));
        let by_itself = usually_hidden(element);
        if self.is(Switch::DisplayNone) {
            Some(DropKind::DisplayNone)
        } else if by_itself.is_some() && !style.says(Switch::DisplayNone) {
            by_itself
        } else if is_until_found(element) && !style.says(Switch::ContentHidden) {
            Some(DropKind::HiddenAttribute)
        } else if aria {
            Some(DropKind::AriaHidden)
        } else if self.is(Switch::ContentHidden) {
            Some(DropKind::Visibility)
        } else if self.any(&[Switch::OpacityZero, Switch::Filtered]) || self.opacity < FAINT {
            Some(DropKind::Opacity)
        } else if self.is(Switch::Replaced) && !is_picture(element) {
            Some(DropKind::DisplayNone)
        } else if self.any(&[Switch::ClipPathEmpty, Switch::Masked, Switch::MaskEmpty])
            || (self.is(Switch::Clipped) && self.is(Switch::OutOfFlow))
        {
            Some(DropKind::Clipped)
        } else if self.is_flat(style) || self.is(Switch::Zoomed) {
            Some(DropKind::ZeroSize)
        } else {
            self.is_away().then_some(DropKind::OffScreen)
        }
    }

    /// Does a box of no size cut off what is in it?
    fn is_flat(&self, style: &Style) -> bool {
        let cuts = self.any(&[Switch::OverflowX, Switch::OverflowY, Switch::Contained]);
        // What hangs out below or to the right is seen in the padding there.
        let low = !self.any(&[Switch::HeightKept, Switch::PadBottom]);
        let narrow = !self.any(&[Switch::WidthKept, Switch::PadRight]);
        let lines = self.is(Switch::LineZero) && !style.says(Switch::HeightZero);
        cuts && ((low && (lines || self.any(&[Switch::HeightZero, Switch::HeightLimitZero])))
            || (narrow && self.any(&[Switch::WidthZero, Switch::WidthLimitZero])))
    }

    /// Is it moved or turned to where nobody sees it?
    fn is_away(&self) -> bool {
        let margins =
            [Switch::MarginLeft, Switch::MarginRight, Switch::MarginTop, Switch::MarginBottom];
        let turned = [Switch::Transformed, Switch::Translated, Switch::Scaled, Switch::Rotated];
        let far = [Switch::LeftFar, Switch::RightFar, Switch::TopFar, Switch::BottomFar];
        let edge = [Switch::LeftEdge, Switch::RightEdge, Switch::TopEdge, Switch::BottomEdge];
        let overflow = self.any(&[Switch::OverflowX, Switch::OverflowY]);
        self.any(&margins)
            || self.any(&turned)
            || self.is(Switch::OffsetFar)
            || (self.is(Switch::Placed) && self.any(&far))
            || (self.is(Switch::Fixed) && self.any(&edge))
            || (self.is(Switch::IndentFull) && overflow)
    }

    /// Takes over the colours; does the text fade into what lies behind it?
    fn paint(&mut self, element: &Element, style: &Style, unseen: bool) -> bool {
        let is_link = &*element.name.local == "a" && element.attribute("href").is_some();
        if let Some(face) = face(element) {
            (self.colour, self.fill) = ((!unseen).then_some(BLACK), None);
            self.back = if unseen { Back::Unknown } else { Back::Plain(face) };
        }
        self.colour = match style.colour {
            Some(Paint::Known(ink)) => Some(ink),
            Some(Paint::Wide(Wide::Initial)) => Some(BLACK),
            Some(Paint::Unknown) => None,
            // A link has a colour of its own.
            None | Some(Paint::Wide(Wide::Revert)) if is_link => None,
            None | Some(Paint::Current | Paint::Wide(_)) => self.colour,
        };
        self.fill = match style.fill {
            Some(Paint::Known(ink)) => Some(Some(ink)),
            Some(Paint::Unknown) => Some(None),
            Some(Paint::Current | Paint::Wide(Wide::Initial)) => None,
            None | Some(Paint::Wide(_)) => self.fill,
        };
        let mut text = self.fill.unwrap_or(self.colour);
        let outer = self.back;
        let painted = match style.background {
            Some(Paint::Known(ink)) => Some(Some(ink)),
            Some(Paint::Current) => Some(self.colour),
            Some(Paint::Unknown) => Some(None),
            None | Some(Paint::Wide(_)) => None,
        };
        let flat = style.picture.filter(|_| !self.is(Switch::PictureSmall));
        self.back = match painted {
            _ if flat.is_some() => flat.map_or(Back::Unknown, Back::Plain),
            _ if self.is(Switch::Image) => Back::Unknown,
            None => self.back,
            Some(Some(ink)) if ink.is_clear() => self.back,
            Some(Some(ink)) if ink.is_solid() => Back::Plain(ink),
            Some(Some(ink)) => self.back.below(ink, unseen),
            Some(None) => Back::Unknown,
        };
        if self.is(Switch::ClipText) && text.is_some_and(|it| !it.is_solid()) {
            // The background shows in the form of the letters.
            text = if let Back::Plain(ink) = self.back { Some(ink) } else { None };
            self.back = outer;
        }
        if self.is(Switch::BlendLight) {
            self.blend = Blend::Lightens;
        } else if self.is(Switch::BlendDark) {
            self.blend = Blend::Darkens;
        } else if self.is(Switch::BlendOther) {
            self.blend = Blend::Unknown;
        }
        self.fades(text, unseen) || style.maybe.is_some_and(|it| self.fades(Some(it), unseen))
    }

    fn fades(&self, text: Option<Ink>, unseen: bool) -> bool {
        let back = match self.back {
            Back::Unknown => return false,
            Back::Page if unseen => None,
            Back::Page => Some(WHITE),
            Back::Plain(back) => Some(back),
        };
        match self.blend {
            Blend::Unknown => return false,
            Blend::Lightens if back.is_some_and(Ink::is_light) => return true,
            Blend::Darkens if back.is_some_and(Ink::is_dark) => return true,
            Blend::Covers | Blend::Lightens | Blend::Darkens => {}
        }
        text.is_some_and(|ink| ink.is_clear() || back.is_some_and(|back| ink.vanishes_on(back)))
    }
}

impl Back {
    /// With a colour over it that lets some of it show.
    fn below(self, ink: Ink, unseen: bool) -> Self {
        match self {
            Self::Page if !unseen => Self::Plain(ink.over(WHITE)),
            Self::Plain(back) => Self::Plain(ink.over(back)),
            Self::Page | Self::Unknown => Self::Unknown,
        }
    }
}

/// The background of elements that have one of their own, with black text on it.
fn face(element: &Element) -> Option<Ink> {
    match &*element.name.local {
        "button" => Some(Ink::BUTTON),
        "input" | "select" | "textarea" | "mark" => Some(WHITE),
        _ => None,
    }
}

/// A picture already: a style only gives it another one.
fn is_picture(element: &Element) -> bool {
    matches!(&*element.name.local, "img" | "input" | "picture")
}

fn is_until_found(element: &Element) -> bool {
    element.attribute("hidden").is_some_and(|it| it.trim().eq_ignore_ascii_case("until-found"))
}
