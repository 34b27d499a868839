//! Colours as style sheets write them.

/// Red, green, blue and how much of it covers what lies below, each 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink {
    red: u8,
    green: u8,
    blue: u8,
    cover: u8,
}

pub(super) const WHITE: Ink = Ink { red: 255, green: 255, blue: 255, cover: 255 };
pub(super) const BLACK: Ink = Ink { red: 0, green: 0, blue: 0, cover: 255 };

impl Ink {
    /// A colour in lower case, if it is one that can be read.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(digits) = text.strip_prefix('#') {
            return hex(digits);
        }
        if let Some((function, rest)) = text.split_once('(') {
            return call(function.trim(), rest.strip_suffix(')')?);
        }
        if text == "transparent" {
            return Some(Self { cover: 0, ..BLACK });
        }
        let named = NAMES.iter().find(|it| it.0 == text)?.1;
        let [_, red, green, blue] = u32::to_be_bytes(named);
        Some(Self { red, green, blue, cover: 255 })
    }

    /// The old attributes `color`, `bgcolor` and `text`: as above, and digits without their sign.
    pub(super) fn parse_attribute(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        Self::parse(&text).or_else(|| hex(&text))
    }

    /// Does it let everything below show?
    pub(super) fn is_clear(self) -> bool {
        self.cover < COVER_MIN
    }

    /// Does it hide everything below?
    pub(super) fn is_solid(self) -> bool {
        self.cover == 255
    }

    /// Can nobody tell it from `other`, being painted over it?
    pub(super) fn vanishes_on(self, other: Self) -> bool {
        let apart = |a: u8, b: u8| usize::from(a.abs_diff(b)) * usize::from(self.cover) / 255;
        let all = apart(self.red, other.red)
            + apart(self.green, other.green)
            + apart(self.blue, other.blue);
        all <= APART_MAX
    }
}

fn hex(digits: &str) -> Option<Ink> {
    let values: Option<Vec<u8>> =
        digits.chars().map(|it| it.to_digit(16).and_then(|it| u8::try_from(it).ok())).collect();
    let full = |high: u8, low: u8| high * 16 + low;
    match *values?.as_slice() {
        [r, g, b] => Some(Ink { red: full(r, r), green: full(g, g), blue: full(b, b), cover: 255 }),
        [r, g, b, a] => {
            Some(Ink { red: full(r, r), green: full(g, g), blue: full(b, b), cover: full(a, a) })
        }
        [r, s, g, h, b, c] => {
            Some(Ink { red: full(r, s), green: full(g, h), blue: full(b, c), cover: 255 })
        }
        [r, s, g, h, b, c, a, d] => {
            Some(Ink { red: full(r, s), green: full(g, h), blue: full(b, c), cover: full(a, d) })
        }
        _ => None,
    }
}

fn call(function: &str, arguments: &str) -> Option<Ink> {
    let split = |it: char| it == ',' || it == '/' || it.is_whitespace();
    let parts: Vec<&str> = arguments.split(split).filter(|it| !it.is_empty()).take(5).collect();
    let cover = parts.get(3).map_or(Some(255.0), |it| amount(it, 255.0, 255.0))?;
    let [first, second, third] = [*parts.first()?, *parts.get(1)?, *parts.get(2)?];
    let [red, green, blue] = match function {
        "rgb" | "rgba" => {
            [amount(first, 255.0, 1.0)?, amount(second, 255.0, 1.0)?, amount(third, 255.0, 1.0)?]
        }
        "hsl" | "hsla" => {
            let turn = first.trim_end_matches("deg").parse::<f64>().ok()?;
            turned(turn, amount(second, 1.0, 0.01)?, amount(third, 1.0, 0.01)?)
        }
        _ => return None,
    };
    Some(Ink { red: byte(red), green: byte(green), blue: byte(blue), cover: byte(cover) })
}

/// A number times `unit`, or a share of `whole` in percent.
fn amount(text: &str, whole: f64, unit: f64) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(share) => Some(share.parse::<f64>().ok()? / 100.0 * whole),
        None => Some(text.parse::<f64>().ok()? * unit),
    }
}

