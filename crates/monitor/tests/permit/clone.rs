//! A permit cannot be copied.

fn copy(permit: &monitor::Permit<model::ToolCall>) -> monitor::Permit<model::ToolCall> {
    permit.clone()
}

fn main() {}
