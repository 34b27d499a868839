//! The page as text: the trees of all its frames, and what their numbers stand for.

use std::collections::BTreeMap;

use monitor::Scrubs;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::fault::Fault;
use crate::limits::{ELEMENTS_MAX, FRAMES_MAX, ORDER};
use crate::pages::Page;
use crate::tree::{Element, Writer, has_room};
use crate::watch::text;

/// What the numbers of the last snapshot stand for. Numbers are never used again: one of an older snapshot
/// stands for nothing, and not for something else.
#[derive(Default)]
pub(crate) struct Refs {
    known: BTreeMap<u64, Found>,
    last: u64,
}

/// An element and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// By which its frame is driven.
    pub(crate) session: String,
    /// Its frame.
    pub(crate) frame: String,
    /// The frame's element in the page around it, if the frame has a process of its own.
    pub(crate) inside: bool,
    /// What it was when it was shown.
    pub(crate) element: Element,
}

impl Refs {
    /// What this number stands for.
    pub(crate) fn get(&self, number: u64) -> Option<Found> {
        self.known.get(&number).cloned()
    }

    /// Nothing that was shown counts any more.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    fn add(&mut self, found: Found) -> Option<u64> {
        if !has_room(self.known.len()) {
            return None;
        }
        self.last = self.last.saturating_add(1);
        self.known.insert(self.last, found);
        Some(self.last)
    }
}

/// What a page shows.
pub(crate) struct Snapshot {
    /// Line by line.
    pub(crate) text: String,
    /// Was something left out?
    pub(crate) cut: bool,
}

impl Browser {
    /// Describes the page; what can be used gets new numbers.
    pub(crate) fn describe(
        &self,
        page: &Page,
        refs: &mut Refs,
        scrubs: &Scrubs,
    ) -> Result<Snapshot, Fault> {
        refs.forget();
        let mut writer = Writer::default();
        let mut sessions = vec![(page.session.clone(), false)];
        sessions.extend(self.watch.frames(page).into_iter().map(|it| (it.session, true)));
        let mut frames_left = FRAMES_MAX;
        for (session, inside) in sessions {
            let frames = match self.frames_of(&session) {
                Ok(frames) => frames,
                // A frame may have gone in the meantime; the page itself must be there.
                Err(error) if !inside => return Err(error),
                Err(_) => continue,
            };
            for (count, frame) in frames.into_iter().enumerate() {
                let Some(left) = frames_left.checked_sub(1) else {
                    writer.cut = true;
                    break;
                };
                frames_left = left;
                let nodes = match self.nodes_of(&session, &frame) {
                    Ok(nodes) => nodes,
                    Err(error) if !inside && count == 0 => return Err(error),
                    Err(_) => continue,
                };
                let Some(mut nodes) = nodes else {
                    writer.cut = true;
                    continue;
                };
                // Before names are cut.
                nodes.iter_mut().for_each(|it| scrubs.clean_value(it));
                writer.write(&nodes, |element| {
                    let (session, frame) = (session.clone(), frame.clone());
                    refs.add(Found { session, frame, inside, element })
                });
            }
        }
        Ok(Snapshot { text: writer.text, cut: writer.cut })
    }

    /// The frames that are in the process of `session`, outer ones first.
    fn frames_of(&self, session: &str) -> Result<Vec<String>, Fault> {
        let tree = self.wire.call(session, "Page.getFrameTree", json!({}))?;
        let mut found = Vec::new();
        let mut left: Vec<&Value> = tree.get("frameTree").into_iter().collect();
        while let Some(one) = left.pop() {
            found.push(text(one, "/frame/id").to_owned());
            if found.len() > FRAMES_MAX {
                break;
            }
            left.extend(
                one.get("childFrames").and_then(Value::as_array).into_iter().flatten().rev(),
            );
        }
        Ok(found)
    }

    /// The tree of a frame; none if it is so big that describing it would stop everything else.
    fn nodes_of(&self, session: &str, frame: &str) -> Result<Option<Vec<Value>>, Fault> {
        let world = self.world(session, frame)?;
        let count = json!({
            "expression": "document.getElementsByTagName('*').length",
            "contextId": world,
            "returnByValue": true,
        });
        let count = self.wire.call(session, "Runtime.evaluate", count)?;
        if count.pointer("/result/value").and_then(Value::as_u64).is_none_or(|it| it > ELEMENTS_MAX)
        {
            return Ok(None);
        }
        const METHOD: &str = "Accessibility.getFullAXTree";
        let params = json!({ "frameId": frame });
        let mut tree = self.wire.call_within(session, METHOD, params, ORDER * 3)?;
        match tree.get_mut("nodes").map(Value::take) {
            Some(Value::Array(nodes)) => Ok(Some(nodes)),
            Some(_) | None => Err(Fault::Nonsense(METHOD)),
        }
    }

    /// A world beside the page's own in a frame: what runs there the page's scripts cannot change.
    pub(crate) fn world(&self, session: &str, frame: &str) -> Result<u64, Fault> {
        const METHOD: &str = "Page.createIsolatedWorld";
        let params = json!({ "frameId": frame, "worldName": "lazaret" });
        let made = self.wire.call(session, METHOD, params)?;
        made.get("executionContextId").and_then(Value::as_u64).ok_or(Fault::Nonsense(METHOD))
    }
}
