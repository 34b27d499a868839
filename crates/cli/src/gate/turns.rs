//! What a turn of the user's costs where a trained reader reads it: once, at the first act of the turn.

use model::Source;
use monitor::{Heard, Monitor};

use super::bench::percentile;
use super::load::{self, Load};
use crate::failure::Failure;

/// Turns that are measured.
const TURNS: u64 = 40;
/// Calls of one turn: one that reads, and two that send. Numbers of calls that send are odd.
const CALLS: u64 = 4;

/// The median of the first act of a turn, and of a later one.
pub(crate) struct Turns {
    pub(crate) first_us: f64,
    pub(crate) later_us: f64,
}

impl Turns {
    /// Measures turns in a session of its own. The first of them loads the reader, and does not count.
    pub(crate) fn measure(monitor: &Monitor, load: &Load, number: u64) -> Result<Self, Failure> {
        let who = load::session(monitor, number)?;
        let (mut firsts, mut later) = (Vec::new(), Vec::new());
        for turn in 0..=TURNS {
            monitor.begin_turn(&who).map_err(Failure::unable)?;
            let text = format!(
                "Now search my notes for meeting {turn}, and send a message with its minutes to ann@example.org."
            );
            let heard = Heard { source: Source::User, origin: "", text: &text };
            monitor.hear(&who, &heard).map_err(Failure::unable)?;
            let number = CALLS * turn;
            load.call(monitor, &who, number)?;
            let (_, took) = load.call(monitor, &who, number + 1)?;
            let (_, again) = load.call(monitor, &who, number + 3)?;
            if turn > 0 {
                firsts.push(took);
                later.push(again);
            }
        }
        firsts.sort_unstable();
        later.sort_unstable();
        Ok(Self { first_us: percentile(&firsts, 0.50), later_us: percentile(&later, 0.50) })
    }
}
