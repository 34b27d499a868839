//! Words of many languages, told from letters as chance would have them by which letters stand side by side.

/// The letters that seldom follow `a`, `b` and so on: less than once in three thousand pairs of the words of manuals
/// and of names of domains.
const SELDOM: [u32; 26] = [
    bits(b"jq"),
    bits(b"bcdfghjkmnpqtvwxz"),
    bits(b"bdfgjmnpqvwxz"),
    bits(b"chjkpqvwxz"),
    bits(b"j"),
    bits(b"bcdghjkmnpqvwxyz"),
    bits(b"bcdfjkmqtvwxyz"),
    bits(b"bcdfghjkpqsvwxz"),
    bits(b"hijquwy"),
    bits(b"bcdfghijklmnpqrstvwxyz"),
    bits(b"bcdfghjkmnpqrtvwxyz"),
    bits(b"ghjknqrwxz"),
    bits(b"dfghjknqrtvwxz"),
    bits(b"qxz"),
    bits(b"jqz"),
    bits(b"bcdfgjkmnqvwxz"),
    bits(b"abcdefghijklmnopqrstvwxyz"),
    bits(b"hjqwxz"),
    bits(b"bgjvxz"),
    bits(b"gjkqvxz"),
    bits(b"hjoquvwxyz"),
    bits(b"bcdfghjklmnpqrstuvwxyz"),
    bits(b"bcdfgjklmpqtuvwxyz"),
    bits(b"abdfghjklmnoqrsuvwxyz"),
    bits(b"bdfghjkqruvwxyz"),
    bits(b"bcdfghjklmnopqrstvwxyz"),
];

/// Letters as bits, `a` the lowest.
const fn bits(letters: &[u8]) -> u32 {
    let (mut rest, mut all) = (letters, 0);
    while let [first, after @ ..] = rest {
        all |= 1 << (*first - b'a');
        rest = after;
    }
    all
}

/// In a hundred pairs. Words have fewer than 25 even where they are put together without a joint, letters by chance
/// have about 50.
const SELDOM_PERCENT_MIN: usize = 33;
/// Words that were shifted have nearly as many, and hardly any once they are shifted back.
const SHIFTED_PERCENT_MIN: usize = 20;
const SHIFTED_BACK_PERCENT_MAX: usize = 3;
/// Pairs and different letters by which shifted words are told from names that are hard to say.
const SHIFTED_PAIRS_MIN: usize = 22;
const SHIFTED_LETTERS_MIN: u32 = 8;
/// Of digits they have at most one for so many letters.
const LETTERS_TO_A_DIGIT: usize = 8;

/// Do letters stand side by side that do not in words? There are letters alone in `run`, in any case.
pub(super) fn are_no_words(run: &str) -> bool {
    let (all, seldom) = pairs(run, |it| it);
    seldom * 100 >= all.max(1) * SELDOM_PERCENT_MIN
}

/// Are they words in which each letter stands for another one, as many places on or as many from the other end?
pub(super) fn are_shifted_words(text: &str) -> bool {
    let (all, seldom) = pairs(text, |it| it);
    if all < SHIFTED_PAIRS_MIN || seldom * 100 < all * SHIFTED_PERCENT_MIN || !is_written(text) {
        return false;
    }
    let is_good = |(all, seldom): (usize, usize)| seldom * 100 <= all * SHIFTED_BACK_PERCENT_MAX;
    (1..26).any(|by| is_good(pairs(text, |it| (it + by) % 26)))
        || is_good(pairs(text, |it| 25 - it))
}

/// As words are written: in one case or with a capital in front, with few digits, of different letters.
fn is_written(text: &str) -> bool {
    let (mut letters, mut digits, mut met) = (0_usize, 0_usize, 0_u32);
    let mut before = 0_u8;
    for byte in text.bytes() {
        if before.is_ascii_lowercase() && byte.is_ascii_uppercase() {
            return false;
        }
        letters += usize::from(byte.is_ascii_alphabetic());
        digits += usize::from(byte.is_ascii_digit());
        if byte.is_ascii_alphabetic() {
            met |= 1 << (byte.to_ascii_lowercase() - b'a');
        }
        before = byte;
    }
    digits * LETTERS_TO_A_DIGIT <= letters && met.count_ones() >= SHIFTED_LETTERS_MIN
}

/// Pairs of letters side by side, and how many of them are seldom, each letter (0 for `a`) read as another one.
fn pairs(text: &str, read: impl Fn(u8) -> u8) -> (usize, usize) {
    let (mut all, mut seldom) = (0, 0);
    let mut before: Option<u32> = None;
    for byte in text.bytes() {
        let letter = byte.to_ascii_lowercase().wrapping_sub(b'a');
        if letter >= 26 {
            before = None;
            continue;
        }
        let letter = read(letter);
        if let Some(seldom_here) = before {
            all += 1;
            seldom += usize::from(seldom_here >> letter & 1 == 1);
        }
        before = SELDOM.get(usize::from(letter)).copied();
    }
    (all, seldom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_put_together_are_words_still() {
        for words in [
            "llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
            "donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
            "thequickbrownfoxjumpsoverthelazydogandrunsaway",
            "getElementsByClassNameAndSomethingElseThatIsLongEnough",
            "muvaffakiyetsizlestiricilestiriveremeyebileceklerimizdenmissinizcesine",
            "nejneobhospodarovavatelnejsimunejkulatoulinkovatejsimu",
            "a",
            "",
        ] {
            assert!(!are_no_words(words), "{words}");
        }
        for letters in [
            "kqzjxwvbhgfdmnptkqzjxwvbhgfdmnpt",
            "heggcahddfgdhcgfhecagldfhjcaghhdcaghhfgohegfhcdc",
            "QWKJHZXVBNPLMTRFGDSCQWZXJKVB",
        ] {
            assert!(are_no_words(letters), "{letters}");
        }
    }

    #[test]
    fn shifted_words_are_told_from_names_that_are_hard_to_say() {
        for shifted in [
            "gur frperg xrl vf uhagre2 naq gur inhyg vf bcra",
            "gur-frperg-xrl-vf-uhagre-naq-gur-inhyg",
            "aol_zljyla_rlf_pz_obualy2_huk_aol_chbsa_pz_vwlu",
            "gsv+hvxivg+pvb+rh+sfmgvi+zmw+gsv+ezfog+rh+lkvm",
        ] {
            assert!(are_shifted_words(shifted), "{shifted}");
        }
        for words in [
            "the secret key is hunter2 and the vault is open",
            "szczebrzeszyn-chrzaszcz-brzmi-w-trzcinie",
            "strc-prst-skrz-krk-zmrzlina-ctvrtek",
            "xdg-desktop-portal-gtk-wlr-kde-hyprland-git",
            "qwfp-zxcv-mnbv-tools-and-xkcd-mtg-bgp-dns-ssl-tls-ftp-ssh-xml-css",
            "cach-nau-pho-bo-ngon-nhu-ngoai-hang-don-gian-tai-nha",
            "kqzjxwvbhgfdmnptkqzjxwvbhgfdmnpt",
            "",
        ] {
            assert!(!are_shifted_words(words), "{words}");
        }
    }
}
