//! The path of a call to a service, which stays below the service's base.
//!
//! A path is read by us, by the service's front door and by what is behind it, and each may undo one more layer
//! of percent signs. So it must stay inside however often they are undone.

use scan::net::{Refused, Rule, Target};

/// How often percent signs may be undone until nothing changes any more.
const LAYERS_MAX: usize = 3;

/// The address of `path` below `base`.
///
/// # Errors
/// If somebody could read it as something outside, or as more than one thing.
pub(super) fn below(base: &Target, path: &str) -> Result<Target, Refused> {
    check_text(path)?;
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    check_segments(path)?;
    let root = format!("{}/", base.url().path().trim_end_matches('/'));
    let mut url = base.url().clone();
    url.set_path(&format!("{root}{}", path.strip_prefix('/').unwrap_or(path)));
    url.set_query(query);
    let target = base.beside(url)?;
    let same = target.host() == base.host()
        && target.port() == base.port()
        && target.scheme() == base.scheme();
    // INVARIANT (BelowTheBase): whatever was written, what is asked for is the service's.
    if !same || !target.url().path().starts_with(&root) {
        return Err(outside("leads outside of the service"));
    }
    Ok(target)
}

/// Characters that readers differ about.
fn check_text(path: &str) -> Result<(), Refused> {
    if !path.bytes().all(|it| it.is_ascii_graphic()) {
        return Err(outside("has characters that must be written with percent signs"));
    }
    if path.contains('\\') {
        return Err(outside("has a backslash, which some read as a slash"));
    }
    if path.contains('#') {
        return Err(outside("has a `#`, behind which nothing is sent"));
    }
    Ok(())
}

/// Segments, as everybody may see them who undoes a layer.
fn check_segments(path: &str) -> Result<(), Refused> {
    let mut seen = path.as_bytes().to_vec();
    for _ in 0..=LAYERS_MAX {
        check_layer(&seen)?;
        let next = undone(&seen);
        if next == seen {
            return Ok(());
        }
        seen = next;
    }
    Err(outside("is written with percent signs again and again"))
}

fn check_layer(path: &[u8]) -> Result<(), Refused> {
    if path.iter().any(|it| it.is_ascii_control()) {
        return Err(outside("has a control character"));
    }
    if path.contains(&b'\\') {
        return Err(outside("has a backslash, which some read as a slash"));
    }
    let inner = path.strip_prefix(b"/").unwrap_or(path);
    let mut segments = inner.split(|it| *it == b'/').peekable();
    while let Some(segment) = segments.next() {
        // Some servers take off what stands behind a semicolon before they look at dots.
        let name = segment.split(|it| *it == b';').next().unwrap_or_default();
        let name = name.trim_ascii();
        if name == b"." || name == b".." {
            return Err(outside("has a segment of dots"));
        }
        if segment.is_empty() && segments.peek().is_some() {
            return Err(outside("has an empty segment"));
        }
    }
    Ok(())
}

/// With one layer of percent signs undone.
fn undone(path: &[u8]) -> Vec<u8> {
    let digit = |it: Option<&u8>| it.and_then(|it| char::from(*it).to_digit(16));
    let mut all = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at) {
        let high = digit(path.get(at.saturating_add(1)));
        let low = digit(path.get(at.saturating_add(2)));
        match (byte, high, low) {
            (b'%', Some(high), Some(low)) => {
                all.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                at = at.saturating_add(3);
            }
            _ => {
                all.push(*byte);
                at = at.saturating_add(1);
            }
        }
    }
    all
}

fn outside(why: &str) -> Refused {
    Refused { rule: Rule::ServicePath, reason: format!("the path {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Case<'a> {
        verdict: &'a str,
        base: &'a str,
        path: &'a str,
        expected: &'a str,
    }

    #[test]
    fn every_case_of_the_corpus_stays_below_its_base_or_is_refused() {
        let cases = include_str!("../../../../corpus/credentials/service_paths.tsv");
        let mut count = 0;
        for line in cases.lines().filter(|it| !it.starts_with('#') && !it.is_empty()) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [verdict, base, path, expected] = fields[..] else { panic!("{line}") };
            let case = Case { verdict, base, path, expected };
            let path: String = serde_json::from_str(case.path).unwrap();
            let found = below(&Target::parse(case.base).unwrap(), &path);
            match (case.verdict, found) {
                ("allow", Ok(target)) => {
                    assert_eq!(target.url().as_str(), case.expected, "{case:?}")
                }
                ("deny", Err(refused)) => {
                    assert_eq!(refused.rule.as_str(), case.expected, "{case:?}")
                }
                (_, found) => panic!("{case:?}: {found:?}"),
            }
            count += 1;
        }
        assert!(count > 40, "{count}");
    }
}
