//! Tests of schemas.

use std::time::Duration;

use super::*;
use serde_json::json;
use testkit::Stopwatch;

fn object(rest: Value) -> Value {
    let mut schema = json!({"type": "object"});
    schema.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    schema
}

#[test]
fn arguments_are_checked() {
    let schema = object(json!({
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "maximum": 3}},
        "required": ["path"], "additionalProperties": false,
    }));
    let schema = Schema::compile(&schema).unwrap();
    schema.check(&json!({"path": "a", "depth": 3})).unwrap();
    for (arguments, part) in [
        (json!({}), "path"),
        (json!({"path": 1}), "`/path`"),
        (json!({"path": "a", "depth": 4}), "`/depth`"),
        (json!({"path": "a", "other": 1}), "other"),
    ] {
        let why = schema.check(&arguments).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn a_reference_to_elsewhere_is_refused() {
    for reference in [
        "http://127.0.0.1:9/schema.json",
        "https://example.org/x",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/none",
        "#anchor",
    ] {
        let schema = object(json!({"properties": {"a": {"$ref": reference}}}));
        let error = Schema::compile(&schema).unwrap_err();
        assert!(matches!(error, SchemaError::Reference(_)), "{reference}: {error}");
    }
    let named = object(json!({"properties": {"$ref": {"type": "string"}}}));
    Schema::compile(&named).unwrap().check(&json!({"$ref": "x"})).unwrap();
    let local = object(
        json!({"$defs": {"t": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/t"}}}),
    );
    Schema::compile(&local).unwrap().check(&json!({"a": 1})).unwrap_err();
}

#[test]
fn other_constructs_that_lead_elsewhere_are_refused() {
    for schema in [
        object(json!({"$schema": "http://127.0.0.1:9/meta"})),
        object(json!({"properties": {"a": {"$dynamicRef": "#x"}}})),
        object(json!({"properties": {"a": {"$id": "http://127.0.0.1:9/a", "$ref": "#/b"}}})),
        json!({"type": "string"}),
        json!(true),
        json!(null),
    ] {
        Schema::compile(&schema).unwrap_err();
    }
}

#[test]
fn a_catastrophic_pattern_takes_linear_time() {
    let schema = object(json!({"properties": {"a": {"pattern": "^(a+)+$"}}}));
    let schema = Schema::compile(&schema).unwrap();
    let began = Stopwatch::start();
    schema.check(&json!({"a": format!("{}!", "a".repeat(50_000))})).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_pattern_that_needs_backtracking_is_left_out_and_the_rest_is_checked() {
    let schema = object(json!({
        "properties": {"mail": {"type": "string", "pattern": "^(?!\\.)(?!.*\\.\\.)x+$"}},
        "patternProperties": {"(?=a)b": {"type": "null"}},
        "required": ["mail"],
    }));
    let schema = Schema::compile(&schema).unwrap();
    schema.check(&json!({"mail": "anything"})).unwrap();
    schema.check(&json!({"mail": 1})).unwrap_err();
    let huge =
        object(json!({"properties": {"a": {"type": "string", "pattern": "(a{1000}){1000}"}}}));
    Schema::compile(&huge).unwrap().check(&json!({"a": 1})).unwrap_err();
}

#[test]
fn schemas_that_go_round_in_circles_are_refused() {
    for schema in [
        object(json!({"$ref": "#"})),
        object(json!({"allOf": [{"$ref": "#"}]})),
        object(
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "allOf": [{"$ref": "#/$defs/a"}]}),
        ),
    ] {
        assert_eq!(Schema::compile(&schema).unwrap_err(), SchemaError::TooCostly);
    }
    // Only arguments lead into this circle.
    let hidden = object(
        json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "properties": {"x": {"$ref": "#/$defs/a"}}}),
    );
    if let Ok(schema) = Schema::compile(&hidden) {
        assert_eq!(schema.check(&json!({"x": 1})), Err(Violation::TooCostly));
    }
}

#[test]
fn schemas_that_multiply_are_refused_in_time() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let in_place = object(json!({"$defs": definitions, "$ref": "#/$defs/d0"}));
    let began = Stopwatch::start();
    assert_eq!(Schema::compile(&in_place).unwrap_err(), SchemaError::TooCostly);
    // Here the arguments' own depth multiplies.
    let twice = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let deep = Schema::compile(&object(json!({"properties": {"c": twice}}))).unwrap();
    let mut arguments = json!({});
    for _ in 0..60 {
        arguments = json!({"c": arguments});
    }
    assert_eq!(deep.check(&arguments), Err(Violation::TooCostly));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_tree_is_an_honest_schema() {
    let tree = object(
        json!({"properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "name": {"type": "string"}}}),
    );
    let schema = Schema::compile(&tree).unwrap();
    let leaf = json!({"name": "a", "children": []});
    schema.check(&json!({"name": "r", "children": [leaf, leaf, {"children": [leaf]}]})).unwrap();
    schema.check(&json!({"children": [{"children": [{"name": 1}]}]})).unwrap_err();
}

#[test]
fn size_is_bounded() {
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"not": deep});
    }
    assert_eq!(Schema::compile(&object(json!({"not": deep}))).unwrap_err(), SchemaError::TooLarge);
    let wide: Vec<Value> = (0..30_000).map(|it| json!(it)).collect();
    let wide = object(json!({"enum": wide}));
    assert_eq!(Schema::compile(&wide).unwrap_err(), SchemaError::TooLarge);
}

