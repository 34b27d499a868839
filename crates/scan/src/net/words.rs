//! Words of many languages, told from letters as chance would have them by which letters stand side by side.

/// The letters that seldom follow `a`, `b` and so on: less than once in three thousand pairs of the words of manuals
/// and of names of domains.
const SELDOM: [&str; 26] = [
    "jq",
    "bcdfghjkmnpqtvwxz",
    "bdfgjmnpqvwxz",
    "chjkpqvwxz",
    "j",
    "bcdghjkmnpqvwxyz",
    "bcdfjkmqtvwxyz",
    "bcdfghjkpqsvwxz",
    "hijquwy",
    "bcdfghijklmnpqrstvwxyz",
    "bcdfghjkmnpqrtvwxyz",
    "ghjknqrwxz",
    "dfghjknqrtvwxz",
    "qxz",
    "jqz",
    "bcdfgjkmnqvwxz",
    "abcdefghijklmnopqrstvwxyz",
    "hjqwxz",
    "bgjvxz",
    "gjkqvxz",
    "hjoquvwxyz",
    "bcdfghjklmnpqrstuvwxyz",
    "bcdfgjklmpqtuvwxyz",
    "abdfghjklmnoqrsuvwxyz",
    "bdfghjkqruvwxyz",
    "bcdfghjklmnopqrstvwxyz",
];
/// In a hundred pairs. Words have fewer than 25 even where they are put together without a joint, letters by chance
/// have about 50.
const SELDOM_PERCENT_MIN: usize = 33;

/// Do letters stand side by side that do not in words? There are letters alone in `run`, in any case.
pub(super) fn are_no_words(run: &str) -> bool {
    let letters = || run.bytes().map(|it| it.to_ascii_lowercase());
    let is_seldom = |(one, next): &(u8, u8)| {
        let followers = SELDOM.get(usize::from(one.wrapping_sub(b'a')));
        followers.is_some_and(|it| it.as_bytes().contains(next))
    };
    let seldom = letters().zip(letters().skip(1)).filter(is_seldom).count();
    seldom * 100 >= run.len().saturating_sub(1).max(1) * SELDOM_PERCENT_MIN
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
}
