//! Numbers and lengths of style sheets, with what can be calculated from them.

use super::css::{Part, Token, component, inside, split, trim};

/// What kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// In pixels.
    Length,
    /// In hundredths of something.
    Share,
    /// In degrees.
    Angle,
}

/// A number. What depends on a screen is taken for one of 1280 by 720.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) kind: Kind,
    /// How much of it is a multiple of the size of letters: `em`.
    pub(super) letters: f64,
    /// The same of the letters of the page itself: `rem`.
    pub(super) roots: f64,
    /// How much of a length is a share of something, in hundredths: `calc(100% + 1px)`.
    pub(super) share: f64,
}

impl Amount {
    fn new(value: f64, kind: Kind) -> Self {
        let share = if kind == Kind::Share { value } else { 0.0 };
        Self { value, kind, letters: 0.0, roots: 0.0, share }
    }

    /// A bare number.
    pub(super) fn plain(value: f64) -> Self {
        Self::new(value, Kind::Plain)
    }

    /// So many pixels.
    pub(super) fn pixels_of(pixels: f64) -> Self {
        Self::new(pixels, Kind::Length)
    }

    /// As a distance in pixels: a share of something of about a thousand.
    pub(super) fn pixels(self) -> f64 {
        if self.kind == Kind::Share { self.value * 10.0 } else { self.value }
    }

    fn times(self, factor: f64) -> Self {
        let (letters, roots) = (self.letters * factor, self.roots * factor);
        Self { value: self.value * factor, letters, roots, share: self.share * factor, ..self }
    }

    /// Lengths and shares add up; other kinds only to themselves.
    fn plus(self, other: Self) -> Option<Self> {
        let (letters, roots) = (self.letters + other.letters, self.roots + other.roots);
        let share = self.share + other.share;
        if self.kind == other.kind {
            return Some(Self { value: self.value + other.value, letters, roots, share, ..self });
        }
        let mix = |it: Self| matches!(it.kind, Kind::Length | Kind::Share);
        (mix(self) && mix(other)).then(|| Self {
            value: self.pixels() + other.pixels(),
            kind: Kind::Length,
            letters,
            roots,
            share,
        })
    }
}

/// The number that a component of a value is.
pub(super) fn amount(component: &[Part<'_>]) -> Option<Amount> {
    within(component, Level::default())
}

/// A length or share; a bare number only where it is nothing, or in an old page.
pub(super) fn length(component: &[Part<'_>], old: bool) -> Option<Amount> {
    let amount = amount(component)?;
    match amount.kind {
        Kind::Length | Kind::Share => Some(amount),
        Kind::Plain if old || amount.value == 0.0 => Some(Amount { kind: Kind::Length, ..amount }),
        Kind::Plain | Kind::Angle => None,
    }
}

/// The same where words may stand for numbers.
pub(super) fn amount_with(component: &[Part<'_>], names: &[(&str, Amount)]) -> Option<Amount> {
    let level = Level { depth: 0, names };
    within(component, level).or_else(|| level.named(component.first()?.word()?))
}

/// Where in a calculation something stands.
#[derive(Clone, Copy, Default)]
struct Level<'n> {
    depth: usize,
    /// What words stand for.
    names: &'n [(&'n str, Amount)],
}

impl Level<'_> {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn named(self, word: &str) -> Option<Amount> {
        self.names.iter().find(|it| it.0.eq_ignore_ascii_case(word)).map(|it| it.1)
    }
}

