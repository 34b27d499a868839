//! What the fuzz target and the property tests assert of messages. Not part of the API.

use super::parse;

/// Any bytes: refused with a reason, or an action whose printed form is read back as the same.
/// Answers whether they were accepted.
#[must_use]
pub fn message(bytes: &[u8]) -> bool {
    match parse(bytes) {
        Ok(action) => {
            let printed = action.to_value().to_string();
            assert_eq!(parse(printed.as_bytes()).as_ref(), Ok(&action), "{printed}");
            true
        }
        Err(error) => {
            assert!(!error.details().is_empty(), "refused without a reason: {error:?}");
            false
        }
    }
}
