//! What a text is painted with and what lies behind it: does it fade?

use std::rc::Rc;

use super::colour::{BLACK, Ink, WHITE};
use super::declare::{Bits, Paint, Switch, Wide};
use super::lens::{self, Step};
use super::line::{STROKE_BLOTS, STROKE_COVERS, STROKE_PIXELS};
use super::style::Style;
use super::tree::Element;

/// The colours at one element.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    colour: Option<Ink>,
    fill: Option<Option<Ink>>,
    /// The edge of the letters, if it has a colour of its own, and how many pixels thick it is.
    stroke: Option<Option<Ink>>,
    stroke_thick: f64,
    /// Their shadow.
    halo: Option<Ink>,
    /// What shows through letters that are clear: a background in their form. `None` in it if that is not known.
    letters: Option<Option<Ink>>,
    back: Back,
    /// How many elements stand from the page down to the one that painted what lies behind, itself included.
    pub(super) painted: usize,
    blend: Blend,
    /// The same, if it lets nothing below show.
    pub(super) covered: usize,
    /// How much all opacities around leave of it.
    pub(super) opacity: f64,
    /// The size of letters, here and of the page itself.
    pub(super) sizes: (f64, f64),
    /// What the page says that links have.
    link: Option<Ink>,
    /// All filters around, the innermost first.
    lens: Rc<[Step]>,
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
    /// White stays white.
    Lightens,
    /// Black stays black.
    Darkens,
    /// Both do.
    Keeps,
    /// Black text leaves everything as it is.
    Differs,
}

/// Filters within filters that are looked through.
const LENS_STEPS_MAX: usize = 32;

impl Ground {
    /// Of the page itself. What is `unseen` may have given it another colour.
    pub(super) fn of_page(unseen: bool) -> Self {
        Self {
            colour: (!unseen).then_some(BLACK),
            fill: None,
            stroke: None,
            stroke_thick: 0.0,
            halo: None,
            letters: None,
            back: Back::Page,
            painted: 0,
            covered: 0,
            blend: Blend::Covers,
            opacity: 1.0,
            sizes: (16.0, 16.0),
            link: None,
            lens: Rc::from([]),
        }
    }

    /// Takes over the colours of `element`, which stands below `depth` others; does its text fade into what lies
    /// behind it? `on` is what hides there, by switches.
    pub(super) fn paint(
        &mut self,
        element: &Element,
        style: &Style,
        on: Bits,
        depth: usize,
        unseen: bool,
    ) -> bool {
        let is = |which: Switch| on & which.bit() != 0;
        self.begin(element, style, is(Switch::DarkScheme), unseen);
        self.take_inks(element, style);
        let outer = (self.back, self.painted);
        self.take_background(style, on, unseen);
        if self.back != outer.0 {
            (self.painted, self.letters) = (depth + 1, None);
        }
        if self.is_covered_by(style, on) {
            self.covered = depth + 1;
        }
        if is(Switch::ClipText) {
            // The background shows in the form of the letters, and nowhere else.
            self.letters = Some(match self.back {
                Back::Unknown => None,
                back if back == outer.0 => Some(Ink::CLEAR),
                Back::Plain(ink) => Some(ink),
                Back::Page => Some(Ink::CLEAR),
            });
            (self.back, self.painted) = outer;
        }
        self.blend = match (is(Switch::BlendLight), is(Switch::BlendDark)) {
            (true, true) => Blend::Keeps,
            (true, false) => Blend::Lightens,
            (false, true) => Blend::Darkens,
            (false, false) if is(Switch::BlendDiffers) => Blend::Differs,
            (false, false) => self.blend,
        };
        let reads = |ink: Option<Ink>| {
            ink.is_some_and(|it| !self.fades(Some(lens::seen(it, &self.lens)), unseen))
        };
        let stroke = self.stroke.unwrap_or(self.colour);
        let thick = self.stroke_thick / self.sizes.0.max(1.0);
        if !is(Switch::StrokeBelow) && thick >= STROKE_COVERS && stroke.is_some_and(Ink::is_solid) {
            // It lies over the letters.
            return thick >= STROKE_BLOTS || !(reads(stroke) || reads(self.halo));
        }
        let edge = stroke.filter(|_| self.stroke_thick >= STROKE_PIXELS);
        let maybe = style.maybe.is_some_and(|it| self.fades(Some(it), unseen));
        (self.fades(self.text(), unseen) || maybe) && !reads(edge) && !reads(self.halo)
    }

    /// Is a colour painted there that lets nothing below show?
    fn is_covered_by(&self, style: &Style, on: Bits) -> bool {
        let solid = |paint: Option<Paint>| match paint {
            Some(Paint::Known(ink)) => ink.is_solid(),
            Some(Paint::Current) => self.colour.is_some_and(Ink::is_solid),
            Some(Paint::Unknown | Paint::Wide(_)) | None => false,
        };
        let is = |which: Switch| on & which.bit() != 0;
        let small = [Switch::PictureSmall, Switch::PictureDot, Switch::PictureNone];
        let picture = style.picture.is_some() && !small.into_iter().any(is);
        !is(Switch::ClipText) && (solid(style.background) || solid(style.cast) || picture)
    }

    /// The colour in which the text is seen.
    pub(super) fn text(&self) -> Option<Ink> {
        let text = self.fill.unwrap_or(self.colour)?;
        match self.letters {
            Some(through) if !text.is_solid() => through,
            Some(_) | None => Some(lens::seen(text, &self.lens)),
        }
    }

