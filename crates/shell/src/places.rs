//! Lists of places that matter.

use crate::Words;

/// Names of secrets wherever they are, besides those of a home (`model::places`).
pub(super) static SECRET_NAMES: Words = Words::named("places.SECRET_NAMES");
/// Of the system.
pub(super) static SECRET_PATHS: Words = Words::named("places.SECRET_PATHS");
/// Read by everybody's scripts, and rarely with a secret in it: asking about it would be asking too often.
pub(super) const READ_DAILY: [&str; 2] = [".gitconfig", ".yarnrc.yml"];
/// In a directory of secrets, but none.
pub(super) const PUBLIC: [&str; 4] = ["known_hosts", "authorized_keys", "config", "config.json"];

/// Whoever writes these owns the machine.
pub(super) static OWNING: Words = Words::named("places.OWNING");
/// Names of devices that hold whole disks.
pub(super) const DISKS: [&str; 9] =
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-"];
/// What starts by itself: of the system.
pub(super) static STARTING: Words = Words::named("places.STARTING");
/// The same in any home, by the end of the path or a part of it, besides what shells run (`model::places`).
pub(super) static STARTING_NAMES: Words = Words::named("places.STARTING_NAMES");
pub(super) static LOGS: Words = Words::named("places.LOGS");
pub(super) static SYSTEM: Words = Words::named("places.SYSTEM");
/// Where anybody can put something.
pub(super) const SHARED: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/run/shm"];
/// Folders of web servers.
pub(super) static SERVED: Words = Words::named("places.SERVED");
/// Kinds of files that they run, or that tell them what to run.
pub(super) static SERVED_KINDS: Words = Words::named("places.SERVED_KINDS");
