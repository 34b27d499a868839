//! How the three grammars call what is looked for.

use crate::kind::Language;

/// A grammar, and the names of its nodes.
pub(super) struct Grammar {
    pub(super) kind: Language,
    pub(super) language: tree_sitter::Language,
    /// Calls, with the fields of the function and of the arguments.
    pub(super) calls: &'static [(&'static str, &'static str, &'static str)],
    /// `a.b`, with the fields of object and name.
    pub(super) members: &'static [(&'static str, &'static str, &'static str)],
    /// `a['b']`, with the fields of object and name.
    pub(super) subscripts: &'static [(&'static str, &'static str, &'static str)],
    pub(super) texts: &'static [&'static str],
    /// Parts of a text that stand for themselves.
    pub(super) fragments: &'static [&'static str],
    pub(super) escapes: &'static [&'static str],
    /// Texts side by side, which are one.
    pub(super) joined: &'static [&'static str],
    /// Two values with an operator between them.
    pub(super) sums: &'static [&'static str],
    pub(super) lists: &'static [&'static str],
    pub(super) names: &'static [&'static str],
    /// `name = value`, with the fields of both.
    pub(super) assignments: &'static [(&'static str, &'static str, &'static str)],
    /// `name=value` and `name: value` among arguments, with the fields of both.
    pub(super) pairs: &'static [(&'static str, &'static str, &'static str)],
    /// The whole environment.
    pub(super) environment: &'static [&'static str],
}

impl Grammar {
    pub(super) fn of(language: Language) -> Option<Self> {
        Some(match language {
            Language::Python => python(),
            Language::JavaScript => javascript(),
            Language::PowerShell => powershell(),
        })
    }
}

fn python() -> Grammar {
    Grammar {
        kind: Language::Python,
        language: tree_sitter_python::LANGUAGE.into(),
        calls: &[("call", "function", "arguments")],
        members: &[("attribute", "object", "attribute")],
        subscripts: &[("subscript", "value", "subscript")],
        texts: &["string"],
        fragments: &["string_content"],
        escapes: &["escape_sequence"],
        joined: &["concatenated_string"],
        sums: &["binary_operator"],
        lists: &["list", "tuple", "set"],
        names: &["identifier", "dotted_name"],
        assignments: &[
            ("assignment", "left", "right"),
            ("named_expression", "name", "value"),
            ("as_pattern", "alias", ""),
        ],
        pairs: &[("keyword_argument", "name", "value")],
        environment: &["os.environ", "environ"],
    }
}

fn javascript() -> Grammar {
    Grammar {
        kind: Language::JavaScript,
        language: tree_sitter_javascript::LANGUAGE.into(),
        calls: &[
            ("call_expression", "function", "arguments"),
            ("new_expression", "constructor", "arguments"),
        ],
        members: &[("member_expression", "object", "property")],
        subscripts: &[("subscript_expression", "object", "index")],
        texts: &["string", "template_string"],
        fragments: &["string_fragment"],
        escapes: &["escape_sequence"],
        joined: &[],
        sums: &["binary_expression"],
        lists: &["array"],
        names: &["identifier", "property_identifier", "shorthand_property_identifier"],
        assignments: &[
            ("variable_declarator", "name", "value"),
            ("assignment_expression", "left", "right"),
        ],
        pairs: &[("pair", "key", "value")],
        environment: &["process.env"],
    }
}

fn powershell() -> Grammar {
    Grammar {
        kind: Language::PowerShell,
        language: tree_sitter_powershell::LANGUAGE.into(),
        calls: &[
            ("command", "command_name", "command_elements"),
            ("invokation_expression", "", ""),
        ],
        members: &[("member_access", "", "")],
        subscripts: &[],
        texts: &["string_literal", "generic_token"],
        fragments: &[],
        escapes: &[],
        joined: &[],
        sums: &["additive_expression", "additive_argument_expression"],
        lists: &[],
        names: &["variable"],
        assignments: &[("assignment_expression", "", "value")],
        pairs: &[],
        environment: &[],
    }
}
