//! How long the encoder takes: its weights, the user's words once a turn, tools once, and a call after that.

use std::hint::black_box;
use std::time::Instant;

use intent::Encoder;
use model::ToolText;

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs of each; the middle one is shown.
const RUNS: usize = 101;

fn median(mut run: impl FnMut(usize)) -> f64 {
    let mut all: Vec<f64> = (0..RUNS)
        .map(|at| {
            let start = Instant::now();
            run(at);
            start.elapsed().as_secs_f64()
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(RUNS / 2).copied().unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "a benchmark shows its figures")]
fn main() {
    let tool = ToolText { name: "send_email", description: "Sends a message to somebody." };
    let others: Vec<String> = (0..30).map(|at| format!("tool_number_{at}")).collect();
    let others: Vec<ToolText<'_>> =
        others.iter().map(|name| ToolText { name, description: "Does something else." }).collect();
    let start = Instant::now();
    let encoder = Encoder::new();
    black_box(encoder.score("Hello.", tool, &others));
    println!("first use, with 31 tools     {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    for (name, words) in [("20 words", 20), ("45 words", 45), ("as much as is read", 126)] {
        let turn = |at: usize| {
            format!(
                "{at} {}",
                "please send the notes of friday to anna and omar ".repeat(words / 10 + 1)
            )
        };
        let turns: Vec<String> = (0..RUNS)
            .map(|at| turn(at).split(' ').take(words).collect::<Vec<_>>().join(" "))
            .collect();
        let took = median(|at| {
            black_box(encoder.score(turns.get(at).map_or("", String::as_str), tool, &others));
        });
        println!("a turn of {name:19}{:8.1} ms   (limit 15)", took * 1e3);
    }
    let took = median(|_| {
        black_box(encoder.score("Hello.", tool, &others));
    });
    println!("a call after that            {:8.1} µs", took * 1e6);
}
