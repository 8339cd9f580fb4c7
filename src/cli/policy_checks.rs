//! Whether something may be installed: policies decide first, and no flag overrides them; then
//! consent is needed.

use crate::cli::prelude::*;

use crate::catalog::InstalledEntries;
use crate::marketplace::Permit;
use crate::policy::{RuleSubject, refusal};

/// The decision about an install: first the policies; then a person, if a commit may not belong to its
/// source; then consent. A dry run ends in a no after the policies. `show` is the command that shows one
/// of its skills as a whole.
///
/// # Errors
/// When a policy cannot be read.
pub fn install_decision<'a>(
    call: CliCall<'a>,
    findings: FindingsOption,
    layer: Layer,
    show: Option<&'a str>,
) -> Result<impl FnMut(&Plan) -> Result<bool> + 'a> {
    let policies = call.facts.policies()?;
    let consenting = Consent::new(call, findings);
    Ok(move |plan: &Plan| {
        permits(&policies, layer, plan).map_err(|error| match &*plan.skills {
            [first, _, ..] if !plan.chosen => error.hint(format!(
                "ask the administrator of this machine; `--name {}` installs it without what it requires",
                first.name
            )),
            _ => error,
        })?;
        if call.common.dry_run {
            consenting.tell_plan(plan, show);
            return Ok(false);
        }
        require_person_for_doubt(call, plan_origins(plan))?;
        consenting.to_install(plan, show)
    })
}

/// Has a person decide if a commit may not belong to its source: hosting sites serve the commits of
/// forks under the address of the original repository.
///
/// # Errors
/// When somebody else calls.
pub fn require_person_for_doubt<'o>(
    call: CliCall,
    origins: impl IntoIterator<Item = &'o Origin>,
) -> Result<()> {
    let doubt = origins.into_iter().find_map(origin_doubt);
    doubt.map_or(Ok(()), |doubt| {
        require_person(call).map_err(|error| error.context(doubt))
    })
}

/// Refuses an install that a policy forbids. An administrator who installs for everybody may choose
/// any source.
///
/// # Errors
/// When a policy forbids it.
pub fn permits(policies: &Policies, layer: Layer, plan: &Plan) -> Result<()> {
    for skill in &plan.skills {
        permits_origin(policies, layer, skill.provenance.as_deref())?;
    }
    for skill in &plan.skills {
        let (name, version) = (&skill.name, skill.version.as_deref());
        refuse_for_reason(refuses_skill(policies, layer, name, (name, version)))?;
        let from = skill.provenance.as_deref();
        let address = from.and_then(|from| from.address.as_deref());
        let source = (from.map(|from| &*from.source), address);
        permits_source_of(policies, layer, name, source)?;
    }
    permits_findings(policies, "installed", plan_findings(plan))
}

/// Whether a source may be contacted for skills of this layer, by its name and by the address git
/// really uses; a refused one keeps them from being `done`. An administrator who installs for everybody
/// may choose any.
///
/// # Errors
/// When a policy cannot be read.
pub fn source_permit<'a>(
    facts: &Facts,
    layer: Layer,
    done: &'static str,
) -> Result<Rc<Permit<'a>>> {
    let policies = facts.policies()?;
    let is_selective = policies.has_source_rules() && layer != Layer::Enterprise;
    let check = move |source: &str, address: Option<&str>| {
        let reason = policies.refuses_origin(Some(source), address);
        refuse_as(done, reason.filter(|_| layer != Layer::Enterprise))
    };
    Ok(Rc::new(Permit::new(check, is_selective)))
}

/// Refuses a source for the skill of this name, such as one that would take the place of a required one.
/// An older install may be forbidden since.
///
/// # Errors
/// When a policy forbids it.
pub fn permits_source_of(
    policies: &Policies,
    layer: Layer,
    name: &str,
    (source, address): (Option<&str>, Option<&str>),
) -> Result<()> {
    let refused = refusal(policies.about_origin(name, source, address));
    refuse_for_reason(refused.filter(|_| layer != Layer::Enterprise))
}

/// Why a skill is refused by its name, in the directory `directory`, and its version alone.
pub fn refuses_skill(
    policies: &Policies,
    layer: Layer,
    directory: &str,
    (name, version): (&str, Option<&str>),
) -> Option<String> {
    policies.refuses_skill(RuleSubject {
        name,
        directory,
        version,
        is_administrators: layer == Layer::Enterprise,
        is_projects: layer == Layer::Project,
    })
}

