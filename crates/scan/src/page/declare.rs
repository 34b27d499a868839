//! What a declaration of a style sheet says about whether text can be seen.

use super::colour::Ink;

/// One thing that a style says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Said {
    /// A property hides, or says that it does not.
    Switch(Switch, bool),
    /// A colour, or one that cannot be known.
    Colour(Option<Ink>),
    /// A plain background, or one that cannot be known: an image, a gradient.
    Background(Option<Ink>),
}

/// Properties that can hide, each by itself or with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    DisplayNone,
    VisibilityHidden,
    OpacityZero,
    ContentHidden,
    FontTiny,
    IndentFar,
    OutOfFlow,
    LeftFar,
    RightFar,
    TopFar,
    BottomFar,
    MarginFar,
    TransformAway,
    Clipped,
    ClipPathEmpty,
    WidthZero,
    HeightZero,
    WidthLimitZero,
    HeightLimitZero,
    OverflowHidden,
}

/// How many switches there are.
pub(super) const SWITCHES: usize = 20;

/// A declaration that matters here, and whether it is marked as important.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Declaration {
    pub(super) said: Said,
    pub(super) important: bool,
}

/// The declarations of a block or of a `style` attribute.
pub(super) fn declarations(block: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for part in split(&uncomment(block), ';') {
        let Some((name, value)) = part.split_once(':') else { continue };
        let name = plain(name);
        let value = plain(value);
        let (value, important) = match value.rsplit_once('!') {
            Some((value, word)) if word.trim() == "important" => (value.trim(), true),
            Some(_) | None => (value.as_str(), false),
        };
        read(&name, value, |said| found.push(Declaration { said, important }));
    }
    found
}

/// Cuts at `at`, but not inside strings, brackets and escapes.
pub(super) fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    text.split(move |it: char| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match (quote, it) {
            (_, '\\') => escaped = true,
            (Some(open), _) if it == open || it == '\n' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(it),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, _) => return depth == 0 && it == at,
        }
        false
    })
}

/// Lower case, escapes resolved, no blanks at the ends.
fn plain(text: &str) -> String {
    unescape(text).trim().to_lowercase()
}

/// With a blank for each `/* … */` that does not stand in a string.
pub(super) fn uncomment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match quote {
            None if it == '/' && rest.next_if_eq(&'*').is_some() => {
                let mut star = false;
                for it in rest.by_ref() {
                    if star && it == '/' {
                        break;
                    }
                    star = it == '*';
                }
                out.push(' ');
                continue;
            }
            None if it == '"' || it == '\'' => quote = Some(it),
            Some(open) if it == open || it == '\n' => quote = None,
            None | Some(_) => {}
        }
        out.push(it);
        if it == '\\' {
            out.extend(rest.next());
        }
    }
    out
}

/// With `\64 ` and `\:` as what they stand for.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        if it != '\\' {
            out.push(it);
            continue;
        }
        let (mut code, mut digits) = (0, 0);
        while let Some(digit) = rest.peek().and_then(|it| it.to_digit(16)).filter(|_| digits < 6) {
            (code, digits) = (code * 16 + digit, digits + 1);
            rest.next();
        }
        if digits == 0 {
            out.extend(rest.next());
            continue;
        }
        rest.next_if(|it| it.is_ascii_whitespace());
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out
}