/// From hue in degrees, saturation and lightness.
fn turned(hue: f64, saturation: f64, lightness: f64) -> [f64; 3] {
    let reach = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|shift| {
        let at = (shift + hue / 30.0).rem_euclid(12.0);
        255.0 * (lightness - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0))
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
fn byte(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

/// The sum of the differences in red, green and blue below which two colours look the same.
const APART_MAX: usize = 24;
/// Less cover than this cannot be seen.
const COVER_MIN: u8 = 13;

const NAMES: &[(&str, u32)] = &[
    ("white", 0xff_ffff),
    ("black", 0x00_0000),
    ("red", 0xff_0000),
    ("lime", 0x00_ff00),
    ("green", 0x00_8000),
    ("blue", 0x00_00ff),
    ("yellow", 0xff_ff00),
    ("gray", 0x80_8080),
    ("grey", 0x80_8080),
    ("silver", 0xc0_c0c0),
    ("maroon", 0x80_0000),
    ("olive", 0x80_8000),
    ("navy", 0x00_0080),
    ("purple", 0x80_0080),
    ("teal", 0x00_8080),
    ("aqua", 0x00_ffff),
    ("cyan", 0x00_ffff),
    ("fuchsia", 0xff_00ff),
    ("magenta", 0xff_00ff),
    ("orange", 0xff_a500),
    ("pink", 0xff_c0cb),
    ("brown", 0xa5_2a2a),
    ("gold", 0xff_d700),
    ("beige", 0xf5_f5dc),
    ("ivory", 0xff_fff0),
    ("snow", 0xff_fafa),
    ("whitesmoke", 0xf5_f5f5),
    ("ghostwhite", 0xf8_f8ff),
    ("floralwhite", 0xff_faf0),
    ("azure", 0xf0_ffff),
    ("mintcream", 0xf5_fffa),
    ("linen", 0xfa_f0e6),
    ("seashell", 0xff_f5ee),
    ("aliceblue", 0xf0_f8ff),
    ("honeydew", 0xf0_fff0),
    ("lavender", 0xe6_e6fa),
    ("oldlace", 0xfd_f5e6),
    ("cornsilk", 0xff_f8dc),
    ("lightyellow", 0xff_ffe0),
    ("lightcyan", 0xe0_ffff),
    ("lightgray", 0xd3_d3d3),
    ("lightgrey", 0xd3_d3d3),
    ("darkgray", 0xa9_a9a9),
    ("darkgrey", 0xa9_a9a9),
    ("dimgray", 0x69_6969),
    ("dimgrey", 0x69_6969),
    ("gainsboro", 0xdc_dcdc),
    ("tomato", 0xff_6347),
    ("coral", 0xff_7f50),
    ("salmon", 0xfa_8072),
    ("crimson", 0xdc_143c),
    ("indigo", 0x4b_0082),
    ("violet", 0xee_82ee),
    ("tan", 0xd2_b48c),
    ("khaki", 0xf0_e68c),
    ("turquoise", 0x40_e0d0),
    ("skyblue", 0x87_ceeb),
    ("steelblue", 0x46_82b4),
    ("royalblue", 0x41_69e1),
    ("darkblue", 0x00_008b),
    ("darkgreen", 0x00_6400),
    ("darkred", 0x8b_0000),
    ("slategray", 0x70_8090),
    ("lightblue", 0xad_d8e6),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_colour_in_many_spellings() {
        for text in [
            "white",
            "#fff",
            "#FFFFFF",
            "#ffff",
            "#ffffffff",
            "rgb(255,255,255)",
            "rgb(255 255 255 / 1)",
            "rgba(100%, 100%, 100%, 100%)",
            "hsl(0, 0%, 100%)",
            "hsla(120deg 50% 100% / 1)",
        ] {
            assert_eq!(Ink::parse(&text.to_lowercase()), Some(WHITE), "{text}");
        }
        assert_eq!(Ink::parse("hsl(240,100%,50%)"), Ink::parse("blue"));
        assert_eq!(Ink::parse_attribute("00FF00"), Ink::parse("lime"));
        for text in ["", "#", "#ff", "rgb(", "rgb(1,2)", "rgb(a,b,c)", "var(--x)", "é"] {
            assert_eq!(Ink::parse(text), None, "{text}");
        }
    }

    #[test]
    fn near_is_the_same_and_grey_is_not() {
        let ink = |text| Ink::parse(text).unwrap();
        assert!(ink("#fefefe").vanishes_on(WHITE));
        assert!(!ink("#999").vanishes_on(WHITE));
        assert!(ink("rgba(0,0,0,0.01)").vanishes_on(WHITE) && ink("transparent").is_clear());
    }
}
