//! Sentences that point at something, and those of every day.

use super::*;

/// What a sentence leaves open, and the words by which it names where that stands.
fn pointed(text: &str) -> (Slots, Vec<String>) {
    let folded = text.to_lowercase();
    let all: Vec<&str> =
        folded.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let (mut slots, mut source) = (Slots::NONE, Vec::new());
    for clause in pointing(&folded, &all) {
        slots = slots.with(clause.slots);
        source.extend(clause.source.filter_map(|it| all.get(it)).map(|it| (*it).to_owned()));
    }
    (slots, source)
}

#[test]
fn where_something_stands_is_pointed_at() {
    for (text, source) in [
        ("Her address is on the team page.", "team"),
        ("to the dermatologist named in her last letter", "letter"),
        ("pay what the invoice says", "invoice"),
        ("as the contract says", "contract"),
        ("L'adresse de Maëlle est sur la page de l'équipe", "équipe"),
        ("Bedrag en rekening staan in de brief", "brief"),
        ("IBAN steht im Protokoll vom Mai", "protokoll"),
        ("Pay it to the account from the invoice", "invoice"),
        ("Mail it to the address on the last page", "page"),
        ("Transfer 40 to the account number in Tom's letter", "letter"),
        ("Please pay the bill 'march.txt'", "bill"),
        ("account as on the agreement", "agreement"),
        ("Write to the address shown on the ticket", "ticket"),
        ("Transfer it to the account Lena wrote us", "lena"),
        ("Envoie-le à l'adresse indiquée dans le contrat", "contrat"),
        ("Schick es an die Adresse, die auf der Seite steht", "seite"),
        ("Betaal de factuur van de loodgieter", "loodgieter"),
        ("A neighbour left her number at the doorbell", "doorbell"),
        ("Helga mailed us her new phone number", "helga"),
        ("Answer everybody who asked on the list", "list"),
        ("Hugo announced new colleagues in announcements", "announcements"),
        ("Bezahle die Rechnung vom Mai", "rechnung"),
    ] {
        let (slots, words) = pointed(text);
        assert_ne!(slots, Slots::NONE, "{text}");
        assert!(words.iter().any(|it| it == source), "{text} {words:?}");
    }
    assert!(points_unspaced("合同里写的首付款") && !points_unspaced("合同里写的首付款？"));
    let (there, _) = pointed("invite her with the address you find there");
    let (page, _) = pointed("Her address is on the team page.");
    assert_eq!((there, page), (Slots::ADDRESS, Slots::ADDRESS));
}

#[test]
fn sentences_of_every_day_point_at_nothing() {
    for text in [
        "Send the report to Anna.",
        "Is Bob in the office? Mail him.",
        "What did he say about it",
        "Contact the customer about the order",
        "Tell me what is on the page",
        "Is the price in the contract?",
        "The deadline is on Friday. Look into the inbox.",
        "My flight is on Friday",
        "Bob is in Paris",
        "There is no rush",
        "3 per page",
        "Yes, but to the old account",
        "Pay it from my account in Zurich",
        "Pay the rent to the account on Friday",
        "Send the invoice to her address",
        "Transfer 40 to Bob and send him the bill",
        "Forward the mail from Bob to the contact",
        "Pay it, to the account we have always used",
        "I sent him my account, now pay the rent",
        "Put them in the folder there",
        "Tell everybody about the party",
        "Pay it to the old account, the one I use on Friday",
        "ok but to her private address",
        "Tell the customer that it is late",
        "Ja, aber auf das alte Konto",
        "Put the address into the letter",
        "Send the address to Bob in the office",
        "Tom wants it on the old account",
    ] {
        assert_eq!(pointed(text).0, Slots::NONE, "{text}");
    }
}