fn read(name: &str, value: &str, mut say: impl FnMut(Said)) {
    let mut switch = |which, on| say(Said::Switch(which, on));
    let words = || value.split_ascii_whitespace();
    match name {
        "display" => switch(Switch::DisplayNone, value == "none"),
        "visibility" if value != "inherit" => {
            switch(Switch::VisibilityHidden, value == "hidden" || value == "collapse");
        }
        "opacity" | "-webkit-opacity" | "-moz-opacity" => switch(Switch::OpacityZero, faint(value)),
        "filter" | "-webkit-filter" => {
            let inside = value.split_once("opacity(").and_then(|it| it.1.split(')').next());
            let inside = inside.map(|it| it.rsplit('=').next().unwrap_or(it));
            switch(Switch::OpacityZero, inside.is_some_and(faint));
        }
        "content-visibility" => switch(Switch::ContentHidden, value == "hidden"),
        "font-size" => switch(Switch::FontTiny, tiny(value)),
        "font" => {
            let size =
                words().filter_map(|it| it.split('/').next()).find(|it| length(it).is_some());
            size.into_iter().for_each(|it| switch(Switch::FontTiny, tiny(it)));
        }
        "text-indent" => switch(Switch::IndentFar, far(value).is_some()),
        "position" => switch(Switch::OutOfFlow, value == "absolute" || value == "fixed"),
        "left" | "inset-inline-start" => switch(Switch::LeftFar, far(value).is_some()),
        "right" | "inset-inline-end" => switch(Switch::RightFar, far(value).is_some()),
        "top" | "inset-block-start" => switch(Switch::TopFar, far(value).is_some()),
        "bottom" | "inset-block-end" => switch(Switch::BottomFar, far(value).is_some()),
        "inset" => switch(Switch::LeftFar, words().any(|it| far(it).is_some())),
        "margin" | "margin-left" | "margin-top" | "margin-right" => {
            switch(Switch::MarginFar, words().any(|it| far_by_length(it) == Some(Way::Back)));
        }
        "transform" | "-webkit-transform" | "translate" | "scale" => {
            switch(Switch::TransformAway, moved_away(name, value));
        }
        "clip" => switch(Switch::Clipped, clips_all(value)),
        "clip-path" | "-webkit-clip-path" => switch(Switch::ClipPathEmpty, path_is_empty(value)),
        "width" | "inline-size" => switch(Switch::WidthZero, tiny(value)),
        "height" | "block-size" => switch(Switch::HeightZero, tiny(value)),
        "max-width" | "max-inline-size" => switch(Switch::WidthLimitZero, tiny(value)),
        "max-height" | "max-block-size" => switch(Switch::HeightLimitZero, tiny(value)),
        "overflow" | "overflow-x" | "overflow-y" => {
            switch(Switch::OverflowHidden, words().any(|it| it == "hidden" || it == "clip"));
        }
        "color" | "-webkit-text-fill-color" if value != "inherit" => {
            say(Said::Colour(Ink::parse(value)))
        }
        "background" | "background-color" | "background-image" => {
            say(Said::Background(paint(value)))
        }
        _ => {}
    }
}

/// A plain colour, or nothing that can be known.
fn paint(value: &str) -> Option<Ink> {
    if value == "none" {
        return Ink::parse("transparent");
    }
    let plain = !["url(", "gradient(", "image(", "image-set("].iter().any(|it| value.contains(it));
    plain.then(|| split(value, ' ').find_map(Ink::parse)).flatten()
}

/// A length in pixels, roughly; a bare number counts, as browsers take it in old pages.
fn length(value: &str) -> Option<f64> {
    let value = value.trim();
    let end = value.find(|it: char| it.is_ascii_alphabetic() || it == '%').unwrap_or(value.len());
    // An exponent is not a unit, and nobody writes one.
    let (number, unit) = value.split_at_checked(end)?;
    let number = number.trim().parse::<f64>().ok()?;
    let pixels = match unit {
        "" | "px" => 1.0,
        "em" | "rem" | "ic" | "lh" => 16.0,
        "ex" | "ch" => 8.0,
        "pt" => 1.333,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 37.8,
        "mm" => 3.78,
        "q" => 0.945,
        "%" | "vw" | "vh" | "vmin" | "vmax" | "dvh" | "svh" | "lvh" | "dvw" | "svw" | "lvw"
        | "vi" | "vb" => 10.0,
        _ => return None,
    };
    Some(number * pixels)
}

fn tiny(value: &str) -> bool {
    length(value).is_some_and(|it| it.abs() <= TINY_PIXELS)
}

