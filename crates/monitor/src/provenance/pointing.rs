//! Clauses that say where something stands: *her address is on the team page*, *as the contract says*, *named in her letter*.
//! Such a clause lets the source that it names fill what the user left open ([`super::delegation`]).

use std::ops::Range;

use super::acts::verb as kind;
use super::asked::{singular, verb_of};
use super::delegation::Slots;
use super::words::{BILLS, FOLLOWING, JOINTS, PERSONS, SAYING, stem_acts};

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
/// Who is told something does not have it done.
const ME: &[&str] = &["me", "us"];
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
const ADDRESSES: &[&str] =
    &["address", "addresses", "adresse", "dirección", "indirizzo", "endereço", "adres"];
const ACCOUNTS: &[&str] = &[
    "account",
    "iban",
    "konto",
    "kontonummer",
    "compte",
    "cuenta",
    "conto",
    "conta",
    "chave",
    "rekening",
];
/// The same where it is said that it stands somewhere, or whose it is: *the mail from Bob* is no address.
const MAILS: &[&str] = &["email", "emails", "mail", "contact", "correo"];
const NUMBERS: &[&str] = &[
    "number", "details", "price", "amount", "sum", "nummer", "betrag", "numéro", "montant",
    "número", "importe", "numero", "importo", "bedrag", "numer", "kwota",
];
/// Whose it is.
const WHOSE: &[&str] =
    &["her", "his", "their", "its", "ihre", "ihrer", "seine", "seiner", "sa", "leur", "su"];
/// Words between a thing and the source that it is to be taken from: *the account from the invoice*.
const FROM: &[&str] = &[
    "in", "from", "im", "aus", "auf", "dans", "sur", "en", "nel", "nella", "nell", "sul", "sulla",
    "na", "op", "uit", "w", "z",
];
/// *On* is for days as well: a source has one of these.
const ON: &str = "on";
const ARTICLES: &[&str] = &[
    "the", "my", "his", "her", "our", "their", "its", "your", "this", "der", "dem", "den", "de",
    "het",
];
/// *Account as on the agreement*.
const AS: &[&str] = &["as", "like", "wie", "comme", "como", "come", "zoals", "jak"];
/// Words for a source that was named before.
const THERE: &[&str] = &["there", "dort", "darin", "là", "allí", "ahí", "lì", "daar", "tam"];
/// Words after which an account is where money comes from, or an address where something is.
const OUT_OF: &[&str] = &["from", "at", "von", "vom", "depuis", "desde", "dal", "van", "z"];
/// Words for places that are words for days and ways as well.
const OF_DAYS: &[&str] = &["in", "on", "at", "by", "am", "im", "en", "from"];
/// Words after which something else is spoken of.
const TOWARDS: &[&str] = &["to", "for", "with", "an", "für", "mit", "à", "pour", "a", "para"];
/// Words that begin what people are known by: *everybody who asked*.
const WHO: &[&str] = &["who", "whose", "qui"];
/// Whoever speaks does not say what others say.
const MYSELF: &[&str] = &["i", "we", "you"];
/// Words behind a word for saying that belong to what is said.
const SAID_MAX: usize = 8;

/// Words by which a source is named.
const SOURCE_WORDS_MAX: usize = 12;

/// A clause that points at a source: what the source may fill, and where the words are that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointing {
    pub(super) slots: Slots,
    pub(super) source: Range<usize>,
    /// The source is named before what it says.
    pub(super) is_before: bool,
}

impl Pointing {
    const fn behind(slots: Slots, source: Range<usize>) -> Self {
        Self { slots, source, is_before: false }
    }

    const fn before(slots: Slots, source: Range<usize>) -> Self {
        Self { slots, source, is_before: true }
    }
}

/// The clauses of a sentence that point at something. A question points at nothing.
pub(super) fn pointing<S: AsRef<str>>(folded: &str, all: &[S]) -> Vec<Pointing> {
    if is_question(folded) {
        return Vec::new();
    }
    let sentence = Sentence(all);
    let clauses = (0..all.len()).flat_map(|at| sentence.clauses(at)).flatten();
    clauses.filter(|it| it.slots != Slots::NONE).collect()
}

/// Does a sentence point at something in a language that is written without spaces?
pub(super) fn points_unspaced(folded: &str) -> bool {
    !is_question(folded) && UNSPACED.iter().any(|it| folded.contains(it))
}

/// Does a source follow this word?
pub(super) fn is_place_word(word: &str) -> bool {
    IN.contains(&word) || FROM.contains(&word)
}

