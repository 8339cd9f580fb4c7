//! Finds what somebody named: a directory or an installed skill, and in which layer it is if no option
//! says so; or suggests similar names.

use crate::cli::prelude::*;

use crate::author::is_skill_file;
use crate::catalog::suggestion;

/// What a verb was given that takes a path or the name of an installed skill.
#[derive(Debug)]
pub enum NamedSkill<'a> {
    /// A directory.
    Directory(PathBuf),
    /// An installed skill, of whichever layer.
    Installed(&'a Entry),
    /// Neither: a path of another kind, a reference, or a mistake.
    Other,
}

/// What `written` means. A skill's directory comes first, as for a shell; then what is installed in
/// any layer, where an ambiguous name means what the catalog takes.
///
/// # Errors
/// When an installed skill is gone, or is not for the caller: its name then means nothing else.
pub fn resolve_name<'a>(
    facts: &Facts,
    catalog: &'a Catalog,
    written: &str,
) -> Result<NamedSkill<'a>> {
    if let Some(dir) = directory(&facts.run, written) {
        return Ok(NamedSkill::Directory(dir));
    }
    if written.contains('/') && facts.run.env.cwd.join(written).exists() {
        return Ok(NamedSkill::Other);
    }
    if catalog.by_name(written).is_none() && layers_with(facts, written).is_empty() {
        let elsewhere = in_agents_directory(&facts.run, written)?;
        return Ok(elsewhere.map_or(NamedSkill::Other, NamedSkill::Directory));
    }
    installed(facts, catalog, written).map(NamedSkill::Installed)
}

/// The directory of the skill of this name that another agent has in the user's home.
///
/// # Errors
/// When there are several, or it comes with the project, so that its directory has to be given.
fn in_agents_directory(run: &RunContext, written: &str) -> Result<Option<PathBuf>> {
    if written.is_empty() || written.contains(['/', ':', '@', '#']) || written.starts_with('.') {
        return Ok(None);
    }
    let is_skill = |dir: &PathBuf| dir.join("SKILL.md").is_file();
    let of_home = Agent::ALL.into_iter().flat_map(|agent| {
        let dirs = agent.table().skills.personal.iter();
        dirs.filter_map(move |dir| agent.table().home.place(&run.env, dir))
    });
    let project = run.project_dir();
    let mut of_project = Agent::ALL.into_iter().flat_map(|agent| {
        let dirs = agent.table().skills.project.iter();
        dirs.map(|dir| project.join(dir))
    });
    let named = |dir: PathBuf| Some(dir.join(written)).filter(is_skill);
    let in_home: BTreeSet<PathBuf> = of_home.filter_map(named).map(|dir| real(&dir)).collect();
    let mut in_home = in_home.into_iter();
    let found = in_home.next();
    let other = in_home.next().or_else(|| of_project.find_map(named));
    let Some(other) = other.filter(|other| found.as_ref() != Some(&real(other))) else {
        return Ok(found);
    };
    let (name, other) = (quoted(written), other.display());
    let text = format!("another agent has a skill `{name}` in `{other}`");
    Err(Error::new(text).hint("give the directory of the one you mean"))
}

/// Tells a person which directory a name stands for: it may be another than they think of.
pub fn tell_which(written: &str, dir: &Path) {
    let (name, dir) = (quoted(written), dir.display());
    note(&format!("`{name}` is the installed skill in `{dir}`"));
}

/// The directory that a path means; a bare word is a path only if a skill is there.
fn directory(run: &RunContext, written: &str) -> Option<PathBuf> {
    let path = run.env.cwd.join(written);
    if is_skill_file(&path) {
        return path.parent().map(Path::to_owned);
    }
    let is_path =
        written.contains('/') || written.starts_with('.') || path.join("SKILL.md").exists();
    (is_path && path.is_dir()).then_some(path)
}

/// The entry that `written` means.
///
/// # Errors
/// When there is none.
pub fn installed<'a>(facts: &Facts, catalog: &'a Catalog, written: &str) -> Result<&'a Entry> {
    let entry = catalog.by_name(written);
    entry
        .filter(|entry| is_told(&facts.run, entry))
        .ok_or_else(|| {
            let is_gone = entry.is_none() && facts.run.protocol.is_none();
            if is_gone && !layers_with(facts, written).is_empty() {
                return Market::is_gone(&quoted(written));
            }
            let text = format!("there is no installed skill `{}`", quoted(written));
            Error::new(text).hint(similar(facts, catalog, written))
        })
}

/// A hint with the name most similar to `written`, or where to find all.
pub fn similar(facts: &Facts, catalog: &Catalog, written: &str) -> String {
    // A model needs a hint that names one of its own tools.
    if facts.run.protocol.is_some() || catalog.nearest(written).is_some() {
        return suggestion(catalog, written);
    }
    "`agent-skills list` shows all skills".to_owned()
}

/// The layer of the installed skill `written`, which `verb` is to change: the one that the options
/// select, or else the only one that has it. What a model may request stays in the plugin's layer,
/// since its policies know no other (`Decision::for_models`).
///
/// # Errors
/// When several layers have it.
pub fn layer_of(call: CliCall, scope: LayerOption, verb: &str, written: &str) -> Result<Layer> {
    if !scope.is_default() || may_be_model(call) {
        return Ok(scope.layer());
    }
    let layers = layers_with(call.facts, written);
    match layers[..] {
        [] => Ok(scope.layer()),
        [only] => Ok(only),
        _ => {
            let names: Vec<&str> = layers.iter().map(|layer| layer.as_str()).collect();
            let (name, all) = (written.escape_debug(), names.join(", "));
            let text = format!("the skill `{name}` is in several layers: {all}");
            let commands = names.into_iter().map(|layer| {
                let words = shell_command(&[verb, written, "--layer", layer]);
                format!("`agent-skills {words}`")
            });
            Err(Error::new(text).hint(commands.collect::<Vec<_>>().join(" or ")))
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
    call: CliCall,
    scope: LayerOption,
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
