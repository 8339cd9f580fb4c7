//! Refuses changes that no call may make while a skill restricts, whatever the rules say: the one
//! function for tool paths, redirections and command operands.

use super::call::Call;
use super::path_context::PathContext;
use super::protected::{Relation, WHY_PROTECTED};
use super::refusal::{Reason, Refusal};
use super::shell::Effects;
use crate::host::tools::{self, Argument, Effect, Named};

/// Refuses to change protected places while `skill` restricts.
///
/// # Errors
/// The refusal, which names the path or operand.
pub fn protect(
    skill: &str,
    call: &Call,
    effects: Option<&Effects>,
    context: PathContext,
) -> Result<(), Refusal> {
    let refuse = |kind: &'static str, part: &str, why: &str| {
        let (skill, why) = (skill.to_owned(), why.to_owned());
        Refusal::new(call.tool, Reason::Protected { skill, why }).part(kind, part)
    };
    let redirected = effects.into_iter().flat_map(|effects| &effects.files);
    let written = redirected.filter_map(|(path, writes)| writes.then_some(path.as_str()));
    for path in named_files(call).chain(written) {
        let written = context.places.for_tool(call.tool, path);
        if context.relation(&written) == Relation::Inside {
            return Err(refuse("path", path, WHY_PROTECTED));
        }
    }
    match effects.and_then(|effects| effects.protected.as_ref()) {
        Some(rejection) => Err(refuse("operand", &rejection.part, &rejection.why)),
        None => Ok(()),
    }
}

/// The files on disk that a call of a host tool writes.
fn named_files<'c>(call: &Call<'c>) -> impl Iterator<Item = &'c str> {
    let changes = tools::find(call.tool).filter(|tool| tool.effect == Effect::Change);
    let keys = changes
        .into_iter()
        .flat_map(|tool| tool.keys(&[Argument::Path]));
    let texts = keys.filter_map(|key| call.text(key));
    texts.filter(|text| Argument::Path.names(text) == Named::File)
}

#[cfg(test)]
mod tests;
