//! `bundle.note`: a bundle signed as a whole.
//!
//! Ids and the chain cover the records. What they leave open (when the bundle was made, which blobs
//! lie in it, that no record was dropped from its end) is covered by a signed note that states the
//! digest of every member.

use std::io::{self, Read};

use crate::archive::Rules;
use crate::digest::{Digest, Hasher};
use crate::note::{NOTE_BYTES_MAX, NoteMalformed, SignedNote, SigningKey, VerifierKey};
use crate::source::{AUDIT_LOG, BLOBS, BUNDLE_NOTE, KEEP, MANIFEST, MemberKind, RECORDS, Source};
use crate::verify::report::Findings;
use crate::verify::{Code, Finding};

/// The second line: no checkpoint and no other note reads like it.
const HEADING: &str = "AEGX bundle 0.1";
/// The members whose bytes are stated, in the order of their lines.
const FILES: [&str; 3] = [MANIFEST, RECORDS, AUDIT_LOG];

/// What a bundle holds, to the last byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    files: [Digest; 3],
    blobs: u64,
    /// SHA-256 over the sorted names of the blobs, each with a newline. A name is the hash of its
    /// content, which verification checks.
    names: Digest,
}

impl Statement {
    /// Reads the bundle and states what it holds.
    ///
    /// # Errors
    /// If a member cannot be read.
    pub fn of(source: &Source) -> io::Result<Self> {
        let hash = |name: &str| -> io::Result<Digest> {
            let mut input = source.open_under(name, Rules::Strict)?;
            let mut hasher = Hasher::new();
            let mut buffer = vec![0; BUFFER_BYTES];
            loop {
                let read = input.read(&mut buffer)?;
                match buffer.get(..read).filter(|it| !it.is_empty()) {
                    Some(bytes) => hasher.update(bytes),
                    None => return Ok(hasher.finish()),
                }
            }
        };
        let [manifest, records, audit] = FILES;
        let files = [hash(manifest)?, hash(records)?, hash(audit)?];
        let mut names = Hasher::new();
        let mut blobs = 0;
        for member in source.blobs()? {
            let base = member.name.rsplit('/').next().unwrap_or_default();
            if base == KEEP && member.kind == MemberKind::File && member.bytes == 0 {
                continue;
            }
            names.update(base.as_bytes());
            names.update(b"\n");
            blobs += 1;
        }
        Ok(Self { files, blobs, names: names.finish() })
    }

    /// Signs the statement in the name of `key`.
    ///
    /// # Errors
    /// Never with a name that a key can have.
    pub fn sign(&self, key: &SigningKey) -> Result<SignedNote, NoteMalformed> {
        SignedNote::sign(&self.to_text(key.verifier().name().as_str()), &[key])
    }

    /// The text that is signed.
    fn to_text(&self, signer: &str) -> String {
        let mut text = format!("{signer}\n{HEADING}\n");
        for (name, digest) in FILES.iter().zip(&self.files) {
            text.push_str(&format!("{name} {digest}\n"));
        }
        text.push_str(&format!("{BLOBS} {} {}\n", self.blobs, self.names));
        text
    }
}

const BUFFER_BYTES: usize = 256 << 10;

/// Holds the note of a bundle against its members, and its signature against `key`. Answers what
/// its reader should know.
pub(crate) fn check(
    source: &Source,
    key: Option<&VerifierKey>,
    findings: &mut Findings,
) -> Option<String> {
    let mut wrong = |code, detail: String| findings.add(Finding::new(code, BUNDLE_NOTE, detail));
    let bytes = match read(source) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            if let Some(key) = key {
                let detail = format!("the bundle is not signed; the key given is {}", key.name());
                wrong(Code::BundleSignature, detail);
            }
            return None;
        }
        Err(error) => {
            wrong(Code::FileUnreadable, error.to_string());
            return None;
        }
    };
    let note = match SignedNote::parse(&bytes) {
        Ok(note) => note,
        Err(error) => {
            wrong(Code::BundleNote, error.to_string());
            return None;
        }
    };
    // Its first line says in whose name; whether it is theirs is for the signature to say.
    let signer = note.text_unverified().lines().next().unwrap_or_default().to_owned();
    match Statement::of(source) {
        // A member that cannot be read was reported where it was read.
        Err(_) => {}
        Ok(statement) if statement.to_text(&signer) == note.text_unverified() => {}
        Ok(statement) => wrong(Code::BundleNote, difference(&statement, &note, &signer)),
    }
    let Some(key) = key else {
        return Some(format!("signed as a whole by `{signer}`, whose key was not given"));
    };
    if signer != key.name().as_str() {
        wrong(
            Code::BundleSignature,
            format!("it is in the name of `{signer}`, not {}", key.name()),
        );
    } else if let Err(error) = note.verify(key) {
        wrong(Code::BundleSignature, error.to_string());
    }
    None
}

/// What the note does not say of these members.
fn difference(statement: &Statement, note: &SignedNote, signer: &str) -> String {
    let expected = statement.to_text(signer);
    let mut lines = expected.lines().zip(note.text_unverified().lines());
    let differs = lines.find(|(is, signed)| is != signed);
    match differs.and_then(|(is, _)| is.split(' ').next()) {
        Some(name) if name != "AEGX" => format!("`{name}` is not what was signed"),
        _ => "it is no statement about a bundle".to_owned(),
    }
}

fn read(source: &Source) -> io::Result<Option<Vec<u8>>> {
    let input = match source.open_under(BUNDLE_NOTE, Rules::Strict) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        input => input?,
    };
    let mut bytes = Vec::new();
    // One more than a note may have, which is then refused for its length.
    input.take(NOTE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
