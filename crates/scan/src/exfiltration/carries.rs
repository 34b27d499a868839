//! What an address carries.

use url::Url;

use crate::net::{self, Target};
use crate::{pii, secret};

/// What an address carries besides where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carries {
    /// Nothing that could be anything but the name of a page.
    Nothing,
    /// Words in the query or the fragment: they may be an ordinary search, or what somebody wants to know.
    Words,
    /// Data: a secret, personal data, encoded text, or more than any page needs; or it goes to a place that only collects.
    Data,
}

impl Carries {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Words => "words",
            Self::Data => "data",
        }
    }

    /// Judges an address.
    pub(super) fn of(url: &Url) -> Self {
        let text = url.as_str();
        let holds_secret = || !secret::find(text).is_empty();
        // Numbers in paths are ids; what a query says of a person was put there.
        let query = url.query().unwrap_or_default();
        let holds_person = || !query.is_empty() && !pii::find(&plain(query)).is_empty();
        let looks_like_data = || match Target::parse(text) {
            Ok(target) => !net::exfiltration(&target).is_empty(),
            // An address that leads inside, or reads in two ways, is judged by whoever fetches it.
            Err(_) => text.len() > URL_BYTES_MAX,
        };
        if looks_like_data() || holds_secret() || holds_person() {
            return Self::Data;
        }
        let says = |it: Option<&str>| it.is_some_and(|it| !it.is_empty());
        // A fragment stays with the reader's program, but scripts of a page read it.
        let speaks = says(url.query()) || url.fragment().is_some_and(|it| it.contains('='));
        if speaks { Self::Words } else { Self::Nothing }
    }
}

fn plain(query: &str) -> String {
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.map(|(name, value)| format!("{name}: {value}\n")).collect()
}

/// What nobody needs to find a page, in bytes.
const URL_BYTES_MAX: usize = 1024;
