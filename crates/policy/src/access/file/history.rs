//! What agents are shown of earlier: `config.yaml`, the part under `history`.

use serde::Deserialize;

use super::serve::{Count, Switch};

/// What agents of the host's own are shown of what was said and remembered before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HistorySettings {
    /// Messages of the session that a model is shown again.
    pub max_turns: Count<50, 1, 500>,
    /// Is the older part of a long conversation summarised, rather than left out?
    pub summarize: Switch,
    /// From how many messages on.
    pub summarize_threshold: Count<40, 2, 500>,
    /// The newest messages, which stay as they are.
    pub summarize_keep_recent: Count<10, 1, 500>,
    /// Is an agent reminded of what it remembers?
    pub memory_recall: Switch,
    /// Of how many rows at most.
    pub memory_recall_limit: Count<5, 1, 100>,
}

#[cfg(test)]
mod tests {
    use crate::access::Global;

    #[test]
    fn what_is_not_said_is_as_upstream_has_it() {
        let global = Global::parse("history: {}\n").unwrap();
        let history = global.history();
        let counts = [
            history.max_turns.get(),
            history.summarize_threshold.get(),
            history.summarize_keep_recent.get(),
            history.memory_recall_limit.get(),
        ];
        assert_eq!(counts, [50, 40, 10, 5]);
        assert!(!history.summarize.0 && !history.memory_recall.0);
        for bad in
            ["{max_turns: 0}", "{summarize: \"yes\"}", "{memory_recall_limit: 101}", "{x: 1}"]
        {
            assert!(Global::parse(&format!("history: {bad}\n")).is_err(), "{bad}");
        }
    }
}
