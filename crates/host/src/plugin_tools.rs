//! The tools of plugins, for one session: which there are, and what carries their calls out.

use std::path::Path;
use std::sync::Arc;

use egress::Rules;
use vault::Scope;

use crate::executor::{Given, Offers, PluginTools};
use crate::gate::{Gate, GateError};
use crate::ipc::Stop;
use crate::plugins;

/// Looks through all plugins, and gives the tools of those that are what a person added, if the session is to have them.
pub(crate) fn offers(
    gate: &Gate,
    home: &Path,
    are_run: bool,
    notes: &mut Vec<String>,
) -> Result<Offers, GateError> {
    let checked = plugins::check(home, &gate.journal).map_err(GateError::unable)?;
    for it in checked.refused {
        notes.push(format!("the plugin {} is refused: {}", it.name, it.why));
    }
    Ok(if are_run { Offers::of(checked.offered, notes) } else { Offers::default() })
}

/// What carries out calls of tools of plugins: as far as the agent itself goes (`closed`: nowhere), with keys that it may use.
pub(crate) fn tools(
    gate: &Gate,
    home: &Path,
    offers: Offers,
    (rules, closed, scope): (&Rules, bool, &Scope),
    stop: &Stop,
) -> Result<PluginTools, GateError> {
    let none =
        "no plugins can run: there is no home directory whose secrets could be kept from them";
    let person = std::env::home_dir().filter(|it| it.is_absolute());
    let person = person.ok_or_else(|| GateError::usage(none))?;
    let person = files::resolved(&person).map_err(GateError::unable)?;
    let state = files::resolved(home).map_err(GateError::unable)?;
    let journal = Arc::clone(&gate.journal);
    let outside = crate::outside(home, Arc::clone(&gate.monitor), Arc::clone(&journal));
    let outside = outside.map_err(GateError::usage)?;
    let out = (!closed).then(|| (outside, rules.clone()));
    let (keeper, scope) = (gate.keeper.clone(), scope.clone());
    let given = Given { keeper, scope, out, journal, stop: stop.clone() };
    Ok(PluginTools::new(&state, &person, offers, given))
}
