//! Where a value begins that is assigned to a name.

/// How much of a name may stand between what is known of it and the assignment, in bytes.
const NAME_BYTES_MAX: usize = 40;
/// How much may stand between the assignment and the value, in bytes.
const GAP_BYTES_MAX: usize = 12;

/// Returns where the value begins that is assigned to the name of which a part ends at `end`.
pub(super) fn assigned(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = bytes.get(end..)?;
    let name = rest.iter().take(NAME_BYTES_MAX).take_while(|it| is_name(**it)).count();
    let after = rest.get(name..)?;
    let gap = after
        .iter()
        .take(GAP_BYTES_MAX)
        .take_while(|it| is_operator(**it) || is_space(**it))
        .count();
    let assigns = after.iter().take(gap).any(|it| is_operator(*it));
    assigns.then_some(end + name + gap)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'[' | b']' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\n'
        )
}

fn is_operator(byte: u8) -> bool {
    matches!(byte, b'=' | b':' | b'>' | b',' | b'|' | b'?' | b'(' | b'-')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_behind_an_assignment_is_found() {
        for (text, value) in [
            ("token = abc", Some("abc")),
            ("token_of_me: \"abc\"", Some("abc\"")),
            ("'token' => 'abc'", Some("abc'")),
            ("token abc", None),
            ("token", None),
        ] {
            let end = text.find("token").unwrap() + 5;
            let found = assigned(text.as_bytes(), end).map(|it| text.get(it..).unwrap());
            assert_eq!(found, value, "{text}");
        }
    }
}
