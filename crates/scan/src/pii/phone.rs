//! Telephone numbers: international ones by their country, national ones by their form or the words before them.

use super::context::PHONE_WORDS;
use super::span::Candidate;
use super::{Confidence, Personal};

/// Digits of a telephone number, with the code of its country.
pub(super) const DIGITS: std::ops::RangeInclusive<usize> = 7..=16;

/// Returns the telephone number that a part of a run is, if it is one.
pub(super) fn find(candidate: &Candidate<'_>) -> Option<Personal> {
    if candidate.letters > 0 || candidate.has_odd_mark() {
        return None;
    }
    let is = |place: usize, mark: u8| candidate.context.text.as_bytes().get(place) == Some(&mark);
    let plus = candidate.start.checked_sub(1).filter(|it| is(*it, b'+'));
    let (rule, confidence) = if plus.is_some() && is_international(candidate) {
        ("phone-international", Confidence::Form)
    } else if is_north_american(candidate) && !candidate.is_in_number() {
        ("phone-us", Confidence::Form)
    } else if is_called_phone(candidate) {
        ("phone-national", Confidence::Words)
    } else {
        return None;
    };
    let start = plus.unwrap_or(candidate.start);
    let open = start.checked_sub(1).filter(|it| is(*it, b'('));
    let start = open.unwrap_or(start);
    Some(Personal { rule, kind: "phone", confidence, start, end: candidate.end })
}

/// A country's code and as many digits as it uses.
fn is_international(candidate: &Candidate<'_>) -> bool {
    let digits = candidate.compact();
    let fits = |(code, least, most): &(&str, usize, usize)| {
        digits.strip_prefix(code.as_bytes()).is_some_and(|it| (*least..=*most).contains(&it.len()))
    };
    COUNTRIES.iter().any(fits)
}

/// Three, three and four digits, with separators; the area does not begin with 0 or 1.
fn is_north_american(candidate: &Candidate<'_>) -> bool {
    let digits = match candidate.compact() {
        [b'1', rest @ ..] if rest.len() == 10 => rest,
        other => other,
    };
    let high = |at: usize| digits.get(at).is_some_and(|it| (b'2'..=b'9').contains(it));
    if digits.len() != 10 || !high(0) {
        return false;
    }
    // How long the groups are; of more than four it is none.
    let mut groups = [0; 5];
    let written = candidate.written().split(|it| !it.is_ascii_digit()).map(<[u8]>::len);
    groups.iter_mut().zip(written.filter(|it| *it > 0)).for_each(|(to, from)| *to = from);
    let grouped = matches!(groups, [3, 3, 4, 0, 0] | [1, 3, 3, 4, 0] | [3, 7, 0, 0, 0]);
    let alone = candidate.is_alone() && groups == [10, 0, 0, 0, 0];
    grouped || (alone && high(3))
}

/// Seven to twelve digits behind a word for telephone, or alone and with the zero of a trunk call.
fn is_called_phone(candidate: &Candidate<'_>) -> bool {
    let digits = candidate.compact();
    let count = digits.len();
    let trunk = digits.first() == Some(&b'0') && digits.get(1).is_some_and(|it| *it != b'0');
    let mobile = candidate.is_alone()
        && trunk
        && (10..=11).contains(&count)
        && candidate.written().len() > count;
    (7..=12).contains(&count) && (mobile || candidate.near().has(PHONE_WORDS))
}

/// The words for a telephone, in small letters.
pub(super) const WORDS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "tel.",
    "mobile",
    "cell",
    "call me at",
    "call us at",
    "fax",
    "telefon",
    "telefonnummer",
    "handy",
    "mobil",
    "téléphone",
    "portable",
    "teléfono",
    "móvil",
    "telefono",
    "cellulare",
    "telefone",
    "celular",
    "телефон",
    "电话",
    "手机",
    "電話",
    "전화",
    "cn number",
    "whatsapp",
    "sms to",
    "phone number",
    "cep",
    "gsm",
];

/// Codes of countries and how many digits follow them.
const COUNTRIES: &[(&str, usize, usize)] = &[
    ("1", 10, 10),
    ("7", 10, 10),
    ("20", 9, 10),
    ("27", 9, 9),
    ("30", 10, 10),
    ("31", 9, 9),
    ("32", 8, 9),
    ("33", 9, 9),
    ("34", 9, 9),
    ("36", 8, 9),
    ("39", 8, 11),
    ("40", 9, 9),
    ("41", 9, 9),
    ("43", 7, 13),
    ("44", 9, 10),
    ("45", 8, 8),
    ("46", 7, 10),
    ("47", 8, 8),
    ("48", 9, 9),
    ("49", 7, 12),
    ("51", 8, 9),
    ("52", 10, 11),
    ("54", 10, 11),
    ("55", 10, 11),
    ("56", 9, 9),
    ("57", 10, 10),
    ("58", 10, 10),
    ("60", 8, 10),
    ("61", 9, 9),
    ("62", 8, 12),
    ("63", 10, 10),
    ("64", 8, 10),
    ("65", 8, 8),
    ("66", 8, 9),
    ("81", 9, 10),
    ("82", 8, 10),
    ("84", 9, 10),
    ("86", 10, 11),
    ("90", 10, 10),
    ("91", 10, 10),
    ("92", 9, 10),
    ("93", 9, 9),
    ("94", 9, 9),
    ("98", 10, 10),
    ("212", 9, 9),
    ("213", 8, 9),
    ("216", 8, 8),
    ("233", 9, 9),
    ("234", 8, 10),
    ("251", 9, 9),
    ("254", 9, 9),
    ("255", 9, 9),
    ("256", 9, 9),
    ("351", 9, 9),
    ("352", 6, 9),
    ("353", 7, 9),
    ("354", 7, 7),
    ("356", 8, 8),
    ("357", 8, 8),
    ("358", 6, 11),
    ("359", 8, 9),
    ("370", 8, 8),
    ("371", 8, 8),
    ("372", 7, 8),
    ("375", 9, 9),
    ("380", 9, 9),
    ("381", 8, 9),
    ("385", 8, 9),
    ("386", 8, 8),
    ("420", 9, 9),
    ("421", 9, 9),
    ("852", 8, 8),
    ("853", 8, 8),
    ("855", 8, 9),
    ("880", 10, 10),
    ("886", 8, 9),
    ("961", 7, 8),
    ("962", 8, 9),
    ("964", 9, 10),
    ("965", 8, 8),
    ("966", 8, 9),
    ("968", 8, 8),
    ("970", 8, 9),
    ("971", 8, 9),
    ("972", 8, 9),
    ("973", 8, 8),
    ("974", 8, 8),
    ("977", 8, 10),
    ("992", 9, 9),
    ("994", 9, 9),
    ("995", 9, 9),
];
