//! Nothing gets into a cage because somebody says that all is well: leave is needed.

use sandbox::cage::{Cage, Inmate};

fn run(cage: &Cage, inmate: &Inmate) {
    let _waiting = cage.put(inmate, || Ok(()));
}

fn main() {}
