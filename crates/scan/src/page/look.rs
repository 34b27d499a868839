//! Can an element be seen? Its style sheets, its attributes and what stands above it decide.

use super::colour::Ink;
use super::declare::{Bits, Switch};
use super::dropped::DropKind;
use super::ground::Ground;
use super::lens;
use super::line::STRIKE_COVERS;
use super::own::Own;
use super::parts::usually_hidden;
use super::sheet::Sheet;
use super::style::{Style, Styles};
use super::tree::{Element, Id};
use super::turn::{Matrix, View};
use super::value::{FAINT, TINY_LETTERS};

/// How an element and what is in it looks, as far as that can hide it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// Hidden with all that is in it, why, and from which element on.
    gone: Option<(DropKind, Id)>,
    /// Hidden unless something inside says otherwise.
    veiled: Option<(DropKind, Id)>,
    /// What hides, by switches.
    on: Bits,
    /// The size of letters in pixels.
    pub(super) size: f64,
    /// What all opacities around come to.
    pub(super) opacity: f64,
    /// The size of letters of the page itself.
    pub(super) root: f64,
    /// How many times as large it is as it was, by all that stretches it.
    pub(super) stretch: f64,
    /// How many pixels before it the eye stands.
    pub(super) eye: Option<f64>,
    /// Nobody can scroll to the right.
    page_cuts: bool,
    /// It stands in a box of no size, in which only what is placed is seen.
    pressed: bool,
    /// Something around it is what boxes that are placed count from.
    held: bool,
    /// How many elements stand down to the innermost that is placed out of its row, itself included.
    floats: usize,
    /// The same down to the innermost below which nothing that stands in it is put.
    pub(super) stack: usize,
    /// Where in space what is inside stands, if that is kept, and how much it was stretched outside of it.
    pub(super) space: Option<(Matrix, f64)>,
    /// It is turned away, but what is inside may be turned back.
    pub(super) averted: bool,
    /// How many pixels thick a line is that is drawn through the text.
    pub(super) struck: f64,
    pub(super) ground: Ground,
    own: Own,
}

