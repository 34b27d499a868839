//! The worst of several tags: what content carries that has more than one origin.

use model::TaintTag;

/// Everything that either carries, named by the newer origin. No tag means clean.
///
/// The order of the two makes no difference, and neither is ever cleaner than the result.
#[must_use]
pub fn worst(one: Option<TaintTag>, other: Option<TaintTag>) -> Option<TaintTag> {
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (tag, None) | (None, tag) => return tag,
    };
    let taint = one.taint.union(other.taint);
    let newer = if rank(&one) >= rank(&other) { one } else { other };
    Some(TaintTag { taint, ..newer })
}

/// By time; the rest only makes the order of equally new ones certain.
fn rank(tag: &TaintTag) -> (i64, &str, &str, model::Source) {
    (tag.unix_seconds, &tag.record, &tag.origin, tag.source)
}

#[cfg(test)]
mod tests {
    use model::{Source, Taint};

    use super::*;

    fn tag(taint: Taint, unix_seconds: i64) -> Option<TaintTag> {
        let origin = format!("origin {unix_seconds}");
        Some(TaintTag { source: Source::Web, taint, origin, unix_seconds, record: String::new() })
    }

    #[test]
    fn the_worst_holds_everything_and_names_the_newer_origin() {
        let (page, tool) = (tag(Taint::WEB_DERIVED, 2), tag(Taint::TOOL_OUTPUT, 1));
        let both = worst(page.clone(), tool.clone());
        assert_eq!(both, tag(Taint::WEB_DERIVED.union(Taint::TOOL_OUTPUT), 2));
        assert_eq!(both, worst(tool.clone(), page));
        assert_eq!(worst(both.clone(), tool), both);
        assert_eq!(worst(None, both.clone()), both);
        assert_eq!(worst(None, None), None);
    }
}
