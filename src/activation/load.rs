//! Makes skills active in this call's session, and finds the skill that a call refers to.

use std::io::IsTerminal;

use crate::activation::prelude::*;

/// Names in one call of `skill_session`.
const SESSION_NAMES: usize = 100;

/// The offered skills that `names` mean, in order and without duplicates.
///
/// # Errors
/// If one is unavailable; the hint has the nearest names.
pub fn offered_by_names<'a>(
    catalog: &'a Catalog,
    names: &[String],
) -> Result<Vec<OfferedSkill<'a>>> {
    if names.len() > SESSION_NAMES {
        let text = format!("{} names are too many", names.len());
        return Err(Error::new(text).hint("name fewer skills"));
    }
    let offered = catalog.offered();
    let mut found: Vec<OfferedSkill> = Vec::new();
    for name in names {
        let skill = usable(catalog, name)?;
        // A shadowed skill has no tool, so it cannot be loaded in this way.
        let one = offered.iter().find(|one| one.skill.dir == skill.dir);
        let one = one.ok_or_else(|| {
            let text = format!(
                "another skill with the name `{}` is offered instead",
                quoted(name)
            );
            Error::new(text).hint(format!("load `{}` instead", skill.name))
        })?;
        if found.iter().all(|known| known.skill.dir != one.skill.dir) {
            found.push(*one);
        }
    }
    Ok(found)
}

/// Makes a skill active when its own tool is called. With `stacking = "replace"` it replaces the
/// others, otherwise it joins them.
///
/// # Errors
/// If too many would be active, or the activation cannot be recorded.
pub fn put_in_force(facts: &Facts, skill: &Skill, tool: &str) -> Result<()> {
    let config = facts.config()?;
    let loading = match config.stacking {
        Stacking::Replace => LoadMode::InPlace,
        Stacking::Intersect => LoadMode::Add,
    };
    make_active(facts, &config, &[(skill, tool)], loading)
}

/// Makes skills active at the request of `skill_session`, which adds them to what is active already
/// or replaces it.
///
/// # Errors
/// As [`put_in_force`], and if it would unload a restricted skill that still counts and that only the
/// user may end.
pub fn load(facts: &Facts, skills: &[OfferedSkill], adds: bool) -> Result<()> {
    let config = facts.config()?;
    let ends_restricted = config.deactivate == Deactivate::Model;
    let loading = match config.stacking {
        _ if adds => LoadMode::Add,
        // As a skill's own tool does.
        Stacking::Replace if !ends_restricted => LoadMode::InPlace,
        _ => LoadMode::Replace { ends_restricted },
    };
    let skills: Vec<_> = skills.iter().map(|one| (one.skill, one.tool)).collect();
    make_active(facts, &config, &skills, loading)
}

fn make_active(
    facts: &Facts,
    config: &Config,
    skills: &[(&Skill, &str)],
    loading: LoadMode,
) -> Result<()> {
    let (store, key, most) = (facts.store(), facts.key(), config.max_active.0.get());
    let snapshots = skills.iter().map(|(skill, tool)| snapshot(skill, tool));
    let snapshots: Vec<ActiveSkill> = snapshots.collect();
    let changed = store.load(key, &snapshots, loading, most)?;
    for (skill, _) in skills {
        if changed.has_begun(&skill.dir) {
            facts.record(activation_event(skill));
            announce(skill);
        }
    }
    facts.record_ends(changed.ended);
    Ok(())
}

/// Records that the model was handed these skills' instructions, with these arguments.
pub fn handed(facts: &Facts, skills: &[(&Skill, Option<&str>)]) {
    // On failure they are handed over again; the user was warned already.
    let _ = facts.store().change(facts.key(), |session| {
        session.hand(skills);
        Ok(())
    });
}

/// The skill that a call means: the one it names, else the most recently loaded one. `pre_tool`
/// decided about the same skill.
///
/// # Errors
/// If there is no such skill, or none is named and none is active.
pub fn meant_skill(facts: &Facts, written: Option<&str>) -> Result<Skill> {
    if let Some(written) = written {
        let catalog = Catalog::naming(facts, written);
        let session = facts.session().unwrap_or_default();
        return usable_or_active(&catalog, written, &session).cloned();
    }
    let session = facts.session()?;
    let latest = session.latest().ok_or_else(|| {
        let all = format!(
            "`{}` with action list_installed shows all skills",
            ours::MARKETPLACE
        );
        Error::new("no skill is active, so `skill` must say which one is meant")
            .hint(format!("give `skill`, or activate one first; {all}"))
    })?;
    let catalog = Catalog::of(facts);
    let entry = catalog.in_dir(Path::new(&latest.dir));
    entry.and_then(Entry::usable).cloned().ok_or_else(|| {
        let text = format!("the active skill `{}` is no longer there", latest.name);
        Error::new(text).hint("give the name of another skill as `skill`")
    })
}

/// Tells a person at a terminal that a skill became active.
pub fn announce(skill: &Skill) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let what = restricted_to(skill).map(|what| format!(" ({what})"));
    let what = what.unwrap_or_default();
    warn(format_args!("skill {} is active{what}", skill.name));
}

/// What may be used while a skill is active, and what never; `None` if it restricts nothing.
pub fn restricted_to(skill: &Skill) -> Option<String> {
    let taken = snapshot(skill, "");
    let list = |entries: &[String]| brief(&entries.join(", "), 400);
    let is_every = |entries: &&[String]| entries.iter().any(|entry| entry == "*");
    let allowed = taken.allowed.as_deref().filter(|it| !is_every(it));
    let allowed = allowed.map(|entries| match entries {
        [] if skill.restriction_is_uncertain() => {
            "only its own files may be used, because its list cannot be read".to_owned()
        }
        [] => "nothing but its own files may be used".to_owned(),
        _ => format!(
            "only these may be used, besides its own files: {}",
            list(entries)
        ),
    });
    let denied = (!taken.denied.is_empty()).then(|| format!("never: {}", list(&taken.denied)));
    let parts: Vec<String> = allowed.into_iter().chain(denied).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
