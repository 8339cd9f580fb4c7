//! Builds the scope of a decision from a session's active skills, the policies and the
//! configuration; and the places where skills may appear or their restrictions are stored, existing or
//! not. None of those may be changed while a skill restricts (docs/spec/restriction.md#protected-places).

use std::collections::BTreeSet;
use std::ffi::OsStr;

use crate::activation::prelude::*;
use crate::connection::watched;
use crate::run_context::{PROJECT_CONFIG, PROJECT_HOLDS, RunContext, real};
use skill_permission::vocabulary::{self as shell, Language, Shell};

/// What restricts the calls of a session.
pub fn scope_of(
    facts: &Facts,
    config: &Config,
    policies: &Policies,
    session: &Session,
) -> RestrictionInputs {
    let activated = &session.activated;
    let run = &facts.run;
    let project_root = run.project_dir();
    let binds = |skill: &ActiveSkill| {
        let mut always = policies.always_on(false);
        always.any(|name| name.as_str() == skill.name)
    };
    let ends = |skill: &&ActiveSkill| skill.status == ActivationStatus::Unloaded && !binds(skill);
    let (unloaded, counting): (Vec<_>, Vec<_>) = activated.iter().partition(ends);
    let parse = |skill: &&ActiveSkill| {
        let allowed = skill.allowed.as_deref();
        let dir = Path::new(&skill.dir);
        let own = Restriction::parse(&skill.name, allowed, &skill.denied, dir, &project_root);
        if binds(skill) {
            return own.binding();
        }
        let added = added_entries(facts, config, &skill.name, dir);
        let own = own.adding(CONFIGURATION, added, &project_root);
        match skill.status {
            ActivationStatus::Active => own,
            ActivationStatus::Replaced | ActivationStatus::Unloaded => own.replaced(),
        }
    };
    let settings = config.permission();
    // Among the others, an unloaded skill would count as unrestricted.
    let restricts = |it: &&&ActiveSkill| settings.enforcement(&it.name) == Enforce::Restrict;
    let denied = unloaded.iter().filter(restricts);
    let mut denied: Vec<Restriction> = denied.map(parse).collect();
    denied.extend(policy_denials(policies, &project_root));
    if !activated.is_empty() {
        denied.push(Restriction::policy(
            CONFIGURATION,
            &config.deny,
            &project_root,
        ));
    }
    let active = counting.iter().chain(&unloaded);
    let places: Vec<PathBuf> = active.map(|skill| PathBuf::from(&skill.dir)).collect();
    let of_call = facts.clone();
    // Where the host's shell looks for programs.
    let path = run.env.os("PATH").unwrap_or_default();
    RestrictionInputs {
        restrictions: counting.iter().map(parse).collect(),
        policy_deny: denied,
        settings,
        places: RuleDirectories {
            home: run.env.home(),
            environment: known_variables(&run.env),
            has_startup_files: run.agent.is_some(),
            shell: shell_of(run),
            starts_elsewhere: false,
            reads_by_shell: (run.agent.as_ref())
                .is_some_and(|calling| calling.agent.table().reads_by_shell),
            cdpath: run.env.os("CDPATH").is_some_and(|path| !path.is_empty()),
            protected: ProtectedPlaces::found_by(move || protected_paths(&of_call, places)),
            executable: run.env.exe.clone(),
            path: std::env::split_paths(&path)
                .map(|dir| run.env.cwd.join(dir))
                .collect(),
            working_dir: run.env.cwd.clone(),
            project_root,
        },
        mcp_tools: session.mcp_tools.clone(),
    }
}

/// Has the call begin in `directory`, in a shell that keeps what earlier commands changed or in one
/// of its own.
pub fn begin_in(scope: &mut RestrictionInputs, directory: &Path, persists: bool) {
    let places = &mut scope.places;
    places.shell.persists = persists;
    places.starts_elsewhere = real(directory) != real(&places.project_root);
    directory.clone_into(&mut places.working_dir);
}

/// The entries that the configuration adds to the list of this skill: none for a project's
/// namesake of the user's own.
pub fn added_entries<'c>(
    facts: &Facts,
    config: &'c Config,
    name: &str,
    dir: &Path,
) -> &'c [String] {
    match config.added_entries(name) {
        [] => &[],
        added if is_users_own(facts, dir) => added,
        _ => &[],
    }
}

/// Why the entries that the user's configuration adds to the list of this skill do not count;
/// `None` if they do, or there are none.
pub fn why_not_added(facts: &Facts, name: &str, dir: &Path) -> Option<String> {
    let own = facts.own_config().ok()?;
    if own.added_entries(name).is_empty() {
        return None;
    }
    why_none_is_added(facts, dir)
}

