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
        _ => found,
    }
}
