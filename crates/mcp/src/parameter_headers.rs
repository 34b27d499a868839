//! Parameters that travel as header fields (`x-mcp-header`): a definition that names them wrongly is dropped, as the
//! protocol wants it.

use serde_json::Value;
use std::collections::HashSet;

/// The annotation of a parameter within a tool's schema.
const ANNOTATION: &str = "x-mcp-header";
/// Types of parameters that fit into a field.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];

/// Checks every annotation that can be reached by names of properties alone; the error is the reason, for people.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    check_properties(schema, &mut HashSet::new())
}

fn check_properties(schema: &Value, names: &mut HashSet<String>) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for property in properties.into_iter().flat_map(|it| it.values()) {
        if let Some(name) = property.get(ANNOTATION) {
            let name = name.as_str().filter(|it| is_token(it));
            let name = name.ok_or("a parameter's header field has no proper name")?;
            let kind = property.get("type").and_then(Value::as_str);
            if !kind.is_some_and(|it| TYPES.contains(&it)) {
                return Err(
                    "a parameter with a header field is no text, integer or boolean".to_owned()
                );
            }
            if !names.insert(name.to_ascii_lowercase()) {
                return Err("two parameters share one header field".to_owned());
            }
        }
        check_properties(property, names)?;
    }
    Ok(())
}

/// Whether a text is a token of HTTP, as names of fields are.
fn is_token(text: &str) -> bool {
    let is_token_byte = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_types_and_doubles_are_checked_wherever_properties_lead() {
        let of = |property: Value| json!({"properties": {"a": property}});
        let named = |name: &str| of(json!({"type": "string", ANNOTATION: name}));
        for fits in [
            json!({"properties": {"a": {"type": "string"}}}),
            named("Region"),
            of(json!({"properties": {"b": {"type": "integer", ANNOTATION: "Count"}}})),
            json!({"properties": {ANNOTATION: {"type": "string"}}}),
        ] {
            assert_eq!(check(&fits), Ok(()), "{fits}");
        }
        for name in ["", "My Region", "Region:Primary", "Région", "Region\t1"] {
            assert!(check(&named(name)).is_err(), "{name}");
        }
        for kind in ["object", "array", "null", "number"] {
            let wrong = of(json!({"type": kind, ANNOTATION: "Data"}));
            assert!(check(&wrong).is_err(), "{kind}");
        }
        assert!(check(&of(json!({"type": "string", ANNOTATION: 1}))).is_err());
        let field = |name: &str| json!({"type": "string", ANNOTATION: name});
        let twice = json!({"properties": {"a": field("MyField"), "b": {"properties": {"c": field("myfield")}}}});
        assert!(check(&twice).is_err());
    }
}
