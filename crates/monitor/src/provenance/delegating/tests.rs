//! Which words a clause takes for its source, and which it leaves to others.

use super::*;
use crate::provenance::norm::{phrase, word_key};

/// Is this the source of some clause of the text that leaves `slots` open?
fn is_source(text: &str, slots: Slots, source: &str) -> bool {
    let key = phrase(source).unwrap();
    delegations(text).0.iter().any(|it| it.slots.has(slots) && it.source.has(key))
}

#[test]
fn a_clause_has_the_source_that_it_names_and_no_other() {
    for (text, slots, named, other) in [
        ("Pay the invoice in the PDF from Tom. Ann sent her dates.", Slots::ACCOUNT, "tom", "ann"),
        ("Pay the bill 'march.txt', and tell Ann about it.", Slots::ACCOUNT, "march.txt", "ann"),
        ("Her address is on the team page. Read what Bob wrote.", Slots::ADDRESS, "team", "bob"),
        ("Read Kim's note, then pay it to the account in 'a.txt'.", Slots::ACCOUNT, "a.txt", "kim"),
        ("Lena wrote me her IBAN. Read what Ole posted.", Slots::ACCOUNT, "lena", "ole"),
        (
            "Do what the list in chores.md says. Then read Jo's mail.",
            Slots::TASKS,
            "chores.md",
            "jo",
        ),
        ("Look at Nils's post and open the link in Bob's post.", Slots::LINK, "bob", "nils"),
        (
            "Build it the way BUILD.md describes, and read NEWS.md.",
            Slots::WAY,
            "BUILD.md",
            "NEWS.md",
        ),
        ("Mail each person on the sheet 'Club' a copy of 'Press'.", Slots::EACH, "club", "press"),
    ] {
        assert!(is_source(text, slots, named), "{text}");
        assert!(!is_source(text, slots, other), "{text}");
    }
}

#[test]
fn a_pronoun_means_what_was_named_last() {
    for (text, slots, named, other) in [
        (
            "Ask Vera. I have a letter 'rent.txt' here, pay what it says.",
            Slots::ANYTHING,
            "rent.txt",
            "vera",
        ),
        (
            "Read Kim's mail. Pay Bob the 60, to the account that he sent me.",
            Slots::ACCOUNT,
            "bob",
            "kim",
        ),
        (
            "A message from Bob has the tasks. Please do all of them for me.",
            Slots::TASKS,
            "bob",
            "tasks",
        ),
        (
            "The attic contract is in attic.pdf. Pay it as the contract says.",
            Slots::ANYTHING,
            "attic.pdf",
            "pay",
        ),
    ] {
        assert!(is_source(text, slots, named), "{text}");
        assert!(!is_source(text, slots, other), "{text}");
    }
    let (found, last) = delegations("Do as it says.");
    assert!(found.iter().all(|it| it.source.is_empty()) && !last.is_sure(), "{found:?}");
}

#[test]
fn to_look_at_what_somebody_says_hands_on_nothing() {
    assert!(!is_source("See what Mara says in the forum.", Slots::ANYTHING, "mara"));
    assert!(!is_source("Tell me what Mara says.", Slots::ANYTHING, "mara"));
    assert!(is_source("Pay what Mara's letter says.", Slots::ANYTHING, "mara"));
    assert!(is_source(
        "Lis le message de Luc et paie la facture du plombier",
        Slots::ACCOUNT,
        "plombier"
    ));
    assert!(!is_source(
        "Lis le message de Luc et paie la facture du plombier",
        Slots::ACCOUNT,
        "luc"
    ));
    assert!(is_source("To the one named in her letter (doc D-118).", Slots::ANYTHING, "D-118"));
}

#[test]
fn the_last_source_of_a_text_is_kept_for_the_next() {
    let (_, last) = delegations("Read the letter from Lena. Then have a rest.");
    assert!(last.has(word_key("lena")) && last.is_sure());
}

#[test]
fn addresses_and_what_is_left_open_name_no_source() {
    let (found, _) = delegations("Send ann@example.org all links from my mail.");
    assert!(found.iter().all(|it| !it.source.has(word_key("ann"))), "{found:?}");
    assert!(is_source("Send ann@example.org all links from my mail.", Slots::EACH, "mail"));
    assert!(!is_source("Take the account from the page 'X'.", Slots::LINK, "account"));
}

#[test]
fn no_more_delegations_are_kept_than_there_is_room_for() {
    let text = "Pay the bill from Tom. ".repeat(DELEGATIONS_MAX + 1);
    assert_eq!(delegations(&text).0.len(), DELEGATIONS_MAX);
}
