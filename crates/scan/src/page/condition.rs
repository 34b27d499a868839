//! Conditions of rules: `@media` and `@supports`, for a browser with a screen of 1280 by 720 pixels.

use cssparser::{Parser, Token};

use super::property::{declare, longhands};
use super::value::{Length, SCREEN_HEIGHT, SCREEN_WIDTH, block, length, list};

/// Does it hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    No,
    Maybe,
    Yes,
}

impl std::ops::Not for Sure {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Sure {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Does one of the media queries hold?
pub(super) fn media(text: &str) -> Sure {
    if text.trim().is_empty() {
        return Sure::Yes;
    }
    let all = list(&mut Parser::new(text), |it| {
        let found = query(it);
        while it.next().is_ok() {}
        Some(found)
    });
    all.and_then(|it| it.into_iter().max()).unwrap_or(Sure::Maybe)
}

/// Does a condition of `@supports` hold?
pub(super) fn supports(text: &str) -> Sure {
    whole(&mut Parser::new(text), &supported)
}

fn query(input: &mut Parser<'_>) -> Sure {
    let not = input.try_parse(|it| it.expect_ident_matching("not")).is_ok();
    let _ = input.try_parse(|it| it.expect_ident_matching("only"));
    let kind = match input.try_parse(|it| it.expect_ident_cloned()) {
        Ok(kind) => {
            let _ = input.try_parse(|it| it.expect_ident_matching("and"));
            Sure::from(matches!(kind.to_ascii_lowercase().as_str(), "all" | "screen"))
        }
        Err(_) => Sure::Yes,
    };
    let rest = if input.is_exhausted() { Sure::Yes } else { whole(input, &feature) };
    let both = kind.min(rest);
    if not { !both } else { both }
}

/// `not a`, `a and b`, `a or b`, with `leaf` for what stands in brackets.
fn whole(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    let mut all = one(input, leaf);
    while let Ok(word) = input.try_parse(|it| it.expect_ident_cloned()) {
        let next = one(input, leaf);
        all = match word.to_ascii_lowercase().as_str() {
            "and" => all.min(next),
            "or" => all.max(next),
            _ => Sure::Maybe,
        };
    }
    if input.is_exhausted() { all } else { Sure::Maybe }
}

fn one(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    if input.try_parse(|it| it.expect_ident_matching("not")).is_ok() {
        return !bracketed(input, leaf);
    }
    bracketed(input, leaf)
}

fn bracketed(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    if input.try_parse(|it| it.expect_parenthesis_block()).is_err() {
        // A function, such as `selector()`, or something unknown.
        let _ = input.next();
        return Sure::Maybe;
    }
    let inside = block(input, |it| {
        let start = it.state();
        let first = it.next().cloned();
        it.reset(&start);
        let nested = match &first {
            Ok(Token::Ident(word)) => word.eq_ignore_ascii_case("not"),
            Ok(first) => matches!(first, Token::ParenthesisBlock),
            Err(_) => false,
        };
        if nested {
            return whole(it, leaf);
        }
        while it.next().is_ok() {}
        leaf(it.slice_from(start.position()))
    });
    inside.unwrap_or(Sure::Maybe)
}

/// `property: value`.
fn supported(text: &str) -> Sure {
    let Some((name, value)) = text.split_once(':') else { return Sure::Maybe };
    let name = name.trim().to_ascii_lowercase();
    if longhands(&name).is_empty() { Sure::Maybe } else { declare(&name, value).is_some().into() }
}

/// `(min-width: 48rem)`, `(width >= 600px)`, `(prefers-color-scheme: dark)`.
fn feature(text: &str) -> Sure {
    let text = text.trim().to_ascii_lowercase();
    if let Some((name, value)) = text.split_once(':') {
        let (name, value) = (name.trim(), value.trim());
        let size = name.trim_start_matches("min-").trim_start_matches("max-");
        let screen = match size.trim_start_matches("device-") {
            "width" => SCREEN_WIDTH,
            "height" => SCREEN_HEIGHT,
            _ => return said(name, value),
        };
        let Some(long) = pixels(value) else { return Sure::Maybe };
        return match name.get(..4) {
            Some("min-") => screen >= long,
            Some("max-") => screen <= long,
            Some(_) | None => (screen - long).abs() < 1.0,
        }
        .into();
    }
    match text.as_str() {
        "color" | "width" | "height" | "hover" | "pointer" | "any-hover" | "any-pointer" => {
            return Sure::Yes;
        }
        "monochrome" | "grid" => return Sure::No,
        _ => {}
    }
    range(&text).map_or(Sure::Maybe, Sure::from)
}

/// A range of widths or heights: `width > 1px`, `1px <= width < 2px`.
fn range(text: &str) -> Option<bool> {
    let mut sides = text.split(['<', '>']).map(|it| it.trim_start_matches('=').trim());
    let signs: Vec<(char, bool)> = text
        .match_indices(['<', '>'])
        .map(|(at, sign)| {
            (
                sign.chars().next().unwrap_or('<'),
                text.get(at + 1..).is_some_and(|it| it.starts_with('=')),
            )
        })
        .collect();
    let mut left = side(sides.next()?)?;
    let mut holds = !signs.is_empty();
    for (sign, or_same) in signs {
        let right = side(sides.next()?)?;
        holds &=
            (or_same && left == right) || if sign == '<' { left < right } else { left > right };
        left = right;
    }
    Some(holds)
}

fn side(text: &str) -> Option<f32> {
    match text {
        "width" => Some(SCREEN_WIDTH),
        "height" => Some(SCREEN_HEIGHT),
        _ => pixels(text),
    }
}

fn pixels(text: &str) -> Option<f32> {
    let mut input = Parser::new(text);
    length(&mut input).filter(|_| input.is_exhausted()).map(Length::about)
}

/// Features of a browser on an ordinary desk.
fn said(name: &str, value: &str) -> Sure {
    match (name, value) {
        ("hover" | "any-hover", _) => (value == "hover").into(),
        ("pointer" | "any-pointer", _) => (value == "fine").into(),
        ("orientation", _) => (value == "landscape").into(),
        ("prefers-color-scheme", _) => (value == "light").into(),
        (
            "prefers-reduced-motion"
            | "prefers-contrast"
            | "prefers-reduced-transparency"
            | "prefers-reduced-data",
            _,
        ) => (value == "no-preference").into(),
        ("forced-colors" | "inverted-colors", _) => (value == "none").into(),
        ("scripting", _) => (value == "enabled").into(),
        ("display-mode", _) => (value == "browser").into(),
        _ => Sure::Maybe,
    }
}
