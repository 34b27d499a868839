//! A permit cannot be written by hand.

fn forge(call: model::ToolCall, who: model::Caller, record: aegx::Digest) -> monitor::Permit<model::ToolCall> {
    monitor::Permit { effect: call, who, tag: None, record }
}

fn main() {}
