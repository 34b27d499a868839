//! Personal data in text.

use scan::Allowed;
use scan::pii::{find, find_except, redacted};

use crate::text::rows;
use crate::timed::grows_linearly;

#[test]
fn vectors_are_read_as_they_should_be() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../../corpus/scan/pii/vectors.jsonl")) {
        let text = row["text"].as_str().unwrap_or_default();
        let found = find(text);
        if found.is_empty() == (row["expect"] == "pii") {
            wrong.push(format!("{}: {found:?} {text}", row["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn data_is_told_by_its_kind() {
    for (text, expected) in [
        ("write to ann@example.org, please", "write to [PII:email], please"),
        ("call +49 30 901820 now", "call [PII:phone] now"),
        ("card 4111 1111 1111 1111 expired", "card [PII:credit_card] expired"),
        ("pay to DE89 3704 0044 0532 0130 00 today", "pay to [PII:iban] today"),
        ("SSN: 123-45-6789 on file", "SSN: [PII:ssn] on file"),
        ("from 203.0.113.9 at noon", "from [PII:ip] at noon"),
        ("date of birth: 3 May 1980, in Bonn", "date of birth: [PII:date_of_birth], in Bonn"),
        ("send to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa now", "send to [PII:wallet] now"),
        ("PESEL 44051401458", "PESEL [PII:national_id]"),
    ] {
        assert_eq!(redacted(text, &find(text)), expected);
    }
}

#[test]
fn numbers_that_are_none_are_left_alone() {
    for text in [
        "version 1.2.3 of 2024-05-01",
        "card 4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "took 1783259155 ns",
        "commit 2d05d13cadeedc3bbabcd679ac2c09482e7fe0e9",
        "127.0.0.1:8080",
        "git@github.com:org/repo.git",
        "order 1234567890123 of 42",
    ] {
        assert!(find(text).is_empty(), "{text}: {:?}", find(text));
    }
}

#[test]
fn a_value_that_is_allowed_is_not_reported() {
    let allowed = Allowed::parse(&Allowed::line("email", b"info@example.org")).unwrap_or_default();
    assert!(find_except("info@example.org", &allowed).is_empty());
    assert_eq!(find_except("info@example.com", &allowed).len(), 1);
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for piece in [
        "1 ", "1", "1-", "a@", "a@b.c", "1.", "::", "a1", "P<", "born 1", "+1 ", "DE89 ", "0x",
        "bc1",
    ] {
        grows_linearly(piece, 100_000, find);
    }
}
