//! The restrictions, settings and directories that apply to a call.

use std::collections::BTreeSet;

use super::places::Places;
use super::restriction::Restriction;
use super::settings::Settings;

/// Everything that applies to a call.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The restrictions of all skills activated in this session, oldest first, including replaced
    /// ones, whose denials stay in force.
    pub restrictions: &'a [Restriction],
    /// Denials from the configuration and the administrator's policy.
    pub policy_deny: &'a [Restriction],
    /// The user's settings.
    pub settings: &'a Settings,
    /// The directories that rules refer to.
    pub places: &'a Places,
    /// Tools that the host attributes to MCP servers.
    pub mcp_tools: &'a BTreeSet<String>,
}
