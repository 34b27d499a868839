//! A tool as its server describes it. The description is a claim, not a fact.

use serde_json::{Map, Value};

use crate::call::ToolName;
use crate::name::NameError;

/// How many tools a session may have.
pub const TOOLS_MAX: usize = 2048;
/// The longest description that is read.
pub const TOOL_DESCRIPTION_BYTES_MAX: usize = 64 * 1024;

/// A tool definition in the form of the Model Context Protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    /// Its name.
    pub name: ToolName,
    /// What its server says of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// Hints of its server: its own claims.
    pub annotations: Map<String, Value>,
}

/// Why a value is no tool definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Not an object.
    #[error("a tool definition is an object")]
    NoObject,
    /// The name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A field of the wrong type.
    #[error("`{field}` of a tool definition must be {wanted}")]
    Field {
        /// Which.
        field: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// The description is too long.
    #[error("the description of a tool has at most {TOOL_DESCRIPTION_BYTES_MAX} bytes")]
    TooLong,
}

impl ToolDef {
    /// Reads a definition. Fields that we do not know are ignored: servers add their own.
    ///
    /// # Errors
    /// If it has no name, or a field that we read is of the wrong type.
    pub fn from_value(value: &Value) -> Result<Self, ToolError> {
        let Value::Object(fields) = value else { return Err(ToolError::NoObject) };
        let name =
            text(fields, "name")?.ok_or(ToolError::Field { field: "name", wanted: "a string" })?;
        let description = text(fields, "description")?.unwrap_or_default();
        if description.len() > TOOL_DESCRIPTION_BYTES_MAX {
            return Err(ToolError::TooLong);
        }
        Ok(Self {
            name: ToolName::parse(name)?,
            description: description.to_owned(),
            input_schema: object(fields, "inputSchema")?,
            annotations: object(fields, "annotations")?,
        })
    }

    /// The schemas of its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    }
}

fn text<'a>(
    fields: &'a Map<String, Value>,
    field: &'static str,
) -> Result<Option<&'a str>, ToolError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(ToolError::Field { field, wanted: "a string" })
        }
    }
}

fn object(
    fields: &Map<String, Value>,
    field: &'static str,
) -> Result<Map<String, Value>, ToolError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => {
            // So that two servers that say the same are read as saying the same.
            let mut object = object.clone();
            object.sort_keys();
            object.values_mut().for_each(Value::sort_all_objects);
            Ok(object)
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::String(_)) => {
            Err(ToolError::Field { field, wanted: "an object" })
        }
    }
}
