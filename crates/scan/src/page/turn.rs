//! Transforms as matrices: where a line of text goes, and whether anybody sees it there.
//!
//! Each reader gives `None` for a value that browsers do not know either.

use super::css::{Part, split, trim};
use super::number::{Amount, Kind, amount, length};
use super::value::{FAINT, called, is_far, only};

type Items<'i, 'p, 'a> = &'i [&'p [Part<'a>]];

/// Four rows of four, for points that stand in columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix([[f64; 4]; 4]);

/// The properties that move or turn a box, in the order in which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Zoom,
    Translate,
    Rotate,
    Scale,
    Transform,
}

/// What is seen of a line of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Nobody sees it, wherever it was.
    pub(super) gone: bool,
    /// Its back is seen.
    pub(super) backwards: bool,
    /// How many times as large as it was, the smaller of both sides.
    pub(super) size: f64,
}

impl Matrix {
    pub(super) const ONE: Self = Self([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]);

    fn moved(x: f64, y: f64, z: f64) -> Self {
        Self([[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, y], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]])
    }

    fn scaled(x: f64, y: f64, z: f64) -> Self {
        Self([[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, z, 0.0], [0.0, 0.0, 0.0, 1.0]])
    }

    /// Seen by an eye so many pixels before it.
    pub(super) fn perspective(pixels: f64) -> Self {
        let [one, two, three, _] = Self::ONE.0;
        Self([one, two, three, [0.0, 0.0, -1.0 / pixels.max(1.0), 1.0]])
    }

    /// Around an axis.
    fn turned([x, y, z]: [f64; 3], degrees: f64) -> Self {
        let long = (x * x + y * y + z * z).sqrt();
        if long == 0.0 || !long.is_finite() {
            return Self::ONE;
        }
        let (x, y, z) = (x / long, y / long, z / long);
        let (sin, cos) = degrees.to_radians().sin_cos();
        let rest = 1.0 - cos;
        Self([
            [cos + x * x * rest, x * y * rest - z * sin, x * z * rest + y * sin, 0.0],
            [y * x * rest + z * sin, cos + y * y * rest, y * z * rest - x * sin, 0.0],
            [z * x * rest - y * sin, z * y * rest + x * sin, cos + z * z * rest, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ])
    }

    fn skewed(x: f64, y: f64) -> Self {
        let [_, _, three, four] = Self::ONE.0;
        let (x, y) = (x.to_radians().tan(), y.to_radians().tan());
        Self([[1.0, x, 0.0, 0.0], [y, 1.0, 0.0, 0.0], three, four])
    }

    /// First `other`, then this one.
    pub(super) fn after(self, other: Self) -> Self {
        let cell = |row: &[f64; 4], column: usize| -> f64 {
            row.iter().zip(&other.0).map(|(it, line)| it * line.get(column).unwrap_or(&0.0)).sum()
        };
        Self(self.0.map(|row| [cell(&row, 0), cell(&row, 1), cell(&row, 2), cell(&row, 3)]))
    }

    /// Where a point of the box is seen; nothing if it lies behind the eye.
    fn seen(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let [across, down, _, away] = self.0.map(|[a, b, _, d]| a * x + b * y + d);
        (away > AWAY_MIN).then(|| (across / away, down / away))
    }

    /// What is seen of a line of text in the middle of which it turns.
    pub(super) fn view(&self) -> View {
        let backwards = self.is_backwards();
        let gone = View { gone: true, backwards, size: 0.0 };
        let (across, down) = (WIDTH / 2.0, HEIGHT / 2.0);
        let all = [(0.0, 0.0), (-across, 0.0), (across, 0.0), (0.0, -down), (0.0, down)];
        let [Some(middle), Some(left), Some(right), Some(top), Some(bottom)] =
            all.map(|(x, y)| self.seen(x, y))
        else {
            return gone;
        };
        let far = |pixels: f64| is_far(Amount::pixels_of(pixels)).is_some();
        let line = (right.0 - left.0, right.1 - left.1);
        let side = (bottom.0 - top.0, bottom.1 - top.1);
        let (long, high) = (line.0.hypot(line.1), side.0.hypot(side.1));
        let area = (line.0 * side.1 - line.1 * side.0).abs();
        let size = (long / WIDTH).min(high / HEIGHT);
        // From the edge, or pressed together until its sides lie upon each other.
        let flat = size < FAINT || area < long * high * FAINT || !area.is_finite();
        View { gone: flat || far(middle.0) || far(middle.1), backwards, size }
    }

    fn is_backwards(&self) -> bool {
        let [[a, b, c, _], [d, e, f, _], [g, h, i, _], _] = self.0;
        let flat = a * e - b * d;
        let all = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
        flat * all < 0.0
    }
}