/// One row per keyword: a schema for `v`, a value that fits, one that does not.
#[test]
fn every_keyword_checks() {
    for (schema, fits, misfits) in [
        (json!({"type": ["null", "integer"]}), json!(1.0), json!(1.5)),
        (json!({"const": {"a": 1}}), json!({"a": 1.0}), json!({"a": 2})),
        (json!({"enum": ["a", 1]}), json!(1), json!("b")),
        (json!({"minimum": 1, "exclusiveMaximum": 3}), json!(2.9), json!(3)),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!(1.1), json!(1)),
        (json!({"multipleOf": 0.1}), json!(0.3), json!(0.35)),
        (json!({"minLength": 2, "maxLength": 2}), json!("äö"), json!("a")),
        (json!({"pattern": "^a\\/b$"}), json!("a/b"), json!("ab")),
        (json!({"minItems": 1, "uniqueItems": true}), json!([1, 2]), json!([1, 1.0])),
        (
            json!({"items": {"type": "string"}, "prefixItems": [true]}),
            json!([1, "a"]),
            json!([1, 2]),
        ),
        (json!({"items": [true], "additionalItems": false}), json!([1]), json!([1, 2])),
        (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1])),
        (json!({"minProperties": 1, "maxProperties": 1}), json!({"a": 1}), json!({})),
        (json!({"propertyNames": {"maxLength": 1}}), json!({"a": 1}), json!({"ab": 1})),
        (
            json!({"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": false}),
            json!({"ab": null}),
            json!({"b": null}),
        ),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1, "b": 1}), json!({"a": 1})),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!({"b": 1}),
            json!({"c": 1}),
        ),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), json!({"b": 1}), json!({"a": 1})),
        (json!({"anyOf": [{"type": "null"}, {"const": 1}]}), json!(1), json!(2)),
        (json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}), json!(1), json!(2)),
        (json!({"not": {"const": 1}}), json!(2), json!(1)),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}),
            json!("ab"),
            json!(1),
        ),
    ] {
        let whole = Schema::compile(&object(json!({"properties": {"v": schema}}))).unwrap();
        whole.check(&json!({"v": fits})).unwrap();
        let why = whole.check(&json!({"v": misfits})).unwrap_err().to_string();
        assert!(why.contains("`/v"), "{schema}: {why}");
    }
}
