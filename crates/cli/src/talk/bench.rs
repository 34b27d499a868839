//! `lazaret agents bench`: how long a worker takes until it can be spoken to.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::Turn;
use host::agents::{AgentsOptions, DEFAULT_AGENT, new_session};
use serde_json::json;

use super::host::Host;
use crate::failure::{Exit, Failure};
use crate::output;

/// Starts `count` workers one after the other, then `at_once` side by side.
pub(super) fn run(home: &Path, count: usize, at_once: usize) -> Result<Exit, Failure> {
    let options = AgentsOptions { workers_max: at_once.max(1), ..AgentsOptions::default() };
    let host = Host::open(home, options)?;
    let measured = measure(&host, count, at_once);
    host.close()?;
    let (mut alone, mut together) = measured?;
    let shown = json!({
        "ready_ms_p50": at(&mut alone, 50),
        "ready_ms_p95": at(&mut alone, 95),
        "workers": count,
        "together": at_once,
        "together_ready_ms_p50": at(&mut together, 50),
        "together_ready_ms_max": at(&mut together, 100),
    });
    output::json(&shown);
    Ok(Exit::Done)
}

fn measure(
    host: &Host,
    count: usize,
    at_once: usize,
) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let mut alone = Vec::new();
    for _ in 0..count {
        let turn = turn()?;
        alone.push(started(host, &turn)?);
        agent::Runtime::close(&*host.agents, &turn.user, &turn.agent, &turn.session);
    }
    let turns = (0..at_once).map(|_| turn()).collect::<Result<Vec<_>, _>>()?;
    let together = std::thread::scope(|scope| {
        let all: Vec<_> = turns.iter().map(|it| scope.spawn(move || started(host, it))).collect();
        let broke = |_| Err(Failure::unable("a worker broke off"));
        all.into_iter().map(|it| it.join().unwrap_or_else(broke)).collect::<Result<Vec<_>, _>>()
    })?;
    Ok((alone, together))
}

fn started(host: &Host, turn: &Turn) -> Result<Duration, Failure> {
    let begun = Instant::now();
    host.agents.open(turn).map_err(|error| Failure::unable(error.message))?;
    Ok(begun.elapsed())
}

fn turn() -> Result<Turn, Failure> {
    Ok(Turn {
        user: "me".to_owned(),
        agent: DEFAULT_AGENT.to_owned(),
        session: new_session().map_err(Failure::unable)?.as_str().to_owned(),
        content: String::new(),
        voice: agent::Voice::User,
        earlier: None,
        local: true,
        stop: Arc::default(),
    })
}

/// A percentile, in milliseconds.
fn at(all: &mut [Duration], percent: usize) -> f64 {
    all.sort();
    let place = (all.len().saturating_sub(1) * percent).div_ceil(100);
    all.get(place).map_or(0.0, |it| (it.as_secs_f64() * 10_000.0).round() / 10.0)
}
