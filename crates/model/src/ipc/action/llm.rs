//! Asking a language model.

use crate::ipc::declare::{choice, object};
use crate::ipc::limits::{
    MODEL_UNITS_MAX, PROVIDER_UNITS_MAX, TOKENS_MAX, TURN_UNITS_MAX, TURNS_MAX,
};
use crate::ipc::list::List;
use crate::ipc::number::{Temperature, Whole};
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
        /// How freely it chooses its words.
        "temperature" temperature: Option<Temperature>,
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
        "content" content: Text<TURN_UNITS_MAX>,
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