/// Why entries that the user's configuration adds to the list of the skill in `dir` do not or
/// would not count; `None` if they do.
pub fn why_none_is_added(facts: &Facts, dir: &Path) -> Option<String> {
    let policy = facts.policies().ok()?.forbids_added_entries();
    let forbidden = policy.map(|file| format!("the policy {file} forbids it"));
    forbidden.or_else(|| {
        let why = || {
            let dir = dir.display();
            format!("the name means your own skill, not the one in `{dir}`")
        };
        (!is_users_own(facts, dir)).then(why)
    })
}

/// Whether what the user configured by a skill's name means the one in this directory. Other
/// agents look for skills in places that are not in the catalog; those in a hidden directory of
/// the user's home are the user's own.
fn is_users_own(facts: &Facts, dir: &Path) -> bool {
    let catalog = Catalog::of(facts);
    if catalog.in_dir(dir).is_some() {
        return catalog.is_users_own(dir);
    }
    let home = facts.run.env.home();
    let below_home = home.as_deref().and_then(|home| dir.strip_prefix(home).ok());
    let first = below_home.and_then(|path| path.iter().next());
    let is_hidden = first.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let project = facts.run.project_dir();
    let of_project = home != Some(project.clone()) && dir.starts_with(project);
    is_hidden && !of_project && dir.join("SKILL.md").is_file()
}

/// What the policies deny.
pub fn policy_denials(policies: &Policies, project_root: &Path) -> Vec<Restriction> {
    let denials = policies.denied_tools().map(|(file, entries)| {
        let source = format!("the policy {}", file.display());
        Restriction::policy(&source, entries, project_root)
    });
    denials.collect()
}

/// The shell that reads a command.
fn shell_of(run: &RunContext) -> Shell {
    let Some(calling) = &run.agent else {
        return shell::SH;
    };
    let table = calling.agent.table();
    let users = run.env.path("SHELL").filter(|_| table.users_shell);
    let name = users.as_deref().and_then(Path::file_name);
    let is_known = name.is_none_or(|name| {
        let known = ["sh", "bash", "dash", "ash", "zsh", "busybox"];
        known.iter().any(|shell| name == *shell)
    });
    Shell {
        language: if is_known {
            table.shell.language
        } else {
            Language::Other
        },
        ..table.shell
    }
}

/// The variables in the initial environment of the host's shell, which is also ours. `None` if bash
/// may export more from a startup file, or exports everything it sets.
fn known_variables(env: &Env) -> Option<BTreeSet<String>> {
    let options = env.text("SHELLOPTS").unwrap_or_default();
    if options.contains("allexport") || env.path("BASH_ENV").is_some() {
        return None;
    }
    // The shell ignores an empty `HOME` when it expands `~`.
    let name = |(name, value): (&OsStr, &OsStr)| {
        let counts = name != "HOME" || !value.is_empty();
        name.to_str().filter(|_| counts).map(str::to_owned)
    };
    Some(env.vars().filter_map(name).collect())
}

/// The protected places of this run, besides `places`, the directories of the active skills.
fn protected_paths(facts: &Facts, mut places: Vec<PathBuf>) -> ProtectedPaths {
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
    places.extend(policies.chain(agents).chain(keys));
    // In its place, another program would answer.
    places.extend(run.env.exe.iter().chain(&run.env.invoked).cloned());
    // Configuration, trust, approvals, sources, lockfiles, sessions: whatever is directly in one
    // of these counts with what it leads to, so that no list of these files can miss one.
    let mut deciding: Vec<PathBuf> = run.dirs.private(&run.env).into();
    deciding.extend(enterprise.dirs().into_iter().map(Path::to_owned));
    deciding.extend(home.iter().map(|home| home.join(".chibi")));
    // The host's own home, if it contains the plugin directory.
    let plugin = &run.dirs.plugin;
    let is_in_chibi = plugin.ends_with("plugins/agent-skills");
    let above = plugin.ancestors().nth(2).filter(|_| is_in_chibi);
    deciding.extend(above.map(Path::to_owned));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_known_where_nothing_adds_to_them() {
        let known =
            |vars: &[(&str, &str)]| known_variables(&Env::new(vars.to_vec(), Path::new("/")));
        let names = known(&[("PATH", "/bin"), ("HOME", "")]).unwrap();
        assert!(names.contains("PATH") && !names.contains("HOME"));
        assert!(known(&[("BASH_ENV", "x")]).is_none());
        assert!(known(&[("SHELLOPTS", "braceexpand:allexport")]).is_none());
        assert!(known(&[("SHELLOPTS", "braceexpand"), ("BASH_ENV", "")]).is_some());
    }
}
