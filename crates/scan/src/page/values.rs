//! Values of properties, each as its property has them.

use std::rc::Rc;

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::colour::{Colour, Image, Paint, image, paint};
use super::property::{Property, Value, Word};
use super::value::{FONT_PX, Length, Transform, block, length, list, number, shape_is_empty};

type Values = Option<Vec<(Property, Value)>>;

/// Parses the value of a property by the name under which it was declared.
pub(super) fn values(name: &str, all: &[Property], input: &mut Parser<'_>) -> Values {
    use Property as P;
    let [property, rest @ ..] = all else { return None };
    let value = match property {
        P::BackgroundColor if !rest.is_empty() => return background(input),
        P::FlexGrow if !rest.is_empty() => return flex(input),
        P::TextStrokeWidth => return text_stroke(rest, input),
        P::OverflowX | P::OverflowY => return overflow(all, input),
        P::Top | P::Right | P::Bottom | P::Left => return sides(all, input),
        P::MarginTop | P::MarginRight | P::MarginBottom | P::MarginLeft => {
            return sides(all, input);
        }
        P::PaddingTop | P::PaddingRight | P::PaddingBottom | P::PaddingLeft => {
            return sides(all, input);
        }
        P::BackgroundColor | P::Color | P::TextFillColor | P::TextStrokeColor => {
            Value::Paint(paint(input)?)
        }
        P::BackgroundImage => Value::Image(images(input)?),
        P::Opacity | P::FlexGrow => Value::Number(number(input)?),
        P::Zoom => Value::Number(attempt(input, number).or_else(|| word(input).map(|_| 1.0))?),
        P::Filter => filter(input)?,
        P::FontSize if name == "font" => font(input)?,
        P::FontSize => font_size(input)?,
        P::LineHeight => match attempt(input, number) {
            Some(em) => Value::Length(Length { em, ..Length::default() }),
            None => size(input)?,
        },
        P::Clip | P::ClipPath => clip(input)?,
        P::Transform => transform(input, |it| {
            let mut whole = Transform::NONE;
            while !it.is_exhausted() {
                whole = whole.then(Transform::parse(it)?);
            }
            Some(whole)
        })?,
        P::Translate => transform(input, Transform::translate)?,
        P::Scale => transform(input, Transform::scale)?,
        P::TextShadow => text_shadow(input)?,
        P::Animation => animation(name, input),
        P::Width | P::Height | P::MinWidth | P::MinHeight | P::MaxWidth | P::MaxHeight => {
            size(input)?
        }
        P::FlexBasis | P::TextIndent => size(input)?,
        P::BackgroundClip | P::BackgroundSize | P::BoxShadow | P::ColorScheme | P::Content => {
            keyword(*property, input)?
        }
        P::ContentVisibility | P::Display | P::FlexDirection | P::MixBlendMode | P::Position => {
            keyword(*property, input)?
        }
        P::TableLayout | P::Visibility => keyword(*property, input)?,
    };
    Some(vec![(*property, value)])
}

/// Tries to parse something, and leaves the input as it was if it is something else.
fn attempt<T>(input: &mut Parser<'_>, parse: impl Fn(&mut Parser<'_>) -> Option<T>) -> Option<T> {
    input.try_parse(|it| parse(it).ok_or(())).ok()
}

/// Parses a word, in small letters.
fn word(input: &mut Parser<'_>) -> Option<String> {
    input.try_parse(|it| it.expect_ident_cloned()).ok().map(|it| it.to_ascii_lowercase())
}

/// Is it one of the words of a list?
fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Keywords of the properties that have nothing else, or of which nothing else matters.
fn keyword(property: Property, input: &mut Parser<'_>) -> Option<Value> {
    use Property as P;
    let mut found = None;
    while !input.is_exhausted() {
        let Some(word) = word(input) else {
            let _ = input.next();
            found = found.or(Some(Word::Other));
            continue;
        };
        let meant = match (property, word.as_str()) {
            (P::Display, "none" | "table-column" | "table-column-group") => Word::None,
            (P::Display, "contents") => Word::Contents,
            (P::Display, "flex" | "inline-flex" | "-webkit-flex") => Word::Flex,
            (P::Display, word) if !is_one_of(DISPLAYS, word) => return None,
            (P::Visibility, "hidden" | "collapse") => Word::Hidden,
            (P::Visibility, word) if word != "visible" => return None,
            (P::ContentVisibility, "hidden") => Word::Hidden,
            (P::Position, "absolute") => Word::Absolute,
            (P::Position, "fixed") => Word::Fixed,
            (P::Position, "relative" | "sticky" | "-webkit-sticky") => Word::Relative,
            (P::Position, word) if word != "static" => return None,
            (P::FlexDirection, "column" | "column-reverse") => Word::Column,
            (P::BackgroundClip, "text") => Word::Text,
            (P::BoxShadow, "inset") => Word::Inset,
            (P::TableLayout, "fixed") => Word::Fixed,
            (P::ColorScheme, "dark") => Word::Dark,
            (P::ColorScheme, "light") => return Some(Value::Word(Word::Other)),
            (P::Content | P::MixBlendMode, "none" | "normal") => Word::None,
            _ => Word::Other,
        };
        found = found.filter(|it| *it != Word::Other).or(Some(meant));
    }
    found.map(Value::Word)
}

