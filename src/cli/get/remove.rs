//! `remove`.

use crate::cli::prelude::*;

/// The length of the reason for a question: a skill may have changed in very many files.
const WHY: usize = 300;

/// Remove installed skills
#[derive(Debug, clap::Args)]
pub struct RemoveArgs {
    /// NAME, or OWNER/NAME
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: LayerOption,
}

impl RemoveArgs {
    /// Removes the skills.
    pub fn run(&self, call: CliCall) -> Answer {
        Outcomes::of_each(call, &self.names, |name| self.remove(call, name))
    }

    fn remove(&self, call: CliCall, written: &str) -> Result<String> {
        let layer = layer_of(call, self.scope, "remove", written)?;
        let market = market(call, layer, false);
        if let Ok(name) = market.installed(written) {
            permits_loss(call.facts, layer, &name)?;
        }
        let words = ["remove".to_owned(), written.to_owned()];
        let one = CliCall {
            words: &words,
            ..call
        };
        let agrees = |name: &InstalledName, why: &str| {
            let why = shorten(&shown_name(why), WHY);
            let shown =
                format!("`{name}` {why}, and no source has a copy: it is moved to stash/\n");
            one.to_decide(&shown, "Remove it?")
        };
        let gone = market.remove(written, agrees)?;
        let shown = listed_name(&gone.name);
        let removed = call.would("removed", "remove");
        let brings = call.would("brings", "bring");
        let source = gone.entry.map(|entry| entry.source);
        call.record("remove", (&gone.name, layer), [("source", source)]);
        let option = match layer {
            Layer::Plugin => String::new(),
            other => format!(" --layer {other}"),
        };
        let back = shell_command(&["rollback", &shown]) + &option;
        let back = format!("; `agent-skills {back}` {brings} it back");
        let back = if gone.is_stashed { back } else { String::new() };
        let links = withdraw(call, layer, &gone.name);
        Ok(format!("{removed} `{shown}`{back}\n{links}"))
    }
}
