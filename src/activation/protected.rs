//! The places where skills may appear or their restrictions are stored, existing or not. None of
//! them may be changed while a skill restricts (docs/spec/restriction.md#protected-places).

use std::path::{Path, PathBuf};

use crate::catalog::{roots, signing_files};
use crate::connection::watched;
use crate::facts::Facts;
use crate::permission::{ProtectedPaths, ProtectedPlaces};
use crate::run_context::{PROJECT_CONFIG, PROJECT_HOLDS};
use crate::sys::Env;

/// The protected places of this run; `active` are the directories of the active skills.
pub fn protected_places(facts: &Facts, active: Vec<PathBuf>) -> ProtectedPlaces {
    let facts = facts.clone();
    ProtectedPlaces::found_by(move || protected_paths(&facts, active))
}

fn protected_paths(facts: &Facts, active: Vec<PathBuf>) -> ProtectedPaths {
    let run = &facts.run;
    let home = run.env.home();
    let mut holders = run.holders();
    let enterprise = facts.enterprise();
    let policies = enterprise.policy_files().into_iter().map(|file| file.path);
    // From these, agents read hooks, permissions and plugins, which could switch ours off.
    let agents = watched(run, &holders);
    // Whose signatures count.
    let keys = signing_files(facts).unwrap_or_default().into_iter();
    let keys = keys.map(|file| file.path);
    let mut places: Vec<PathBuf> = active
        .into_iter()
        .chain(policies)
        .chain(agents)
        .chain(keys)
        .collect();
    // In its place, another program would answer.
    places.extend(run.env.exe.iter().chain(&run.env.invoked).cloned());
    // Configuration, trust, approvals, sources, lockfiles, sessions: whatever is directly in one
    // of these counts with what it leads to, so that no list of these files can miss one.
    let mut deciding: Vec<PathBuf> = run.dirs.private(&run.env).into();
    deciding.extend(enterprise.dirs().into_iter().map(Path::to_owned));
    deciding.extend(home.iter().map(|home| home.join(".chibi")));
    deciding.extend(chibi_home(&run.dirs.plugin).map(Path::to_owned));
    holders.push(run.project_dir());
    places.extend(holders.iter().map(|holder| holder.join(PROJECT_CONFIG)));
    let mut roots: Vec<PathBuf> = roots(facts).into_iter().map(|root| root.dir).collect();
    for holder in holders.iter().chain(&home) {
        roots.extend(PROJECT_HOLDS.iter().map(|dir| holder.join(dir)));
    }
    roots.push(run.dirs.skills());
    ProtectedPaths {
        places,
        roots,
        deciding,
    }
}

/// The directories where the host's shell looks for programs.
pub fn program_directories(env: &Env) -> Vec<PathBuf> {
    let path = env.os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| env.cwd.join(dir))
        .collect()
}

/// The host's own home, if it contains the plugin directory.
fn chibi_home(plugin: &Path) -> Option<&Path> {
    plugin
        .ends_with("plugins/agent-skills")
        .then(|| plugin.ancestors().nth(2))?
}
