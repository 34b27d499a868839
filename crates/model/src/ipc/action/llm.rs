//! Asking a language model.

use serde_json::{Map, Value, json};

use crate::ipc::declare::{choice, object};
use crate::ipc::issue::{Reader, quoted};
use crate::ipc::limits::{
    BLOCKS_MAX, MODEL_UNITS_MAX, PROVIDER_UNITS_MAX, QUESTION_UNITS_MAX, SYSTEM_UNITS_MAX,
    TOKENS_MAX, TOOL_DESCRIPTION_UNITS_MAX, TOOL_NAME_UNITS_MAX, TOOL_SCHEMA_UNITS_MAX,
    TOOL_USE_ID_UNITS_MAX, TOOLS_MAX, TURN_UNITS_MAX, TURNS_MAX,
};
use crate::ipc::list::List;
use crate::ipc::number::{Temperature, Whole};
use crate::ipc::object::Object;
use crate::ipc::shape::{Fields, Shape};
use crate::ipc::text::Text;

object! {
    /// Ask a language model.
    LlmCall {
        /// Who runs the model.
        "provider" provider: Text<PROVIDER_UNITS_MAX>,
        /// The model, if not the usual one.
        "model" model: Option<Text<MODEL_UNITS_MAX>>,
        /// The conversation.
        "messages" messages: List<Turn, TURNS_MAX>,
        /// Tools that the model may ask for. What it asks for is a call like any other, and goes through the gate.
        "tools" tools: Option<List<OfferedTool, TOOLS_MAX>>,
        /// How freely it chooses its words.
        "temperature" temperature: Option<Temperature>,
        /// The longest answer, in tokens.
        "maxTokens" max_tokens: Option<Whole<1, TOKENS_MAX>>,
        /// How hard the model thinks, if it can be told.
        "effort" effort: Option<Effort>,
    }
}

choice! {
    /// How hard a model thinks.
    Effort {
        /// As little as it can.
        "low" Low,
        /// Some.
        "medium" Medium,
        /// Much.
        "high" High,
        /// As much as it can.
        "max" Max,
    }
}

object! {
    /// Ask a language model one question. It has no tools and knows nothing of the conversation.
    ModelQuery {
        /// The question, with all that is needed to answer it.
        "message" message: Text<QUESTION_UNITS_MAX>,
        /// How it is to answer.
        "system" system: Option<Text<SYSTEM_UNITS_MAX>>,
        /// The model, if not the usual one.
        "model" model: Option<Text<MODEL_UNITS_MAX>>,
        /// The longest answer, in tokens.
        "maxTokens" max_tokens: Option<Whole<1, TOKENS_MAX>>,
    }
}

object! {
    /// One turn of a conversation.
    Turn {
        /// Whose it is.
        "role" role: Role,
        /// What was said.
        "content" content: TurnContent,
    }
}

choice! {
    /// Who speaks in a conversation with a model.
    Role {
        /// The person.
        "user" User,
        /// The model.
        "assistant" Assistant,
        /// Whoever set the conversation up.
        "system" System,
    }
}

object! {
    /// A tool that a model may ask for.
    OfferedTool {
        /// What it is called.
        "name" name: Text<TOOL_NAME_UNITS_MAX>,
        /// What it does.
        "description" description: Text<TOOL_DESCRIPTION_UNITS_MAX>,
        /// A JSON Schema of its arguments.
        "parameters" parameters: Object<TOOL_SCHEMA_UNITS_MAX>,
    }
}

/// What was said in one turn: a text, or blocks. Both have one limit, over all that is in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnContent {
    /// A text.
    Text(Text<TURN_UNITS_MAX>),
    /// Texts, calls and their results, in order.
    Blocks(List<TurnBlock, BLOCKS_MAX>),
}