fn size(input: &mut Parser<'_>) -> Option<Value> {
    if let Some(found) = attempt(input, length) {
        // `hanging` and `each-line` of an indent.
        while word(input).is_some() {}
        return Some(Value::Length(found));
    }
    if let Some(word) = word(input) {
        let known = is_one_of(SIZES, &word) || word.starts_with('-');
        return known.then_some(Value::Word(Word::Other));
    }
    input.expect_function().ok()?;
    block(input, |_| ())?;
    Some(Value::Unknown)
}

fn sides(all: &[Property], input: &mut Parser<'_>) -> Values {
    let mut found = Vec::new();
    while found.len() < all.len() && !input.is_exhausted() {
        found.push(size(input)?);
    }
    let first = found.first()?;
    let second = found.get(1).unwrap_or(first);
    let of = [first, second, found.get(2).unwrap_or(first), found.get(3).unwrap_or(second)];
    Some(all.iter().zip(of).map(|(property, value)| (*property, value.clone())).collect())
}

fn overflow(all: &[Property], input: &mut Parser<'_>) -> Values {
    let one = |input: &mut Parser<'_>| {
        let word =
            word(input).filter(|it| is_one_of("visible hidden clip scroll auto overlay", it))?;
        Some(Value::Word(if word == "visible" { Word::Other } else { Word::Hidden }))
    };
    let first = one(input)?;
    let of = [first.clone(), one(input).unwrap_or(first)];
    Some(all.iter().copied().zip(of).collect())
}

fn background(input: &mut Parser<'_>) -> Values {
    use Property as P;
    let (mut colour, mut picture) = (Paint::Known(Colour::CLEAR), Image::None);
    let (mut size, mut clip) = (Word::None, Word::Other);
    while !input.is_exhausted() {
        if let Some(found) = attempt(input, paint) {
            colour = found;
        } else if let Some(found) = attempt(input, image) {
            picture = if picture == Image::None { found } else { picture };
        } else if let Some(word) = word(input) {
            is_one_of(BACKGROUNDS, &word).then_some(())?;
            clip = if word == "text" { Word::Text } else { clip };
        } else if matches!(input.next(), Ok(Token::Delim('/'))) {
            size = Word::Other;
        }
    }
    Some(vec![
        (P::BackgroundColor, Value::Paint(colour)),
        (P::BackgroundImage, Value::Image(picture)),
        (P::BackgroundSize, Value::Word(size)),
        (P::BackgroundClip, Value::Word(clip)),
    ])
}

fn images(input: &mut Parser<'_>) -> Option<Image> {
    list(input, image)?.into_iter().next()
}

fn filter(input: &mut Parser<'_>) -> Option<Value> {
    let (mut opacity, mut recolours) = (1.0, false);
    if input.try_parse(|it| it.expect_ident_matching("none")).is_ok() {
        return Some(Value::Filter(opacity, recolours));
    }
    while !input.is_exhausted() {
        if input.try_parse(|it| it.expect_url()).is_ok() {
            recolours = true;
            continue;
        }
        let name = input.expect_function().ok()?.to_ascii_lowercase();
        let share = block(input, number).flatten();
        match name.as_str() {
            "opacity" => opacity *= share.unwrap_or(1.0),
            "drop-shadow" | "blur" | "saturate" => {}
            _ => recolours = true,
        }
    }
    Some(Value::Filter(opacity, recolours))
}

fn flex(input: &mut Parser<'_>) -> Values {
    let (grow, mut basis) = match attempt(input, number) {
        Some(grow) => (grow, Value::Length(Length::default())),
        None => (1.0, Value::Word(Word::Other)),
    };
    let _ = attempt(input, number);
    if !input.is_exhausted() {
        basis = size(input)?;
    }
    Some(vec![(Property::FlexGrow, Value::Number(grow)), (Property::FlexBasis, basis)])
}

fn font_size(input: &mut Parser<'_>) -> Option<Value> {
    if let Some(found) = attempt(input, length) {
        return Some(Value::Length(found));
    }
    let sizes =
        "xx-small x-small small medium large x-large xx-large xxx-large math smaller larger";
    let usual = Value::Length(Length::of_px(FONT_PX));
    word(input).filter(|it| is_one_of(sizes, it)).map(|_| usual)
}

