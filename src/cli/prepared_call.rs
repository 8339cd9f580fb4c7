//! Prepares a call of a tool as the host's hooks do, for commands that decide about calls nobody makes.

use crate::activation::Enforcement;
use crate::error::Result;
use crate::facts::Facts;
use crate::permission::{Call, Scope};
use crate::protocol::{ToolUse, call_of, called, meaning, script_of, under_denied_name};
use crate::session::Session;

/// Hands the call and the scope of its decision to `then`.
///
/// # Errors
/// When it names a skill that is not there.
pub fn with_call<T>(
    facts: &Facts,
    session: &Session,
    enforcement: &Enforcement,
    used: &ToolUse,
    then: impl FnOnce(&Scope, &Call) -> T,
) -> Result<T> {
    let called = called(facts, &used.tool, &used.arguments).transpose()?;
    let script_of = script_of(facts, used, session);
    let call = call_of(used, called.as_ref(), script_of.as_deref());
    let scope = enforcement.scope();
    let meant = meaning(facts, &scope, session, (&call, used, called.as_ref()));
    let call = Call {
        meant: &meant,
        ..call
    };
    let call = under_denied_name(&scope, call, used);
    Ok(then(&scope, &call))
}