    /// Something lies there that is not known.
    pub(super) fn hide(&mut self, depth: usize) {
        (self.back, self.painted) = (Back::Unknown, depth + 1);
    }

    /// The same over what a column paints, unless something was painted below `depth` elements.
    pub(super) fn over_column(&self, column: &Self, depth: usize) -> Option<Self> {
        let (back, painted) = (column.back, column.painted);
        let over = painted > depth && self.painted <= depth;
        over.then(|| Self { back, painted, ..self.clone() })
    }

    /// The filters, and the colours of elements that have some of their own.
    fn begin(&mut self, element: &Element, style: &Style, dark: bool, unseen: bool) {
        let name = &*element.name.local;
        if !style.lens.is_empty() {
            let all = style.lens.iter().chain(self.lens.iter()).take(LENS_STEPS_MAX);
            self.lens = all.copied().collect();
            if matches!(name, "html" | "body") && self.back == Back::Page {
                self.back = Back::Unknown;
            }
        }
        if name == "html" && dark && !unseen {
            (self.colour, self.back) = (Some(WHITE), Back::Plain(Ink::DARK));
        }
        if let Some(face) = face(element) {
            (self.colour, self.fill) = ((!unseen).then_some(BLACK), None);
            self.back = if unseen { Back::Unknown } else { Back::Plain(face) };
        }
    }

    /// What the text is painted with.
    fn take_inks(&mut self, element: &Element, style: &Style) {
        let is_link = &*element.name.local == "a" && element.attribute("href").is_some();
        self.link = style.link.or(self.link);
        self.colour = match style.colour {
            Some(Paint::Known(ink)) => Some(ink),
            Some(Paint::Wide(Wide::Initial)) => Some(BLACK),
            Some(Paint::Unknown) => None,
            // A link has a colour of its own.
            None | Some(Paint::Wide(Wide::Revert)) if is_link => self.link,
            None | Some(Paint::Current | Paint::Wide(_)) => self.colour,
        };
        self.fill = match style.fill {
            Some(Paint::Known(ink)) => Some(Some(ink)),
            Some(Paint::Unknown) => Some(None),
            Some(Paint::Current | Paint::Wide(Wide::Initial)) => None,
            None | Some(Paint::Wide(_)) => self.fill,
        };
        let colour = self.colour;
        let drawn = |paint: Option<Paint>, before: Option<Ink>| match paint {
            Some(Paint::Known(ink)) => Some(ink),
            Some(Paint::Current) => colour,
            Some(Paint::Unknown | Paint::Wide(Wide::Initial | Wide::Revert)) => None,
            None | Some(Paint::Wide(_)) => before,
        };
        self.stroke = match style.stroke {
            Some(Paint::Known(ink)) => Some(Some(ink)),
            Some(Paint::Unknown) => Some(None),
            Some(Paint::Current | Paint::Wide(Wide::Initial | Wide::Revert)) => None,
            None | Some(Paint::Wide(_)) => self.stroke,
        };
        if let Some(thick) = style.stroke_thick {
            self.stroke_thick = thick.of(self.sizes.0, self.sizes.1);
        }
        self.halo = drawn(style.halo, self.halo);
    }

    /// What lies behind it: a colour, a picture over it, a shadow over both.
    fn take_background(&mut self, style: &Style, on: Bits, unseen: bool) {
        let is = |which: Switch| on & which.bit() != 0;
        let lost = is(Switch::PictureOnce) && (is(Switch::PictureDot) || is(Switch::PictureAway));
        let flat = style.picture.filter(|_| !is(Switch::PictureSmall) && !lost);
        let image = is(Switch::Image) && !is(Switch::PictureNone) && !lost;
        if let Some(ink) = flat {
            self.back = Back::Plain(lens::seen(ink, &self.lens));
        } else if image {
            self.back = Back::Unknown;
        } else {
            self.lay(style.background, unseen);
        }
        self.lay(style.cast, unseen);
    }

    /// Lays a colour over what is there.
    fn lay(&mut self, paint: Option<Paint>, unseen: bool) {
        let ink = match paint {
            Some(Paint::Known(ink)) => Some(ink),
            Some(Paint::Current) => self.colour,
            Some(Paint::Unknown) => None,
            None | Some(Paint::Wide(_)) => return,
        };
        self.back = match ink.map(|it| lens::seen(it, &self.lens)) {
            Some(ink) if ink.is_clear() => self.back,
            Some(ink) if ink.is_solid() => Back::Plain(ink),
            Some(ink) => self.back.below(ink, unseen),
            None => Back::Unknown,
        };
    }

    fn fades(&self, text: Option<Ink>, unseen: bool) -> bool {
        let back = match self.back {
            Back::Unknown => return false,
            Back::Page if unseen => None,
            Back::Page => Some(WHITE),
            Back::Plain(back) => Some(back),
        };
        // Over a page that nobody painted there is nothing to go together with.
        let painted = back.filter(|_| self.back != Back::Page);
        let (light, dark) = (painted.is_some_and(Ink::is_light), painted.is_some_and(Ink::is_dark));
        match self.blend {
            Blend::Lightens if light => return true,
            Blend::Darkens if dark => return true,
            Blend::Keeps if light || dark => return true,
            Blend::Differs if painted.is_some() => return text.is_some_and(Ink::is_dark),
            Blend::Covers | Blend::Lightens | Blend::Darkens | Blend::Keeps | Blend::Differs => {}
        }
        text.map(|it| it.thinned(self.opacity))
            .is_some_and(|ink| ink.is_clear() || back.is_some_and(|back| ink.vanishes_on(back)))
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
