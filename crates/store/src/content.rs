//! How content is known again: by its bytes, and by what a reader sees of it.

use aegx::Digest;
use monitor::taint::normal;

/// The digests of content: of its bytes, and of its text without what makes no difference to a
/// reader. Both are whole: nobody can aim at a shortened one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    exact: Digest,
    normal: Option<Digest>,
}

impl Fingerprint {
    /// Of this content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let exact = Digest::of(bytes);
        let normal = match std::str::from_utf8(bytes) {
            Ok(text) => Some(normal(text)).filter(|it| !it.is_empty()),
            Err(_) => return Self { exact, normal: Some(exact) },
        };
        Self { exact, normal: normal.map(|it| Digest::of(it.as_bytes())) }
    }

    /// What to look for and what to label. Content that shows nothing has no label: everything that
    /// is empty would share it.
    #[must_use]
    pub fn digests(&self) -> Vec<Digest> {
        self.normal.map_or_else(Vec::new, |normal| vec![self.exact, normal])
    }

    /// Of the bytes.
    #[must_use]
    pub fn exact(&self) -> Digest {
        self.exact
    }

    /// Both, even of content that shows nothing: what one user keeps is kept apart from the rest.
    pub(crate) fn both(&self) -> [Digest; 2] {
        [self.exact, self.seen()]
    }

    /// Of what a reader sees.
    pub(crate) fn seen(&self) -> Digest {
        self.normal.unwrap_or(self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_known_again() {
        let clean = "The invoice portal is https://pay.example";
        for same in [
            "the invoice   portal is HTTPS://PAY.EXAMPLE\n",
            "\tThe\u{a0}invoice\r\nportal is https://pay.example ",
            "Ｔｈｅ invoice portal is https://pay.example",
            "The in\u{200b}voice por\u{ad}tal is https://pay.example\u{e0041}",
        ] {
            let (one, other) =
                (Fingerprint::of(clean.as_bytes()), Fingerprint::of(same.as_bytes()));
            assert_eq!(one.seen(), other.seen(), "{same:?}");
            assert_ne!(one.exact(), other.exact(), "{same:?}");
        }
        let other = Fingerprint::of(b"The invoice portal is https://pay.example.evil");
        assert_ne!(Fingerprint::of(clean.as_bytes()).seen(), other.seen());
    }

    #[test]
    fn bytes_that_are_no_text_are_known_by_themselves() {
        let bytes = Fingerprint::of(b"\xff\xfe");
        assert_eq!(bytes.digests(), [bytes.exact(), bytes.exact()]);
        for empty in ["", " \n", "\u{200b}"] {
            assert_eq!(Fingerprint::of(empty.as_bytes()).digests(), []);
        }
    }
}
