//! The environment variables of a host's call.

use std::ffi::OsString;

use super::Env;

/// The variables of a host's call (docs/hosts.md#which-call), inherited by its children.
pub const OF_A_CALL: [&str; 4] = [
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
];

/// Others of the host that a program we start does not get. A nested host is a session of its own;
/// the shell's previous directory means nothing to it.
const OF_THE_HOST: [&str; 4] = [
    "CHIBI_PROJECT_ROOT",
    "CHIBI_INDEX_DB",
    "AGENT_SKILLS_SESSION",
    "OLDPWD",
];

/// The variables for programs that we start: all but those of a call.
pub fn for_others(env: &Env) -> impl Iterator<Item = (OsString, OsString)> + '_ {
    env.vars()
        .filter(|(name, _)| OF_A_CALL.iter().chain(&OF_THE_HOST).all(|own| name != own))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}
