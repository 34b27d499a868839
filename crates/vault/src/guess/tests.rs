//! What people choose can be guessed, and what machines make cannot.

use super::*;

#[test]
fn what_people_choose_can_be_guessed() {
    for value in [
        "12345678",
        "83920174",
        "0000000000000001",
        "839201748392",
        "20261117",
        "1984-06-12",
        "password",
        "Password123!",
        "Summer2026!",
        "hunter2hunter2",
        "letmeinplease",
        "qwertyuiopasdfghjkl",
        "1qaz2wsx",
        "correct horse",
        "the first value",
        "another value 12345",
        "admin-admin-admin-admin",
        "abababababababababababababab",
        "deadbeef",
        "+49 170 1234567",
        "kennwort-geheim",
        "Xk3!9q",
    ] {
        assert!(is_guessable(value), "{value}: {}", tenths_of_bits(value));
    }
}

#[test]
fn what_machines_make_cannot() {
    for value in [
        "ghp_R4nd0mT0kenV4lueZq81LkWm27VbTx09sPqH",
        "sk-proj-9fK2mQ7xWv4TzB1nHc8R",
        "AKIA2OGYBAH6QLZDT5VN",
        "9c2f7be01d4a",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "7d3kqp0zx2vm",
        "kjwq xzvp hdtr mgbn",
        "498130275561943827",
        "AGE-SECRET-KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQS58XU7L",
        "correct horse battery staple",
        "tr0ub4dor&3 zebra-Quantum/17",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    ] {
        assert!(!is_guessable(value), "{value}: {}", tenths_of_bits(value));
    }
}

/// Numbers of every length: up to fourteen digits can be tried.
#[test]
fn digits_count_by_their_number() {
    let digits = "49130275861947205839";
    for length in 8..=digits.len() {
        let value = digits.get(..length).unwrap();
        assert_eq!(is_guessable(value), length < 15, "{value}");
    }
}

#[test]
fn case_is_worth_nothing_because_it_is_not_looked_at() {
    let value = "xKqPzTvB";
    assert_eq!(tenths_of_bits(value), tenths_of_bits(&value.to_lowercase()));
    assert!(is_guessable(value));
}

#[test]
fn a_line_counts_by_what_nobody_knows_of_it() {
    for line in [r#"  "access_code": "83920174","#, "the quick brown fox jumps over the lazy dog"] {
        assert!(!is_guessable(line) && !has_unguessable_piece(line), "{line}");
    }
    for line in [r#""private_key_id": "9c2f7be01d4a5f60","#, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] {
        assert!(has_unguessable_piece(line), "{line}");
    }
}

#[test]
fn however_long_or_odd_a_value_is_it_is_weighed() {
    for value in ["", "a", "\u{1F511}", "\u{fc}\u{fc}\u{fc}", &"ab".repeat(40_000), "\u{0}\u{0}"] {
        let _ = is_guessable(value);
    }
    assert!(is_guessable(&"12345678".repeat(1000)));
}
