//! Characters that are not what they seem: invisible ones, and letters that look like others.

/// Does it take no room on a screen? Joiners, marks of direction, fillers, variation selectors, tags.
#[must_use]
pub fn is_invisible(found: char) -> bool {
    matches!(u32::from(found),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff)
}

/// Letters of other alphabets that are drawn like Latin ones, and quotes. Patterns are folded alike,
/// so that Russian still reads as Russian.
#[must_use]
pub fn look_alike(found: char) -> char {
    match found {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' => 'e',
        'ɡ' => 'g',
        'һ' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'Ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'к' | 'κ' | 'Κ' => 'k',
        'М' | 'Μ' | 'м' => 'm',
        'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' | 'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' => 'y',
        'Ζ' => 'z',
        '’' | '‘' | 'ʼ' | '´' => '\'',
        '“' | '”' | '„' => '"',
        '‐' | '‑' | '–' | '—' => '-',
        '，' | '、' => ',',
        _ => boxed(found).or(small_capital(found)).unwrap_or(found),
    }
}

/// The letter in a filled circle or square.
pub(crate) fn boxed(found: char) -> Option<char> {
    let code = u32::from(found);
    let first = [0x1_f150, 0x1_f170].into_iter().find(|it| (*it..it + 26).contains(&code))?;
    u8::try_from(code - first).ok().map(|it| char::from(b'a' + it))
}

/// The letter that a small capital is.
fn small_capital(found: char) -> Option<char> {
    if !matches!(u32::from(found), 0x1d00..=0x1d22 | 0x0262..=0x029f | 0xa730 | 0xa731) {
        return None;
    }
    let at = SMALL_CAPITALS.chars().position(|it| it == found)?;
    b"abcdefghijklmnoprstuvwyz".get(at).map(|it| char::from(*it))
}

/// Small capitals in the order of their letters; there are none of Q and X.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_disguise_are_read() {
        let read = |text: &str| text.chars().map(look_alike).collect::<String>();
        assert_eq!(read("ɪɢɴᴏʀᴇ ᴀʟʟ ᴘʀᴇᴠɪᴏᴜꜱ"), "ignore all previous");
        assert_eq!(read("🅸🅶🅽🅾🆁🅴 🅐🅛🅛"), "ignore all");
        assert_eq!(read("ɐ ɛ 🇩🇪 😀 ß"), "ɐ ɛ 🇩🇪 😀 ß");
    }
}
