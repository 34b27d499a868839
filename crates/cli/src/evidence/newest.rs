//! The newest records of a journal.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use evidence::{Position, Reader, Row};

use super::open;
use crate::failure::Failure;

/// The newest records, from as few segments as hold them, and the place behind them.
pub(crate) fn newest(reader: &Reader, count: usize) -> Result<(VecDeque<Row>, Position), Failure> {
    let numbers = reader.segments().map_err(open::failure)?;
    let mut back = 1;
    loop {
        let from = numbers.iter().rev().nth(back - 1).or(numbers.first()).copied().unwrap_or(0);
        let start = Position { segment: from, offset: 0, idx: 0 };
        let mut rows = VecDeque::new();
        let (at, _) = reader
            .read(start, |entry| {
                rows.push_back(Row { idx: entry.idx, id: entry.id, line: entry.record.to_vec() });
                if rows.len() > count {
                    rows.pop_front();
                }
                ControlFlow::<()>::Continue(())
            })
            .map_err(open::failure)?;
        if rows.len() >= count || back >= numbers.len() {
            return Ok((rows, at));
        }
        back *= 2;
    }
}
