//! The instructions of an agent, for one turn.

use std::io;
use std::path::Path;

use aegx::Digest;
use agent::prompt::{DEFAULT_IDENTITY, Parts, system};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use scan::boundary::Nonce;

use super::offer::Offer;

/// What an agent is told, and what of it the agent may say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Instructions {
    pub(super) text: String,
    pub(super) public: Vec<String>,
}

/// The numbers of marks in instructions. The same parts have the same marks again, so that the same instructions are known
/// as the same; whoever writes a part cannot close its mark, since the number depends on every part and on a key.
#[derive(Clone, Debug)]
pub(super) struct Marks([u8; 32]);

impl Marks {
    /// # Errors
    /// If the system gives no randomness: marks that somebody can guess are none.
    pub(super) fn new() -> io::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        Ok(Self(key))
    }

    /// Numbers for these parts. When it is changes none of them.
    fn of(&self, parts: &Parts<'_>) -> impl FnMut() -> Nonce + use<> {
        let lists = [parts.tools, parts.memory].map(|it| Digest::of(it.join("\0").as_bytes()));
        let files = parts.files.iter().map(|(name, text)| format!("{name}\0{text}"));
        let files = Digest::of(files.collect::<Vec<_>>().join("\0").as_bytes());
        let texts = [parts.identity, parts.workspace.unwrap_or_default()];
        let texts = texts.map(|it| Digest::of(it.as_bytes()));
        let mut seed = self.0.to_vec();
        for it in lists.iter().chain(&texts).chain([&files]) {
            seed.extend_from_slice(it.as_bytes());
        }
        let mut seed = Digest::of(&seed);
        move || {
            seed = Digest::of(&[seed.as_bytes().as_slice(), &[1]].concat());
            let mut number = [0; 16];
            // One that was told says nothing of the next.
            let told = Digest::of(&[seed.as_bytes().as_slice(), &[2]].concat());
            number.iter_mut().zip(told.as_bytes()).for_each(|(to, from)| *to = *from);
            Nonce::new(number)
        }
    }
}

/// Puts the instructions together, as they are at `now` (in seconds since 1970).
pub(super) fn instructions(
    offer: &Offer,
    workspace: Option<&Path>,
    files: &[(String, String)],
    memory: &[String],
    (now, marks): (i64, &Marks),
) -> String {
    let tools = tools(offer);
    let workspace = workspace.map(|it| it.display().to_string());
    let now = said(now);
    let identity = identity(offer);
    let parts = Parts {
        identity: &identity,
        now: &now,
        workspace: workspace.as_deref(),
        tools: &tools,
        files,
        memory,
    };
    system(&parts, marks.of(&parts))
}

/// The body of the agent's file; for a sub-agent also what it is. Whatever the agent's author asks for holds there, too.
fn identity(offer: &Offer) -> String {
    let body = offer.manifest.body.trim();
    let Some(name) = offer.sub_agents.last() else { return body.to_owned() };
    let body = if body.is_empty() { DEFAULT_IDENTITY } else { body };
    format!("{body}\n\nYou work as the sub-agent `{}`. {SUB_AGENT}", name.escape_debug())
}

/// What a sub-agent is told of its place.
const SUB_AGENT: &str = "Another agent has handed you a task, which is all that you are told of the conversation. You cannot ask anybody anything. Do the task with the tools that you have, then answer with what you found, and with what you could not do.";

/// What of the instructions an agent may say: its user knows it.
pub(super) fn public(offer: &Offer, workspace: Option<&Path>, now: i64) -> Vec<String> {
    let mut public = vec![said(now), tools(offer).join(", ")];
    public.extend(workspace.map(|it| it.display().to_string()));
    public
}

fn tools(offer: &Offer) -> Vec<String> {
    offer.tools.iter().map(|it| it.name.clone()).collect()
}

/// Date, time and zone, as people say them.
fn said(now: i64) -> String {
    let time = Timestamp::from_second(now).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%A, %Y-%m-%d %H:%M (%Z)").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_have_the_same_marks_and_no_others_do() {
        let marks = Marks::new().unwrap();
        let (files, memory) = ([("a".to_owned(), "text".to_owned())], ["a fact".to_owned()]);
        let parts = Parts {
            identity: "An agent.",
            now: "Monday",
            workspace: Some("/w"),
            tools: &[],
            files: &files,
            memory: &memory,
        };
        let of = |marks: &Marks, parts: &Parts<'_>| -> Vec<Nonce> {
            let mut next = marks.of(parts);
            (0..3).map(|_| next()).collect()
        };
        let first = of(&marks, &parts);
        assert_eq!(of(&marks, &Parts { now: "Tuesday", ..parts }), first);
        let other_files = [("a".to_owned(), "text and more".to_owned())];
        let other_memory = ["a fact".to_owned(), "and one more".to_owned()];
        for other in [
            of(&marks, &Parts { files: &other_files, ..parts }),
            of(&marks, &Parts { memory: &other_memory, ..parts }),
            of(&marks, &Parts { workspace: Some("/other"), ..parts }),
            of(&Marks::new().unwrap(), &parts),
        ] {
            assert!(other.iter().all(|it| !first.contains(it)));
        }
        assert!(first.iter().enumerate().all(|(n, it)| !first[..n].contains(it)));
    }
}
