//! Whether a policy lets something be installed. No flag accepts what it refuses.

use super::options::Scope;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::governance::{Policies, Severity};
use crate::marketplace::{self, Difference, Finding, Plan};

/// Refuses what a policy forbids. An administrator who installs for everybody chooses the source.
///
/// # Errors
/// When a policy forbids the source or a skill of it.
pub fn permits(policies: &Policies, scope: Scope, plan: &Plan) -> Result<()> {
    permits_in(policies, scope.layer(), Some(&plan.source), plan)
}

/// Refuses a skill from no source, as [`permits`] does.
///
/// # Errors
/// As [`permits`].
pub fn permits_new(policies: &Policies, plan: &Plan) -> Result<()> {
    permits_in(policies, Layer::Plugin, None, plan)
}

fn permits_in(policies: &Policies, layer: Layer, source: Option<&str>, plan: &Plan) -> Result<()> {
    let mut names = plan.skills.iter().map(|skill| skill.name.as_str());
    let by_name = names.find_map(|name| policies.refuses_skill(name, name));
    let by_source = || policies.refuses_source(source);
    let for_all = layer == Layer::Enterprise;
    match by_name.or_else(|| by_source().filter(|_| !for_all)) {
        Some(reason) => Err(refused(&reason)),
        None => permits_findings(
            policies,
            plan.skills.iter().flat_map(|skill| &skill.findings),
        ),
    }
}

/// Refuses a change to an installed skill that a policy forbids to use or whose findings it refuses.
///
/// # Errors
/// When a policy does.
pub fn permits_change(
    policies: &Policies,
    skill: &str,
    source: Option<&str>,
    layer: Layer,
    difference: &Difference,
) -> Result<()> {
    let of_all = layer == Layer::Enterprise;
    let by_source = || policies.refuses_source(source).filter(|_| !of_all);
    match policies
        .refuses_skill(skill, &difference.name)
        .or_else(by_source)
    {
        Some(reason) => Err(refused(&reason)),
        None => permits_findings(policies, &difference.new_findings),
    }
}

/// Refuses what a scan found, from the severity on that a policy names.
///
/// # Errors
/// When there is such a finding.
pub fn permits_findings<'f>(
    policies: &Policies,
    findings: impl IntoIterator<Item = &'f Finding>,
) -> Result<()> {
    let least = match policies.scan_block() {
        None => return Ok(()),
        Some(Severity::Note) => marketplace::Severity::Note,
        Some(Severity::Warn) => marketplace::Severity::Warn,
        Some(Severity::High) => marketplace::Severity::High,
        Some(Severity::Block) => marketplace::Severity::Block,
    };
    let mut findings = findings.into_iter();
    match findings.find(|finding| finding.severity >= least) {
        None => Ok(()),
        Some(finding) => {
            let reason = format!(
                "a policy refuses what the scan found: {}",
                finding.summary()
            );
            Err(refused(&reason))
        }
    }
}

fn refused(reason: &str) -> Error {
    Error::new(format!("nothing was installed: {reason}"))
        .hint("ask the administrator of this machine")
}
