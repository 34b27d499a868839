//! C2SP tlog-checkpoints: the note in which a log states its size and root.

use data_encoding::BASE64;

use crate::Digest;
use crate::note::{NoteMalformed, SignedNote, SigningKey, VerifiedNote};

/// The state of a log.
///
/// Which origin a key may speak for is the reader's knowledge: compare [`Checkpoint::origin`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    origin: String,
    size: u64,
    root: Digest,
    /// INVARIANT (Lines): these and the origin are not empty and hold no control character.
    extensions: Vec<String>,
}

impl Checkpoint {
    /// States that the log `origin` has `size` leaves under `root`.
    pub fn new(origin: &str, size: u64, root: Digest) -> Result<Self, CheckpointMalformed> {
        // Another line in the origin would be read as the size.
        if origin.is_empty() || origin.contains(|c| c < ' ') {
            return Err(CheckpointMalformed::Origin);
        }
        Ok(Self { origin: origin.to_owned(), size, root, extensions: Vec::new() })
    }

    /// Reads the text of a note that was verified.
    pub fn from_verified(note: &VerifiedNote) -> Result<Self, CheckpointMalformed> {
        Self::parse(note.text())
    }

    /// Reads the text of a note that nobody verified: good for finding out what it is about, not
    /// for believing it.
    pub fn from_unverified(note: &SignedNote) -> Result<Self, CheckpointMalformed> {
        Self::parse(note.text_unverified())
    }

    /// Signs the statement.
    pub fn sign(&self, key: &SigningKey) -> Result<SignedNote, NoteMalformed> {
        SignedNote::sign(&self.to_text(), &[key])
    }

    /// The name of the log.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// How many leaves the log has.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root over these leaves.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.root
    }

    /// Lines that other software appended, kept as they are.
    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// The text to sign.
    fn to_text(&self) -> String {
        let root = BASE64.encode(self.root.as_bytes());
        let mut text = format!("{}\n{}\n{root}\n", self.origin, self.size);
        for line in &self.extensions {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// Only from notes: their text is checked for control characters and for its end.
    fn parse(text: &str) -> Result<Self, CheckpointMalformed> {
        let text = text.strip_suffix('\n').ok_or(CheckpointMalformed::Lines)?;
        let mut lines = text.split('\n');
        let mut next = || lines.next().ok_or(CheckpointMalformed::Lines);
        let (origin, size, root) = (next()?, next()?, next()?);
        let mut checkpoint = Self::new(origin, parse_size(size)?, parse_root(root)?)?;
        for line in lines {
            if line.is_empty() {
                return Err(CheckpointMalformed::EmptyLine);
            }
            checkpoint.extensions.push(line.to_owned());
        }
        Ok(checkpoint)
    }
}

fn parse_size(line: &str) -> Result<u64, CheckpointMalformed> {
    let size: u64 = line.parse().map_err(|_| CheckpointMalformed::Size)?;
    // Refuses leading zeros and signs.
    if size.to_string() == line { Ok(size) } else { Err(CheckpointMalformed::Size) }
}

fn parse_root(line: &str) -> Result<Digest, CheckpointMalformed> {
    let bytes = BASE64.decode(line.as_bytes()).map_err(|_| CheckpointMalformed::Root)?;
    let bytes = bytes.try_into().map_err(|_| CheckpointMalformed::Root)?;
    Ok(Digest::from_bytes(bytes))
}

/// Why a text is not a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointMalformed {
    /// Fewer than three.
    #[error("the checkpoint has fewer than three lines")]
    Lines,
    /// No name of a log.
    #[error("the origin of the checkpoint is empty or holds a control character")]
    Origin,
    /// No number of leaves.
    #[error("the size in the checkpoint is not a decimal number without leading zeros")]
    Size,
    /// No hash.
    #[error("the root in the checkpoint is not 32 bytes in padded base64")]
    Root,
    /// A line without content.
    #[error("the checkpoint holds an empty line")]
    EmptyLine,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::{NoteName, SEED_BYTES};

    // From the C2SP tlog-checkpoint specification.
    const BODY: &str = "example.com/behind-the-sofa\n20852163\n\
                        CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

    fn reread(text: &str) -> Result<Checkpoint, CheckpointMalformed> {
        let key = SigningKey::from_seed(NoteName::new("log").unwrap(), &[1; SEED_BYTES]);
        let note = SignedNote::sign(text, &[&key]).unwrap();
        Checkpoint::from_verified(&note.verify(key.verifier()).unwrap())
    }

    #[test]
    fn the_published_checkpoint_is_read() {
        let checkpoint = reread(BODY).unwrap();
        assert_eq!(checkpoint.origin(), "example.com/behind-the-sofa");
        assert_eq!(checkpoint.size(), 20_852_163);
        let root = "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62";
        assert_eq!(checkpoint.root().to_string(), root);
        assert_eq!(checkpoint.to_text(), BODY);
    }

    #[test]
    fn what_is_signed_is_what_is_read() {
        let key = SigningKey::from_seed(NoteName::new("log").unwrap(), &[1; SEED_BYTES]);
        for size in [0, 1, u64::MAX] {
            let checkpoint = Checkpoint::new("log", size, Digest::of(b"root")).unwrap();
            let note = checkpoint.sign(&key).unwrap().verify(key.verifier()).unwrap();
            assert_eq!(Checkpoint::from_verified(&note), Ok(checkpoint));
        }
    }

    #[test]
    fn extension_lines_are_kept() {
        let text = format!("{BODY}first extension\nsecond\n");
        let checkpoint = reread(&text).unwrap();
        assert_eq!(checkpoint.extensions(), ["first extension", "second"]);
        assert_eq!(checkpoint.to_text(), text);
    }

    #[test]
    fn a_malformed_checkpoint_is_refused() {
        let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
        for (text, expected) in [
            ("\n".to_owned(), CheckpointMalformed::Lines),
            ("log\n1\n".to_owned(), CheckpointMalformed::Lines),
            (format!("\n1\n{root}\n"), CheckpointMalformed::Origin),
            (format!("log\n\n{root}\n"), CheckpointMalformed::Size),
            (format!("log\n01\n{root}\n"), CheckpointMalformed::Size),
            (format!("log\n+1\n{root}\n"), CheckpointMalformed::Size),
            (format!("log\n-1\n{root}\n"), CheckpointMalformed::Size),
            (format!("log\n0x1\n{root}\n"), CheckpointMalformed::Size),
            (format!("log\n18446744073709551616\n{root}\n"), CheckpointMalformed::Size),
            ("log\n1\n\n".to_owned(), CheckpointMalformed::Root),
            ("log\n1\nAAAA\n".to_owned(), CheckpointMalformed::Root),
            (format!("log\n1\n{root} \n"), CheckpointMalformed::Root),
            (format!("log\n1\n{}\n", root.replace("I=", "J=")), CheckpointMalformed::Root),
            (format!("log\n1\n{root}\n\n"), CheckpointMalformed::EmptyLine),
            (format!("log\n1\n{root}\n\nmore\n"), CheckpointMalformed::EmptyLine),
        ] {
            assert_eq!(reread(&text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn an_origin_cannot_smuggle_lines() {
        for origin in ["", "log\n5", "log\r", "\0"] {
            let refused = Checkpoint::new(origin, 1, Digest::ZERO);
            assert_eq!(refused, Err(CheckpointMalformed::Origin), "{origin:?}");
        }
    }
}
