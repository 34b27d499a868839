//! How the loop of agents looks after itself: `config.yaml`, the part under `hooks`.

use serde::Deserialize;

use super::serve::{Count, Switch};

/// How the loop of agents of the host's own looks after itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HookSettings {
    /// `logToolUse`: is a line written for each call of a tool?
    pub log_tool_use: Switch,
    /// `verifyBeforeComplete`: is an agent reminded to look at what it changed?
    pub verify_before_complete: Switch,
    /// `loopDetection`: does the same call again and again end a turn?
    pub loop_detection: Switch,
    /// `loopDetectionThreshold`: how often in a row is too often.
    pub loop_detection_threshold: Count<3, 2, 100>,
    /// `compactSuccessOutput`: are long outputs of what went well shortened?
    pub compact_success_output: Switch,
    /// `compactOutputThreshold`: lines of an output, or matches of a search, that are still shown as they are.
    pub compact_output_threshold: Count<50, 10, 10_000>,
}

impl Default for HookSettings {
    fn default() -> Self {
        let (on, off) = (Switch(true), Switch(false));
        Self {
            log_tool_use: off,
            verify_before_complete: on,
            loop_detection: on,
            loop_detection_threshold: Count::default(),
            compact_success_output: on,
            compact_output_threshold: Count::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::access::Global;

    #[test]
    fn what_is_not_said_is_as_upstream_has_it() {
        let hooks = |text: &str| Global::parse(text).map(|it| it.hooks().clone());
        let usual = hooks("hooks: {}\n").unwrap();
        let on = [usual.verify_before_complete, usual.loop_detection, usual.compact_success_output];
        assert!(on.iter().all(|it| it.0) && !usual.log_tool_use.0);
        let counts = [usual.loop_detection_threshold.get(), usual.compact_output_threshold.get()];
        assert_eq!(counts, [3, 50]);
        let said = hooks("hooks: {logToolUse: true, loopDetectionThreshold: 5}\n").unwrap();
        assert!(said.log_tool_use.0 && said.loop_detection.0);
        assert_eq!(said.loop_detection_threshold.get(), 5);
        for bad in [
            "{loopDetectionThreshold: 1}",
            "{compactOutputThreshold: 9}",
            "{logToolUse: \"yes\"}",
            "{log_tool_use: true}",
        ] {
            assert!(hooks(&format!("hooks: {bad}\n")).is_err(), "{bad}");
        }
    }
}
