//! Checks the programs that fetch skills or that their scripts need.

use super::check::{Check, ask};
use crate::cli::prelude::*;
use crate::script::{SandboxMode, lacking_confinement, program_of, unmet_needs};
use crate::skill::Resource;

/// The least version of git that the tests run with (docs/spec/references.md#git).
const LEAST_GIT: (u32, u32) = (2, 30);

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let curl = "is needed to fetch archives and sites";
    let mut checks = vec![
        git(&facts.run),
        program(&facts.run, "curl", curl, Check::warn),
    ];
    for offered in Catalog::of(facts).offered() {
        checks.extend(interpreters(&facts.run, offered.skill));
        checks.extend(needs(&facts.run, offered.skill));
    }
    checks.extend(confinement(facts));
    checks
}

fn git(run: &RunContext) -> Check {
    let Some(git) = find_program("git", &run.env) else {
        return program(run, "git", "is needed to install skills", Check::fail);
    };
    let said = ask(&git, "--version", &run.env);
    let (at, (major, minor)) = (git.display(), LEAST_GIT);
    let remedy = format!("install git {major}.{minor} or later with your package manager");
    match said.as_deref().map(version) {
        Err(why) => {
            let text = format!("`{at}` does not print its version: {why}");
            Check::fail("git", text, remedy)
        }
        Ok(Some(version)) if version < LEAST_GIT => {
            let (is_major, is_minor) = version;
            let text = format!(
                "`{at}` is git {is_major}.{is_minor}, but installing skills needs {major}.{minor} or later"
            );
            Check::fail("git", text, remedy)
        }
        Ok(_) => Check::ok("git", format!("git is {at}")),
    }
}

/// Major and minor version in what `git --version` prints.
fn version(said: &str) -> Option<(u32, u32)> {
    let numbers = said.trim().strip_prefix("git version ")?;
    let mut numbers = numbers.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

type Absent = fn(&'static str, String, String) -> Check;

fn program(run: &RunContext, name: &'static str, why: &str, absent: Absent) -> Check {
    match find_program(name, &run.env) {
        Some(path) => Check::ok(name, format!("{name} is {}", path.display())),
        None => absent(
            name,
            format!("`{name}` was not found on PATH, and {why}"),
            format!("install {name} with your package manager"),
        ),
    }
}

/// The first of a skill's scripts without an installed interpreter.
fn interpreters(run: &RunContext, skill: &Skill) -> Option<Check> {
    let files = Resource::all(&skill.dir);
    let files = files.iter().take(limits::LISTED_RESOURCES);
    let scripts = files.filter_map(|resource| {
        let label = resource.path.display().to_string();
        let file = skill.dir.join(&resource.path);
        program_of(&file, &skill.dir, &label, &run.env)
    });
    let mut failed = scripts.filter_map(Result::err);
    let first = failed.next()?;
    let more = match failed.count() {
        0 => String::new(),
        more => format!(", nor can {more} more of its scripts"),
    };
    let name = &skill.name;
    let text = format!("a script of `{name}` cannot run here: {first}{more}");
    let remedy = first.next_step().unwrap_or("install what it needs");
    Some(Check::warn("interpreter-missing", text, remedy))
}

fn needs(run: &RunContext, skill: &Skill) -> Vec<Check> {
    let given = run.env.vars();
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = given.collect();
    let unmet = unmet_needs(&skill.fields, skill.name.as_str(), &run.env, &given);
    let told = unmet.into_iter().map(|sentence| {
        // Each sentence ends with what the user can do.
        let parts = sentence.split_once(": ");
        let (what, how) = parts.unwrap_or((&sentence, "see its SKILL.md"));
        Check::warn("need-missing", format!("`{}`: {what}", skill.name), how)
    });
    told.collect()
}

fn confinement(facts: &Facts) -> Option<Check> {
    let config = facts.config().ok()?;
    let lack = lacking_confinement(config.network)?;
    let text = format!("`sandbox` is on, and {lack}");
    let unconfined = "scripts run confined as far as possible: `agent-skills config set sandbox require` refuses to run them instead";
    let refused = "no script runs: `agent-skills config set sandbox auto` lets them run as far \
                   confined as possible";
    match config.sandbox {
        SandboxMode::Off => None,
        SandboxMode::Auto => Some(Check::warn("sandbox", text, unconfined)),
        SandboxMode::Require => Some(Check::fail("sandbox", text, refused)),
    }
}
