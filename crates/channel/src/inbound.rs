//! A message as a messenger says it came in. Nothing in it has been believed yet but that the messenger said it.

use crate::address::Address;

/// Characters of one message; what is longer is cut.
pub(crate) const TEXT_CHARS_MAX: usize = 50_000;
/// Messages of one answer of a messenger.
pub(crate) const MESSAGES_MAX: usize = 100;
/// Attachments of one message that are looked at.
pub(crate) const ATTACHMENTS_MAX: usize = 10;

/// How old a message may be by its own time, and how far ahead of our clock, in seconds.
pub const AGE_SECONDS_MAX: u64 = 600;

/// Characters of the type of an attachment.
const MIME_CHARS_MAX: usize = 100;

/// A message that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    /// Its name, which no other message of the same messenger has.
    pub id: String,
    /// When it was said, in seconds since 1970, where the messenger says it.
    pub at: Option<i64>,
    /// Where it was said, which is where an answer goes.
    pub address: Address,
    /// Who the messenger says it was.
    pub sender: String,
    /// Do others hear what is said there?
    pub place: Place,
    /// Whose words they are.
    pub words: Words,
    /// Does it name us, or is it an answer to us?
    pub mentions_us: bool,
    /// What it says.
    pub text: String,
    /// What is attached to it. Nothing of it was fetched.
    pub attachments: Vec<Attachment>,
}

impl Inbound {
    /// Was it said about now? What waited for long may not be what the sender wants any more, or comes from somebody who
    /// says it again.
    #[must_use]
    pub fn is_of_late(&self, now: i64) -> bool {
        self.at.is_none_or(|at| now.abs_diff(at) <= AGE_SECONDS_MAX)
    }
}

/// Do others hear what is said?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nobody but the sender and us.
    Direct,
    /// Others, too.
    Shared,
}

/// Whose words a message is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// The sender's.
    Own,
    /// Somebody else's: passed on, or made by a program.
    Others,
}

/// Something attached to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Of what type the messenger says it is, in small letters.
    pub mime: String,
    /// How large, in bytes; none if it does not say.
    pub bytes: Option<u64>,
}

impl Attachment {
    /// An attachment of the type that a messenger says.
    pub(crate) fn of(mime: Option<&str>, bytes: Option<u64>) -> Self {
        let mime = mime.unwrap_or("application/octet-stream");
        let mime = mime.chars().take(MIME_CHARS_MAX).collect::<String>().to_ascii_lowercase();
        Self { mime, bytes }
    }

    /// Is it of an allowed type, and small enough? One of unknown size is not: WhatsApp says none, so that nothing that is
    /// attached there is taken.
    #[must_use]
    pub fn fits(&self, types: &[String], bytes_max: u64) -> bool {
        let is_type = |it: &String| match it.strip_suffix("/*") {
            Some(family) => self.mime.split('/').next() == Some(family),
            None => self.mime == *it,
        };
        types.iter().any(is_type) && self.bytes.is_some_and(|it| it <= bytes_max)
    }
}

/// The beginning of a text, without NUL. What else is odd in it is for whoever scans it to see.
pub(crate) fn cut(text: &str) -> String {
    text.chars().filter(|it| *it != '\0').take(TEXT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_that_nobody_allowed() {
        let pdf = |bytes| Attachment { mime: "application/pdf".to_owned(), bytes };
        let types = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert!(!pdf(Some(1)).fits(&[], 10));
        assert!(pdf(Some(10)).fits(&types(&["application/pdf"]), 10));
        assert!(pdf(Some(10)).fits(&types(&["application/*"]), 10));
        assert!(!pdf(Some(11)).fits(&types(&["application/pdf"]), 10));
        assert!(!pdf(None).fits(&types(&["application/pdf"]), 10));
        assert!(!pdf(Some(1)).fits(&types(&["text/*", "*/*", "application/pdf2"]), 10));
        assert_eq!(
            cut(&format!("a\0{}", "é".repeat(TEXT_CHARS_MAX))).chars().count(),
            TEXT_CHARS_MAX
        );
    }
}
