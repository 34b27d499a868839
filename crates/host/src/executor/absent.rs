//! Actions whose provider is not there.

use model::provider::ProviderKind;
use monitor::Output;

/// Says that nothing was done, and what is missing.
pub(super) fn absent(kind: ProviderKind) -> Output {
    Output::not_begun(format!("no {} provider is configured", kind.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_is_missing() {
        let output = absent(ProviderKind::Web);
        assert_eq!(output, Output::not_begun("no web provider is configured"));
    }
}
