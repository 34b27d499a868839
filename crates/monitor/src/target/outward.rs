//! Where a call leads on the web: off the list of what the agent may reach, or to an address that looks as if it
//! carried data off; and how much it takes along.

use model::{Effect, Reach as Goes};
use policy::{Target, Targets};
use scan::net::{self, Domains};
use serde_json::Value;

use super::visit;
use crate::actions;
use crate::admission::Admission;

/// What an outsider may send at once, in bytes.
const OUTSIDER_BYTES_MAX: usize = 1 << 20;

/// What an agent may reach: what stands on every one of its lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach(Vec<Domains>);

impl Reach {
    /// By the files that admitted the session. A list that cannot be read holds nothing.
    pub(crate) fn of(admission: &Admission) -> Self {
        let Admission::Layered { global, manifest, .. } = admission else { return Self::default() };
        let lists = [&global.egress().allowed_domains, &manifest.sandbox.allowed_domains];
        Self(lists.into_iter().flatten().map(|it| Domains::parse(it).unwrap_or_default()).collect())
    }

    pub(super) fn class_of(&self, effect: &Effect) -> Targets {
        let mut found = Targets::NONE;
        match effect {
            Effect::Action(action) => {
                let message = action.to_value();
                for (field, value) in message.as_object().into_iter().flatten() {
                    if !actions::is_only_said(action.name(), field) {
                        visit(value, &mut |text| found = found.union(self.class_of_text(text)));
                    }
                }
            }
            Effect::Tool(tool) => {
                let flow = &tool.flow;
                if !flow.egress && flow.reach != Goes::Send {
                    return found;
                }
                let args = tool.call.args();
                if args.values().map(bytes).sum::<usize>() > OUTSIDER_BYTES_MAX {
                    found = found.with(Target::Oversized);
                }
                for value in args.values() {
                    visit(value, &mut |text| found = found.union(self.class_of_text(text)));
                }
            }
        }
        found
    }

    /// A text that is one address; one that only mentions some asks for none of them.
    fn class_of_text(&self, text: &str) -> Targets {
        let mut found = Targets::NONE;
        if !text.contains("://") {
            return found;
        }
        let Ok(target) = net::Target::parse(text) else { return found };
        if !self.0.iter().all(|it| it.permits(&target).is_ok()) {
            found = found.with(Target::UnlistedDomain);
        }
        if !net::exfiltration(&target).is_empty() {
            found = found.with(Target::Exfiltration);
        }
        found
    }
}

fn bytes(value: &Value) -> usize {
    let mut sum = 0_usize;
    visit(value, &mut |text| sum = sum.saturating_add(text.len()));
    sum
}