fn is_none(items: Items<'_, '_, '_>) -> bool {
    matches!(items, [one] if one.first().is_some_and(|it| it.is_word("none")))
}

pub(super) fn transform(items: Items<'_, '_, '_>) -> Option<Matrix> {
    if is_none(items) {
        return Some(Matrix::ONE);
    }
    let mut all = Matrix::ONE;
    for item in items {
        let (name, inside) = called(item)?;
        let values: Option<Vec<Amount>> = split(inside, ',').map(|it| amount(trim(it))).collect();
        let next = match values {
            Some(values) => function(&name, &values)?,
            None if name == "perspective" => Matrix::ONE,
            None => return None,
        };
        all = all.after(next);
    }
    Some(all)
}

fn function(name: &str, values: &[Amount]) -> Option<Matrix> {
    let value = |at: usize| values.get(at).map(|it| it.value);
    let factor = |at: usize| values.get(at).map(|it| share(*it));
    let pixels = |at: usize| values.get(at).map_or(0.0, |it| distance(*it));
    let first = value(0)?;
    Some(match name {
        "translate" => Matrix::moved(pixels(0), pixels(1), 0.0),
        "translatex" => Matrix::moved(pixels(0), 0.0, 0.0),
        "translatey" => Matrix::moved(0.0, pixels(0), 0.0),
        "translatez" => Matrix::moved(0.0, 0.0, pixels(0)),
        "translate3d" => Matrix::moved(pixels(0), pixels(1), pixels(2)),
        "scale" => Matrix::scaled(factor(0)?, factor(1).or(factor(0))?, 1.0),
        "scalex" => Matrix::scaled(factor(0)?, 1.0, 1.0),
        "scaley" => Matrix::scaled(1.0, factor(0)?, 1.0),
        "scalez" => Matrix::scaled(1.0, 1.0, factor(0)?),
        "scale3d" => Matrix::scaled(factor(0)?, factor(1)?, factor(2)?),
        "rotate" | "rotatez" => Matrix::turned([0.0, 0.0, 1.0], first),
        "rotatex" => Matrix::turned([1.0, 0.0, 0.0], first),
        "rotatey" => Matrix::turned([0.0, 1.0, 0.0], first),
        "rotate3d" => Matrix::turned([first, value(1)?, value(2)?], value(3)?),
        "skew" => Matrix::skewed(first, value(1).unwrap_or(0.0)),
        "skewx" => Matrix::skewed(first, 0.0),
        "skewy" => Matrix::skewed(0.0, first),
        "perspective" if first > 0.0 => Matrix::perspective(first),
        "perspective" => Matrix::ONE,
        "matrix" => match *values {
            [a, b, c, d, x, y] => {
                let flat = Matrix::scaled(1.0, 1.0, 1.0).0;
                let [_, _, three, four] = flat;
                Matrix([
                    [a.value, c.value, 0.0, x.value],
                    [b.value, d.value, 0.0, y.value],
                    three,
                    four,
                ])
            }
            _ => return None,
        },
        "matrix3d" => {
            let columns: [f64; 16] =
                values.iter().map(|it| it.value).collect::<Vec<_>>().try_into().ok()?;
            let row = |at: usize| [at, at + 4, at + 8, at + 12].map(|it| columns.get(it).copied());
            let mut rows = [[0.0; 4]; 4];
            for (at, line) in rows.iter_mut().enumerate() {
                *line = row(at).map(Option::unwrap_or_default);
            }
            Matrix(rows)
        }
        _ => return None,
    })
}

/// A share is one of the box itself, and a whole one is no distance; many are.
fn distance(amount: Amount) -> f64 {
    match amount.kind {
        Kind::Share if amount.value.abs() < MANY_BOXES => 0.0,
        Kind::Share | Kind::Length | Kind::Plain | Kind::Angle => amount.pixels(),
    }
}

fn share(amount: Amount) -> f64 {
    if amount.kind == Kind::Share { amount.value / 100.0 } else { amount.value }
}

