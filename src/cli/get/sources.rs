//! `source`: the places where skills are looked for.

use crate::cli::prelude::*;
use crate::sys::text;

/// Configure where to look for skills
#[derive(Debug, Subcommand)]
pub enum SourcesCommand {
    /// Add a repository, a directory, a site or the address of a marketplace.json
    Add {
        /// Their addresses or paths
        #[arg(required = true, value_name = "REFERENCE")]
        references: Vec<String>,
        /// The name of the one source, after `@` in SKILL@SOURCE
        #[arg(long)]
        name: Option<String>,
    },
    /// Remove sources; what was installed from them stays
    Remove {
        /// Their names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// List the sources
    List,
    /// Fetch the current list of every source
    Update,
}

impl SourcesCommand {
    /// Changes or lists the sources; a failure if one could not be updated.
    pub fn run(&self, call: CliCall) -> Answer {
        let market = market(call, Layer::Plugin, false);
        match self {
            Self::Add { references, name } => {
                if name.is_some() && references.len() > 1 {
                    let error = Error::new("`--name` names one source");
                    return Err(error.hint("add the sources one by one").into());
                }
                Outcomes::of_each(call, references, |reference| {
                    let (source, count) = market.add_source(reference, name.as_deref())?;
                    let (added, skills) = (call.would("added", "add"), text::count(count, "skill"));
                    Ok(format!("{added} `{}`, which has {skills}\n", source.name))
                })
            }
            Self::Remove { names } => Outcomes::of_each(call, names, |name| {
                market.remove_source(name)?;
                let (removed, name) = (call.would("removed", "remove"), one_line(name));
                Ok(format!(
                    "{removed} the source `{name}`; what was installed from it stays\n"
                ))
            }),
            Self::List if call.common.json => Ok(json::list("sources", &market.sources()?)?),
            Self::List => {
                let mut text = String::new();
                for source in market.sources()? {
                    let (name, reference) = (one_line(&source.name), one_line(&source.reference));
                    let _ = writeln!(text, "{name}  {reference}");
                }
                Ok(text)
            }
            Self::Update if call.common.dry_run => {
                let sources = market.sources()?;
                let names: Vec<String> = sources.into_iter().map(|source| source.name).collect();
                Outcomes::of_each(call, &names, |name| {
                    Ok(format!("would ask `{}` for its list\n", one_line(name)))
                })
            }
            Self::Update => {
                let mut outcomes = Outcomes::new(call);
                for (source, asked) in market.update_sources()? {
                    let name = one_line(&source.name);
                    let told = asked
                        .map(|count| format!("`{name}` has {}\n", text::count(count, "skill")))
                        .map_err(|error| error.context(format!("`{name}` was left as it was")));
                    outcomes.push(&source.name, told);
                }
                outcomes.answer()
            }
        }
    }
}
