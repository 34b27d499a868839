//! Texts in which secrets are named: `Bearer vault:GITHUB_TOKEN`.

use vault::Name;
use zeroize::Zeroizing;

/// By this a secret is named.
const REFERENCE: &str = "vault:";

/// A text in which secrets may be named.
#[derive(Clone, Debug)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Secret(Name),
}

impl Template {
    /// Reads a text. A reference stands at the beginning, or behind what is neither letter nor digit.
    ///
    /// # Errors
    /// If a reference names no secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let (mut plain, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(REFERENCE) {
            plain.push_str(before);
            if plain.ends_with(char::is_alphanumeric) {
                plain.push_str(REFERENCE);
                rest = after;
                continue;
            }
            let is_end = |it: char| !(it.is_ascii_alphanumeric() || it == '_');
            let end = after.find(is_end).unwrap_or(after.len());
            let (name, behind) = after.split_at_checked(end).unwrap_or((after, ""));
            let name = Name::parse(name).map_err(|error| format!("`{REFERENCE}`: {error}"))?;
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Secret(name));
            rest = behind;
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Ok(Self(parts))
    }

    /// The secrets that it names.
    pub fn secrets(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().filter_map(|it| match it {
            Part::Secret(name) => Some(name),
            Part::Text(_) => None,
        })
    }

    /// Does it name a secret?
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.secrets().next().is_some()
    }

    /// Returns the text with the secrets in their places.
    ///
    /// # Errors
    /// If one is not given.
    pub fn fill<E>(
        &self,
        mut secret: impl FnMut(&Name) -> Result<Zeroizing<String>, E>,
    ) -> Result<Zeroizing<String>, E> {
        // Large enough that it never moves and leaves no copy behind.
        let mut filled = Zeroizing::new(String::with_capacity(2 * vault::SECRET_BYTES_MAX));
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Secret(name) => filled.push_str(&secret(name)?),
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let template = Template::parse(text).unwrap();
        let named = |name: &Name| Ok::<_, ()>(Zeroizing::new(format!("<{name}>")));
        template.fill(named).unwrap().to_string()
    }

    #[test]
    fn references_are_found_where_they_stand_alone() {
        assert_eq!(filled("plain"), "plain");
        assert_eq!(filled("vault:A_1"), "<A_1>");
        assert_eq!(filled("Bearer vault:A, vault:B."), "Bearer <A>, <B>.");
        assert_eq!(filled("myvault:A"), "myvault:A");
        assert!(Template::parse("vault:").is_err() && Template::parse("x vault:9A").is_err());
        assert!(!Template::parse("myvault:A").unwrap().has_secret());
    }
}
