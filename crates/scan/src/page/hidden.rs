//! Ways in which the box of an element is lost from sight: by its display, its clip, its place and its size.

use std::rc::Rc;

use super::dropped::DropKind;
use super::property::{Property, Value, Word};
use super::style::Style;
use super::value::{Length, SCREEN_HEIGHT, SCREEN_WIDTH, Transform};

/// What the elements around one mean for its box.
#[derive(Clone, Default)]
pub(super) struct Around {
    /// The style of the element around.
    parent: Rc<Style>,
    /// Something that things are placed in.
    holds: bool,
    /// The page shows nothing beside the screen.
    cuts_page: bool,
    fixed_table: bool,
}

impl Around {
    /// Goes into an element of this style.
    pub(super) fn enter(&mut self, style: Rc<Style>, name: &str) {
        use Property as P;
        let root = matches!(name, "html" | "body");
        let moved =
            matches!(style.get(P::Transform), Some(Value::Transform(it)) if *it != Transform::NONE);
        self.holds |= (moved || position(&style) > Placed::Static) && !root;
        self.cuts_page |= root && style.is(P::OverflowX, Word::Hidden);
        if name == "table" {
            self.fixed_table = style.is(P::TableLayout, Word::Fixed);
        }
        self.parent = style;
    }

    /// What counts of a property, also if it is that of the element around.
    fn get<'s>(&'s self, style: &'s Style, property: Property) -> Option<&'s Value> {
        match style.get(property) {
            Some(Value::Inherit) => self.parent.get(property),
            other => other,
        }
    }

    fn length(&self, style: &Style, property: Property) -> Option<Length> {
        match self.get(style, property) {
            Some(Value::Length(length)) => Some(*length),
            _ => None,
        }
    }
}

/// How an element is placed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Placed {
    Static,
    Relative,
    Absolute,
    Fixed,
}

fn position(style: &Style) -> Placed {
    match style.get(Property::Position) {
        Some(Value::Word(Word::Relative)) => Placed::Relative,
        Some(Value::Word(Word::Absolute)) => Placed::Absolute,
        Some(Value::Word(Word::Fixed)) => Placed::Fixed,
        _ => Placed::Static,
    }
}

/// Why a box that may be displayed shows nothing: it is clipped or elsewhere.
pub(super) fn lost(
    style: &Style,
    around: &Around,
    moved: &Transform,
    font: (f32, f32),
) -> Option<DropKind> {
    use Property as P;
    let clipped = |property| matches!(style.get(property), Some(Value::Clip(true)));
    if clipped(P::ClipPath) || (clipped(P::Clip) && position(style) >= Placed::Absolute) {
        return Some(DropKind::Clipped);
    }
    if moved.least() < SCALE_MIN {
        return Some(DropKind::ZeroSize);
    }
    let by = |length: Length| away(length.resolve(font.0, font.1, BOX_PX));
    let margins = [P::MarginLeft, P::MarginRight, P::MarginTop, P::MarginBottom];
    let margin = |property| {
        around
            .length(style, property)
            .is_some_and(|it| away(it.resolve(font.0, font.1, MARGIN_WHOLE_PX)))
    };
    let elsewhere = by(moved.x)
        || by(moved.y)
        || margins.into_iter().any(margin)
        || is_placed_away(style, around, font);
    elsewhere.then_some(DropKind::OffScreen)
}

/// Is it so far to the left or up that nothing is seen, or so far to the right or down that nobody scrolls there?
pub(super) fn away(px: f32) -> bool {
    px <= -FAR_BACK_PX || px >= FAR_FORTH_PX
}

fn is_placed_away(style: &Style, around: &Around, (font, root): (f32, f32)) -> bool {
    use Property as P;
    let placed = position(style);
    if placed == Placed::Static {
        return false;
    }
    [P::Left, P::Right, P::Top, P::Bottom].into_iter().any(|side| {
        let Some(distance) = around.length(style, side) else { return false };
        let across = matches!(side, P::Left | P::Right);
        let screen = if across { SCREEN_WIDTH } else { SCREEN_HEIGHT };
        let whole = if placed == Placed::Fixed { screen } else { PLACE_WHOLE_PX };
        let px = distance.resolve(font, root, whole);
        let back = px <= -(if across { BACK_PX } else { BACK_PX_UP })
            && (distance.percent == 0.0 || distance.percent <= -100.0);
        let before = matches!(side, P::Left | P::Top);
        away(px)
            || (side == P::Right && px >= SCREEN_WIDTH && distance.percent == 0.0)
            || (placed == Placed::Fixed && (back || px >= screen))
            || (placed == Placed::Absolute && !around.holds && before && back)
            || (placed == Placed::Absolute
                && around.cuts_page
                && side == P::Left
                && px >= SCREEN_WIDTH)
    })
}

/// Does a box cut off all that is in its flow, because it has no size? And does what is placed get out of it?
pub(super) fn pressed(
    style: &Style,
    around: &Around,
    name: &str,
    (font, root): (f32, f32),
) -> Option<bool> {
    use Property as P;
    style.is_cut().then_some(())?;
    let px =
        |property| around.length(style, property).map(|it| it.resolve(font, root, SCREEN_WIDTH));
    let small = |property| px(property).is_some_and(|it| it <= SLIT_PX);
    let kept = |property| px(property).is_some_and(|it| it > SLIT_PX);
    let flex = around.parent.is(P::Display, Word::Flex);
    let column = around.parent.is(P::FlexDirection, Word::Column);
    let grows = flex && matches!(style.get(P::FlexGrow), Some(Value::Number(grow)) if *grow > 0.0);
    // A cell is as large as what is in it.
    let cell = matches!(name, "td" | "th") && !around.fixed_table;
    let basis = flex && small(P::FlexBasis) && !grows;
    let lines = small(P::LineHeight) && style.get(P::Height).is_none();
    let flat = (small(P::Height) || small(P::MaxHeight) || lines || (basis && column))
        && !(cell || kept(P::MinHeight) || kept(P::PaddingBottom) || (grows && column));
    let limited = small(P::MaxWidth) && !(cell && kept(P::Width));
    let thin = ((small(P::Width) && !cell) || limited || (basis && !column))
        && !(kept(P::MinWidth) || kept(P::PaddingRight) || (grows && !column));
    (flat || thin).then(|| position(style) == Placed::Static || kept(P::PaddingTop))
}

/// What is scaled down to less has no size.
const SCALE_MIN: f32 = 0.02;
/// How far to the left or up nothing is seen any more, and how far to the right or down nobody scrolls.
const FAR_BACK_PX: f32 = 900.0;
const FAR_FORTH_PX: f32 = 5000.0;
/// A box of a few lines that is placed at an edge is no wider, and no higher.
const BACK_PX: f32 = 250.0;
const BACK_PX_UP: f32 = 60.0;
/// In a box that is no wider or higher nobody reads anything.
const SLIT_PX: f32 = 8.0;
/// What percentages are taken of: of a box that is moved, of what a margin is measured by, of what a place is in.
const BOX_PX: f32 = 90.0;
const MARGIN_WHOLE_PX: f32 = 450.0;
const PLACE_WHOLE_PX: f32 = 1000.0;
