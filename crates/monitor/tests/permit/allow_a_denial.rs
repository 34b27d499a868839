//! A denial holds no grant, so that nothing can turn it into a permission.

fn lift(ruling: monitor::Ruling) -> monitor::Ruling {
    match ruling {
        monitor::Ruling::Deny(objections) => monitor::Ruling::Allow(objections.grant),
        other => other,
    }
}

fn main() {}
