//! Finds a skill by its bare name in the configured sources.

use crate::error::{Error, Result};
use crate::marketplace::fetch::open::Fetcher;
use crate::marketplace::market::Market;
use crate::marketplace::options::Note;
use crate::marketplace::reference::reading::{Reading, Want};
use crate::marketplace::source::listing::{Age, Listed};
use crate::marketplace::source::origin;
use crate::skill::SkillName;

impl Market<'_> {
    /// The reading of a skill's name in one source or in all of them. It never guesses.
    pub(crate) fn find_by_name(
        &self,
        fetcher: &mut Fetcher,
        name: &str,
        of: Option<&str>,
        note: &mut Note,
    ) -> Result<Reading> {
        let sources = self.sources()?;
        let key = SkillName::from_written(name);
        let mut found: Vec<Listed> = Vec::new();
        let mut known = of.is_none();
        for age in [Age::Recent, Age::Now] {
            for source in &sources {
                let cached = match self.of_source(source, age, fetcher, note) {
                    Ok(cached) => cached,
                    // A source that does not respond must not hide the others.
                    Err(error) if sources.len() > 1 => {
                        note(&format!(
                            "the source `{}` was left out: {error}",
                            source.name
                        ));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let meant = |of| source.name == of || cached.title.as_deref() == Some(of);
                if !of.is_none_or(meant) {
                    continue;
                }
                known = true;
                let named =
                    |one: &Listed| one.name == name || SkillName::from_written(&one.name) == key;
                found.extend(cached.skills.into_iter().filter(named));
            }
            if !found.is_empty() || self.offline {
                break;
            }
        }
        match (&found[..], of) {
            ([one], _) => one.reading(),
            ([], Some(of)) if !known => {
                let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
                let text = format!("there is no source `{}`", of.escape_debug());
                Err(Error::new(text).hint(format!("there are {}", names.join(", "))))
            }
            ([], _) => {
                let text = format!("no source has a skill `{}`", name.escape_debug());
                Err(Error::new(text).hint("`agent-skills search WORDS` looks for one"))
            }
            (several, _) => {
                let choices: Vec<String> = several
                    .iter()
                    .map(|one| format!("\n  {}", one.reference))
                    .collect();
                let text = format!(
                    "`{}` could be any of{}",
                    name.escape_debug(),
                    choices.concat()
                );
                Err(Error::new(text).hint("install it by one of these references"))
            }
        }
    }
}

impl Listed {
    /// The reading that leads to this skill.
    ///
    /// # Errors
    /// When the cache contains an invalid address or path.
    fn reading(&self) -> Result<Reading> {
        let mut reading =
            origin::reading(self.kind, &self.source, self.rev.as_deref(), &self.path)?;
        if self.plugin && self.path.is_empty() {
            reading.want = Want::Any;
        }
        Ok(reading)
    }
}
