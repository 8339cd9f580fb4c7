//! Checks the programs that fetch skills or that their scripts need.

use super::check::Check;
use crate::run_context::RunContext;
use crate::script::{Mode, Needs, find_program, lacking_confinement, program_of};
use crate::skill::{Listing, Skill};
use crate::sys::limits;

/// The checks of this area.
pub fn checks(ctx: &RunContext) -> Vec<Check> {
    let mut checks = vec![
        program(ctx, "git", "is needed to install skills", Check::fail),
        program(
            ctx,
            "curl",
            "is needed to fetch archives and sites",
            Check::warn,
        ),
    ];
    for offered in ctx.catalog().offered() {
        checks.extend(interpreters(ctx, offered.skill));
        checks.extend(needs(ctx, offered.skill));
    }
    checks.extend(confinement(ctx));
    checks
}

type Absent = fn(&'static str, String, String) -> Check;

fn program(ctx: &RunContext, name: &'static str, why: &str, absent: Absent) -> Check {
    match find_program(name, &ctx.env) {
        Some(path) => Check::ok(name, format!("{name} is {}", path.display())),
        None => absent(
            name,
            format!("`{name}` was not found on PATH, and {why}"),
            format!("install {name} with your package manager"),
        ),
    }
}

/// The first of a skill's scripts without an installed interpreter.
fn interpreters(ctx: &RunContext, skill: &Skill) -> Option<Check> {
    let listing = Listing::read(&skill.dir, limits::LISTED_RESOURCES);
    let scripts = listing.resources.iter().filter_map(|resource| {
        let label = resource.path.display().to_string();
        let file = skill.dir.join(&resource.path);
        program_of(&file, &skill.dir, &label, &ctx.env)
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

fn needs(ctx: &RunContext, skill: &Skill) -> Vec<Check> {
    let given = ctx.env.vars();
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = given.collect();
    let unmet = Needs::parse(&skill.fields).unmet(skill.name.as_str(), &ctx.env, &given);
    let told = unmet.into_iter().map(|sentence| {
        // Each sentence ends with what the user can do.
        let parts = sentence.split_once(": ");
        let (what, how) = parts.unwrap_or((&sentence, "see its SKILL.md"));
        Check::warn("need-missing", format!("`{}`: {what}", skill.name), how)
    });
    told.collect()
}

fn confinement(ctx: &RunContext) -> Option<Check> {
    let config = ctx.config().ok()?;
    let lack = lacking_confinement(config.network)?;
    let text = format!("`sandbox` is on, and {lack}");
    let unconfined = "scripts run as far confined as possible: `agent-skills config set sandbox \
                      require` refuses them instead";
    let refused = "no script runs: `agent-skills config set sandbox auto` lets them run as far \
                   confined as possible";
    match config.sandbox {
        Mode::Off => None,
        Mode::Auto => Some(Check::warn("sandbox", text, unconfined)),
        Mode::Require => Some(Check::fail("sandbox", text, refused)),
    }
}
