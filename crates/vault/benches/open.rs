//! How long a vault of a thousand secrets takes to open, and what scrubbing costs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and stops if something is wrong"
)]

use std::time::{Duration, Instant};

use monitor::Scrubber as _;
use vault::{Contents, Key, Name, Scrub, Secret, VaultFile};
use zeroize::Zeroizing;

const SECRETS: usize = 1000;
const ROUNDS: usize = 50;
/// What opening may take at the most.
const TARGET: Duration = Duration::from_millis(50);

fn fill(contents: &mut Contents) {
    for number in 0..SECRETS {
        let value = format!("ghp_{number:08}{:032x}", number * 0x9e37_79b9);
        let secret = Secret::new(Zeroizing::new(value)).unwrap();
        let host = Some(vec!["api.example.com".to_owned()]);
        contents.set(&Name::parse(&format!("SECRET_{number}")).unwrap(), secret, host, 1).unwrap();
    }
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let (file, key) = (VaultFile::in_home(dir.path()), Key::generate());
    key.write(&file.key_path()).unwrap();
    file.create(&key).unwrap();
    file.change(&key, |it| {
        fill(it);
        Ok(())
    })
    .unwrap();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    println!("machine: {cores} cores, {}", std::env::consts::ARCH);

    let open = median(|| drop(file.open(&Key::read(&file.key_path()).unwrap()).unwrap()));
    println!("open a vault of {SECRETS} secrets: {open:?} (target: under {TARGET:?})");

    let contents = file.open(&key).unwrap();
    let scrub = Scrub::default();
    let learn = median(|| scrub.learn(&contents, &[]));
    println!("learn {SECRETS} secrets to scrub: {learn:?}");
    let text = "A page as pages are, with \\n breaks, 100% of it & more.\n".repeat(180);
    let none = Scrub::default();
    let without = median(|| assert!(none.scrub(&text).is_none()));
    let with = median(|| assert!(scrub.scrub(&text).is_none()));
    println!("scrub {} bytes: {with:?}, without secrets {without:?}", text.len());
    assert!(open < TARGET, "too slow");
}
