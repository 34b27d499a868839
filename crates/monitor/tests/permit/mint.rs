//! A permit cannot be minted outside the monitor.

fn mint(proposed: monitor::Proposed, ruling: monitor::Ruling, receipt: evidence::Receipt) {
    let _ = monitor::Permit::mint(proposed, &ruling, &receipt);
}

fn main() {}
