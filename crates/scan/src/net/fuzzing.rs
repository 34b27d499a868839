//! What the fuzz target and the property tests assert. Not part of the API.

use std::net::IpAddr;

use super::{Host, RULES, Rule, Target, exfiltration, ranges, vet};

/// A URL: refused by a rule that there is, or read; and then its own text is read as the same, its
/// address passes, and whatever it leads on to is read, too.
///
/// # Panics
/// If that does not hold.
#[must_use]
pub fn url(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let (text, reference) = text.split_once('\n').unwrap_or((text, text));
    let target = match Target::parse(text) {
        Ok(target) => target,
        Err(refused) => {
            check_rule(refused.rule);
            return false;
        }
    };
    check_target(&target);
    match target.join(reference) {
        Ok(next) => check_target(&next),
        Err(refused) => check_rule(refused.rule),
    }
    true
}

fn check_target(target: &Target) {
    let again = Target::parse(target.url().as_str());
    assert_eq!(again.as_ref(), Ok(target), "its own text is read in another way");
    match target.host() {
        Host::Address(address) => assert_eq!(vet(*address), Ok(()), "{address}"),
        Host::Name(name) => {
            assert!(name.contains('.') && name.parse::<IpAddr>().is_err(), "{name}");
        }
    }
    for suspicion in exfiltration(target) {
        check_rule(suspicion.rule);
    }
}

/// Is the rule written down somewhere?
fn check_rule(rule: Rule) {
    let known = RULES.iter().any(|it| it.0 == rule) || ranges().any(|it| it.rule == rule);
    assert!(known, "{rule} is in no table");
}
