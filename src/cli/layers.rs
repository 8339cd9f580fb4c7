//! In which layer a named skill is, if no option says so.

use super::call::Call;
use super::caller::{Caller, agent_above, pasted};
use super::options::Scope;
use crate::catalog::{Layer, base_at, market_at};
use crate::error::{Error, Result};
use crate::facts::Facts;

/// The layer of the installed skill `written`, which `verb` is to change: the one that the options
/// select, or else the only one that has it. What a model may request stays in the plugin's layer,
/// since its policies know no other (`Decision::for_models`).
///
/// # Errors
/// When several layers have it.
pub fn layer_of(call: Call, scope: Scope, verb: &str, written: &str) -> Result<Layer> {
    let is_models = call.caller == Caller::Host || agent_above(call.facts, call.caller).is_some();
    if !scope.is_default() || is_models {
        return Ok(scope.layer());
    }
    let layers = layers_with(call.facts, written);
    match layers[..] {
        [] => Ok(scope.layer()),
        [only] => Ok(only),
        _ => {
            let names: Vec<&str> = layers.iter().map(|layer| layer.as_str()).collect();
            let text = format!(
                "the skill `{}` is in several layers: {}",
                written.escape_debug(),
                names.join(", ")
            );
            let command = |layer: &str| {
                let words = pasted(&[verb, written, "--layer", layer]);
                format!("`agent-skills {words}`")
            };
            let commands: Vec<String> = names.into_iter().map(command).collect();
            Err(Error::new(text).hint(commands.join(" or ")))
        }
    }
}

/// The layers that have the installed skill `written`.
pub fn layers_with(facts: &Facts, written: &str) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for layer in Layer::ALL {
        let dir = layer.dir(facts);
        let is_new = layers.iter().all(|other| other.dir(facts) != dir);
        if is_new && market_at(facts, &base_at(facts, &dir)).has(written) {
            layers.push(layer);
        }
    }
    layers
}

/// The named skills by their layers, as [`layer_of`] finds each; without names, the layer that the
/// options select.
///
/// # Errors
/// As [`layer_of`].
pub fn layers_of(
    call: Call,
    scope: Scope,
    verb: &str,
    names: &[String],
) -> Result<Vec<(Layer, Vec<String>)>> {
    if names.is_empty() {
        return Ok(vec![(scope.layer(), Vec::new())]);
    }
    let mut all: Vec<(Layer, Vec<String>)> = Vec::new();
    for name in names {
        let layer = layer_of(call, scope, verb, name)?;
        match all.iter_mut().find(|(other, _)| *other == layer) {
            Some((_, names)) => names.push(name.clone()),
            None => all.push((layer, vec![name.clone()])),
        }
    }
    Ok(all)
}
