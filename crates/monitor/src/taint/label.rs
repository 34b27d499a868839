//! Labels: which flags mean "from outside", and which of two labels stays.

use model::{Source, Taint, TaintTag};

/// The longest origin that a session keeps of a label.
pub const ORIGIN_BYTES_MAX: usize = 256;
/// The longest record id that a session keeps of a label.
pub(super) const RECORD_BYTES_MAX: usize = 64;

/// The flags of content that somebody outside may have written. A secret, or what another clean
/// session left in memory, is marked too, but it is nobody else's word.
pub const OUTSIDE: Taint = Taint::UNTRUSTED
    .union(Taint::WEB_DERIVED)
    .union(Taint::INJECTION_SUSPECT)
    .union(Taint::PROXY_DERIVED)
    .union(Taint::SKILL_OUTPUT);

/// Is any of it from outside?
#[must_use]
pub const fn is_outside(taint: Taint) -> bool {
    taint.bits() & OUTSIDE.bits() != 0
}

/// The label of content of which only the door is known.
#[must_use]
pub fn label(source: Source, origin: &str, unix_seconds: i64) -> TaintTag {
    let record = String::new();
    TaintTag { source, taint: source.taint(), origin: origin.to_owned(), unix_seconds, record }
}

/// The label of content that two labels went into: the worse origin, the flags of both.
///
/// This is what a merge, a summary and an overwritten file keep.
#[must_use]
pub fn worse(one: Option<&TaintTag>, other: Option<&TaintTag>) -> Option<TaintTag> {
    let (Some(first), Some(second)) = (one, other) else {
        return one.or(other).cloned();
    };
    let worse = if rank(second) > rank(first) { second } else { first };
    Some(TaintTag { taint: first.taint.union(second.taint), ..worse.clone() })
}

/// The graver, then the newer; the rest only makes the order of equal ones certain, so that it makes no
/// difference which of two is the first.
fn rank(tag: &TaintTag) -> (u8, i64, &str, &str, Source) {
    (severity(tag.taint), tag.unix_seconds, &tag.record, &tag.origin, tag.source)
}

fn severity(taint: Taint) -> u8 {
    let suspect = taint.contains(Taint::INJECTION_SUSPECT);
    u8::from(suspect) + u8::from(is_outside(taint))
}

/// As much of a label as a session keeps.
pub(super) fn shortened(tag: &TaintTag) -> TaintTag {
    TaintTag {
        origin: cut(&tag.origin, ORIGIN_BYTES_MAX).to_owned(),
        record: cut(&tag.record, RECORD_BYTES_MAX).to_owned(),
        ..tag.clone()
    }
}

fn cut(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_wrote_is_outside() {
        let outside = [Source::Web, Source::Tool, Source::Email, Source::File, Source::Channel];
        assert!(outside.iter().all(|it| is_outside(it.taint())));
        let inside = [Source::User, Source::System, Source::Agent, Source::Memory];
        assert!(!inside.iter().any(|it| is_outside(it.taint())));
        assert!(!is_outside(Taint::SECRET_RISK) && !is_outside(Taint::TOOL_OUTPUT));
    }

    #[test]
    fn of_two_labels_the_worse_stays_and_no_flag_is_lost() {
        let web = label(Source::Web, "https://a.example", 2);
        let mut mail = label(Source::Email, "bob", 1);
        mail.taint = mail.taint.union(Taint::INJECTION_SUSPECT);
        let both = worse(Some(&web), Some(&mail)).unwrap();
        assert_eq!((both.source, both.taint), (Source::Email, web.taint.union(mail.taint)));
        assert_eq!(worse(Some(&mail), Some(&web)), Some(both));
        let other = label(Source::Web, "https://b.example", 2);
        assert_eq!(worse(Some(&web), Some(&other)), worse(Some(&other), Some(&web)));
        assert_eq!(worse(None, Some(&web)), Some(web.clone()));
        assert_eq!(worse(Some(&web), None), Some(web));
        assert_eq!(worse(None, None), None);
    }

    #[test]
    fn what_came_from_outside_is_worse_than_a_secret_and_of_equals_the_newer_stays() {
        let web = label(Source::Web, "https://a.example", 1);
        let mut secret = label(Source::Agent, "read_file .env", 9);
        secret.taint = Taint::SECRET_RISK;
        for both in [worse(Some(&web), Some(&secret)), worse(Some(&secret), Some(&web))] {
            assert_eq!(both.unwrap().origin, web.origin);
        }
        let newer = label(Source::Web, "https://b.example", 2);
        assert_eq!(worse(Some(&web), Some(&newer)).unwrap().origin, newer.origin);
        assert_eq!(worse(Some(&newer), Some(&web)).unwrap().origin, newer.origin);
        let beside = label(Source::Web, "https://c.example", 2);
        for both in [worse(Some(&newer), Some(&beside)), worse(Some(&beside), Some(&newer))] {
            assert_eq!(both.unwrap().origin, beside.origin, "whichever comes first");
        }
    }

    #[test]
    fn a_long_origin_is_cut_between_characters() {
        let long = label(Source::Web, &"é".repeat(ORIGIN_BYTES_MAX), 0);
        assert_eq!(shortened(&long).origin.len(), ORIGIN_BYTES_MAX);
        let odd = label(Source::Web, &format!("a{}", "é".repeat(ORIGIN_BYTES_MAX)), 0);
        assert_eq!(shortened(&odd).origin.len(), ORIGIN_BYTES_MAX - 1);
        let named = TaintTag { record: "a".repeat(RECORD_BYTES_MAX + 1), ..odd };
        assert_eq!(shortened(&named).record.len(), RECORD_BYTES_MAX);
    }
}
