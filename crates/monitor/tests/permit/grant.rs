//! A grant comes from the policy alone.

fn grant() -> policy::Grant {
    policy::Grant { rule: "mine".into(), taint: model::Taint::NONE }
}

fn main() {}
