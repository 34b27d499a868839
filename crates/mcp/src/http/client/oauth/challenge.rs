//! The challenge of a `401` or `403`: `WWW-Authenticate: Bearer …`.

/// What a server says of the token that it wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where it says who issues its tokens.
    pub resource_metadata: Option<String>,
    /// Scopes that the request needs.
    pub scope: Option<String>,
    /// What was wrong with the token.
    pub error: Option<String>,
}

/// Bytes of a challenge that are read.
const BYTES_MAX: usize = 8192;

impl Challenge {
    /// Reads the values of the header fields `WWW-Authenticate`; `None` where nobody wants a bearer's token.
    #[must_use]
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        values.into_iter().find_map(Self::parse_one)
    }

    fn parse_one(value: &str) -> Option<Self> {
        let value = value.get(..BYTES_MAX).unwrap_or(value);
        let (scheme, mut rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let mut challenge = Self::default();
        while let Some((name, value, after)) = parameter(rest) {
            let place = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => Some(&mut challenge.resource_metadata),
                "scope" => Some(&mut challenge.scope),
                "error" => Some(&mut challenge.error),
                _ => None,
            };
            // The first counts: a second one is somebody else's.
            if let Some(place) = place {
                place.get_or_insert(value);
            }
            rest = after;
        }
        Some(challenge)
    }
}

/// The next parameter: its name, its value without quotes, and what stands behind it.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let text = text.trim_start_matches([' ', ',', '\t']);
    let (name, rest) = text.split_once('=')?;
    let name = name.trim();
    let is_token = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    if name.is_empty() || !name.bytes().all(is_token) {
        return None;
    }
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        let (value, after) = rest.split_at_checked(end)?;
        return Some((name, value.to_owned(), after));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((name, value, quoted.get(at + 1..)?)),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_read_with_and_without_quotes() {
        let text = "Bearer realm=\"a, b=\\\"c\\\"\", error=invalid_token,scope=\"files:read files:write\", \
                    resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\"";
        let read = Challenge::parse(["Basic realm=x", text]).unwrap();
        assert_eq!(read.error.as_deref(), Some("invalid_token"));
        assert_eq!(read.scope.as_deref(), Some("files:read files:write"));
        let metadata = read.resource_metadata.unwrap();
        assert_eq!(metadata, "https://a.example/.well-known/oauth-protected-resource");
        assert_eq!(Challenge::parse(["bearer"]), Some(Challenge::default()));
        assert_eq!(Challenge::parse(["Basic realm=x"]), None);
    }

    #[test]
    fn the_first_of_two_counts_and_half_a_parameter_is_none() {
        let read = Challenge::parse(["Bearer scope=a, scope=b, error=\"half"]).unwrap();
        assert_eq!((read.scope.as_deref(), read.error), (Some("a"), None));
    }
}
