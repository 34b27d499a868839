//! The plugin of OpenCode, run by the program that runs JavaScript, if there is one.

use std::fs;
use std::process::Command;

use setup::Host;

use crate::support::{Machine, corpus};

#[test]
fn the_plugin_obeys_answers_and_refuses_everything_else() {
    let mut machine = Machine::new();
    machine.put("try/hook.sh", fs::read(corpus("plugin/hook.sh")).unwrap());
    machine.program("try/hook.sh");
    machine.put("try/hook.sh", fs::read(corpus("plugin/hook.sh")).unwrap());
    machine.around.hook = machine.at("try/hook.sh");
    machine.init(&[Host::OpenCode]);
    let plugin = fs::read(machine.at("home/.config/opencode/plugins/lazaret.js")).unwrap();
    // Without a package.json beside it, only this ending means a module to every version of node.
    machine.put("try/lazaret.mjs", plugin);
    #[expect(clippy::disallowed_methods, reason = "the plugin is run by another program")]
    let mut node = Command::new("node");
    node.arg(corpus("plugin/obeyed.mjs")).arg(machine.at("try/lazaret.mjs")).arg(machine.at("try"));
    // Nothing to say where there is no node.
    if let Ok(output) = node.output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
