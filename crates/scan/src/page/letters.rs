//! The size of letters, and what is painted: shorthands that say several things at once.

use std::rc::Rc;

use super::colour::Ink;
use super::css::{Part, Token, address_of, components, split};
use super::declare::{Paint, Said, State, Surface, Switch, Wide};
use super::gradient::flat;
use super::number::{Kind, amount, length};
use super::value::{FAINT, TINY_PIXELS, is_far, only, word};
use super::words;

pub(super) fn size(item: &[Part<'_>], old: bool) -> Option<Said> {
    if let Some(amount) = length(item, old) {
        return (amount.value >= 0.0).then(|| match amount.kind {
            Kind::Share => Said::Size(0.0, amount.value / 100.0, 0.0),
            Kind::Length | Kind::Plain | Kind::Angle => {
                let pixels = amount.value - (amount.letters + amount.roots) * 16.0;
                Said::Size(pixels, amount.letters, amount.roots)
            }
        });
    }
    let word = item.first()?.word()?.to_ascii_lowercase();
    let (_, pixels) = words::FONT_SIZES.iter().find(|it| it.0 == word)?;
    Some(match word.as_str() {
        "larger" | "smaller" => Said::Size(0.0, *pixels, 0.0),
        _ => Said::Size(*pixels, 0.0, 0.0),
    })
}

/// `font: … size / height family`.
pub(super) fn font(items: &[&[Part<'_>]], mut say: impl FnMut(Said)) {
    if only(items, words::SYSTEM_FONTS).is_some() {
        return say(Said::Size(16.0, 0.0, 0.0));
    }
    let sized = |it: &&[Part<'_>]| {
        size(it, false).filter(
            |_| !matches!(it.first().map(|it| &it.token), Some(Token::Number(it)) if *it > 0.0),
        )
    };
    let Some(at) = items.iter().position(|it| sized(it).is_some()) else { return };
    let is_slash = |it: &&[Part<'_>]| it.first().is_some_and(|it| it.is('/'));
    let rest = items.get(at + 1..).unwrap_or_default();
    let (height, family) = match rest.split_first() {
        Some((slash, rest)) if is_slash(slash) => (rest.first(), rest.get(1..)),
        Some(_) | None => (None, Some(rest)),
    };
    let named = |it: &&[Part<'_>]| {
        matches!(it.first().map(|it| &it.token), Some(Token::Word(_) | Token::Text(_)))
    };
    if !family.and_then(<[_]>::first).is_some_and(named) {
        return;
    }
    let height = height.is_some_and(|it| spaced("line-height", &[it], false) == Some(true));
    say(Said::Switch(Switch::LineZero, if height { State::Hides } else { State::Shows }));
    say(Said::Switch(Switch::FontFlat, State::Shows));
    let named = family.into_iter().flatten().find_map(|it| family_of(it));
    say(Said::Switch(Switch::FontShrunk, State::Shows));
    named.into_iter().for_each(|it| say(Said::Refers(Switch::FontShrunk, Rc::from(it))));
    items.get(at).and_then(sized).into_iter().for_each(say);
}

/// The first font of a list, in lower case.
pub(super) fn family_of(value: &[Part<'_>]) -> Option<String> {
    let first = split(value, ',').next()?;
    let words = first.iter().filter_map(|it| it.word().or_else(|| it.text()));
    let name = words.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Which font: one of the page may have letters of no size.
pub(super) fn family(value: &[Part<'_>], mut say: impl FnMut(Said)) {
    let Some(name) = family_of(value) else { return };
    say(Said::Switch(Switch::FontShrunk, State::Shows));
    say(Said::Refers(Switch::FontShrunk, Rc::from(name)));
}

/// What stands between letters and between lines, and how high they are: does it hide?
pub(super) fn spaced(name: &str, items: &[&[Part<'_>]], old: bool) -> Option<bool> {
    let one = || if let [one] = items { Some(*one) } else { None };
    match name {
        "letter-spacing" => match only(items, &["normal"]) {
            Some(_) => Some(false),
            None => length(one()?, old).map(|it| it.pixels() <= -LETTER_PIXELS),
        },
        "line-height" => match only(items, &["normal"]) {
            Some(_) => Some(false),
            None => amount(one()?)
                .filter(|it| it.value >= 0.0 && it.kind != Kind::Angle)
                .map(|it| it.value <= if it.kind == Kind::Plain { 0.06 } else { TINY_PIXELS }),
        },
        "font-size-adjust" => match amount(items.last()?) {
            Some(it) => Some(it.value <= FAINT),
            None => word(one()?, &["none", "from-font"]).map(|_| false),
        },
        _ => None,
    }
}

pub(super) fn background(items: &[&[Part<'_>]], value: &[Part<'_>], mut say: impl FnMut(Said)) {
    let mut image = false;
    let mut colour = None;
    let mut clip = false;
    let commas = split(value, ',').count().saturating_sub(1);
    for item in items {
        let Some(first) = item.first() else { continue };
        if first.is('/') || first.is(',') || amount(item).is_some() {
            continue;
        }
        if let Some(found) = paint(item, false) {
            colour = Some(found);
        } else if is_image(item) {
            image = true;
        } else if !matches!(first.token, Token::Url(_)) && first.call() != Some("url") {
            match word(item, words::BACKGROUNDS) {
                Some(word) => clip |= word == "text",
                None => return,
            }
        }
    }
    let state = |on| if on { State::Hides } else { State::Shows };
    // The first picture lies over the others.
    let first = split(value, ',').next().unwrap_or_default();
    let flat = components(first).find_map(flat).filter(|it| commas == 0 || it.is_solid());
    image &= commas > 0 || !flat.is_some_and(Ink::is_clear);
    let mut behind = items.iter().skip_while(|it| !it.first().is_some_and(|it| it.is('/')));
    let _slash = behind.next();
    let size: Vec<&[Part<'_>]> = behind.take(2).copied().collect();
    picture_size(&size, &mut say);
    say(Said::Switch(Switch::PictureOnce, state(is_once(items))));
    say(Said::Switch(Switch::PictureAway, state(is_away(items))));
    say(Said::Ink(Surface::Picture, Paint::Known(flat.unwrap_or(Ink::CLEAR))));
    say(Said::Switch(Switch::Image, state(image || commas > 0)));
    say(Said::Switch(Switch::ClipText, state(clip)));
    say(Said::Ink(Surface::Background, colour.unwrap_or(Paint::Known(Ink::CLEAR))));
}

/// Pictures behind a text: none, some, or one that is nothing but a colour.
pub(super) fn picture(items: &[&[Part<'_>]], mut say: impl FnMut(Said)) {
    let none = only(items, &["none"]).is_some();
    if !none && !items.iter().any(|it| is_image(it)) {
        return;
    }
    let flat = if let [one] = items { flat(one) } else { None };
    let none = none || flat.is_some_and(Ink::is_clear);
    say(Said::Ink(Surface::Picture, Paint::Known(flat.unwrap_or(Ink::CLEAR))));
    say(Said::Switch(Switch::Image, if none { State::Shows } else { State::Hides }));
}

/// Does a picture of this size leave most of what it lies on, or all of it?
pub(super) fn picture_size(items: &[&[Part<'_>]], mut say: impl FnMut(Said)) {
    let below = |most: f64| {
        let is = items.iter().any(|it| length(it, false).is_some_and(|it| it.pixels() < most));
        if is { State::Hides } else { State::Shows }
    };
    say(Said::Switch(Switch::PictureSmall, below(SMALL_PIXELS)));
    say(Said::Switch(Switch::PictureDot, below(DOT_PIXELS)));
    say(Said::Switch(Switch::PictureNone, below(1.0)));
}

/// Is something put so far away that nobody sees it?
pub(super) fn is_away(items: &[&[Part<'_>]]) -> bool {
    items.iter().any(|it| length(it, false).is_some_and(|it| is_far(it).is_some()))
}

/// Is a picture there once, and not again and again in both directions?
pub(super) fn is_once(items: &[&[Part<'_>]]) -> bool {
    items.iter().any(|it| it.first().is_some_and(|it| it.is_word("no-repeat")))
}

/// Does an animation stand still at its first picture, or for long before it begins?
pub(super) fn is_late_or_paused(items: &[&[Part<'_>]]) -> bool {
    let late = |it: &&[Part<'_>]| match it.first().map(|it| &it.token) {
        Some(Token::Length(value, unit)) if unit == "s" => *value >= LATE_SECONDS,
        Some(Token::Length(value, unit)) if unit == "ms" => *value >= LATE_SECONDS * 1000.0,
        Some(Token::Word(word)) => word.eq_ignore_ascii_case("paused"),
        Some(_) | None => false,
    };
    items.iter().any(late)
}

/// Is it an animation that is over soon and stays at its last picture? Each part of it must be known: browsers pass
/// over what is not.
pub(super) fn plays_and_stays(items: &[&[Part<'_>]]) -> bool {
    let (mut times, mut counts, mut stays) = (0_usize, 0_usize, false);
    let known = items.iter().all(|item| match item.first().map(|it| &it.token) {
        Some(Token::Length(_, unit)) if unit == "s" || unit == "ms" => {
            times += 1;
            times <= 2
        }
        Some(Token::Number(count)) => {
            counts += 1;
            counts <= 1 && *count == count.round() && *count >= 1.0
        }
        Some(Token::Call(name)) => name.eq_ignore_ascii_case("cubic-bezier"),
        Some(Token::Word(word)) => {
            stays |= ["forwards", "both"].iter().any(|it| word.eq_ignore_ascii_case(it));
            !words::TURNED.iter().any(|it| word.eq_ignore_ascii_case(it))
        }
        Some(_) | None => false,
    });
    known && stays && !is_late_or_paused(items)
}

/// Letters that come together by so much lie upon each other.
const LETTER_PIXELS: f64 = 8.0;
/// A picture that is smaller than this covers no text.
const SMALL_PIXELS: f64 = 900.0;
/// One that is there once and smaller than this lies behind a word at most.
const DOT_PIXELS: f64 = 50.0;
/// Nobody waits for so long until a text appears.
const LATE_SECONDS: f64 = 30.0;

/// The word for all properties that this is.
pub(super) fn wide(item: &[Part<'_>]) -> Option<Wide> {
    match item.first()?.word()?.to_ascii_lowercase().as_str() {
        "initial" => Some(Wide::Initial),
        "inherit" => Some(Wide::Inherit),
        "unset" => Some(Wide::Unset),
        "revert" => Some(Wide::Revert),
        "revert-layer" | "revert-rule" => Some(Wide::RevertLayer),
        _ => None,
    }
}

pub(super) fn is_image(item: &[Part<'_>]) -> bool {
    let known = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.ends_with("gradient")
            || ["url", "image", "image-set", "-webkit-image-set", "cross-fade"].contains(&&*name)
    };
    match item.first().map(|it| &it.token) {
        Some(Token::Url(_)) => !leads_to_no_image(item),
        Some(Token::Call(name)) => known(name) && !leads_to_no_image(item),
        Some(_) | None => false,
    }
}

/// An address that is empty, or that holds something other than an image.
pub(super) fn leads_to_no_image(item: &[Part<'_>]) -> bool {
    let start = |it: &str, wanted: &str| {
        it.get(..wanted.len()).is_some_and(|it| it.eq_ignore_ascii_case(wanted))
    };
    address_of(item)
        .is_some_and(|it| it.is_empty() || (start(it, "data:") && !start(it, "data:image/")))
}

pub(super) fn paint(item: &[Part<'_>], old: bool) -> Option<Paint> {
    if item.first()?.is_word("currentcolor") {
        return Some(Paint::Current);
    }
    Ink::read(item, old).map(|it| it.map_or(Paint::Unknown, Paint::Known))
}
