//! Scopes are a tree: what lies beneath `work/invoices` lies beneath `work` too.

/// The scope by which a query looks: a slash at its end says nothing.
pub(crate) fn root(scope: &str) -> &str {
    scope.trim_end_matches('/')
}

/// Is `scope` the scope `root`, or beneath it? `workshop` is not beneath `work`.
pub(crate) fn is_beneath(scope: &str, root: &str) -> bool {
    match scope.strip_prefix(self::root(root)) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Is it a scope that no message can name? Those of messages begin with a letter or digit.
pub(crate) fn is_hidden(scope: &str) -> bool {
    scope.starts_with('.')
}

/// All scopes beneath which `scope` lies, and itself as a query would name it. There are at most as many
/// as the name has characters, half of which are slashes.
pub(crate) fn roots(scope: &str) -> impl Iterator<Item = &str> {
    let whole = root(scope);
    let ends = whole.char_indices().filter(|(_, it)| *it == '/').map(|(at, _)| at);
    let parents = ends.filter_map(move |at| whole.get(..at)).filter(|it| !it.ends_with('/'));
    parents.chain(std::iter::once(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_lies_beneath_itself_and_its_parents_and_nothing_else() {
        for (scope, root, beneath) in [
            ("work", "work", true),
            ("work/invoices", "work", true),
            ("work/invoices/2026", "work", true),
            ("work/", "work", true),
            ("work", "work/", true),
            ("work//deep", "work", true),
            ("workshop", "work", false),
            ("work", "work/invoices", false),
            ("Work/invoices", "work", false),
            ("home/work", "work", false),
        ] {
            assert_eq!(is_beneath(scope, root), beneath, "{scope} {root}");
            // The index of the one provider and the look of the other agree.
            let wanted = super::root(root);
            assert_eq!(roots(scope).any(|it| it == wanted), beneath, "{scope} {root}");
        }
        assert_eq!(roots("a/b/c").collect::<Vec<_>>(), ["a", "a/b", "a/b/c"]);
        assert_eq!(roots("a//b/").collect::<Vec<_>>(), ["a", "a//b"]);
    }
}
