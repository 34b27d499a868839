//! SIGKILL at any moment: what was spent is never counted as less.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serve::Books;

use crate::desk::desk;
use crate::world::{ANN, WIDE, World, home, server, users};

/// What a child is told, and by which test it is found.
const CHILD: &str = "LAZARET_SERVE_CHILD";
const NAME: &str = "kill::child";
/// Tokens of one turn.
const TURN: u64 = 100;

/// Not a test by itself: the server that is killed.
#[test]
fn child() {
    let Some(home) = std::env::var_os(CHILD) else { return };
    let server = server(home.as_ref(), &desk(), std::io::sink());
    // Read by the parent.
    std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("at {}\n", server.address()).as_bytes(),
    )
    .unwrap();
    server.run().unwrap();
}

#[test]
fn what_was_spent_is_never_counted_as_less() {
    let budget = "{unit: tokens, sessionLimit: 1e9, dailyLimit: 1e9, monthlyLimit: 1e9}";
    let home = home(WIDE, &users(budget));
    let mut answered = 0;
    for round in 0..8 {
        let (mut child, address) = start(home.path());
        let world = World::at(address);
        if round == 0 {
            world.post("/api/consent", Some(ANN), "{\"policyVersion\":\"1.0\"}");
        }
        let counts: Vec<_> = (0..4)
            .map(|_| {
                let address = world.0;
                std::thread::spawn(move || {
                    let world = World::at(address);
                    let body = format!("{{\"model\":\"main\",\"messages\":[{{\"role\":\"user\",\"content\":\"spend {TURN}\"}}]}}");
                    (0..).take_while(|_| {
                        let answer = world.post("/v1/chat/completions", Some(ANN), &body);
                        answer.status == 200 && answer.body.contains("spent")
                    }).count()
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(150 + 97 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for count in counts {
            answered += u64::try_from(count.join().unwrap()).unwrap();
        }
        let books = Books::open(home.path()).unwrap();
        let now = evidence::Clock::unix_seconds(&evidence::SystemClock);
        let spent = books.totals("ann", "", now).unwrap().daily.tokens;
        assert!(spent >= answered * TURN, "{spent} < {answered} turns in round {round}");
    }
    assert!(answered > 8, "{answered}");
}

#[test]
fn a_kill_between_the_questions_of_a_turn_undercounts_none_of_them() {
    let budget = "{unit: tokens, sessionLimit: 1e9, dailyLimit: 1e9, monthlyLimit: 1e9}";
    let home = home(WIDE, &users(budget));
    let asked = home.path().join("asked");
    for round in 0..6 {
        let (mut child, address) = start(home.path());
        let world = World::at(address);
        if round == 0 {
            world.post("/api/consent", Some(ANN), "{\"policyVersion\":\"1.0\"}");
        }
        let body = format!(
            "{{\"model\":\"main\",\"messages\":[{{\"role\":\"user\",\"content\":\"burn {}\"}}]}}",
            asked.display()
        );
        let before = count(&asked);
        let turn = std::thread::spawn(move || {
            World::at(address).post("/v1/chat/completions", Some(ANN), &body).status
        });
        while count(&asked) < before + 3 + round {
            assert!(!turn.is_finished(), "the turn has ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        turn.join().unwrap();
        let books = Books::open(home.path()).unwrap();
        let now = evidence::Clock::unix_seconds(&evidence::SystemClock);
        let spent = books.totals("ann", "", now).unwrap().daily.tokens;
        let least = count(&asked) * TURN;
        assert!(spent >= least, "{spent} < {least} in round {round}");
        // No more than one question was set aside and not asked, in each round.
        assert!(spent <= least + (round + 1) * TURN, "{spent} for {least} in round {round}");
    }
}

fn count(asked: &std::path::Path) -> u64 {
    std::fs::metadata(asked).map_or(0, |it| it.len())
}

/// A server in a process of its own, and where it is.
fn start(home: &std::path::Path) -> (std::process::Child, std::net::SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([NAME, "--exact", "--nocapture"])
        .env(CHILD, home)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = said.find_map(|it| it.unwrap().strip_prefix("at ").map(str::to_owned));
    (child, address.unwrap().parse().unwrap())
}

/// A server elsewhere.
struct Elsewhere(std::net::SocketAddr);

impl World {
    fn at(address: std::net::SocketAddr) -> Elsewhere {
        Elsewhere(address)
    }
}

impl Elsewhere {
    fn post(&self, path: &str, token: Option<&str>, body: &str) -> crate::http::Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.0,
            token.unwrap_or_default(),
            body.len()
        );
        crate::http::try_raw(self.0, head.as_bytes())
    }
}
