//! What the values of properties say. A value that the property does not know says nothing: browsers pass
//! over such a declaration, and what was said before it stays.

use super::colour::Ink;
use super::css::{Part, Token, components, inside};
use super::declare::{Paint, Said, State, Surface, Switch, Wide};
use super::letters::{self, background, font, is_image, paint, picture, size, wide};
use super::number::{Amount, Kind, amount, length};
use super::{effect, room, shape, words};

/// Can the property have a part in hiding text?
pub(super) fn is_known(name: &str) -> bool {
    name == "all"
        || name == "font-size"
        || name.ends_with("animation")
        || name.ends_with("animation-name")
        || !targets(name).is_empty()
        || surface(name).is_some()
        || effect::is_known(name)
}

/// Tells what `name: value` says.
pub(super) fn read(name: &str, value: &[Part<'_>], old: bool, mut say: impl FnMut(Said)) {
    let items: Vec<&[Part<'_>]> = components(value).collect();
    if let [one] = items.as_slice()
        && let Some(wide) = wide(one)
    {
        return everywhere(name, wide, say);
    }
    let mut switch = |which, hides: bool| {
        say(Said::Switch(which, if hides { State::Hides } else { State::Shows }));
    };
    match name {
        "font-size" => {
            if let [one] = items.as_slice() {
                size(one, old).into_iter().for_each(say);
            }
        }
        "font" => font(&items, say),
        "font-family" => letters::family(value, say),
        "animation" | "animation-name" | "-webkit-animation" | "-webkit-animation-name" => {
            if name.ends_with("animation") {
                switch(Switch::Paused, letters::is_late_or_paused(&items));
            }
            switch(Switch::Plays, name.ends_with("animation") && letters::plays_and_stays(&items));
            let name = |it: &&[Part<'_>]| {
                let first = it.first()?;
                first.word().or_else(|| first.text()).map(str::to_owned)
            };
            say(Said::Animated(items.iter().filter_map(name).collect()));
        }
        "opacity" | "-webkit-opacity" => {
            let [one] = items.as_slice() else { return };
            let Some(found) = amount(one).filter(|it| is_faint(*it).is_some()) else { return };
            let share = if found.kind == Kind::Share { found.value / 100.0 } else { found.value };
            say(Said::Opacity(share.clamp(0.0, 1.0)));
        }
        "display" | "position" | "text-indent" | "overflow" | "mix-blend-mode" | "z-index" => {
            let _ = several(name, &items, old, &mut switch);
        }
        "background" => background(&items, value, say),
        "background-image" => picture(&items, say),
        "background-size" => letters::picture_size(&items, say),
        _ if room::is_known(name) => {
            let _ = room::read(name, &items, &mut switch);
        }
        _ if effect::is_known(name) => {
            let _ = effect::read(name, &items, value, &mut say);
        }
        _ => {
            if let Some(surface) = surface(name) {
                if let [one] = items.as_slice() {
                    paint(one, old).into_iter().for_each(|it| say(Said::Ink(surface, it)));
                }
                return;
            }
            sides(name, &items, old, &mut switch);
            if let ([which], Some(hides)) = (targets(name), single(name, &items, old)) {
                switch(*which, hides);
            }
        }
    }
}

/// Properties of several switches.
fn several(
    name: &str,
    items: &[&[Part<'_>]],
    old: bool,
    switch: &mut impl FnMut(Switch, bool),
) -> Option<()> {
    match name {
        "display" => {
            let all: Option<Vec<String>> =
                items.iter().map(|it| word(it, words::DISPLAYS)).collect();
            let all = all.filter(|it| !it.is_empty())?;
            // What stands in a column is not shown.
            let hides = |it: &String| it == "none" || it.starts_with("table-column");
            switch(Switch::DisplayNone, all.len() == 1 && all.iter().any(hides));
            switch(Switch::Flex, all.iter().any(|it| it.ends_with("flex") || it.ends_with("box")));
            switch(Switch::Grid, all.iter().any(|it| it.ends_with("grid")));
            switch(Switch::Cell, all.iter().any(|it| it == "table-cell"));
            switch(Switch::Boxless, all.iter().any(|it| it == "contents"));
        }
        "position" => {
            let word = only(items, words::POSITIONS)?;
            switch(Switch::Placed, word != "static");
            switch(Switch::OutOfFlow, word == "absolute" || word == "fixed");
            switch(Switch::Fixed, word == "fixed");
        }
        "text-indent" => {
            let indent = items.iter().find_map(|it| length(it, old))?;
            switch(Switch::IndentFar, is_far(indent).is_some());
            let full = match indent.kind {
                Kind::Share => indent.value >= 99.0,
                Kind::Length | Kind::Plain | Kind::Angle => indent.value >= SCREEN_PIXELS,
            };
            switch(Switch::IndentFull, full);
        }
        "overflow" => {
            let cuts: Vec<bool> = items.iter().map(|it| cuts(it)).collect::<Option<_>>()?;
            let (across, down) = match cuts.as_slice() {
                [both] => (*both, *both),
                [across, down] => (*across, *down),
                _ => return None,
            };
            switch(Switch::OverflowX, across);
            switch(Switch::OverflowY, down);
        }
        "z-index" => {
            let [one] = items else { return None };
            let rank = amount(one).filter(|it| it.kind == Kind::Plain);
            rank.is_some().then_some(()).or_else(|| word(one, &["auto"]).map(|_| ()))?;
            switch(Switch::Ranked, rank.is_some());
            switch(Switch::RankedBelow, rank.is_some_and(|it| it.value < 0.0));
        }
        _ => {
            let word = only(items, words::BLENDS)?;
            let is = |words: &[&str]| words.contains(&&*word);
            let keeps = is(&["overlay", "soft-light", "hue", "saturation", "color"]);
            let light = keeps || is(&["screen", "lighten", "color-dodge", "plus-lighter"]);
            switch(Switch::BlendLight, light);
            switch(Switch::BlendDark, keeps || is(&["multiply", "darken", "color-burn"]));
            switch(Switch::BlendDiffers, is(&["difference", "exclusion"]));
        }
    }
    Some(())
}

/// Properties of one switch: does the value hide?
fn single(name: &str, items: &[&[Part<'_>]], old: bool) -> Option<bool> {
    let one = || if let [one] = items { Some(*one) } else { None };
    match name {
        "visibility" => Some(only(items, &["visible", "hidden", "collapse"])? != "visible"),
        "content-visibility" => Some(only(items, &["visible", "hidden", "auto"])? == "hidden"),
        "-webkit-text-security" => {
            Some(only(items, &["none", "disc", "circle", "square"])? != "none")
        }
        "letter-spacing" | "line-height" | "font-size-adjust" => letters::spaced(name, items, old),
        "clip" => shape::clip(one()?),
        "mask-size" | "-webkit-mask-size" => Some(shape::is_nothing(items)),
        "content" => Some(items.first().is_some_and(|it| is_image(it))),
        "offset" | "offset-path" => Some(items.first().is_some_and(|it| shape::leads_away(it))),
        "animation-play-state" | "animation-delay" | "animation-duration" => {
            Some(letters::is_late_or_paused(items))
        }
        // However it is changed, it is not known any more where it ends.
        other if other.starts_with("animation-") => Some(false),
        "overflow-x" | "overflow-y" | "overflow-inline" | "overflow-block" => cuts(one()?),
        "background-repeat" => Some(letters::is_once(items)),
        "background-position" => Some(letters::is_away(items)),
        "background-clip" | "-webkit-background-clip" => {
            let last = items.last()?;
            word(last, words::CLIPS).map(|it| it == "text")
        }
        _ => room::size(name, items, old).or_else(|| effect::single(name, items)),
    }
}

/// Properties of the four sides: distances, margins, paddings.
fn sides(name: &str, items: &[&[Part<'_>]], old: bool, switch: &mut impl FnMut(Switch, bool)) {
    let all = targets(name);
    let place = matches!(
        all.first(),
        Some(Switch::LeftFar | Switch::RightFar | Switch::TopFar | Switch::BottomFar)
    );
    let margin = matches!(
        all.first(),
        Some(Switch::MarginLeft | Switch::MarginRight | Switch::MarginTop | Switch::MarginBottom)
    );
    let padding = matches!(
        all.first(),
        Some(Switch::PadLeft | Switch::PadRight | Switch::PadTop | Switch::PadBottom)
    );
    if !place && !margin && !padding {
        return;
    }
    // `None` in it for a word that is no length.
    let values: Option<Vec<Option<Amount>>> =
        items.iter().map(|it| side(it, old && name != "inset")).collect();
    let Some(values) = values.filter(|it| (1..=4).contains(&it.len())) else { return };
    let step = if place { 3 } else { 1 };
    let count = all.len() / step;
    if values.len() > count {
        return;
    }
    for (index, which) in all.chunks(step).enumerate() {
        // Top, right, bottom, left: a side that is not said is as the opposite one.
        let at = match (values.len(), index) {
            (1, _) => 0,
            (2, it) => it % 2,
            (3, 3) => 1,
            (_, it) => it,
        };
        let value = values.get(at).copied().flatten();
        match which {
            [far, edge, back] => {
                let (is_far, is_out) = placed(*far, value);
                switch(*far, is_far);
                switch(*edge, is_out);
                switch(*back, value.is_some_and(|it| is_back(*far, it)));
            }
            [one] if margin => {
                switch(
                    *one,
                    value.is_some_and(|it| match it.kind {
                        Kind::Share => it.value <= -MARGIN_SHARE,
                        Kind::Plain | Kind::Length | Kind::Angle => is_far(it).is_some(),
                    }),
                );
            }
            [one] => switch(*one, value.is_some_and(|it| it.pixels() > PADDING_PIXELS)),
            _ => {}
        }
    }
}

/// Is a box with this distance from a side on no screen, and is it so if the screen is all there is?
fn placed(side: Switch, distance: Option<Amount>) -> (bool, bool) {
    let Some(distance) = distance else { return (false, false) };
    let pixels = distance.pixels();
    let sideways = matches!(side, Switch::LeftFar | Switch::RightFar);
    let screen = if distance.kind == Kind::Share {
        1000.0
    } else if sideways {
        SCREEN_PIXELS
    } else {
        SCREEN_PIXELS_DOWN
    };
    // To the left of the screen nobody can scroll.
    let off = side == Switch::RightFar && distance.kind != Kind::Share && pixels >= SCREEN_PIXELS;
    // Beside or below all of the screen, and a little further.
    let beyond = distance.share >= 100.0 && pixels >= distance.share * 10.0;
    (is_far(distance).is_some() || off, pixels >= screen || pixels <= -screen || beyond)
}

/// Would a box of a few lines that counts from the edge of the screen be beyond it?
fn is_back(side: Switch, distance: Amount) -> bool {
    let sideways = matches!(side, Switch::LeftFar | Switch::RightFar);
    let most = if sideways { BACK_PIXELS } else { BACK_PIXELS_UP };
    if distance.kind == Kind::Share {
        return distance.value <= -100.0;
    }
    distance.pixels() <= -most
}

fn side(item: &[Part<'_>], old: bool) -> Option<Option<Amount>> {
    match length(item, old) {
        Some(it) => Some(Some(it)),
        None => word(item, &["auto"]).map(|_| None),
    }
}

fn cuts(item: &[Part<'_>]) -> Option<bool> {
    Some(word(item, &["visible", "hidden", "clip", "scroll", "auto", "overlay"])? != "visible")
}

pub(super) fn is_faint(amount: Amount) -> Option<bool> {
    match amount.kind {
        Kind::Plain => Some(amount.value < FAINT),
        Kind::Share => Some(amount.value / 100.0 < FAINT),
        Kind::Length | Kind::Angle => None,
    }
}

/// So far away that it is on no screen: less than nothing, or more.
pub(super) fn is_far(amount: Amount) -> Option<bool> {
    let pixels = amount.pixels();
    // To the right and down a page can be scrolled, so only what is out of all proportion counts.
    let back = pixels <= -FAR_BACK_PIXELS;
    (back || pixels >= FAR_FORTH_PIXELS).then_some(back)
}

/// A word for all properties, said of one of them.
pub(super) fn everywhere(name: &str, wide: Wide, mut say: impl FnMut(Said)) {
    if name == "all" {
        return say(Said::All(wide));
    }
    if name == "font" || name == "font-size" {
        say(Said::SizeWide(wide));
    }
    effect::everywhere(name, wide, &mut say);
    let ink = surface(name).or_else(|| (name == "background").then_some(Surface::Background));
    let picture = matches!(name, "background" | "background-image").then_some(Surface::Picture);
    let inks = ink.into_iter().chain(picture);
    inks.for_each(|it| say(Said::Ink(it, Paint::Wide(wide))));
    targets(name).iter().for_each(|it| say(Said::Switch(*it, State::Wide(wide))));
}

/// A property that hides for all that is known.
pub(super) fn hides(name: &str, mut say: impl FnMut(Said)) {
    if name == "opacity" {
        return say(Said::Opacity(0.0));
    }
    if name == "font-size" {
        return say(Said::Size(0.0, 0.0, 0.0));
    }
    if let Some(surface @ (Surface::Colour | Surface::Fill)) = surface(name) {
        return say(Said::Ink(surface, Paint::Known(Ink::CLEAR)));
    }
    targets(name).iter().take(1).for_each(|it| say(Said::Switch(*it, State::Hides)));
}

/// May a value that is not known be there to hide?
pub(super) fn may_hide(name: &str) -> bool {
    matches!(
        name,
        "display"
            | "visibility"
            | "opacity"
            | "content-visibility"
            | "font-size"
            | "color"
            | "-webkit-text-fill-color"
    )
}

/// Is there a function in it whose value is known only where it is used?
pub(super) fn is_late(value: &[Part<'_>]) -> bool {
    value.iter().filter_map(Part::call).any(|name| {
        name.starts_with("--") || words::LATE.iter().any(|it| name.eq_ignore_ascii_case(it))
    })
}

fn surface(name: &str) -> Option<Surface> {
    match name {
        "color" => Some(Surface::Colour),
        "-webkit-text-fill-color" => Some(Surface::Fill),
        "background-color" => Some(Surface::Background),
        _ => None,
    }
}

fn targets(name: &str) -> &'static [Switch] {
    words::TARGETS
        .binary_search_by(|it| it.0.cmp(name))
        .ok()
        .and_then(|it| words::TARGETS.get(it))
        .map_or(&[], |it| it.1)
}

/// The word that this is, if it is one of these.
pub(super) fn word(item: &[Part<'_>], known: &[&str]) -> Option<String> {
    let word = item.first()?.word()?.to_ascii_lowercase();
    known.contains(&word.as_str()).then_some(word)
}

pub(super) fn only(items: &[&[Part<'_>]], known: &[&str]) -> Option<String> {
    if let [one] = items { word(one, known) } else { None }
}

/// What stands in the brackets of a function of this name.
pub(super) fn called<'p, 'a>(item: &'p [Part<'a>]) -> Option<(String, &'p [Part<'a>])> {
    let Token::Call(name) = &item.first()?.token else { return None };
    Some((name.to_ascii_lowercase(), inside(item)))
}

/// What is cut to this size shows nothing.
pub(super) const TINY_PIXELS: f64 = 1.0;
/// Text of this height shows nothing.
pub(super) const TINY_LETTERS: f64 = 2.5;
/// Less opacity than this shows nothing.
pub(super) const FAINT: f64 = 0.05;
/// How far to the left or up nothing is seen any more.
const FAR_BACK_PIXELS: f64 = 900.0;
/// How far to the right or down nobody scrolls.
const FAR_FORTH_PIXELS: f64 = 5000.0;
/// A box of a few lines is no wider, and no higher.
const BACK_PIXELS: f64 = 250.0;
const BACK_PIXELS_UP: f64 = 60.0;
/// How wide an ordinary screen is.
pub(super) const SCREEN_PIXELS: f64 = 1280.0;
/// How high it is.
pub(super) const SCREEN_PIXELS_DOWN: f64 = 720.0;
/// A box that is moved by so many hundredths of what it stands in is elsewhere.
const MARGIN_SHARE: f64 = 200.0;
/// Something can be read in a padding that is wider.
const PADDING_PIXELS: f64 = 8.0;