fn within(component: &[Part<'_>], level: Level<'_>) -> Option<Amount> {
    let first = component.first()?;
    match &first.token {
        Token::Number(value) => Some(Amount::new(*value, Kind::Plain)),
        Token::Share(value) => Some(Amount::new(*value, Kind::Share)),
        Token::Length(value, unit) => dimension(*value, unit),
        Token::Call(name) if level.depth < DEPTH_MAX => {
            calculated(&name.to_ascii_lowercase(), inside(component), level.below())
        }
        Token::Sign('(') if level.depth > 0 && level.depth < DEPTH_MAX => {
            sum(inside(component), level.below())
        }
        Token::Space
        | Token::Word(_)
        | Token::Call(_)
        | Token::At(_)
        | Token::Hash(..)
        | Token::Text(_)
        | Token::Url(_)
        | Token::Broken
        | Token::Mark
        | Token::Sign(_) => None,
    }
}

fn dimension(value: f64, unit: &str) -> Option<Amount> {
    let pixels = match unit {
        "px" => 1.0,
        "em" | "rem" | "ic" | "ric" | "lh" | "rlh" => 16.0,
        "ex" | "ch" | "rex" | "rch" | "cap" | "rcap" => 8.0,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 9.6 / 2.54,
        "q" => 2.4 / 2.54,
        "vh" | "dvh" | "svh" | "lvh" | "vmin" | "dvmin" | "svmin" | "lvmin" | "vb" | "dvb"
        | "svb" | "lvb" | "cqh" | "cqb" | "cqmin" => 7.2,
        "vw" | "dvw" | "svw" | "lvw" | "vmax" | "dvmax" | "svmax" | "lvmax" | "vi" | "dvi"
        | "svi" | "lvi" | "cqw" | "cqi" | "cqmax" => 12.8,
        "deg" => return Some(Amount::new(value, Kind::Angle)),
        "grad" => return Some(Amount::new(value * 0.9, Kind::Angle)),
        "rad" => return Some(Amount::new(value.to_degrees(), Kind::Angle)),
        "turn" => return Some(Amount::new(value * 360.0, Kind::Angle)),
        _ => return None,
    };
    let letters = match unit {
        "em" | "ic" | "lh" => value,
        "ex" | "ch" | "cap" => value / 2.0,
        _ => 0.0,
    };
    let roots = match unit {
        "rem" | "ric" | "rlh" => value,
        "rex" | "rch" | "rcap" => value / 2.0,
        _ => 0.0,
    };
    Some(Amount { letters, roots, ..Amount::new(value * pixels, Kind::Length) })
}

fn calculated(name: &str, arguments: &[Part<'_>], level: Level<'_>) -> Option<Amount> {
    if name == "calc-size" {
        return of_size(arguments, level);
    }
    if name == "round"
        && let Some(found) = rounded(arguments, level)
    {
        return found;
    }
    let mut all = split(arguments, ',').map(|it| sum(it, level));
    let weigh = |least: bool, all: &mut dyn Iterator<Item = Option<Amount>>| {
        let mut best = all.next()??;
        for one in all {
            let one = one?;
            if (one.pixels() < best.pixels()) == least {
                best = one;
            }
        }
        Some(best)
    };
    match name {
        "calc" | "-webkit-calc" | "-moz-calc" => all.next()?.filter(|_| all.next().is_none()),
        "min" => weigh(true, &mut all),
        "max" => weigh(false, &mut all),
        "clamp" => {
            let (low, wanted, high) = (all.next()??, all.next()??, all.next()??);
            let under = if wanted.pixels() > high.pixels() { high } else { wanted };
            Some(if under.pixels() < low.pixels() { low } else { under })
        }
        "abs" => all.next()?.map(|it| if it.value < 0.0 { it.times(-1.0) } else { it }),
        _ => function(name, &all.collect::<Option<Vec<Amount>>>()?),
    }
}

/// `calc-size(auto, size / 2)`: calculated from what a box would have by itself, which is taken for some lines.
fn of_size(arguments: &[Part<'_>], level: Level<'_>) -> Option<Amount> {
    let mut all = split(arguments, ',');
    let basis = trim(all.next()?);
    let size = match basis.first()?.word() {
        Some(_) => Amount::pixels_of(BOX_PIXELS),
        None => sum(basis, level)?,
    };
    let last = sum(all.next()?, Level { names: &[("size", size)], ..level })?;
    (all.next().is_none() && last.kind != Kind::Angle).then_some(last)
}

/// `round(down, a, b)`; nothing if no word says how.
fn rounded(arguments: &[Part<'_>], level: Level<'_>) -> Option<Option<Amount>> {
    let mut all = split(arguments, ',').map(trim);
    let how: fn(f64) -> f64 = match all.next()?.first()?.word()?.to_ascii_lowercase().as_str() {
        "up" => f64::ceil,
        "down" => f64::floor,
        "nearest" => f64::round,
        "to-zero" => f64::trunc,
        _ => return None,
    };
    let one = all.next().and_then(|it| sum(it, level));
    let to = all.next().map(|it| sum(it, level));
    Some(one.and_then(|one| {
        let to = to.map_or(Some(1.0), |it| it.map(|it| it.value))?;
        let value = how(one.value / to) * to;
        Some(Amount { value, letters: 0.0, roots: 0.0, ..one })
    }))
}

/// The other functions, of the first argument's kind where they keep it.
fn function(name: &str, arguments: &[Amount]) -> Option<Amount> {
    let plain = |value: f64| Some(Amount::new(value, Kind::Plain));
    let of = |it: &Amount| if it.kind == Kind::Angle { it.value.to_radians() } else { it.value };
    match (name, arguments) {
        ("sign", [one]) => plain(if one.value == 0.0 { 0.0 } else { one.value.signum() }),
        ("sin", [one]) => plain(of(one).sin()),
        ("cos", [one]) => plain(of(one).cos()),
        ("tan", [one]) => plain(of(one).tan()),
        ("exp", [one]) => plain(one.value.exp()),
        ("sqrt", [one]) => plain(one.value.sqrt()),
        ("log", [one]) => plain(one.value.ln()),
        ("log", [one, base]) => plain(one.value.log(base.value)),
        ("pow", [one, by]) => plain(one.value.powf(by.value)),
        ("progress", [one, from, to]) => plain((one.value - from.value) / (to.value - from.value)),
        ("hypot", [one, ..]) => {
            let squares: f64 = arguments.iter().map(|it| it.value * it.value).sum();
            Some(Amount { value: squares.sqrt(), letters: 0.0, roots: 0.0, ..*one })
        }
        ("round", [one]) => {
            Some(Amount { value: one.value.round(), letters: 0.0, roots: 0.0, ..*one })
        }
        ("round", [one, to]) => {
            let value = (one.value / to.value).round() * to.value;
            Some(Amount { value, letters: 0.0, roots: 0.0, ..*one })
        }
        ("mod" | "rem", [one, by]) => {
            Some(Amount { value: one.value % by.value, letters: 0.0, roots: 0.0, ..*one })
        }
        _ => None,
    }
}

/// `a + b * c - d`; plus and minus stand between blanks.
fn sum(parts: &[Part<'_>], level: Level<'_>) -> Option<Amount> {
    let mut total: Option<Amount> = None;
    let mut term: Option<Amount> = None;
    let (mut sign, mut operator, mut spaced) = (1.0, None, false);
    let mut rest = trim(parts);
    while let Some((one, after)) = component(rest) {
        rest = after;
        let space = one.first().is_some_and(Part::is_space);
        let was_spaced = std::mem::replace(&mut spaced, space);
        if space {
            continue;
        }
        match one.first().map(|it| &it.token) {
            Some(Token::Sign(it @ ('*' | '/'))) if term.is_some() && operator.is_none() => {
                operator = Some(*it);
            }
            Some(Token::Sign(it @ ('+' | '-'))) if term.is_some() && operator.is_none() => {
                if !was_spaced || !rest.first().is_some_and(Part::is_space) {
                    return None;
                }
                let done = term.take()?.times(sign);
                total = Some(total.map_or(Some(done), |it| it.plus(done))?);
                sign = if *it == '-' { -1.0 } else { 1.0 };
            }
            Some(_) | None => {
                let next = within(one, level).or_else(|| constant(one, level))?;
                term = Some(match (term, operator.take()) {
                    (None, None) => next,
                    (Some(before), Some('*')) if next.kind == Kind::Plain => {
                        before.times(next.value)
                    }
                    (Some(before), Some('*')) if before.kind == Kind::Plain => {
                        next.times(before.value)
                    }
                    (Some(before), Some('/')) if next.kind == Kind::Plain => {
                        before.times(1.0 / next.value)
                    }
                    (Some(_), _) | (None, Some(_)) => return None,
                });
            }
        }
    }
    let term = term.filter(|_| operator.is_none())?.times(sign);
    total.map_or(Some(term), |it| it.plus(term))
}

/// The numbers that have a name where something is calculated.
fn constant(component: &[Part<'_>], level: Level<'_>) -> Option<Amount> {
    let word = component.first()?.word()?;
    if let Some(named) = level.named(word) {
        return Some(named);
    }
    let value = match word.to_ascii_lowercase().as_str() {
        "e" => std::f64::consts::E,
        "pi" => std::f64::consts::PI,
        "infinity" => f64::INFINITY,
        "-infinity" => f64::NEG_INFINITY,
        "nan" => 0.0,
        _ => return None,
    };
    Some(Amount::new(value, Kind::Plain))
}

/// Calculations within calculations.
const DEPTH_MAX: usize = 8;
/// The size of a box that is as large as what is in it.
const BOX_PIXELS: f64 = 200.0;

#[cfg(test)]
mod tests {
    use super::super::css::tokens;
    use super::*;

    fn pixels(text: &str) -> Option<f64> {
        length(&tokens(text), false).map(Amount::pixels)
    }

    #[test]
    fn lengths_are_read_and_calculated_as_browsers_do() {
        for (text, wanted) in [
            ("0", 0.0),
            ("1e-3px", 0.001),
            ("+.5PX", 0.5),
            ("72pt", 96.0),
            ("1in", 96.0),
            ("calc(0px)", 0.0),
            ("calc(1px + 2px * 3)", 7.0),
            ("calc((1px + 2px) * 3 - 10px)", -1.0),
            ("calc(10px / 4)", 2.5),
            ("min(0px, 5px)", 0.0),
            ("max(1px, 5px, 2px)", 5.0),
            ("clamp(1px, 9px, 5px)", 5.0),
            ("calc(min(4px, 2px) + calc(1px))", 3.0),
            ("calc(-1 * 100vw)", -1280.0),
            ("calc-size(auto, size * 0)", 0.0),
            ("calc-size(20px, size - 19px)", 1.0),
        ] {
            assert_eq!(pixels(text), Some(wanted), "{text}");
        }
        for text in [
            "5",
            "px",
            "calc(1px+2px)",
            "calc(1px +2px)",
            "calc()",
            "1foo",
            "calc(1px * 1px)",
            "90deg",
            "calc(size * 2)",
            "calc-size(auto)",
        ] {
            assert_eq!(pixels(text), None, "{text}");
        }
        let deep = format!("{}1px{}", "calc(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(pixels(&deep), None);
    }
}
