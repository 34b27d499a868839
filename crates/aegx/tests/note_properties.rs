//! Notes and checkpoints of any content: what is written is read back, and nothing else is.

use aegx::Digest;
use aegx::checkpoint::Checkpoint;
use aegx::note::{NoteName, SignedNote, SigningKey, VerifierKey};
use proptest::prelude::*;

const NAME: &str = "[^\\s+\\x00-\\x1f]{1,20}";

proptest! {
    #[test]
    fn a_signed_note_round_trips(
        seed: [u8; 32], other: [u8; 32],
        name in NAME, text in "([^\\x00-\\x1f]|\n){0,200}",
    ) {
        let name = NoteName::new(&name).unwrap();
        let (key, cosigner) =
            (SigningKey::from_seed(name.clone(), &seed), SigningKey::from_seed(name, &other));
        let text = format!("{text}\n");
        let note = SignedNote::sign(&text, &[&cosigner, &key]).unwrap();
        let read = SignedNote::parse(note.to_text().as_bytes()).unwrap();
        prop_assert_eq!(&read, &note);
        let verified = read.verify(key.verifier()).unwrap();
        prop_assert_eq!(verified.text(), text);
    }

    #[test]
    fn a_changed_byte_is_never_verified(at: prop::sample::Index, change in 1..=255u8) {
        let key = SigningKey::from_seed(NoteName::new("log").unwrap(), &[3; 32]);
        let checkpoint = Checkpoint::new("log", 7, Digest::of(b"root")).unwrap();
        let mut bytes = checkpoint.sign(&key).unwrap().to_text().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        let verified = SignedNote::parse(&bytes).ok().and_then(|n| n.verify(key.verifier()).ok());
        prop_assert!(verified.is_none());
    }

    #[test]
    fn whatever_is_read_is_written_the_same(
        text in "[a\n]{0,4}", lines in "(— [a+]{1,2} AAAA[AQ]{2}[AEQ][=A]\n){0,3}",
    ) {
        let note = format!("{text}\n\n{lines}");
        if let Ok(read) = SignedNote::parse(note.as_bytes()) {
            prop_assert_eq!(read.to_text(), note);
        }
    }

    #[test]
    fn keys_round_trip(seed: [u8; 32], name in NAME) {
        let key = SigningKey::from_seed(NoteName::new(&name).unwrap(), &seed);
        let again = SigningKey::parse(&key.to_secret_text()).unwrap();
        prop_assert_eq!(again.verifier(), key.verifier());
        let verifier = VerifierKey::parse(&key.verifier().to_string()).unwrap();
        prop_assert_eq!(&verifier, key.verifier());
    }

    #[test]
    fn a_checkpoint_round_trips(origin in "[^\\x00-\\x1f]{1,40}", size: u64, root: [u8; 32]) {
        let key = SigningKey::from_seed(NoteName::new("log").unwrap(), &[3; 32]);
        let checkpoint = Checkpoint::new(&origin, size, Digest::from_bytes(root)).unwrap();
        let note = checkpoint.sign(&key).unwrap();
        let verified = note.verify(key.verifier()).unwrap();
        prop_assert_eq!(Checkpoint::from_verified(&verified).unwrap(), checkpoint);
    }
}