fn faint(value: &str) -> bool {
    let (number, unit) = match value.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (value.trim(), 1.0),
    };
    number.parse::<f64>().is_ok_and(|it| it / unit < FAINT)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}

/// So far away that it is on no screen, and in which direction.
fn far(value: &str) -> Option<Way> {
    value.split([' ', '(', ')', '*', '+']).find_map(|it| {
        let pixels = length(it)?;
        let way = if pixels < 0.0 { Way::Back } else { Way::Forth };
        // To the right and down a page can be scrolled, so only what is out of all proportion counts.
        let least = if way == Way::Back { FAR_BACK_PIXELS } else { FAR_FORTH_PIXELS };
        (pixels.abs() >= least).then_some(way)
    })
}

/// The same where a share is one of the box itself: a whole one is no distance.
fn far_by_length(value: &str) -> Option<Way> {
    if value.ends_with('%') { None } else { far(value) }
}

fn moved_away(name: &str, value: &str) -> bool {
    let is_nothing = |it: &str| it.trim().parse::<f64>().is_ok_and(|it| it.abs() < FAINT);
    match name {
        "translate" => return value.split(' ').any(|it| far_by_length(it).is_some()),
        "scale" => return value.split(' ').any(is_nothing),
        _ => {}
    }
    value.split(')').any(|part| {
        let Some((function, arguments)) = part.split_once('(') else { return false };
        let mut arguments = arguments.split(',');
        match function.trim() {
            it if it.starts_with("translate") => arguments.any(|it| far_by_length(it).is_some()),
            it if it.starts_with("scale") => arguments.any(is_nothing),
            _ => false,
        }
    })
}

/// `rect(0,0,0,0)`, `rect(1px 1px 1px 1px)` and their like: nothing is left between the edges.
fn clips_all(value: &str) -> bool {
    let Some(edges) = value.strip_prefix("rect(").and_then(|it| it.strip_suffix(')')) else {
        return false;
    };
    let split = |it: char| it == ',' || it.is_ascii_whitespace();
    let edges: Vec<Option<f64>> =
        edges.split(split).filter(|it| !it.is_empty()).map(length).collect();
    let [top, right, bottom, left] = edges.as_slice() else { return false };
    let gone = |from: &Option<f64>, to: &Option<f64>| matches!((from, to), (Some(from), Some(to)) if to - from <= TINY_PIXELS);
    gone(left, right) || gone(top, bottom)
}

fn path_is_empty(value: &str) -> bool {
    let Some((function, arguments)) = value.split_once('(') else { return false };
    let arguments = arguments.trim_end_matches(')').split(" round ").next().unwrap_or_default();
    let words: Vec<&str> = arguments.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    let share = |it: &&str| it.strip_suffix('%').and_then(|it| it.parse::<f64>().ok());
    let first = words.first();
    match function.trim() {
        "inset" => {
            let at = |index: usize| words.get(index).and_then(share).unwrap_or(0.0);
            let across = if words.len() > 1 { at(1) } else { at(0) };
            let low = if words.len() > 2 { at(2) } else { at(0) };
            let left = if words.len() > 3 { at(3) } else { across };
            at(0) + low >= 100.0 || across + left >= 100.0
        }
        "circle" | "ellipse" => first.is_some_and(|it| tiny(it)),
        "polygon" => words.iter().all(|it| Some(it) == first),
        "rect" => clips_all(&format!("rect({arguments})")),
        _ => false,
    }
}

/// Text of this height, and boxes of this size, show nothing.
const TINY_PIXELS: f64 = 1.0;
/// Less opacity than this shows nothing.
const FAINT: f64 = 0.05;
/// How far to the left or up nothing is seen any more.
const FAR_BACK_PIXELS: f64 = 900.0;
/// How far to the right or down nobody scrolls.
const FAR_FORTH_PIXELS: f64 = 5000.0;