impl Look {
    /// Of the page itself. What is not seen here may have given it another colour.
    pub(super) fn of_page(sheet: &Sheet) -> Self {
        Self {
            gone: None,
            veiled: None,
            on: 0,
            size: 16.0,
            opacity: 1.0,
            root: 16.0,
            stretch: 1.0,
            eye: None,
            page_cuts: false,
            pressed: false,
            held: false,
            floats: 0,
            stack: 0,
            space: None,
            averted: false,
            struck: 0.0,
            ground: Ground::of_page(sheet.unseen_backgrounds),
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

    /// Is it hidden as a column can be?
    pub(super) fn is_collapsed(&self) -> bool {
        self.is(Switch::VisibilityHidden)
    }

    /// The same over the background of a column, of a table below `depth` elements, if nothing else was painted.
    pub(super) fn over_column(&self, column: &Self, depth: usize) -> Option<Self> {
        let ground = self.ground.over_column(&column.ground, depth + 1)?;
        Some(Self { ground, ..self.clone() })
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
        let mut style = styles.cascade(element, id, path, &self.own);
        let slot = &*element.name.local == "slot" && !style.says(Switch::DisplayNone);
        if slot || style.is_any(&[Switch::Boxless]) {
            style.without_box();
        }
        look.on = style.computed(self.on);
        let is_root = &*element.name.local == "html";
        if is_root && styles.sheet.is_dark && !style.says(Switch::DarkScheme) {
            look.on |= Switch::DarkScheme.bit();
        }
        if let Some((pixels, times, roots)) = style.size {
            let root = if is_root { 16.0 } else { self.root };
            look.size = pixels + times * self.size + roots * root;
        }
        if is_root {
            look.root = look.size;
        }
        look.page_cuts |=
            matches!(&*element.name.local, "html" | "body") && look.is(Switch::OverflowX);
        look.opacity *= style.opacity * lens::fade(&style.lens);
        look.ground.opacity = look.opacity;
        look.ground.sizes = (look.size, look.root);
        let view = look.turn(&style, self);
        look.strike(&style);
        if look.is(Switch::OutOfFlow) {
            (look.pressed, look.floats) = (false, path.len() + 1);
        }
        let unseen = styles.sheet.unseen_backgrounds;
        // What a file says may hold it.
        look.held |= unseen;
        let behind = !unseen && look.is_behind(&style, self);
        look.gone = look.hides(element, &style, view, self.on).map(|it| (it, id));
        look.gone = look.gone.or(behind.then_some((DropKind::Clipped, id)));
        look.held |= look.any(&[Switch::Placed, Switch::Contained])
            || view.is_some()
            || !style.lens.is_empty();
        let faded = look.ground.paint(element, &style, look.on, path.len(), unseen)
            && !look.has_scenery(id, styles, path);
        look.stack(element, &style, view, self, path.len());
        let why = look.veil(faded);
        look.veiled = match (why, self.veiled) {
            (Some(kind), Some(before)) if before.0 == kind => Some(before),
            (Some(kind), _) => Some((kind, id)),
            (None, _) => None,
        };
        look.own = style.own;
        look
    }

    pub(super) fn is(&self, which: Switch) -> bool {
        self.on & which.bit() != 0
    }

    pub(super) fn any(&self, switches: &[Switch]) -> bool {
        switches.iter().any(|it| self.is(*it))
    }

    /// Why text here cannot be seen, unless what is inside says otherwise.
    fn veil(&self, faded: bool) -> Option<DropKind> {
        if self.any(&[Switch::VisibilityHidden, Switch::TextSecret]) {
            Some(DropKind::Visibility)
        } else if self.size * self.stretch <= TINY_LETTERS
            || self.any(&[Switch::FontFlat, Switch::FontShrunk])
        {
            Some(DropKind::FontSize)
        } else if self.pressed {
            Some(DropKind::ZeroSize)
        } else if self.averted || self.any(&[Switch::IndentFar, Switch::LettersSqueezed]) {
            Some(DropKind::OffScreen)
        } else {
            let struck = self.struck >= self.size * STRIKE_COVERS;
            (faded || struck).then_some(DropKind::SameColour)
        }
    }

    /// Why the element is hidden with everything in it.
    fn hides(
        &mut self,
        element: &Element,
        style: &Style,
        view: Option<View>,
        outer: Bits,
    ) -> Option<DropKind> {
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
        } else if self.is_cut() {
            Some(DropKind::Clipped)
        } else if self.stretch < FAINT && self.space.is_none() {
            Some(DropKind::ZeroSize)
        } else if self.is_flat(element, style, outer) {
            // What is placed in it may be seen in the padding above.
            self.pressed = self.is(Switch::Placed) && self.is(Switch::PadTop);
            (!self.pressed).then_some(DropKind::ZeroSize)
        } else {
            self.is_away(view).then_some(DropKind::OffScreen)
        }
    }

    /// Is it cut off or veiled all over?
    fn is_cut(&self) -> bool {
        let both = |one, other| self.is(one) && self.is(other);
        self.any(&[Switch::ClipPathEmpty, Switch::Masked, Switch::MaskEmpty, Switch::OutlineOver])
            || both(Switch::Clipped, Switch::OutOfFlow)
            || both(Switch::MaskDark, Switch::MaskByLight)
            || both(Switch::MaskTwice, Switch::MaskTurned)
            || both(Switch::MaskAway, Switch::MaskOnce)
            || (both(Switch::OutlineSolid, Switch::OutlineThick) && self.is(Switch::OutlineIn))
    }

    /// Does a box of no size cut off what is in it?
    fn is_flat(&self, element: &Element, style: &Style, outer: Bits) -> bool {
        let cuts = self.any(&[Switch::OverflowX, Switch::OverflowY, Switch::Contained]);
        let around = |which: Switch| outer & which.bit() != 0;
        // It takes what room there is, along the row or the column.
        let grows = around(Switch::Flex) && self.is(Switch::Grows);
        let column = around(Switch::FlexColumn);
        // A cell is as large as what is in it.
        let is_cell = matches!(&*element.name.local, "td" | "th") || self.is(Switch::Cell);
        if is_cell && !self.is(Switch::TableFixed) {
            let kept = style.says(Switch::WidthZero) && !self.is(Switch::WidthZero);
            return cuts && self.is(Switch::WidthLimitZero) && !kept;
        }
        // What hangs out below or to the right is seen in the padding there.
        let high = self.any(&[Switch::HeightKept, Switch::PadBottom]) || (grows && column);
        let wide = self.any(&[Switch::WidthKept, Switch::PadRight]) || (grows && !column);
        let lines = self.is(Switch::LineZero) && !style.says(Switch::HeightZero);
        cuts && ((!high
            && (lines
                || self.any(&[Switch::HeightZero, Switch::HeightLimitZero])
                || self.lacks_height(style, outer)))
            || (!wide
                && (self.any(&[Switch::WidthZero, Switch::WidthLimitZero])
                    || self.lacks_width(outer))))
    }

    /// Has it no height because of the row that it stands in, or because it does not look at what is in it?
    fn lacks_height(&self, style: &Style, outer: Bits) -> bool {
        let around = |which: Switch| outer & which.bit() != 0;
        let in_grid = around(Switch::Grid);
        let row = in_grid && (around(Switch::RowsThin) || around(Switch::RowsAutoNone));
        let rows = self.is(Switch::Grid) && self.any(&[Switch::RowsNone, Switch::RowsAutoNone]);
        let pressed =
            around(Switch::Flex) && (around(Switch::HeightZero) || around(Switch::HeightLimitZero));
        let basis =
            around(Switch::Flex) && around(Switch::FlexColumn) && self.is(Switch::BasisNone);
        let placed = in_grid || around(Switch::Flex) || self.is(Switch::OutOfFlow);
        let sizeless = self.any(&[Switch::Sizeless, Switch::SizelessContainer])
            && !placed
            && !style.says(Switch::HeightZero);
        row || rows || pressed || basis || sizeless
    }

    fn lacks_width(&self, outer: Bits) -> bool {
        let around = |which: Switch| outer & which.bit() != 0;
        let basis =
            around(Switch::Flex) && !around(Switch::FlexColumn) && self.is(Switch::BasisNone);
        basis || (around(Switch::Grid) && around(Switch::ColumnsThin))
    }

    /// May something lie behind the text that is not its background, so that it is seen all the same?
    fn has_scenery(&mut self, id: Id, styles: &mut Styles<'_>, path: &[Id]) -> bool {
        let from = self.ground.painted.saturating_sub(1);
        for depth in (from..=path.len()).rev().take(ABOVE_MAX) {
            let (above, below) = path.split_at_checked(depth).unwrap_or((path, &[]));
            let found = styles.scenery(below.first().copied().unwrap_or(id), above, &self.own);
            let text = self.ground.text();
            let differs = |ink: Ink| text.is_none_or(|it| !it.vanishes_on(ink));
            if found.placed.is_some_and(|it| it.is_none_or(differs))
                || (found.picture && self.floats > depth + 1)
            {
                self.ground.hide(path.len());
                return true;
            }
        }
        false
    }

    /// Is it moved or turned to where nobody sees it?
    fn is_away(&self, view: Option<View>) -> bool {
        let margins =
            [Switch::MarginLeft, Switch::MarginRight, Switch::MarginTop, Switch::MarginBottom];
        let turned = view.filter(|_| self.space.is_none()).is_some_and(|it| {
            it.gone || (it.backwards && self.is(Switch::BackHidden)) || self.is(Switch::OriginFar)
        });
        let far = [Switch::LeftFar, Switch::RightFar, Switch::TopFar, Switch::BottomFar];
        let edge = [Switch::LeftEdge, Switch::RightEdge, Switch::TopEdge, Switch::BottomEdge];
        let back = [Switch::LeftBack, Switch::RightBack, Switch::TopBack, Switch::BottomBack];
        let overflow = self.any(&[Switch::OverflowX, Switch::OverflowY]);
        self.any(&margins)
            || turned
            || self.is(Switch::OffsetFar)
            || (self.is(Switch::Placed) && self.any(&far))
            || (self.is(Switch::Fixed) && (self.any(&edge) || self.any(&back)))
            || (self.is(Switch::OutOfFlow)
                && !self.held
                && self.any(&[Switch::TopBack, Switch::LeftBack]))
            || (self.page_cuts && self.is(Switch::OutOfFlow) && self.is(Switch::LeftEdge))
            || (self.is(Switch::IndentFull) && overflow)
    }
}

/// Elements above a text in which something is looked for that it may stand on.
const ABOVE_MAX: usize = 16;

/// A picture already: a style only gives it another one.
fn is_picture(element: &Element) -> bool {
    matches!(&*element.name.local, "img" | "input" | "picture")
}

fn is_until_found(element: &Element) -> bool {
    element.attribute("hidden").is_some_and(|it| it.trim().eq_ignore_ascii_case("until-found"))
}
