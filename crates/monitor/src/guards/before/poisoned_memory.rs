//! Objects to remembering a text that gives orders, or that loads something from elsewhere, once others had their say.
//!
//! Threat: what outside content says today is obeyed tomorrow, as if the user had said it.

use model::ipc::Action;
use model::{Decision, Effect, Objection};
use scan::text::{Author, Verdict};

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::taint;

pub(crate) struct PoisonedMemory;

impl Guard<Proposed> for PoisonedMemory {
    fn id(&self) -> Rule {
        Rule::PoisonedMemory
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let Effect::Action(action) = &proposed.understood().effect else { return Vec::new() };
        // A note of a session is read by that session alone, which stays as tainted as it is.
        let text = if let Action::MemoryWrite(write) = &**action {
            write.content.as_str()
        } else if let Action::TaskAdd(task) = &**action {
            task.text.as_str()
        } else {
            return Vec::new();
        };
        if !taint::is_outside(proposed.taint()) {
            return Vec::new();
        }
        let orders = scan::text::read(text, Author::Outsider).verdict() == Verdict::Injection;
        let loads = scan::exfiltration::look(text).iter().any(|it| it.kind.loads());
        let what = match (orders, loads) {
            (true, _) => "gives orders to whoever reads it",
            (false, true) => "loads something from elsewhere when it is shown",
            (false, false) => return Vec::new(),
        };
        let why = format!("what is to be remembered {what}, and others wrote in this session");
        vec![
            Objection::new(self.id(), Decision::StepUp, "poisoned_memory", why)
                .with_remedy("let the person approve exactly this entry"),
        ]
    }
}
