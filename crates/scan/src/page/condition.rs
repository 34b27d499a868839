//! Conditions of rules: `@media` and `@supports`, for a browser with a screen of 1280 by 720 pixels.

use cssparser::{Parser, Token};

use super::property::Style;
use super::value::{
    FONT_PX, SCREEN_HEIGHT, SCREEN_WIDTH, Units, attempt, block, is_one_of, length, list, rest,
    word,
};

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
        rest(it);
        Some(found)
    });
    all.and_then(|it| it.into_iter().max()).unwrap_or(Sure::Maybe)
}

/// Does a condition of `@supports` hold?
pub(super) fn supports(text: &str) -> Sure {
    whole(&mut Parser::new(text), &|text| {
        let Some((name, value)) = text.split_once(':') else { return Sure::Maybe };
        let name = name.trim().to_ascii_lowercase();
        let known = Style::default().declare(&name, value, &Style::default(), FONT_PX);
        known.map_or(Sure::Maybe, |()| Sure::Yes)
    })
}

fn query(input: &mut Parser<'_>) -> Sure {
    let not = attempt(input, |it| it.expect_ident_matching("not").ok()).is_some();
    let _ = attempt(input, |it| it.expect_ident_matching("only").ok());
    let kind = word(input).map_or(Sure::Yes, |it| is_one_of("all screen", &it).into());
    let _ = attempt(input, |it| it.expect_ident_matching("and").ok());
    let both = if input.is_exhausted() { kind } else { kind.min(whole(input, &feature)) };
    if not { !both } else { both }
}

/// `not a`, `a and b`, `a or b`, with `leaf` for what stands in brackets.
fn whole(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    let mut all = one(input, leaf);
    while let Some(word) = word(input) {
        let next = one(input, leaf);
        all = match word.as_str() {
            "and" => all.min(next),
            "or" => all.max(next),
            _ => Sure::Maybe,
        };
    }
    if input.is_exhausted() { all } else { Sure::Maybe }
}

fn one(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    if attempt(input, |it| it.expect_ident_matching("not").ok()).is_some() {
        return !bracketed(input, leaf);
    }
    bracketed(input, leaf)
}

fn bracketed(input: &mut Parser<'_>, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    if !matches!(input.next(), Ok(Token::ParenthesisBlock)) {
        // A function, such as `selector()`, or something unknown.
        return Sure::Maybe;
    }
    let inside = block(input, |it| {
        let start = it.state();
        let first = it.next().cloned();
        it.reset(&start);
        match first {
            Ok(Token::ParenthesisBlock) => whole(it, leaf),
            Ok(Token::Ident(word)) if word.eq_ignore_ascii_case("not") => whole(it, leaf),
            _ => leaf(rest(it)),
        }
    });
    inside.unwrap_or(Sure::Maybe)
}

/// `(min-width: 48rem)`, `(600px <= width)`, `(prefers-color-scheme: dark)`.
fn feature(text: &str) -> Sure {
    let text = text.trim().to_ascii_lowercase();
    let Some((name, value)) = text.split_once(':') else { return range(&text) };
    let (name, value) = (name.trim().replace("device-", ""), value.trim());
    match name.split_once('-') {
        Some(("min", side)) => range(&format!("{side}>={value}")),
        Some(("max", side)) => range(&format!("{side}<={value}")),
        _ if is_one_of(FEATURES, &format!("{name}:{value}")) => Sure::Yes,
        _ if FEATURES.contains(&format!(" {name}:")) => Sure::No,
        _ => Sure::Maybe,
    }
}

/// A range of widths or heights: `width > 1px`, `1px <= width < 2px`.
fn range(text: &str) -> Sure {
    let mut sides = text.split(['<', '>']).map(|it| side(it.trim_start_matches('=').trim()));
    let mut left = sides.next().flatten();
    let mut all = if text.contains(['<', '>']) { Sure::Yes } else { Sure::Maybe };
    for (at, sign) in text.match_indices(['<', '>']) {
        let right = sides.next().flatten();
        let or_same = text.get(at + 1..).is_some_and(|it| it.starts_with('='));
        let (Some(one), Some(other)) = (left, right) else { return Sure::Maybe };
        let holds =
            (or_same && one == other) || if sign == "<" { one < other } else { one > other };
        all = all.min(holds.into());
        left = right;
    }
    all
}

fn side(text: &str) -> Option<f32> {
    match text {
        "width" => Some(SCREEN_WIDTH),
        "height" => Some(SCREEN_HEIGHT),
        _ => {
            let mut input = Parser::new(text);
            let found = length(&mut input, Units { font: FONT_PX, root: FONT_PX });
            found.filter(|_| input.is_exhausted()).map(|it| it.px)
        }
    }
}

/// Features of a browser on an ordinary desk.
const FEATURES: &str = " hover:hover any-hover:hover pointer:fine any-pointer:fine orientation:landscape \
    prefers-color-scheme:light prefers-reduced-motion:no-preference prefers-contrast:no-preference \
    prefers-reduced-transparency:no-preference prefers-reduced-data:no-preference forced-colors:none \
    inverted-colors:none scripting:enabled display-mode:browser";
