//! A permit cannot be spent twice.

fn twice(permit: monitor::Permit<model::ToolCall>) {
    let _once = permit.spend();
    let _again = permit.spend();
}

fn main() {}
