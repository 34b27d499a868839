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

/// The names of the parts of a colour in a space, and what they are for this one, 0 to 255.
pub(super) fn parts(space: &str, rgb: [f64; 3]) -> Option<([&'static str; 3], [f64; 3])> {
    let [red, green, blue] = rgb.map(|it| it / 255.0);
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    let spread = most - least;
    let hue = 60.0
        * if spread == 0.0 {
            0.0
        } else if most == red {
            ((green - blue) / spread).rem_euclid(6.0)
        } else if most == green {
            (blue - red) / spread + 2.0
        } else {
            (red - green) / spread + 4.0
        };
    let polar = |[lightness, a, b]: [f64; 3]| {
        [lightness, a.hypot(b), b.atan2(a).to_degrees().rem_euclid(360.0)]
    };
    let light = [red, green, blue].map(straight);
    Some(match space {
        "rgb" | "rgba" => (["r", "g", "b"], rgb),
        "hsl" | "hsla" => {
            let middle = most.midpoint(least);
            let room = middle.min(1.0 - middle);
            let full = if room > 0.0 { (most - middle) / room } else { 0.0 };
            (["h", "s", "l"], [hue, full * 100.0, middle * 100.0])
        }
        "hwb" => (["h", "w", "b"], [hue, least * 100.0, (1.0 - most) * 100.0]),
        "oklab" => (["l", "a", "b"], to_oklab(light)),
        "oklch" => (["l", "c", "h"], polar(to_oklab(light))),
        "lab" => (["l", "a", "b"], to_lab(light)),
        "lch" => (["l", "c", "h"], polar(to_lab(light))),
        "srgb-linear" => (["r", "g", "b"], light),
        "srgb" | "display-p3" | "a98-rgb" | "prophoto-rgb" | "rec2020" => {
            (["r", "g", "b"], [red, green, blue])
        }
        "xyz" | "xyz-d65" | "xyz-d50" => (["x", "y", "z"], to_light(light)),
        _ => return None,
    })
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

/// From what a screen is told to light, each 0 to 1.
fn straight(told: f64) -> f64 {
    if told <= 0.040_45 { told / 12.92 } else { ((told + 0.055) / 1.055).powf(2.4) }
}

fn to_oklab([red, green, blue]: [f64; 3]) -> [f64; 3] {
    let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
    let middle = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
    let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
    [
        0.210_454_255_3 * long + 0.793_617_785 * middle - 0.004_072_046_8 * short,
        1.977_998_495_1 * long - 2.428_592_205 * middle + 0.450_593_709_9 * short,
        0.025_904_037_1 * long + 0.782_771_766_2 * middle - 0.808_675_766 * short,
    ]
}

fn to_light([red, green, blue]: [f64; 3]) -> [f64; 3] {
    [
        0.412_456_4 * red + 0.357_576_1 * green + 0.180_437_5 * blue,
        0.212_672_9 * red + 0.715_152_2 * green + 0.072_175 * blue,
        0.019_333_9 * red + 0.119_192 * green + 0.950_304_1 * blue,
    ]
}

fn to_lab(light: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = to_light(light);
    let root = |it: f64| {
        if it > (6.0_f64 / 29.0).powi(3) { it.cbrt() } else { it * 841.0 / 108.0 + 4.0 / 29.0 }
    };
    let (x, y, z) = (root(x / 0.950_47), root(y), root(z / 1.088_83));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}