/// Does a word mean somebody who was named before?
pub(super) fn is_possessive(word: &str) -> bool {
    WHOSE.contains(&word)
}

/// Is something else spoken of behind this word: who gets it, what it is for?
pub(super) fn is_direction(word: &str) -> bool {
    TOWARDS.contains(&word)
}

/// Is it a word for what is left open, and not for where it stands?
pub(super) fn is_slot_word(word: &str) -> bool {
    ADDRESSES.contains(&word) || ACCOUNTS.contains(&word)
}

fn is_question(folded: &str) -> bool {
    folded.contains(['?', '？', '¿'])
}

type Found = Option<Pointing>;

/// The words of a sentence.
struct Sentence<'a, S>(&'a [S]);

impl<S: AsRef<str>> Sentence<'_, S> {
    /// Every kind of clause that points at something, around the word at this place.
    fn clauses(&self, at: usize) -> [Found; 9] {
        [
            self.stands(at),
            self.taken_from(at),
            self.described(at),
            self.there(at),
            self.bill(at),
            self.people(at),
            self.by(at),
            self.says(at),
            self.told(at),
        ]
    }

    /// *Her address is on the team page*, *named in her letter*.
    fn stands(&self, at: usize) -> Found {
        let next = at.saturating_add(1);
        let is_asked = self.any(ASKING, at.saturating_sub(1)..at);
        if is_asked || !(self.is(IN, next) || self.is(THERE, next)) {
            return None;
        }
        let slots = match self.is(NAMED, at) {
            true => Slots::ANYTHING,
            false if self.is(STANDS, at) => self.things(before(at), true),
            false => return None,
        };
        Some(Pointing::behind(slots, self.behind(next)))
    }

    /// *The account number in the letter*, *account as on the agreement*, *her number at the doorbell*.
    fn taken_from(&self, at: usize) -> Found {
        let next = at.saturating_add(1);
        let is_theirs = self.any(WHOSE, at.saturating_sub(3)..at);
        if !(self.is_from(next) || (is_theirs && self.is(IN, next))) {
            return None;
        }
        let thing = if self.is(NUMBERS, at) { at.saturating_sub(1)..next } else { at..next };
        let is_out = self.any(OUT_OF, thing.start.saturating_sub(2)..thing.start);
        let slots = if is_out { Slots::NONE } else { self.things(thing, is_theirs) };
        Some(Pointing::behind(slots, self.behind(next)))
    }

    /// *The address shown on the ticket*, *the account that Lena wrote us*: what follows says where it comes from.
    fn described(&self, at: usize) -> Found {
        let things = self.things(at..at.saturating_add(1), false);
        if things == Slots::NONE || self.any(OUT_OF, at.saturating_sub(2)..at) {
            return None;
        }
        // The first word for a place decides: *the account on Friday in the morning*.
        let next = at.saturating_add(1);
        let ends = |it: &usize| self.is(IN, *it) || self.is(FROM, *it) || self.is(TOWARDS, *it);
        let end = self.until_joint(at, BETWEEN_MAX).find(ends);
        let gap = next..end.unwrap_or(next.saturating_add(BETWEEN_MAX));
        if let Some(told) =
            gap.clone().skip(1).find(|it| self.is(SAYS, *it) || SAYING.has(self.word(*it)))
        {
            return Some(Pointing::before(things, next..told));
        }
        let end = end.filter(|it| *it > next && !self.is(TOWARDS, *it))?;
        let is_place = self.is(ARTICLES, end.saturating_add(1)) || !self.is(OF_DAYS, end);
        is_place.then(|| Pointing::behind(things, self.behind(end)))
    }

    /// *The address you find there*.
    fn there(&self, at: usize) -> Found {
        self.is(THERE, at).then(|| Pointing::before(self.things(before(at), false), at..at))
    }

    /// *Pay the bill*: it says where it is to be paid.
    fn bill(&self, at: usize) -> Found {
        let word = self.word(at);
        // To send is to pay as well, and a bill may be sent.
        let acts = verb_of(word).map_or_else(|| stem_acts(word), |it| it.acts);
        let pays = acts & kind::PAY != 0 && acts & kind::SEND == 0;
        let paid = self.until_joint(at, BETWEEN_MAX);
        let is_bill = pays && paid.clone().any(|it| BILLS.has(singular(self.word(it))));
        is_bill.then(|| Pointing::behind(Slots::ACCOUNT, self.behind(at)))
    }

    /// *Everybody who asked*, *colleagues in the announcement*.
    fn people(&self, at: usize) -> Found {
        let (word, next) = (self.word(at), at.saturating_add(1));
        if !(PERSONS.has(word) || PERSONS.has(singular(word))) {
            return None;
        }
        if self.is(WHO, next) {
            // *Who took part* says nothing of where they stand; *who asked in the thread* does.
            let place = self.until_joint(next, BETWEEN_MAX).find(|it| self.is_from(*it));
            let source = place.map_or(at..at, |it| self.behind(it));
            return Some(Pointing { slots: Slots::PEOPLE, source, is_before: place.is_none() });
        }
        self.is_from(next).then(|| Pointing::behind(Slots::PEOPLE, self.behind(next)))
    }

    /// *According to the contract*.
    fn by(&self, at: usize) -> Found {
        self.is(BY, at).then(|| Pointing::behind(Slots::ANYTHING, self.behind(at)))
    }

    /// *As the contract says*, *pay what it says*. To look at what somebody says is to look.
    fn says(&self, at: usize) -> Found {
        let mut before_it = before(at);
        let opens = before_it.find(|it| self.is(BEFORE_SAYS, *it)).filter(|_| self.is(SAYS, at))?;
        let is_told_to_me = self.is(ME, opens.saturating_sub(1));
        let acts = |it: usize| {
            let word = self.word(it);
            verb_of(word).map_or_else(|| stem_acts(word), |it| it.acts) != 0 || FOLLOWING.has(word)
        };
        let is_done = opens.saturating_sub(BETWEEN_MAX)..opens;
        let is_meant = self.is(AS, opens) || (!is_told_to_me && is_done.clone().any(acts));
        (is_meant || is_done.is_empty()).then(|| Pointing::before(Slots::ANYTHING, before(at)))
    }

    /// *She wrote us her new number*.
    fn told(&self, at: usize) -> Found {
        if !SAYING.has(self.word(at)) || self.any(MYSELF, at.saturating_sub(1)..at) {
            return None;
        }
        let said = self.until_joint(at, SAID_MAX);
        let is_theirs = self.any(WHOSE, said.clone());
        // *He wants it on the old account*: that says nothing of where the account stands.
        let ends = |it: &usize| !is_theirs && (self.is(IN, *it) || self.is(TOWARDS, *it));
        let said = said.start..said.clone().find(ends).unwrap_or(said.end);
        let things = self.things(said, is_theirs);
        Some(Pointing::before(things, before(at)))
    }

    /// What these words stand for; words that stand for other things as well count if they are `surely` meant so.
    fn things(&self, range: Range<usize>, surely: bool) -> Slots {
        let any = |plain: &[&str], other: &[&str]| {
            self.any(plain, range.clone()) || (surely && self.any(other, range.clone()))
        };
        let address = if any(ADDRESSES, MAILS) { Slots::ADDRESS } else { Slots::NONE };
        let account = if any(ACCOUNTS, NUMBERS) { Slots::ACCOUNT } else { Slots::NONE };
        address.with(account)
    }

    /// Does a source follow that something is to be taken from?
    fn is_from(&self, at: usize) -> bool {
        let next = at.saturating_add(1);
        self.is(FROM, at)
            || (self.word(at) == ON && self.is(ARTICLES, next))
            || (self.is(AS, at) && self.is(IN, next))
    }

    fn word(&self, at: usize) -> &str {
        self.0.get(at).map_or("", AsRef::as_ref)
    }

    fn is(&self, list: &[&str], at: usize) -> bool {
        list.contains(&self.word(at))
    }

    fn any(&self, list: &[&str], mut range: Range<usize>) -> bool {
        range.any(|it| self.is(list, it))
    }

    /// The words behind this place that may name a source.
    fn behind(&self, at: usize) -> Range<usize> {
        let start = at.saturating_add(1).min(self.0.len());
        start..start.saturating_add(SOURCE_WORDS_MAX).min(self.0.len())
    }

    /// The words behind this place, so many at most, that belong to its clause.
    fn until_joint(&self, at: usize, most: usize) -> Range<usize> {
        let start = at.saturating_add(1);
        let end = (start..start.saturating_add(most)).find(|it| JOINTS.has(self.word(*it)));
        start..end.unwrap_or(start.saturating_add(most))
    }
}

/// The words before this place that belong to it.
fn before(at: usize) -> Range<usize> {
    at.saturating_sub(BETWEEN_MAX)..at
}

#[cfg(test)]
mod tests;