/// Refuses a source that a policy forbids. If a policy limits the sources, a commit that may not
/// belong to the source is refused, too.
fn permits_origin(policies: &Policies, layer: Layer, from: Option<&Origin>) -> Result<()> {
    if layer == Layer::Enterprise {
        return Ok(());
    }
    let source = from.map(|from| from.source.as_str());
    let address = from.and_then(|from| from.address.as_deref());
    refuse_for_reason(policies.refuses_origin(source, address))?;
    let doubt = from
        .and_then(origin_doubt)
        .filter(|_| policies.has_source_rules());
    refuse_for_reason(doubt.map(|doubt| format!("a policy limits the sources, and {doubt}")))
}

/// Refuses an update that a policy forbids.
///
/// # Errors
/// When a policy forbids it.
pub fn permits_update(policies: &Policies, layer: Layer, difference: &Difference) -> Result<()> {
    permits_origin(policies, layer, difference.provenance.as_deref())?;
    let version = difference.version.as_deref();
    refuse_for_reason(policies.refuses_version(&difference.name, version))?;
    permits_findings(policies, "installed", &difference.new_findings)
}

/// Refuses a change to an installed skill if a policy forbids the skill or the findings.
///
/// # Errors
/// When a policy forbids it.
pub fn permits_change(
    policies: &Policies,
    skill: &str,
    source: Option<&str>,
    layer: Layer,
    difference: &Difference,
) -> Result<()> {
    let about = (skill, difference.version.as_deref());
    refuse_for_reason(refuses_skill(policies, layer, &difference.name, about))?;
    let by_source = policies.refuses_origin(source, None);
    refuse_for_reason(by_source.filter(|_| layer != Layer::Enterprise))?;
    permits_findings(policies, "installed", &difference.new_findings)
}

/// Refuses to take away what a policy requires, or to put an earlier version in its place.
///
/// # Errors
/// When a policy requires it, or cannot be read.
pub fn permits_loss(facts: &Facts, layer: Layer, name: &InstalledName) -> Result<()> {
    let policies = facts.policies()?;
    if policies.required().next().is_none() {
        return Ok(());
    }
    let dir = layer.dir(facts).join("skills").join(&**name);
    // What is required is not lost for being unusable just now.
    let named = Skill::load(&dir).map_or_else(|_| name.to_string(), |skill| skill.name.to_string());
    let mut installed = InstalledEntries::default();
    let said = installed.entry_of_dir(facts, &dir).ok().flatten();
    let source = said.map(|said| said.source.as_str());
    let is_administrators = layer == Layer::Enterprise;
    let mut required = policies.required().filter(|_| layer != Layer::Project);
    let meant =
        required.find(|(_, one)| one.is_named(&named) && one.means(is_administrators, source));
    let Some((policy, _)) = meant else {
        return Ok(());
    };
    let policy = policy.display();
    let text = format!("the policy `{policy}` requires the skill `{name}`");
    Err(Error::new(text).hint("ask the administrator of this machine"))
}

/// Refuses findings of at least the severity that a policy names, so that nothing is `done`.
///
/// # Errors
/// When there is one.
pub fn permits_findings<'f>(
    policies: &Policies,
    done: &str,
    findings: impl IntoIterator<Item = &'f ScanFinding>,
) -> Result<()> {
    let Some((_, least)) = policies.scan_block() else {
        return Ok(());
    };
    let mut findings = findings.into_iter();
    let severe = findings.find(|finding| finding.severity >= least);
    let why =
        |found: &ScanFinding| format!("a policy refuses what the scan found: {}", found.summary());
    refuse_as(done, severe.map(why))
}

/// Refuses an install for this reason, if there is one.
fn refuse_for_reason(reason: Option<String>) -> Result<()> {
    refuse_as("installed", reason)
}

fn refuse_as(done: &str, reason: Option<String>) -> Result<()> {
    reason.map_or(Ok(()), |reason| {
        Err(Error::new(format!("nothing was {done}: {reason}"))
            .hint("ask the administrator of this machine"))
    })
}