/// The size in `font`: behind words, and before a family.
fn font(input: &mut Parser<'_>) -> Option<Value> {
    let mut words = 0;
    while !input.is_exhausted() {
        if let Some(size) = attempt(input, font_size) {
            if input.try_parse(|it| it.expect_delim('/')).is_ok() {
                let _ = input.next();
            }
            let family = !input.is_exhausted();
            while input.next().is_ok() {}
            return family.then_some(size);
        }
        let _ = input.next();
        words += 1;
    }
    // One word alone is a font of the system.
    (words == 1).then(|| Value::Length(Length::of_px(FONT_PX)))
}

fn clip(input: &mut Parser<'_>) -> Option<Value> {
    let mut empty = false;
    while !input.is_exhausted() {
        if let Some(found) = attempt(input, shape_is_empty) {
            empty |= found;
        } else if let Some(word) = word(input) {
            (is_one_of("auto none", &word) || word.ends_with("-box")).then_some(())?;
        } else {
            input.expect_url().ok()?;
        }
    }
    Some(Value::Clip(empty))
}

fn transform(
    input: &mut Parser<'_>,
    parse: impl Fn(&mut Parser<'_>) -> Option<Transform>,
) -> Option<Value> {
    let none = input.try_parse(|it| it.expect_ident_matching("none")).is_ok();
    Some(Value::Transform(if none { Transform::NONE } else { parse(input)? }))
}

/// The colour of a shadow that can be read in the place of the letters.
fn text_shadow(input: &mut Parser<'_>) -> Option<Value> {
    let mut found = Value::Word(Word::None);
    if input.try_parse(|it| it.expect_ident_matching("none")).is_ok() {
        return Some(found);
    }
    while !input.is_exhausted() {
        let (mut ink, mut places) = (Paint::Current, Vec::new());
        let one = input.parse_until_before(Delimiter::Comma, |it| {
            while !it.is_exhausted() {
                match attempt(it, length) {
                    Some(long) => places.push(long.about()),
                    None => ink = paint(it).ok_or(ParseError::<()>::unexpected_token())?,
                }
            }
            Ok(())
        });
        one.ok()?;
        let near = places.iter().take(2).all(|it| it.abs() <= SHADOW_PX_MAX);
        if near && places.get(2).is_none_or(|it| *it <= BLUR_PX_MAX) {
            found = Value::Paint(ink);
        }
        let _ = input.next();
    }
    Some(found)
}

fn text_stroke(rest: &[Property], input: &mut Parser<'_>) -> Values {
    let (mut width, mut ink) = (Length::default(), Paint::Current);
    while !input.is_exhausted() {
        match attempt(input, length) {
            Some(found) => width = found,
            None if rest.is_empty() => return None,
            None => ink = paint(input)?,
        }
    }
    let width = (Property::TextStrokeWidth, Value::Length(width));
    let ink = rest.first().map(|it| (*it, Value::Paint(ink)));
    Some(std::iter::once(width).chain(ink).collect())
}

fn animation(property: &str, input: &mut Parser<'_>) -> Value {
    let (mut name, mut stays, mut seconds) = (None, false, Vec::new());
    while let Ok(token) = input.next() {
        if let Token::Dimension { value, unit, .. } = token {
            seconds.push(if unit.eq_ignore_ascii_case("ms") { value / 1000.0 } else { *value });
        } else if let Token::Ident(word) = token {
            let word = word.to_ascii_lowercase();
            match word.as_str() {
                "forwards" | "both" => stays = true,
                "alternate" | "alternate-reverse" | "reverse" | "infinite" | "paused" => {
                    seconds.push(f32::INFINITY);
                }
                _ if is_one_of(ANIMATIONS, &word) => {}
                _ => name = Some(Rc::from(word)),
            }
        }
    }
    let soon = seconds.len() <= 2 && seconds.iter().sum::<f32>() <= ANIMATION_SECONDS_MAX;
    let whole = property.ends_with("animation");
    name.filter(|_| whole && stays && soon).map_or(Value::Word(Word::Other), Value::Animation)
}

/// A shadow that lies further away is not read as the text, nor one that is blurred more.
const SHADOW_PX_MAX: f32 = 100.0;
const BLUR_PX_MAX: f32 = 8.0;
/// An animation that takes longer is not waited for.
const ANIMATION_SECONDS_MAX: f32 = 30.0;

/// Words that properties know, beside those that matter.
const DISPLAYS: &str = "block inline inline-block grid inline-grid flow-root flow list-item table inline-table \
    table-row table-cell table-row-group table-header-group table-footer-group table-caption ruby ruby-text ruby-base \
    run-in math -webkit-box -webkit-inline-box -ms-flexbox -ms-grid";
const SIZES: &str = "auto none normal content stretch fit-content min-content max-content";
const BACKGROUNDS: &str = "none repeat no-repeat repeat-x repeat-y space round scroll fixed local center top bottom \
    left right cover contain auto border-box padding-box content-box text";
const ANIMATIONS: &str = "ease linear ease-in ease-out ease-in-out normal running backwards none";
