//! Scheduled work.

use serde_json::{Value, json};

use crate::ipc::declare::{choice, object};
use crate::ipc::issue::Reader;
use crate::ipc::limits::{
    ADDRESS_UNITS_MAX, CHANNEL_UNITS_MAX, JOB_TOKENS_MAX, JOB_UNITS_MAX, PROMPT_UNITS_MAX,
    SCHEDULE_UNITS_MAX,
};
use crate::ipc::number::Whole;
use crate::ipc::shape::Shape;
use crate::ipc::text::Text;

object! {
    /// Schedule a job that comes again and again.
    SchedulerAddCron {
        /// When: five fields, as cron has them.
        "schedule" schedule: Text<SCHEDULE_UNITS_MAX>,
        /// What the agent is told then.
        "prompt" prompt: Text<PROMPT_UNITS_MAX>,
        /// How many tokens it may use.
        "maxTokenBudget" max_token_budget: Option<Whole<1, JOB_TOKENS_MAX>>,
        /// Where the answer goes.
        "delivery" delivery: Option<Delivery>,
    }
}

object! {
    /// Schedule a job that comes once.
    SchedulerRunAt {
        /// When: a date and a time.
        "datetime" datetime: Text<SCHEDULE_UNITS_MAX>,
        /// What the agent is told then.
        "prompt" prompt: Text<PROMPT_UNITS_MAX>,
        /// How many tokens it may use.
        "maxTokenBudget" max_token_budget: Option<Whole<1, JOB_TOKENS_MAX>>,
        /// Where the answer goes.
        "delivery" delivery: Option<Delivery>,
    }
}

object! {
    /// Where the answer of a job goes.
    Delivery {
        /// Anywhere at all?
        "mode" mode: DeliveryMode,
        /// Where to.
        "target" target: Option<DeliveryTarget>,
    }
}

choice! {
    /// Does the answer of a job go anywhere?
    DeliveryMode {
        /// To a channel.
        "channel" Channel,
        /// Nowhere.
        "none" None,
    }
}

/// Where the answer of a job goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryTarget {
    /// Where the user wrote last.
    Last,
    /// An address.
    Address(Box<DeliveryAddress>),
}

impl Shape for DeliveryTarget {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        match &value {
            Value::String(word) if word == LAST => Some(Self::Last),
            Value::String(_) => reader.refuse("must be `last` or an address"),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                DeliveryAddress::read(value, reader).map(|it| Self::Address(Box::new(it)))
            }
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Last => LAST.into(),
            Self::Address(address) => address.to_value(),
        }
    }

    fn schema() -> Value {
        json!({"anyOf": [{"const": LAST}, DeliveryAddress::schema()]})
    }
}

const LAST: &str = "last";

object! {
    /// An address on a channel.
    DeliveryAddress {
        /// Which channel.
        "provider" provider: Text<CHANNEL_UNITS_MAX>,
        /// Who hears it there.
        "scope" scope: DeliveryScope,
        /// Where there.
        "identifiers" identifiers: DeliveryIdentifiers,
    }
}

choice! {
    /// Who hears something on a channel.
    DeliveryScope {
        /// One person.
        "dm" Dm,
        /// All of a channel.
        "channel" Channel,
        /// All of a thread.
        "thread" Thread,
        /// A group.
        "group" Group,
    }
}

object! {
    /// The parts of an address.
    DeliveryIdentifiers {
        /// The workspace.
        "workspace" workspace: Option<Text<ADDRESS_UNITS_MAX>>,
        /// The channel.
        "channel" channel: Option<Text<ADDRESS_UNITS_MAX>>,
        /// The thread.
        "thread" thread: Option<Text<ADDRESS_UNITS_MAX>>,
        /// The person.
        "peer" peer: Option<Text<ADDRESS_UNITS_MAX>>,
    }
}

object! {
    /// List the scheduled jobs.
    SchedulerListCron {}
}

object! {
    /// Read the heartbeat's settings.
    SchedulerGetHeartbeat {}
}

object! {
    /// List what can set off a job.
    SchedulerListTriggers {}
}

object! {
    /// Remove a scheduled job.
    SchedulerRemoveCron {
        /// Which.
        "id" id: Text<JOB_UNITS_MAX>,
    }
}
