//! Scheduled work.

use crate::ipc::declare::object;
use crate::ipc::limits::JOB_UNITS_MAX;
use crate::ipc::text::Text;

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
