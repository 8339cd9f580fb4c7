//! `try`: exactly what the model would receive, without activating anything. Also finds a skill by
//! name or path.

use crate::activation::{Instructions, hooks_ahead, required_line};
use crate::cli::prelude::*;
use crate::skill::SKILL_CONTENT;
use crate::sys::wrap;

/// Print what the model receives when it activates a skill
#[derive(Debug, clap::Args)]
pub struct TryArgs {
    /// The name of an installed skill, or a skill's directory
    pub skill: String,
    /// The `arguments` that the model would pass
    #[arg(long, allow_hyphen_values = true)]
    pub arguments: Option<String>,
    /// Act as this generation of the host
    #[arg(long, value_enum, default_value = "stdin")]
    pub host: Protocol,
}

impl TryArgs {
    /// The text of the activation.
    pub fn run(&self, call: CliCall) -> Result<String> {
        let skill = find(call.facts, &self.skill)?;
        let host = Facts::new(call.facts.run.env.clone(), Some(self.host));
        let text = text(call.facts, &host, &skill, self.arguments.as_deref())?;
        let value = BTreeMap::from([("name", skill.name.as_str()), ("text", &text)]);
        call.answer(&value, || {
            // The model receives the text unchanged; a terminal must not interpret its control
            // characters.
            match wrap::columns() {
                Some(_) => printable(&text),
                None => format!("{text}\n"),
            }
        })
    }
}

/// The text that `host` would return with no other skill active.
fn text(facts: &Facts, host: &Facts, skill: &Skill, arguments: Option<&str>) -> Result<String> {
    let reference = skill.name.as_str();
    let mut more = Vec::from_iter(hooks_ahead(facts, skill));
    more.extend(required_line(facts, skill));
    Instructions {
        skill,
        reference,
        arguments,
        more,
        wrapper: SKILL_CONTENT,
    }
    .text(host)
}

/// As [`find`], and tells a person which directory a name stands for.
///
/// # Errors
/// As [`find`].
pub fn find_and_tell(facts: &Facts, written: &str) -> Result<Skill> {
    let skill = find(facts, written)?;
    if !facts.run.env.cwd.join(written).exists() {
        tell_which(written, &skill.dir);
    }
    Ok(skill)
}

/// The skill at a path, otherwise the installed one of that name.
///
/// # Errors
/// When there is none.
pub fn find(facts: &Facts, written: &str) -> Result<Skill> {
    let (catalog, shown) = (Catalog::naming(facts, written), quoted(written));
    let entry = match resolve_name(facts, &catalog, written)? {
        NamedSkill::Directory(dir) => {
            let dir = real(&dir);
            return Skill::load(&dir).map_err(|diagnostic| {
                let hint = format!("`agent-skills validate {}` says more", dir.display());
                Error::new(diagnostic.to_string()).hint(hint)
            });
        }
        NamedSkill::Installed(entry) => entry,
        NamedSkill::Other => {
            let text =
                format!("`{shown}` is neither a directory with a skill nor an installed skill");
            return Err(Error::new(text).hint(similar(facts, &catalog, written)));
        }
    };
    entry.disclosed().cloned().ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        Error::new(format!("the skill `{shown}` cannot be shown: {reason}"))
            .hint("give its directory to look at it all the same")
    })
}
