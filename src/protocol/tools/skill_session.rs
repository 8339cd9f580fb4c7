//! `skill_session`: reports what is active, and loads and unloads several skills at once.
//! `pre_tool` has loaded already, unless the host has no hooks; repeating it is harmless.

use crate::protocol::prelude::*;
use crate::sys::text::backticked;

/// The receipt, and for a load the instructions after it.
///
/// # Errors
/// If a skill cannot be loaded or unloaded, or what is active is not known.
pub fn skill_session(facts: &Facts, call: &SkillSession) -> Result<String> {
    match call {
        SkillSession::Status => receipt(facts),
        SkillSession::Load { names, adds } => load_all(facts, names, *adds),
        SkillSession::Unload(names) => unload(facts, names.as_deref()),
    }
}

fn load_all(facts: &Facts, names: &[String], adds: bool) -> Result<String> {
    let catalog = Catalog::naming_each(facts, names);
    let offered =
        offered_by_names(&catalog, names).map_err(|error| error.context("nothing was loaded"))?;
    load(facts, &offered, adds)?;
    let began = Instant::now();
    let until = began + limits::PRE_HOOKS;
    // This tool takes no input for a skill: the input given at activation remains valid.
    let session = facts.session().unwrap_or_default();
    let skills = offered
        .iter()
        .map(|one| (one.skill, session.last_arguments(one.skill)));
    let skills: Vec<_> = skills.collect();
    let bodies = skills
        .iter()
        .map(|(skill, kept)| body(facts, skill, *kept, until));
    let bodies: Vec<String> = bodies.collect::<Result<_>>()?;
    run_post_hooks(facts, false, began);
    handed(facts, &skills);
    let later = match bodies.len() {
        1 => "",
        _ => "\nWhere these skills contradict each other, the later one takes precedence.",
    };
    Ok(format!(
        "{}\n\n<active_skills>\n{}\n</active_skills>{later}",
        receipt(facts)?,
        bodies.join("\n")
    ))
}

fn body(facts: &Facts, skill: &Skill, arguments: Option<&str>, until: Instant) -> Result<String> {
    let note = match run_pre_hooks(facts, skill, until) {
        Ok(note) => note,
        Err(error) => {
            let hint = error.next_step().unwrap_or_default();
            let text = guarded(&format!("Error: {error}\n{hint}"));
            return Ok(wrapped(SKILL, skill.name.as_str(), &text));
        }
    };
    Instructions {
        skill,
        reference: skill.name.as_str(),
        arguments,
        more: note.into_iter().collect(),
        wrapper: SKILL,
    }
    .once(facts)
}

fn unload(facts: &Facts, written: Option<&[String]>) -> Result<String> {
    let session = facts.session()?;
    let mut dirs: Option<Vec<PathBuf>> = None;
    if let Some(written) = written {
        let catalog = Catalog::naming_each(facts, written);
        let meant = written.iter().map(|name| meant(&catalog, &session, name));
        dirs = Some(meant.collect::<Result<_>>()?);
    }
    let ends_restricted = facts.config()?.deactivate == Deactivate::Model;
    // Without a change, nothing is written.
    if session.active().next().is_some() {
        let store = facts.store();
        facts.record_ends(store.unload(facts.key(), dirs.as_deref(), ends_restricted)?);
        run_post_hooks(facts, false, Instant::now());
    }
    receipt(facts)
}

/// The directory of the active skill that `written` means: of namesakes, the one that the catalog
/// means, else the latest. One that is not active counts as unloaded.
fn meant(catalog: &Catalog, session: &Session, written: &str) -> Result<PathBuf> {
    let entry = catalog.by_name(written);
    let has_written_name = |active: &&ActiveSkill| active.name == written || active.tool == written;
    let is_active = entry.is_some_and(|entry| session.active_in(&entry.dir).is_some());
    if let Some(active) = session
        .active()
        .rfind(has_written_name)
        .filter(|_| !is_active)
    {
        return Ok(PathBuf::from(&active.dir));
    }
    let entry = entry.ok_or_else(|| {
        let active = backticked(session.active().map(|active| &active.name), ", ");
        let hint = match &*active {
            "" => suggestion(catalog, written),
            active => format!("active are {active}"),
        };
        let name = quoted(written);
        Error::new(format!("nothing was unloaded: there is no skill `{name}`")).hint(hint)
    })?;
    Ok(entry.dir.clone())
}

/// The active skills as JSON, most recent last.
fn receipt(facts: &Facts) -> Result<String> {
    let session = facts.session()?;
    let skills: Vec<Value> = session.active().map(described).collect();
    Ok(json!({"active_skills": skills}).to_string())
}

fn described(active: &ActiveSkill) -> Value {
    let dir = Path::new(&active.dir);
    // The file's current content is reported only while it is the version that was loaded.
    let skill = Skill::load(dir).ok();
    let skill = skill.filter(|skill| skill.digest == active.digest);
    let (file, mut properties) = match &skill {
        Some(skill) => (skill.file.clone(), skill.properties()),
        None => (dir.join("SKILL.md"), json!({})),
    };
    properties["name"] = active.name.as_str().into();
    json!({
        "name": active.name,
        "location": file.display().to_string(),
        "root_dir": active.dir,
        "digest": active.digest,
        "properties": properties,
    })
}
