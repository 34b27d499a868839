//! Gradients: which colour is seen where, so that one that is nearly all one colour is known as that colour.

use super::colour::Ink;
use super::css::{Part, components, split};
use super::number::{Amount, Kind, amount};
use super::value::called;

/// A colour and where it stands, 0 to 1; several places if it reaches from one to another.
struct Stop {
    /// `None` in it for a colour that cannot be known; nothing for a place between two colours.
    ink: Option<Option<Ink>>,
    at: Option<Amount>,
}

/// The colour that a gradient has throughout, or nearly so, in boxes of any size.
pub(super) fn flat(item: &[Part<'_>]) -> Option<Ink> {
    let small = most(&samples(item, least(item))?)?;
    let large = most(&samples(item, LARGE_PIXELS)?)?;
    small.is_like(large).then_some(large)
}

/// Is nothing of it seen, or hardly anything, in boxes of any size?
pub(super) fn is_clear(item: &[Part<'_>]) -> bool {
    let clear = |pixels: f64| {
        samples(item, pixels)
            .is_some_and(|it| is_nearly_all(it.iter().filter(|it| it.is_clear()).count()))
    };
    clear(least(item)) && clear(LARGE_PIXELS)
}

/// How small the box may be along the gradient: a line of text is wide and low.
fn least(item: &[Part<'_>]) -> f64 {
    let Some((name, inside)) = called(item) else { return LOW_PIXELS };
    let way: Vec<&[Part<'_>]> =
        split(inside, ',').next().map(|it| components(it).collect()).unwrap_or_default();
    let is = |word: &str| way.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    let turned = way.first().and_then(|it| amount(it)).filter(|it| it.kind == Kind::Angle);
    let across = is("left") || is("right") || turned.is_some_and(|it| it.value % 180.0 != 0.0);
    if across || !name.contains("linear") { NARROW_PIXELS } else { LOW_PIXELS }
}

/// The colour in the middle, if nearly all others are like it.
fn most(inks: &[Ink]) -> Option<Ink> {
    let middle = *inks.get(inks.len() / 2)?;
    is_nearly_all(inks.iter().filter(|it| it.is_like(middle)).count()).then_some(middle)
}

fn is_nearly_all(count: usize) -> bool {
    count + STRAY_SAMPLES >= SAMPLES
}

/// The colours at places from its beginning to its end, in a box of so many pixels. Nothing if one is not known.
fn samples(item: &[Part<'_>], pixels: f64) -> Option<Vec<Ink>> {
    let (name, inside) = called(item).filter(|it| it.0.ends_with("gradient"))?;
    let stops = placed(&stops(inside)?, pixels)?;
    let (first, last) = (stops.first()?, stops.last()?);
    let again = name.contains("repeating") && last.1 > first.1;
    let samples = (0_u32..).take(SAMPLES).map(|it| {
        let at = (f64::from(it) + 0.5) / SAMPLES_F;
        let at = if again { first.1 + (at - first.1).rem_euclid(last.1 - first.1) } else { at };
        seen_at(&stops, at)
    });
    Some(samples.collect())
}

/// The colours and places between commas; what says where it leads has neither.
fn stops(inside: &[Part<'_>]) -> Option<Vec<Stop>> {
    let mut stops: Vec<Stop> = Vec::new();
    for (index, part) in split(inside, ',').enumerate() {
        let mut items = components(part).peekable();
        let ink = components(part).find_map(|it| Ink::read(it, false));
        let leads = items.peek().and_then(|it| it.first()).is_some_and(|it| it.word().is_some());
        if ink.is_none() && (index == 0 || leads) {
            continue;
        }
        let is_ink = |it: &&[Part<'_>]| Ink::read(it, false).is_some();
        let places: Vec<Amount> = items.filter(|it| !is_ink(it)).filter_map(amount).collect();
        if places.is_empty() {
            stops.push(Stop { ink, at: None });
        }
        stops.extend(places.iter().map(|it| Stop { ink, at: Some(*it) }));
        if stops.len() > STOPS_MAX {
            return None;
        }
    }
    (!stops.is_empty()).then_some(stops)
}

/// With a place for each, none before the one that comes first, as browsers have it.
fn placed(stops: &[Stop], pixels: f64) -> Option<Vec<(Option<Ink>, f64)>> {
    let place = |it: Amount| match it.kind {
        Kind::Share => it.value / 100.0,
        Kind::Angle => it.value / 360.0,
        Kind::Length | Kind::Plain => it.share / 100.0 + (it.value - it.share * 10.0) / pixels,
    };
    let last = stops.len() - 1;
    let mut found: Vec<(Option<Ink>, Option<f64>)> = Vec::new();
    let mut least = f64::NEG_INFINITY;
    for (index, stop) in stops.iter().enumerate() {
        // A colour that cannot be known.
        if stop.ink == Some(None) {
            return None;
        }
        let usual = match index {
            0 => Some(0.0),
            _ if index == last => Some(1.0),
            _ => None,
        };
        let at = stop.at.map(place).or(usual).map(|it| it.max(least));
        least = at.unwrap_or(least);
        found.push((stop.ink.flatten(), at));
    }
    spread(&found)
}

/// Those without a place stand as far from each other as from what is around them.
fn spread(found: &[(Option<Ink>, Option<f64>)]) -> Option<Vec<(Option<Ink>, f64)>> {
    let mut all: Vec<(Option<Ink>, f64)> = Vec::new();
    for (index, (ink, at)) in found.iter().enumerate() {
        let at = match at {
            Some(at) => *at,
            None => {
                let before = all.last()?.1;
                let rest = found.get(index..)?;
                let ahead = rest.iter().position(|it| it.1.is_some())?;
                let next = rest.get(ahead)?.1?;
                before + (next - before) / f64::from(u32::try_from(ahead + 1).ok()?)
            }
        };
        all.push((*ink, at));
    }
    Some(all)
}

fn seen_at(stops: &[(Option<Ink>, f64)], at: f64) -> Ink {
    let inks = || stops.iter().enumerate().filter_map(|(index, it)| Some((index, it.0?, it.1)));
    let before = inks().rfind(|it| it.2 <= at);
    let after = inks().find(|it| it.2 > at);
    match (before, after) {
        (Some((index, from, start)), Some((next, to, end))) => {
            let share = (at - start) / (end - start);
            // A place between two colours is where half of each is seen.
            let hint = stops.get(index + 1..next).and_then(<[_]>::first);
            let share = hint.map_or(share, |it| {
                let half = ((it.1 - start) / (end - start)).clamp(0.0, 1.0);
                if half <= 0.0 {
                    1.0
                } else if half >= 1.0 {
                    0.0
                } else {
                    share.powf(0.5_f64.ln() / half.ln())
                }
            });
            to.mixed(from, share)
        }
        (Some((_, ink, _)), None) | (None, Some((_, ink, _))) => ink,
        (None, None) => Ink::CLEAR,
    }
}

/// Places of a gradient that are looked at, and how many of them may look otherwise.
const SAMPLES: usize = 100;
const SAMPLES_F: f64 = 100.0;
const STRAY_SAMPLES: usize = 5;
/// Colours of a gradient.
const STOPS_MAX: usize = 64;
/// How high a line of text is, how wide at least, and how wide a page.
const LOW_PIXELS: f64 = 20.0;
const NARROW_PIXELS: f64 = 200.0;
const LARGE_PIXELS: f64 = 1280.0;

#[cfg(test)]
mod tests {
    use super::super::css::tokens;
    use super::*;

    #[test]
    fn what_is_nearly_one_colour_is_that_colour() {
        let read = |text: &str| flat(&tokens(text));
        let white = Ink::read(&tokens("white"), false).flatten();
        for text in [
            "linear-gradient(white, white)",
            "linear-gradient(white 0 100%, black 100%)",
            "linear-gradient(black 0%, white 0%)",
            "linear-gradient(to right, #000 -50%, #fff -10%)",
            "linear-gradient(white, #fefefe 3%, #fff 10%)",
            "conic-gradient(white 359deg, black)",
            "linear-gradient(black, 0%, white)",
            "repeating-linear-gradient(white 0 99px, black 99px 100px)",
        ] {
            assert_eq!(read(text), white, "{text}");
        }
        for text in [
            "linear-gradient(black, white)",
            "linear-gradient(90deg, #06c 60%, #fff)",
            "linear-gradient(transparent 60%, #ff0 60%)",
            "linear-gradient(black 20px, white 20px)",
            "linear-gradient(transparent, white 97%)",
            "url(x.png)",
            "linear-gradient()",
            "repeating-linear-gradient(white 0 10px, black 10px 20px)",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(is_clear(&tokens("linear-gradient(transparent 99%, black)")));
        assert!(!is_clear(&tokens("linear-gradient(black, transparent)")));
    }
}
