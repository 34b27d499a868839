//! Clauses that say where something stands: *her address is on the team page*, *as the contract says*, *named in her letter*.
//! Such a clause lets the source that it names fill what the user left open; which source that is, the calls tell
//! ([`super::tie`]).

/// Words that say that something stands somewhere, before a word for the place.
const STANDS: &[&str] = &[
    "is", "are", "stands", "steht", "stehen", "est", "sont", "figure", "está", "están", "figura",
    "è", "sono", "estão", "consta", "staat", "staan", "jest", "są",
];
/// The same in one word, of anything.
const NAMED: &[&str] = &[
    "named",
    "listed",
    "given",
    "mentioned",
    "written",
    "noted",
    "printed",
    "genannt",
    "indiqué",
    "indicado",
    "indicato",
    "genoemd",
    "podany",
];
/// Words for the place.
const IN: &[&str] = &[
    "in", "on", "at", "by", "im", "auf", "am", "dans", "sur", "en", "nel", "nella", "nell", "sul",
    "sulla", "na", "op", "w",
];
/// Words that a source stands behind.
const BY: &[&str] =
    &["according", "laut", "gemäß", "selon", "según", "conforme", "volgens", "według", "zgodnie"];
/// What a source is said to do: *as the contract says*, *pay what it says*.
const SAYS: &[&str] = &[
    "says",
    "states",
    "lists",
    "shows",
    "sagt",
    "dit",
    "indique",
    "dice",
    "diz",
    "zegt",
    "yazıyorsa",
];
const BEFORE_SAYS: &[&str] =
    &["as", "what", "whatever", "like", "wie", "was", "comme", "ce", "lo", "como", "quello", "wat"];
/// The same where words are not written apart.
const UNSPACED: &[&str] = &[
    "に書いて",
    "に載って",
    "に記載",
    "にあります",
    "にある",
    "のとおり",
    "の通り",
    "里写的",
    "上写的",
    "上面的",
    "里的",
    "按照",
    "根据",
];
/// Words between the thing and its place, or between a word for the source and what it says.
const BETWEEN_MAX: usize = 4;

/// Words that ask what stands there.
const ASKING: &[&str] = &[
    "what", "which", "who", "where", "was", "wer", "wo", "quoi", "qui", "qué", "quién", "cosa",
    "chi", "wat", "wie", "co",
];

/// Words for what stands somewhere: an address, an account.
const ADDRESSES: &[&str] = &[
    "address",
    "addresses",
    "email",
    "emails",
    "mail",
    "contact",
    "adresse",
    "dirección",
    "correo",
    "indirizzo",
    "endereço",
    "adres",
];
const ACCOUNTS: &[&str] = &[
    "account",
    "iban",
    "number",
    "details",
    "price",
    "amount",
    "sum",
    "konto",
    "kontonummer",
    "nummer",
    "betrag",
    "compte",
    "numéro",
    "montant",
    "cuenta",
    "número",
    "importe",
    "conto",
    "numero",
    "importo",
    "conta",
    "chave",
    "rekening",
    "bedrag",
    "numer",
    "kwota",
];

/// Where a sentence of the user's says that something stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pointing {
    /// An address, an account, or whatever is wanted.
    pub(super) address: bool,
    pub(super) account: bool,
    pub(super) anything: bool,
    /// The words that name the source.
    pub(super) source: Vec<String>,
}

impl Pointing {
    /// What a sentence points at. A question points at nothing.
    pub(super) fn of<S: AsRef<str>>(folded: &str, all: &[S]) -> Self {
        let mut found = Self::default();
        if folded.contains(['?', '？', '¿']) {
            return found;
        }
        let word = |at: usize| all.get(at).map_or("", AsRef::as_ref);
        let any = |list: &[&str], range: std::ops::Range<usize>| {
            range.into_iter().any(|it| list.contains(&word(it)))
        };
        for at in 0..all.len() {
            let (from, next) = (at.saturating_sub(BETWEEN_MAX), at.saturating_add(1));
            let in_it = IN.contains(&word(next)) && !any(ASKING, at.saturating_sub(1)..at);
            if in_it && NAMED.contains(&word(at)) {
                found.anything = true;
                found.name(all, next.saturating_add(1));
            } else if in_it && STANDS.contains(&word(at)) {
                let (address, account) = (any(ADDRESSES, from..at), any(ACCOUNTS, from..at));
                found.address |= address;
                found.account |= account;
                if address || account {
                    found.name(all, next.saturating_add(1));
                }
            } else if BY.contains(&word(at)) {
                found.anything = true;
                found.name(all, next);
            } else if SAYS.contains(&word(at)) && any(BEFORE_SAYS, from..at) {
                found.anything = true;
                found.name(all.get(..at).unwrap_or_default(), from);
            }
        }
        found.anything |= UNSPACED.iter().any(|it| folded.contains(it));
        found
    }

    /// Notes the words of a source from this place on. Numbers and short words name none.
    fn name<S: AsRef<str>>(&mut self, all: &[S], from: usize) {
        let words = all.iter().skip(from).take(SOURCE_WORDS_MAX).map(AsRef::as_ref);
        let names = words.filter(|it| it.len() > 2 && !it.bytes().any(|it| it.is_ascii_digit()));
        self.source.extend(names.map(str::to_owned));
    }
}

/// Words by which a source is named.
const SOURCE_WORDS_MAX: usize = 6;

#[cfg(test)]
mod tests {
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
        ] {
            let found = pointing(text);
            assert!(found.address || found.account || found.anything, "{text}");
            assert!(found.source.iter().any(|it| it == source), "{text} {found:?}");
        }
        assert!(pointing("合同里写的首付款").anything);
        let address = pointing("Her address is on the team page.");
        assert!(address.address && !address.account && !address.anything);
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
        ] {
            assert_eq!(pointing(text), Pointing::default(), "{text}");
        }
    }
}
