//! Only the launcher, which the host tells what to run after it has spent a permit, gives leave by the host's word.

use sandbox::cage::{Inmate, Leave};

fn by_the_host(inmate: &Inmate) -> Leave {
    Leave::of_host(inmate)
}

fn main() {}
