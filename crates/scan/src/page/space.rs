//! Spaces of colours: from their three numbers to red, green and blue.

use super::colour::share;
use super::number::{Amount, Kind};

/// Red, green and blue, 0 to 255. Nothing if there is no such space or the numbers are not for it; `None` in
/// it if the space is known to browsers but not here.
pub(super) fn rgb(space: &str, parts: [Amount; 3]) -> Option<Option<[f64; 3]>> {
    let [first, second, third] = parts;
    let angle = |it: Amount| matches!(it.kind, Kind::Plain | Kind::Angle).then_some(it.value);
    let plain = |it: Amount| matches!(it.kind, Kind::Plain | Kind::Share);
    if !plain(second) {
        return None;
    }
    Some(Some(match space {
        "rgb" | "rgba" if parts.iter().all(|it| plain(*it)) => {
            parts.map(|it| share(it, 255.0) * 255.0)
        }
        "hsl" | "hsla" => turned(angle(first)?, share(second, 100.0), share(third, 100.0)),
        "hwb" => {
            let (white, black) = (share(second, 100.0), share(third, 100.0));
            let all = (white + black).max(1.0);
            let pure = turned(angle(first)?, 1.0, 0.5);
            pure.map(|it| it * (1.0 - (white + black) / all) + 255.0 * white / all)
        }
        "oklab" if plain(first) && plain(third) => oklab(
            share(first, 1.0),
            share(second, 1.0) * reach(second, 0.4),
            share(third, 1.0) * reach(third, 0.4),
        ),
        "oklch" if plain(first) => {
            let (a, b) = around(share(second, 1.0) * reach(second, 0.4), angle(third)?);
            oklab(share(first, 1.0), a, b)
        }
        "lab" if plain(first) && plain(third) => lab(
            share(first, 100.0) * 100.0,
            share(second, 1.0) * reach(second, 125.0),
            share(third, 1.0) * reach(third, 125.0),
        ),
        "lch" if plain(first) => {
            let (a, b) = around(share(second, 1.0) * reach(second, 150.0), angle(third)?);
            lab(share(first, 100.0) * 100.0, a, b)
        }
        "srgb" | "display-p3" | "a98-rgb" | "prophoto-rgb" | "rec2020" => {
            parts.map(|it| share(it, 1.0) * 255.0)
        }
        "srgb-linear" => parts.map(|it| bent(share(it, 1.0))),
        "xyz" | "xyz-d65" => of_light(parts.map(|it| share(it, 1.0))),
        // The white of paper.
        "xyz-d50" => {
            let [x, y, z] = parts.map(|it| share(it, 1.0));
            of_light([x * 0.950_47 / 0.9642, y, z * 1.088_83 / 0.8251])
        }
        _ => return None,
    }))
}

/// What a whole share stands for.
fn reach(amount: Amount, whole: f64) -> f64 {
    if amount.kind == Kind::Share { whole } else { 1.0 }
}

fn around(strength: f64, degrees: f64) -> (f64, f64) {
    (strength * degrees.to_radians().cos(), strength * degrees.to_radians().sin())
}

/// From hue in degrees, saturation and lightness.
fn turned(hue: f64, saturation: f64, lightness: f64) -> [f64; 3] {
    let reach = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|shift| {
        let at = (shift + hue / 30.0).rem_euclid(12.0);
        255.0 * (lightness - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0))
    })
}

fn oklab(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let long = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let middle = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        bent(4.076_741_662_1 * long - 3.307_711_591_3 * middle + 0.230_969_929_2 * short),
        bent(-1.268_438_004_6 * long + 2.609_757_401_1 * middle - 0.341_319_396_5 * short),
        bent(-0.004_196_086_3 * long - 0.703_418_614_7 * middle + 1.707_614_701 * short),
    ]
}

/// Roughly: the white of paper is taken for that of screens.
fn lab(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let high = (lightness + 16.0) / 116.0;
    let cube = |it: f64| {
        if it > 6.0 / 29.0 { it.powi(3) } else { (it - 4.0 / 29.0) * 108.0 / 841.0 }
    };
    let x = 0.950_47 * cube(high + a / 500.0);
    let y = cube(high);
    let z = 1.088_83 * cube(high - b / 200.0);
    of_light([x, y, z])
}

fn of_light([x, y, z]: [f64; 3]) -> [f64; 3] {
    [
        bent(3.240_454 * x - 1.537_138 * y - 0.498_531 * z),
        bent(-0.969_266 * x + 1.876_011 * y + 0.041_556 * z),
        bent(0.055_643 * x - 0.204_026 * y + 1.057_225 * z),
    ]
}

/// From light to what a screen is told, 0 to 255.
fn bent(light: f64) -> f64 {
    let light = light.clamp(0.0, 1.0);
    255.0 * if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}
