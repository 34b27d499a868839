//! The writer in the hands of one at a time: those of its thread, or of a producer that is alone.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use crate::queue::{Batch, Outcome, Queue, Taken};
use crate::writer::{Health, Writer};

/// Why nothing is taken any more after a fault of ours.
const FAULT: &str = "the writer failed; please report this";

/// The writer, and whose turn it is.
pub(crate) struct Pen(Mutex<Writer>);

impl Pen {
    pub(crate) fn new(writer: Writer) -> Self {
        Self(Mutex::new(writer))
    }

    /// Waits for the writer.
    pub(crate) fn hold(&self) -> MutexGuard<'_, Writer> {
        // Whoever failed with it has said that nothing is to be written any more.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the writer if nobody has it.
    pub(crate) fn try_hold(&self) -> Option<MutexGuard<'_, Writer>> {
        match self.0.try_lock() {
            Ok(writer) => Some(writer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Works as the thread that writes until nothing will come any more.
    pub(crate) fn run(&self, queue: &Queue) {
        // Should this thread ever die, nobody may wait for it.
        let _closing = CloseOnDrop { queue, health: Arc::clone(&self.hold().health) };
        loop {
            let patience = self.hold().patience();
            queue.wait_for_work(patience);
            // A producer may be writing: what comes meanwhile joins the batch.
            let mut writer = self.hold();
            match queue.take() {
                Taken::Closed => break,
                Taken::Nothing => {}
                Taken::Batch(batch) => {
                    writer.serve(&batch);
                    queue.give_back(batch);
                }
            }
            writer.keep_pace();
        }
        self.hold().discard_room();
    }
}

/// Writes the batch of a producer that is alone, on its own thread. Checkpoints are left to the thread that writes: nobody waits
/// for one that was not asked for.
pub(crate) fn write_alone(
    mut writer: MutexGuard<'_, Writer>,
    batch: Batch,
    queue: &Queue,
) -> Outcome {
    let was_signed = writer.is_signed();
    // A fault here must not end the producer, but the writing.
    let served = panic::catch_unwind(AssertUnwindSafe(|| writer.serve(&batch)));
    let outcome = served.unwrap_or_else(|_| Outcome::Failed(writer.health.poison(&FAULT)));
    let has_to_look = was_signed || writer.is_due();
    drop(writer);
    queue.give_back(batch);
    if has_to_look {
        queue.nudge();
    }
    outcome
}

struct CloseOnDrop<'a> {
    queue: &'a Queue,
    health: Arc<Health>,
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.health.poison(&FAULT);
        }
        self.queue.close();
        // Whoever is in the batch that was forming is told by its end.
        drop(self.queue.take());
    }
}
