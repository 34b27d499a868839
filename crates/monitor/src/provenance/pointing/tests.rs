//! Sentences that point at something, and those of every day.

use super::*;

fn pointing(text: &str) -> Pointing {
    let folded = text.to_lowercase();
    let all: Vec<&str> =
        folded.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    Pointing::of(&folded, &all)
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
        let found = pointing(text);
        assert_ne!(found.slots, Slots::NONE, "{text}");
        assert!(found.source.iter().any(|it| it == source), "{text} {found:?}");
    }
    assert!(pointing("合同里写的首付款").slots.anything);
    assert!(pointing("invite her with the address you find there").slots.address);
    let address = pointing("Her address is on the team page.");
    assert_eq!(address.slots, Slots { address: true, ..Slots::NONE });
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
    ] {
        assert_eq!(pointing(text), Pointing::default(), "{text}");
    }
}
