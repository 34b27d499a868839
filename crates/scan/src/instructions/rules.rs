//! The rules: classes of words in order, close together, within one sentence.

use super::vocabulary::Class as W;
use super::{Category as C, Finding};

/// A sign that is made of words.
pub(super) struct Rule {
    name: &'static str,
    category: C,
    /// What it says by itself: below a half it needs company.
    weight: f64,
    /// The words, in order.
    pub(super) parts: &'static [W],
    /// From the first to the last.
    pub(super) within_bytes: usize,
    /// May a sentence end in between?
    pub(super) across_sentences: bool,
}

impl Rule {
    pub(super) fn finding(&self, start: usize, end: usize) -> Finding {
        let Self { name: rule, category, weight, .. } = *self;
        Finding { rule, category, start, end, weight }
    }
}

const fn rule(
    name: &'static str,
    category: C,
    weight: f64,
    parts: &'static [W],
    within_bytes: usize,
) -> Rule {
    Rule { name, category, weight, parts, within_bytes, across_sentences: false }
}

pub(super) const RULES: &[Rule] = &[
    rule("forget_orders", C::Override, 0.9, &[W::Forget, W::Before, W::Orders], 64),
    rule("forget_orders", C::Override, 0.9, &[W::Forget, W::Orders, W::Before], 64),
    rule("forget_orders", C::Override, 0.9, &[W::Before, W::Orders, W::Forget], 48),
    rule("forget_context", C::Override, 0.4, &[W::Forget, W::BeforeStrictly, W::OrdersToo], 48),
    rule("forget_orders", C::Override, 0.8, &[W::Forget, W::AllOrders], 40),
    rule("forget_everything", C::Override, 0.6, &[W::Forget, W::Everything], 48),
    rule("orders_void", C::Override, 0.8, &[W::Before, W::Orders, W::Void], 64),
    rule("new_orders", C::Task, 0.6, &[W::NewOrders], 60),
    rule("obey", C::Task, 0.6, &[W::Obey], 80),
    rule("note_for_machine", C::Address, 0.6, &[W::NoteFor, W::Machine], 40),
    rule("note_for_helper", C::Address, 0.3, &[W::NoteFor, W::Helper], 28),
    rule("to_you_machine", C::Address, 0.6, &[W::ToYou, W::Machine], 16),
    rule("greets_machine", C::Address, 0.35, &[W::Greeting, W::Machine], 16),
    rule("if_machine", C::Address, 0.8, &[W::IfYouAre, W::Machine], 40),
    rule("if_helper", C::Address, 0.3, &[W::IfYouAre, W::Helper], 40),
    rule("machine_reading", C::Address, 0.7, &[W::Machine, W::Reading], 40),
    rule("helper_reading", C::Address, 0.4, &[W::Helper, W::Reading], 40),
    rule("become", C::Task, 0.6, &[W::Become, W::Persona], 80),
    rule("task_lure", C::Task, 0.7, &[W::TaskLure], 80),
    rule("task_lure_weak", C::Task, 0.3, &[W::LureToo], 80),
    rule("from_me", C::Task, 0.6, &[W::FromMe], 80),
    rule("hide_from_user", C::Secrecy, 0.5, &[W::Not, W::Tell, W::User], 32),
    rule("hide_orders", C::Secrecy, 0.6, &[W::Not, W::Mention], 48),
    rule("without_asking", C::Secrecy, 0.5, &[W::AskMe], 60),
    rule("unasked", C::Secrecy, 0.35, &[W::Unasked], 60),
    rule("forged_role", C::Role, 0.6, &[W::ForgedRole], 40),
    rule("role_pipes", C::Role, 0.5, &[W::PipeOpen, W::PipeClose], 28),
    rule("role_mark", C::Role, 0.7, &[W::RoleMark], 40),
    rule("role_mark_weak", C::Role, 0.3, &[W::RoleMarkToo], 40),
    rule("tool_form", C::ToolCall, 0.4, &[W::ToolForm], 40),
    rule("compose", C::Errand, 0.3, &[W::Compose, W::ToAddress, W::Saying], 160),
    rule("reveal_prompt", C::Leak, 0.5, &[W::Reveal, W::OwnPrompt], 48),
    rule("reveal_prompt", C::Leak, 0.5, &[W::PromptLeak], 48),
    Rule {
        across_sentences: true,
        ..rule("fetch_and_carry", C::Errand, 0.5, &[W::Mine, W::Carry, W::ToAddress], 200)
    },
    rule("end_of_data", C::Role, 0.3, &[W::EndOf], 40),
    rule("own_tools", C::ToolCall, 0.35, &[W::OwnTools], 40),
    rule("greets_helper", C::Address, 0.25, &[W::Greeting, W::Helper], 14),
];
