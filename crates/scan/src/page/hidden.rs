//! Ways in which the box of an element is lost from sight: by its clip, its place and its size.

use super::dropped::DropKind;
use super::look::Look;
use super::property::{Display, Position, Size, Style};
use super::value::{SCREEN_HEIGHT, SCREEN_WIDTH, Transform};

/// Why a box that may be displayed shows nothing: it is clipped or elsewhere. It stands in something that looks like
/// `around`, and `moved` is what transforms do to it.
pub(super) fn lost(style: &Style, moved: &Transform, around: &Look) -> Option<DropKind> {
    if style.clip_path || (style.clip && style.position >= Position::Absolute) {
        return Some(DropKind::Clipped);
    }
    let margins = [style.margin_left, style.margin_right, style.margin_top, style.margin_bottom];
    let elsewhere = [moved.x, moved.y].into_iter().any(|it| away(it.of(BOX_PX)))
        || margins.into_iter().flatten().any(|it| away(it.of(MARGIN_WHOLE_PX)))
        || is_placed_away(style, around);
    elsewhere.then_some(DropKind::OffScreen)
}

/// Is it so far to the left or up that nothing is seen, or so far to the right or down that nobody scrolls there?
pub(super) fn away(px: f32) -> bool {
    px <= -FAR_BACK_PX || px >= FAR_FORTH_PX
}

fn is_placed_away(style: &Style, around: &Look) -> bool {
    let (fixed, absolute) =
        (style.position == Position::Fixed, style.position == Position::Absolute);
    // From which side, whether that is where reading begins, how wide the screen is there, and what is back enough.
    let sides = [
        (style.left, true, SCREEN_WIDTH, BACK_PX),
        (style.right, false, SCREEN_WIDTH, BACK_PX),
        (style.top, true, SCREEN_HEIGHT, BACK_PX_UP),
        (style.bottom, false, SCREEN_HEIGHT, BACK_PX_UP),
    ];
    style.position != Position::Static
        && sides.into_iter().any(|(side, before, screen, enough)| {
            let Some(distance) = side else { return false };
            let px = distance.of(if fixed { screen } else { PLACE_WHOLE_PX });
            let shares = distance.percent != 0.0;
            let back = px <= -enough && (!shares || distance.percent <= -100.0);
            let across = screen == SCREEN_WIDTH;
            let beside =
                across && px >= SCREEN_WIDTH && (!before || (absolute && around.cuts_page));
            away(px)
                || (beside && (before || !shares))
                || (fixed && (back || px >= screen))
                || (absolute && !around.holds && before && back)
        })
}

/// Does a box cut off all that is in its flow, because it has no size? And does what is placed get out of it?
pub(super) fn pressed(style: &Style, outer: &Style, name: &str) -> Option<bool> {
    style.is_cut().then_some(())?;
    let small = |size: Size| size.is_some_and(|it| it.of(SCREEN_WIDTH) <= SLIT_PX);
    let kept = |size: Size| size.is_some_and(|it| it.of(SCREEN_WIDTH) > SLIT_PX);
    let flex = outer.display == Display::Flex;
    let column = outer.flex_column;
    let grows = flex && style.flex_grow > 0.0;
    // A cell is as large as what is in it.
    let cell = matches!(name, "td" | "th") && !style.table_fixed;
    let basis = flex && small(style.flex_basis) && !grows;
    let lines = style.line_height.is_some_and(|it| it <= SLIT_PX) && style.height.is_none();
    let flat = (small(style.height) || small(style.max_height) || lines || (basis && column))
        && !(cell || kept(style.min_height) || kept(style.padding_bottom) || (grows && column));
    let limited = small(style.max_width) && !(cell && kept(style.width));
    let thin = ((small(style.width) && !cell) || limited || (basis && !column))
        && !(kept(style.min_width) || kept(style.padding_right) || (grows && !column));
    (flat || thin).then(|| style.position == Position::Static || kept(style.padding_top))
}

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
