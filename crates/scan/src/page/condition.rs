//! Conditions of rules: `@media` and `@supports`, for a browser with a screen of 1280 by 720 pixels.

use cssparser::Parser;

use super::property::Style;
use super::value::{FONT_PX, SCREEN_HEIGHT, SCREEN_WIDTH, Units, is_one_of, length};

/// Does it hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    No,
    Maybe,
    Yes,
}

impl Sure {
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }

    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Does one of the media queries hold?
pub(super) fn media(text: &str) -> Sure {
    any(&text.replace(',', " or "), &|text| match text.trim_start_matches("only ") {
        "" | "all" | "screen" => Sure::Yes,
        "print" | "speech" => Sure::No,
        text => text.strip_prefix('(').map_or(Sure::Maybe, |it| feature(it.trim_end_matches(')'))),
    })
}

/// Does a condition of `@supports` hold?
pub(super) fn supports(text: &str) -> Sure {
    any(text, &|text| {
        let inside = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let Some((name, value)) = inside.and_then(|it| it.split_once(':')) else {
            return Sure::Maybe;
        };
        let known = Style::default().declare(name.trim(), value, &Style::default(), FONT_PX);
        known.map_or(Sure::Maybe, |()| Sure::Yes)
    })
}

/// `not a`, `a and b`, `a or b`, with `leaf` for what stands between. What stands in further brackets is not worked out.
fn any(text: &str, leaf: &dyn Fn(&str) -> Sure) -> Sure {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_ascii_lowercase();
    let all = text.split(" or ").map(|text| {
        let rest = text.trim().strip_prefix("not ");
        let parts = rest.unwrap_or(text).split(" and ");
        let all = parts.map(|it| leaf(it.trim())).min().unwrap_or(Sure::Maybe);
        if rest.is_some() { all.not() } else { all }
    });
    all.max().unwrap_or(Sure::Maybe)
}

/// `(min-width: 48rem)`, `(600px <= width)`, `(prefers-color-scheme: dark)`.
fn feature(text: &str) -> Sure {
    let Some((name, value)) = text.split_once(':') else { return range(text) };
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
        all = all.min(Sure::of(holds));
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