impl Shape for TurnContent {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let Value::Array(items) = value else { return Text::read(value, reader).map(Self::Text) };
        let blocks = List::<TurnBlock, BLOCKS_MAX>::read(Value::Array(items), reader)?;
        let units: usize = blocks.as_slice().iter().map(TurnBlock::units).sum();
        if units > TURN_UNITS_MAX {
            return reader.refuse(format!("must have at most {TURN_UNITS_MAX} UTF-16 units"));
        }
        Some(Self::Blocks(blocks))
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => text.to_value(),
            Self::Blocks(blocks) => blocks.to_value(),
        }
    }

    fn schema() -> Value {
        let text = Text::<TURN_UNITS_MAX>::schema();
        json!({"anyOf": [text, List::<TurnBlock, BLOCKS_MAX>::schema()]})
    }
}

/// A part of a turn, by its `type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnBlock {
    /// `text`.
    Text(TextBlock),
    /// `tool_use`: the model asked for a tool.
    ToolUse(ToolUseBlock),
    /// `tool_result`: what the tool gave.
    ToolResult(ToolResultBlock),
}

object! {
    /// Something that was said.
    TextBlock {
        /// What.
        "text" text: Text<TURN_UNITS_MAX>,
    }
}

object! {
    /// A tool that the model asked for.
    ToolUseBlock {
        /// By which its result names it.
        "id" id: Text<TOOL_USE_ID_UNITS_MAX>,
        /// The tool.
        "name" name: Text<TOOL_NAME_UNITS_MAX>,
        /// Its arguments.
        "input" input: Object<TURN_UNITS_MAX>,
    }
}

object! {
    /// What a tool gave.
    ToolResultBlock {
        /// The call that it is the result of.
        "tool_use_id" tool_use_id: Text<TOOL_USE_ID_UNITS_MAX>,
        /// What it gave.
        "content" content: Text<TURN_UNITS_MAX>,
        /// Is it an error?
        "is_error" is_error: Option<bool>,
    }
}

/// The field that says which block it is.
const TYPE: &str = "type";
const TYPES: [&str; 3] = ["text", "tool_use", "tool_result"];

impl TurnBlock {
    /// How much of the turn's limit it takes.
    fn units(&self) -> usize {
        match self {
            Self::Text(it) => it.text.as_str().encode_utf16().count(),
            Self::ToolUse(it) => it.input.units(),
            Self::ToolResult(it) => it.content.as_str().encode_utf16().count(),
        }
    }

    fn parts(&self) -> (&'static str, Map<String, Value>) {
        let [text, tool_use, tool_result] = TYPES;
        match self {
            Self::Text(it) => (text, it.to_fields()),
            Self::ToolUse(it) => (tool_use, it.to_fields()),
            Self::ToolResult(it) => (tool_result, it.to_fields()),
        }
    }
}

impl Shape for TurnBlock {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let mut fields = reader.object(value)?;
        let word = fields.remove(TYPE).unwrap_or_default();
        let [text, tool_use, tool_result] = TYPES;
        match word.as_str() {
            Some(it) if it == text => Fields::read_fields(fields, reader).map(Self::Text),
            Some(it) if it == tool_use => Fields::read_fields(fields, reader).map(Self::ToolUse),
            Some(it) if it == tool_result => {
                Fields::read_fields(fields, reader).map(Self::ToolResult)
            }
            Some(other) => reader.refuse(format!("there is no block {}", quoted(other))),
            None => reader.refuse(format!("a block has a `{TYPE}`: {}", TYPES.join(", "))),
        }
    }

    fn to_value(&self) -> Value {
        let (word, mut fields) = self.parts();
        fields.insert(TYPE.to_owned(), word.into());
        Value::Object(fields)
    }

    fn schema() -> Value {
        use crate::ipc::shape::{Property, object_schema};
        let of = |word: &str, mut properties: Vec<Property>| {
            properties.insert(0, Property::constant(TYPE, word));
            object_schema(properties)
        };
        let [text, tool_use, tool_result] = TYPES;
        json!({"anyOf": [
            of(text, TextBlock::properties()),
            of(tool_use, ToolUseBlock::properties()),
            of(tool_result, ToolResultBlock::properties()),
        ]})
    }
}
