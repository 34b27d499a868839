//! Texts in base64 or hexadecimal digits: decoded, and read like what is hidden.

use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER_PERMISSIVE,
};
use model::skill::{Severity, SkillCheck};

use crate::commands::{self, Command};
use crate::finding::Findings;
use crate::hosts;
use crate::kind::{FileKind, kind};
use crate::stance::Stance;
use crate::verify::Budget;

/// The shortest run of letters that is tried, in bytes.
const RUN_BYTES_MIN: usize = 24;
/// What is decoded of one run, in bytes.
const DECODED_BYTES_MAX: usize = 32 << 10;

/// Decodes what looks encoded, and says what it holds.
pub(crate) fn check(
    text: &str,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    for (start, run) in runs(text) {
        let span = (start, start + run.len());
        let Some(bytes) = decoded(run) else { continue };
        if let FileKind::Machine(what) = kind("", &bytes) {
            found.add(
                SkillCheck::EncodedPayload,
                Severity::High,
                span,
                format!("{what}, in an encoding"),
            );
            continue;
        }
        let Ok(inner) = std::str::from_utf8(&bytes) else { continue };
        if inner.chars().any(|it| it.is_control() && !it.is_whitespace()) {
            continue;
        }
        if !inner.contains([' ', '/', '|']) || !budget.command() {
            continue;
        }
        let command = Command { text: inner, stance: Stance::Hidden, is_sure: false, has_file };
        for fact in commands::facts(&command) {
            let why = format!("behind an encoding: {}", fact.why);
            found.add(SkillCheck::EncodedPayload, Severity::Critical, span, why);
        }
        let urls = inner.split_whitespace().filter(|it| it.contains("://"));
        for sign in urls.filter_map(hosts::judge_url) {
            let why = format!("behind an encoding: {}", sign.why);
            found.add(SkillCheck::EncodedPayload, Severity::High, span, why);
        }
    }
}

/// Runs of letters of an encoding.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_letter =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '/' | '_' | '-' | '=');
    let base = text.as_ptr().addr();
    text.split(move |it| !is_letter(it))
        .filter(|it| it.len() >= RUN_BYTES_MIN && !it.contains("//"))
        .map(move |it| (it.as_ptr().addr() - base, it))
}

fn decoded(run: &str) -> Option<Vec<u8>> {
    let most = run.len().min(DECODED_BYTES_MAX / 4 * 4);
    // `KEY=` before it belongs to something else.
    let run = run.get(..most)?.trim_start_matches('=');
    let all: [&Encoding; 5] =
        [&HEXLOWER_PERMISSIVE, &BASE64, &BASE64_NOPAD, &BASE64URL, &BASE64URL_NOPAD];
    all.iter().find_map(|it| it.decode(run.as_bytes()).ok())
}
