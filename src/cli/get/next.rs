//! What to do next with a skill that was installed.

use crate::cli::agents::has_chibi;
use crate::cli::prelude::*;
use crate::marketplace::{Installed, offered_name};
use crate::run_context::RunContext;
use crate::skill::Skill;

/// What to do next with skills that were not there before, in the words of the host.
pub fn what_next(run: &RunContext, new: &[Installed], layer: Layer, caller: Caller) -> String {
    if new.is_empty() {
        return String::new();
    }
    if layer == Layer::Project {
        let next =
            "next: agent-skills trust (skills of a project are offered once it is trusted)\n";
        return next.to_owned();
    }
    let skills: Vec<(String, Skill)> = new
        .iter()
        .filter_map(|one| {
            let skill = Skill::load(&one.dir).ok()?;
            Some((offered_name(&one.dir, &skill).to_string(), skill))
        })
        .collect();
    let is_told =
        |skill: &Skill| !skill.fields.disables_model_invocation() && skill.near_miss().is_none();
    let is_asked = skills.iter().any(|(_, skill)| is_told(skill));
    let by_name = skills
        .iter()
        .find(|(_, skill)| skill.fields.user_invocable());
    let (does, one) = match new {
        [_] => ("it does", "it"),
        _ => ("they do", "one"),
    };
    let has_chibi = has_chibi(run);
    let mut ways = Vec::new();
    if is_asked {
        let whom = if has_chibi { "chibi" } else { "your agent" };
        ways.push(format!("ask {whom} for what {does}"));
    }
    if let Some((name, _)) = by_name.filter(|_| has_chibi) {
        ways.push(format!("call {one} by name: chibi \"/{name}\""));
    }
    // Its own tool is not offered before the next start.
    let now = match caller {
        Caller::Host if is_asked => "; a model can `use` it at once",
        _ => "",
    };
    match ways.as_slice() {
        [] => String::new(),
        ways => format!("next: {}{now}\n", ways.join(", or ")),
    }
}
