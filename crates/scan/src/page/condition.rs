//! Conditions around rules: do they hold on an ordinary screen? What is not understood may hold.

use super::css::{Part, Token, components, inside, split, tokens, trim};
use super::fit::Sure;
use super::number::{Kind, amount};
use super::own::Own;
use super::selector::List;
use super::value::{SCREEN_PIXELS, SCREEN_PIXELS_DOWN, is_known, read};

/// Does a list of media queries hold?
pub(super) fn media(queries: &[Part<'_>]) -> Sure {
    let queries = trim(queries);
    if queries.is_empty() {
        return Sure::Yes;
    }
    split(queries, ',').map(|it| query(trim(it))).max().unwrap_or(Sure::Maybe)
}

/// The same of the attribute `media`.
pub(super) fn media_of(text: &str) -> Sure {
    media(&tokens(text))
}

fn query(parts: &[Part<'_>]) -> Sure {
    let words: Vec<&[Part<'_>]> = components(parts).collect();
    let word =
        |at: usize| words.get(at).and_then(|it| it.first()?.word()).map(str::to_ascii_lowercase);
    let (turned, skipped) = match word(0).as_deref() {
        Some("not") if word(1).is_some() => (true, 1),
        Some("only") => (false, 1),
        Some("not") | None => return boolean(parts, &feature, 0),
        Some(_) => (false, 0),
    };
    let kind = match word(skipped).as_deref() {
        Some("all" | "screen") => Sure::Yes,
        Some(_) => Sure::No,
        None => return Sure::Maybe,
    };
    let rest = words.get(skipped + 1..).unwrap_or_default();
    let held = match rest.split_first() {
        None => Sure::Yes,
        Some((and, _)) if !and.first().is_some_and(|it| it.is_word("and")) => return Sure::No,
        Some((_, rest)) => {
            let first = rest.first().and_then(|it| it.first()).map(|it| it.at);
            let from = parts.iter().position(|it| Some(it.at) == first);
            from.and_then(|it| parts.get(it..)).map_or(Sure::No, |it| boolean(it, &feature, 0))
        }
    };
    let held = kind.min(held);
    if turned { turn(held) } else { held }
}

/// Does a condition of `@supports` hold?
pub(super) fn supports(parts: &[Part<'_>]) -> Sure {
    boolean(parts, &supported, 0)
}

/// Does a condition of `if()` hold for an element whose own properties these are?
pub(super) fn chosen(parts: &[Part<'_>], own: &Own) -> Sure {
    if matches!(parts, [one] if one.is_word("else")) {
        return Sure::Yes;
    }
    let leaf = |one: &[Part<'_>]| {
        let Some(name) = one.first().and_then(Part::call) else { return Sure::Maybe };
        let within = trim(inside(one));
        match name.to_ascii_lowercase().as_str() {
            "media" if is_bracket(within) => boolean(within, &feature, 0),
            "media" => feature(within),
            "supports" => supported(within),
            "style" => styled(within, own),
            _ => Sure::Maybe,
        }
    };
    // By its kind no screen can be asked for here: neither that nor its opposite holds.
    let mut asked = components(parts).filter(|it| {
        it.first().and_then(Part::call).is_some_and(|it| it.eq_ignore_ascii_case("media"))
    });
    if asked.any(|it| !is_feature(trim(inside(it)))) {
        return Sure::No;
    }
    boolean(parts, &leaf, 0)
}

/// Is it what a screen says of itself, and not which kind of screen it is?
fn is_feature(parts: &[Part<'_>]) -> bool {
    let compares = |it: &Part<'_>| matches!(it.sign(), Some('<' | '>' | '=' | ':'));
    let named = |it: &str| measure(it).is_some() || SCREEN.iter().any(|one| one.0 == it);
    let word = parts.first().and_then(Part::word).map(str::to_ascii_lowercase);
    let kind = parts.iter().any(|it| it.is_word("and"))
        && parts.first().is_some_and(|it| it.word().is_some());
    is_bracket(parts) || word.is_some_and(|it| named(&it)) || (parts.iter().any(compares) && !kind)
}

fn is_bracket(parts: &[Part<'_>]) -> bool {
    parts.first().is_some_and(|it| it.is('('))
}

/// `style(--name: value)`: does a property of the page's own stand for this?
fn styled(parts: &[Part<'_>], own: &Own) -> Sure {
    let Some(name) = parts.first().and_then(Part::word).filter(|it| it.starts_with("--")) else {
        return Sure::Maybe;
    };
    let surely = |it: bool| if it { Sure::Yes } else { Sure::No };
    let found = own.get(name);
    let Some((sign, value)) = trim(parts.get(1..).unwrap_or_default()).split_first() else {
        return surely(found.is_some());
    };
    if !sign.is(':') || value.iter().any(|it| it.call().is_some()) {
        return Sure::Maybe;
    }
    let plain = |parts: &[Part<'_>]| -> Vec<String> {
        let solid = parts.iter().filter(|it| !it.is_space());
        solid.map(|it| format!("{:?}", it.token)).collect()
    };
    surely(found.is_some_and(|it| plain(&tokens(it)) == plain(value)))
}

fn turn(sure: Sure) -> Sure {
    match sure {
        Sure::Yes => Sure::No,
        Sure::Maybe => Sure::Maybe,
        Sure::No => Sure::Yes,
    }
}

/// `not (a)`, `(a) and (b)`, `(a) or ((b) and (c))`.
fn boolean(parts: &[Part<'_>], leaf: &dyn Fn(&[Part<'_>]) -> Sure, depth: usize) -> Sure {
    let mut held: Option<Sure> = None;
    let (mut negated, mut any) = (false, false);
    for one in components(parts) {
        let Some(first) = one.first() else { continue };
        if let Some(word) = first.word() {
            match word.to_ascii_lowercase().as_str() {
                "not" => negated = true,
                "and" => any = false,
                "or" => any = true,
                _ => return Sure::Maybe,
            }
            continue;
        }
        let within = inside(one);
        let nested = components(within)
            .next()
            .and_then(|it| it.first())
            .is_some_and(|it| it.is('(') || it.is_word("not") || is_test(it));
        let mut found = match first.sign() {
            Some('(') if nested && depth < DEPTH_MAX => boolean(within, leaf, depth + 1),
            Some('(') if nested => Sure::Maybe,
            Some('(') => leaf(within),
            Some(_) | None if is_test(first) => leaf(one),
            Some(_) | None => return Sure::Maybe,
        };
        if std::mem::take(&mut negated) {
            found = turn(found);
        }
        held = Some(match held {
            None => found,
            Some(before) if any => before.max(found),
            Some(before) => before.min(found),
        });
    }
    held.unwrap_or(Sure::Maybe)
}

/// A test that is written like a function: `selector(…)`.
fn is_test(part: &Part<'_>) -> bool {
    let Token::Call(name) = &part.token else { return false };
    [
        "selector",
        "font-tech",
        "font-format",
        "at-rule",
        "style",
        "scroll-state",
        "media",
        "supports",
    ]
    .iter()
    .any(|it| name.eq_ignore_ascii_case(it))
}

fn supported(parts: &[Part<'_>]) -> Sure {
    let parts = trim(parts);
    if let Some(Token::Call(name)) = parts.first().map(|it| &it.token) {
        if !name.eq_ignore_ascii_case("selector") {
            return Sure::Maybe;
        }
        return match List::of_rule(inside(parts), None) {
            None => Sure::No,
            Some(list) if list.doubtful => Sure::Maybe,
            Some(_) => Sure::Yes,
        };
    }
    let Some(name) = parts.first().and_then(Part::word) else { return Sure::Maybe };
    let Some(colon) = parts.iter().position(|it| it.is(':')) else { return Sure::No };
    let name = name.to_ascii_lowercase();
    let mut said = name.starts_with("--") || USUAL.contains(&name.as_str());
    if is_known(&name) {
        read(&name, trim(parts.get(colon + 1..).unwrap_or_default()), false, |_| said = true);
    }
    if said { Sure::Yes } else { Sure::Maybe }
}

/// `min-width: 600px`, `400px < width <= 700px`, `hover`.
fn feature(parts: &[Part<'_>]) -> Sure {
    let items: Vec<&[Part<'_>]> = components(parts).collect();
    let sign = |it: &&[Part<'_>]| it.first().and_then(Part::sign);
    if items.iter().any(|it| matches!(sign(it), Some('<' | '>' | '='))) {
        return range(&items);
    }
    let Some(name) = items.first().and_then(|it| it.first()?.word()).map(str::to_ascii_lowercase)
    else {
        return Sure::Maybe;
    };
    let value = items.get(2).filter(|_| items.get(1).and_then(sign) == Some(':'));
    let surely = |it: bool| if it { Sure::Yes } else { Sure::No };
    if let Some((limit, dimension)) =
        name.split_once('-').filter(|it| matches!(it.0, "min" | "max"))
        && let Some(own) = measure(dimension)
    {
        let Some(value) = value.and_then(|it| pixels(it)) else { return Sure::No };
        return surely(if limit == "min" { own >= value } else { own <= value });
    }
    if let Some(own) = measure(&name) {
        return match value {
            Some(value) => pixels(value).map_or(Sure::No, |it| surely(own == it)),
            None => Sure::Yes,
        };
    }
    let Some((_, own)) = SCREEN.iter().find(|it| it.0 == name) else { return Sure::Maybe };
    match value.and_then(|it| it.first()) {
        Some(value) => surely(own.iter().any(|it| value.is_word(it))),
        None => surely(own.first().is_some_and(|it| !matches!(*it, "none" | "no-preference"))),
    }
}

fn measure(name: &str) -> Option<f64> {
    match name {
        "width" | "device-width" | "inline-size" => Some(SCREEN_PIXELS),
        "height" | "device-height" | "block-size" => Some(SCREEN_PIXELS_DOWN),
        _ => None,
    }
}

fn pixels(item: &[Part<'_>]) -> Option<f64> {
    let found = amount(item)?;
    (found.kind == Kind::Length || found.value == 0.0).then_some(found.value)
}

fn range(items: &[&[Part<'_>]]) -> Sure {
    let mut sides: Vec<f64> = Vec::new();
    let mut signs: Vec<String> = vec![String::new()];
    for item in items {
        let Some(first) = item.first() else { continue };
        if let Token::Sign(sign @ ('<' | '>' | '=')) = first.token {
            if let Some(last) = signs.last_mut() {
                last.push(sign);
            }
            continue;
        }
        let own = first.word().and_then(|it| measure(&it.to_ascii_lowercase()));
        let Some(side) = own.or_else(|| pixels(item)) else { return Sure::Maybe };
        if !sides.is_empty() {
            signs.push(String::new());
        }
        sides.push(side);
    }
    let held = sides.windows(2).zip(&signs).all(|(pair, sign)| match (pair, sign.as_str()) {
        ([a, b], "<") => a < b,
        ([a, b], "<=") => a <= b,
        ([a, b], ">") => a > b,
        ([a, b], ">=") => a >= b,
        ([a, b], "=") => a == b,
        _ => false,
    });
    if held { Sure::Yes } else { Sure::No }
}

/// What an ordinary screen says of itself. The first word counts where none is asked for.
const SCREEN: &[(&str, &[&str])] = &[
    ("any-hover", &["hover"]),
    ("any-pointer", &["fine"]),
    ("color", &["color"]),
    ("color-gamut", &["srgb"]),
    ("display-mode", &["browser"]),
    ("dynamic-range", &["standard"]),
    ("forced-colors", &["none"]),
    ("hover", &["hover"]),
    ("inverted-colors", &["none"]),
    ("orientation", &["landscape"]),
    ("pointer", &["fine"]),
    ("prefers-color-scheme", &["light"]),
    ("prefers-contrast", &["no-preference"]),
    ("prefers-reduced-data", &["no-preference"]),
    ("prefers-reduced-motion", &["no-preference"]),
    ("prefers-reduced-transparency", &["no-preference"]),
    ("scripting", &["enabled"]),
    ("update", &["fast"]),
];

/// Properties that `@supports` asks for and that every browser has.
const USUAL: &[&str] = &[
    "align-items",
    "animation",
    "appearance",
    "aspect-ratio",
    "backdrop-filter",
    "-webkit-backdrop-filter",
    "column-gap",
    "flex",
    "flex-wrap",
    "gap",
    "grid",
    "grid-area",
    "grid-template-areas",
    "grid-template-columns",
    "grid-template-rows",
    "justify-content",
    "object-fit",
    "object-position",
    "row-gap",
    "scroll-behavior",
    "scroll-snap-type",
    "text-decoration-color",
    "transition",
    "will-change",
    "-webkit-appearance",
    "-webkit-overflow-scrolling",
    "-webkit-line-clamp",
];

/// Conditions within conditions.
const DEPTH_MAX: usize = 8;
