//! `deactivate`: ends what is active.

use std::time::Instant;

use crate::activation::run_post_hooks;
use crate::cli::prelude::*;
use crate::sys::text::backticked;

/// Deactivate the active skills and lift their restrictions
#[derive(Debug, clap::Args)]
pub struct DeactivateArgs {
    /// Only in this conversation
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

impl DeactivateArgs {
    /// Deactivates skills in running hosts, and clears what is stored for conversations.
    pub fn run(&self, call: CliCall) -> Answer {
        let context = self.context.as_deref();
        let store = call.facts.store();
        let unknown = store.health().err();
        // While the policy cannot be read, nothing but reading is possible anyway.
        let policies = call.facts.policies().unwrap_or_default();
        let stay: Vec<&str> = policies.always_on(false).map(SkillName::as_str).collect();
        context.map_or(Ok(()), |context| must_be_known(call.facts, context))?;
        let ended = store.deactivate(context, call.common.dry_run, &stay)?;
        let names: Vec<String> = ended.iter().map(|end| end.skill.clone()).collect();
        if !call.common.dry_run {
            call.facts.record_ends(ended);
            run_post_hooks(call.facts, false, Instant::now());
        }
        if names.is_empty() && !call.common.json {
            return Ok(match unknown {
                Some(why) => {
                    let begins = call.would("begins", "begin");
                    format!("A new record {begins}, in which nothing is active ({why}).\n")
                }
                None if stay.is_empty() => "Nothing was active.\n".to_owned(),
                None => {
                    let stay = backticked(stay, ", ");
                    format!("Nothing was active but what a policy requires: {stay}.\n")
                }
            });
        }
        Outcomes::of_each(call, &names, |name| {
            Ok(if call.common.dry_run {
                format!("would deactivate `{name}`\n")
            } else {
                format!("`{name}` is no longer active\n")
            })
        })
    }
}

/// A misspelled name would deactivate nothing and look like success.
fn must_be_known(facts: &Facts, context: &str) -> Result<()> {
    let known = facts.store().contexts()?;
    if known.contains(context) {
        return Ok(());
    }
    let text = format!("no conversation `{}` is known", quoted(context));
    Err(Error::new(text).hint(if known.is_empty() {
        "leave out --context to end whatever is active".to_owned()
    } else {
        let known = known.iter().map(|name| quoted(name));
        format!("known are {}", backticked(known, ", "))
    }))
}