/// Nothing for a factor that is none; nought leaves the box as it is.
pub(super) fn zoom(items: Items<'_, '_, '_>) -> Option<Matrix> {
    if only(items, &["normal", "reset"]).is_some() {
        return Some(Matrix::ONE);
    }
    let [one] = items else { return None };
    let factor = share(amount(one)?);
    (factor >= 0.0).then(|| match factor {
        0.0 => Matrix::ONE,
        _ => Matrix::scaled(factor, factor, 1.0),
    })
}

pub(super) fn translate(items: Items<'_, '_, '_>) -> Option<Matrix> {
    if is_none(items) {
        return Some(Matrix::ONE);
    }
    let all: Option<Vec<f64>> = items.iter().map(|it| length(it, false).map(distance)).collect();
    let all = all?;
    let at = |index: usize| all.get(index).copied().unwrap_or_default();
    Some(Matrix::moved(at(0), at(1), at(2)))
}

pub(super) fn scale(items: Items<'_, '_, '_>) -> Option<Matrix> {
    if is_none(items) {
        return Some(Matrix::ONE);
    }
    let all: Option<Vec<f64>> = items.iter().map(|it| amount(it).map(share)).collect();
    match *all?.as_slice() {
        [both] => Some(Matrix::scaled(both, both, 1.0)),
        [x, y] => Some(Matrix::scaled(x, y, 1.0)),
        [x, y, z] => Some(Matrix::scaled(x, y, z)),
        _ => None,
    }
}

pub(super) fn rotate(items: Items<'_, '_, '_>) -> Option<Matrix> {
    if is_none(items) {
        return Some(Matrix::ONE);
    }
    let angle = items.iter().find_map(|it| amount(it).filter(|it| it.kind == Kind::Angle))?;
    let is = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    let vector: Vec<f64> = items
        .iter()
        .filter_map(|it| amount(it).filter(|it| it.kind == Kind::Plain).map(|it| it.value))
        .collect();
    let axis = match *vector.as_slice() {
        [x, y, z] => [x, y, z],
        _ if is("x") => [1.0, 0.0, 0.0],
        _ if is("y") => [0.0, 1.0, 0.0],
        _ => [0.0, 0.0, 1.0],
    };
    Some(Matrix::turned(axis, angle.value))
}

/// A line of text as it may stand anywhere, in pixels.
const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 20.0;
/// What is nearer to the eye than this share of its distance is not seen.
const AWAY_MIN: f64 = 0.01;
/// Moved by so many hundredths of its own size, a box is elsewhere.
const MANY_BOXES: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::super::css::{components, tokens};
    use super::*;

    fn view(text: &str) -> View {
        let parts = tokens(text);
        transform(&components(&parts).collect::<Vec<_>>()).unwrap().view()
    }

    #[test]
    fn what_is_moved_and_turned_is_seen_or_not() {
        for gone in [
            "scale3d(0, 0, 0)",
            "scale(0.2) scale(20%)",
            "rotateY(90deg)",
            "rotateX(45deg) rotateX(45deg)",
            "perspective(100px) translateZ(100px)",
            "perspective(10px) translateZ(-99999px)",
            "translateX(-500px) translateX(-500px)",
            "translateX(-1000%)",
            "skewX(89.9deg)",
            "matrix(0, 0, 0, 0, 0, 0)",
            "matrix3d(1,0,0,0, 0,1,0,0, 0,0,1,0, -9999,0,0,1)",
            "rotate3d(1, 1, 0, 90deg) scale(0)",
        ] {
            assert!(view(gone).gone, "{gone}");
        }
        for seen in [
            "none",
            "translateZ(0)",
            "translate(-50%, -50%)",
            "rotate(90deg)",
            "perspective(1000px) rotateX(5deg)",
            "translateX(-9999px) translateX(9999px)",
            "translateZ(5000px)",
            "matrix(1, 0, 0, 1, 10, 10)",
            "skewY(-3deg)",
            "scale(-1, 1)",
        ] {
            assert!(!view(seen).gone && !view(seen).backwards, "{seen}");
        }
        for back in ["rotateY(180deg)", "rotateX(.5turn)", "rotate3d(1, 1, 0, 180deg)"] {
            assert!(view(back).backwards && !view(back).gone, "{back}");
        }
        assert_eq!(view("scale(0.5, 2)").size, 0.5);
    }
}
