//! The rules of signed notes, and the note that Go's documentation publishes.

use super::*;

const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n";
const LINE: &str = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZ\
                    InNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const PUBLIC: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const PRIVATE: &str =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";

fn parse(note: &str) -> Result<SignedNote, NoteMalformed> {
    SignedNote::parse(note.as_bytes())
}

#[test]
fn the_published_note_is_verified_by_the_published_key() {
    let whole = format!("{TEXT}\n{LINE}");
    let note = parse(&whole).unwrap();
    assert_eq!(note.to_text(), whole);
    let verified = note.verify(&VerifierKey::parse(PUBLIC).unwrap()).unwrap();
    assert_eq!(verified.text(), TEXT);
    assert_eq!(verified.signer().to_string(), PUBLIC);
    assert_eq!(verified.note().to_text(), whole);
}

#[test]
fn the_published_private_key_makes_the_published_note() {
    let key = SigningKey::parse(PRIVATE).unwrap();
    let note = SignedNote::sign(TEXT, &[&key]).unwrap();
    assert_eq!(note.to_text(), format!("{TEXT}\n{LINE}"));
}

#[test]
fn signatures_by_unknown_keys_are_of_no_account() {
    // The same name with another id, another name with the same id, and a short one.
    for other in ["— PeterNeumann AAAAAAE=\n", "— EnochRoot x08gowE=\n", "— x AAAAAAE=\n"] {
        let note = parse(&format!("{TEXT}\n{other}{LINE}")).unwrap();
        assert_eq!(note.signatures().len(), 2);
        assert!(note.verify(&VerifierKey::parse(PUBLIC).unwrap()).is_ok(), "{other}");
    }
}

#[test]
fn a_bad_signature_by_the_key_is_refused_even_beside_a_good_one() {
    let key = VerifierKey::parse(PUBLIC).unwrap();
    let bad = "— PeterNeumann x08gowE=\n";
    let tampered = format!("{}\n{LINE}", TEXT.replace("problem", "question"));
    for note in [format!("{TEXT}\n{LINE}{bad}"), format!("{TEXT}\n{bad}"), tampered] {
        let refused = parse(&note).unwrap().verify(&key).unwrap_err();
        let expected = "the signature by `PeterNeumann+c74f20a3` does not fit the note";
        assert_eq!(refused.to_string(), expected, "{note}");
    }
}

#[test]
fn a_note_without_a_signature_by_the_key_is_refused() {
    let note = parse(&format!("{TEXT}\n— EnochRoot x08gowE=\n")).unwrap();
    let refused = note.verify(&VerifierKey::parse(PUBLIC).unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "the note is not signed by `PeterNeumann+c74f20a3`");
}

#[test]
fn the_last_blank_line_ends_the_text() {
    let key = SigningKey::parse(PRIVATE).unwrap();
    for text in ["\n", "\n\n\n", "a\n\n", "a\n\nb\n", "a\n\n— x AAAAAAE=\n"] {
        let note = SignedNote::sign(text, &[&key]).unwrap();
        let read = parse(&note.to_text()).unwrap();
        assert_eq!(read, note, "{text:?}");
        assert_eq!(read.verify(key.verifier()).unwrap().text(), text);
    }
}

#[test]
fn a_malformed_note_is_refused() {
    for (note, expected) in [
        (String::new(), NoteMalformed::NoBlankLine),
        ("a\n".to_owned(), NoteMalformed::NoBlankLine),
        (LINE.to_owned(), NoteMalformed::NoBlankLine),
        (format!("a\n{LINE}"), NoteMalformed::NoBlankLine),
        ("a\n\n".to_owned(), NoteMalformed::NoSignature),
        (format!("a\n\n{}", LINE.trim_end()), NoteMalformed::End),
        (format!("a\n\n{LINE}b\n"), NoteMalformed::SignatureLine { number: 2 }),
        (format!("a\n\n{LINE}\n"), NoteMalformed::NoSignature),
        (format!("a\r\n\n{LINE}"), NoteMalformed::ControlCharacter(0xd)),
        (format!("a\0\n\n{LINE}"), NoteMalformed::ControlCharacter(0)),
    ] {
        assert_eq!(parse(&note), Err(expected), "{note:?}");
    }
    assert_eq!(SignedNote::parse(b"\xff\n\n"), Err(NoteMalformed::NotUtf8));
}

#[test]
fn a_malformed_signature_line_is_refused() {
    for line in [
        "- x AAAAAAE=",
        "—x AAAAAAE=",
        " — x AAAAAAE=",
        "—  AAAAAAE=",
        "— x  AAAAAAE=",
        "— x+y AAAAAAE=",
        "— x\u{a0}y AAAAAAE=",
        "— x",
        "— x ",
        // Four bytes: an id without a signature.
        "— x AAAAAA==",
        // Not canonical: unpadded, stray bits, the alphabet of URLs.
        "— x AAAAAAE",
        "— x AAAAAAF=",
        "— x AAAAA_E=",
        "— x AAAAAAE= ",
    ] {
        let refused = parse(&format!("a\n\n{line}\n"));
        assert_eq!(refused, Err(NoteMalformed::SignatureLine { number: 1 }), "{line:?}");
    }
    assert!(parse("a\n\n— x AAAAAAE=\n").is_ok());
}

#[test]
fn a_note_has_at_most_a_hundred_signatures() {
    let line = "— x AAAAAAE=\n";
    assert!(parse(&format!("a\n\n{}", line.repeat(NOTE_SIGNATURES_MAX))).is_ok());
    let refused = parse(&format!("a\n\n{}", line.repeat(NOTE_SIGNATURES_MAX + 1)));
    assert_eq!(refused, Err(NoteMalformed::TooManySignatures));
    let key = SigningKey::parse(PRIVATE).unwrap();
    let refused = SignedNote::sign("a\n", &[&key; NOTE_SIGNATURES_MAX + 1]);
    assert_eq!(refused, Err(NoteMalformed::TooManySignatures));
}

#[test]
fn a_note_has_at_most_a_mebibyte() {
    let tail = format!("\n\n{LINE}");
    let longest = "a".repeat(NOTE_BYTES_MAX - tail.len());
    assert!(parse(&format!("{longest}{tail}")).is_ok());
    let bytes = NOTE_BYTES_MAX + 1;
    assert_eq!(parse(&format!("{longest}a{tail}")), Err(NoteMalformed::TooLong { bytes }));
    let key = SigningKey::parse(PRIVATE).unwrap();
    assert!(SignedNote::sign(&format!("{longest}\n"), &[&key]).is_ok());
    let refused = SignedNote::sign(&format!("{longest}a\n"), &[&key]);
    assert_eq!(refused, Err(NoteMalformed::TooLong { bytes }));
}

#[test]
fn what_could_not_be_read_back_is_not_signed() {
    let key = SigningKey::parse(PRIVATE).unwrap();
    assert_eq!(SignedNote::sign("", &[&key]), Err(NoteMalformed::TextEnd));
    assert_eq!(SignedNote::sign("a", &[&key]), Err(NoteMalformed::TextEnd));
    let control = SignedNote::sign("a\tb\n", &[&key]);
    assert_eq!(control, Err(NoteMalformed::ControlCharacter(9)));
    assert_eq!(SignedNote::sign("a\n", &[]), Err(NoteMalformed::NoSignature));
}
