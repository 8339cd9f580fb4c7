//! Finds a skill by its bare name in the configured sources.

use crate::error::{Error, Result};
use crate::marketplace::fetch::Fetcher;
use crate::marketplace::reference::{Reading, Want};
use crate::marketplace::source::{Age, Listed, unknown_source};
use crate::marketplace::{Market, Note};
use crate::skill::SkillName;
use crate::sys::text::did_you_mean;

impl Market<'_> {
    /// The reading of a skill's name in one source or in all of them. It never guesses.
    pub(crate) fn find_by_name(
        &self,
        fetcher: &mut Fetcher,
        name: &str,
        of: Option<&str>,
        note: &mut Note,
    ) -> Result<Reading> {
        let key = SkillName::from_written(name);
        let named = |one: &Listed| one.name == name || SkillName::from_written(&one.name) == key;
        let mut found: Vec<Listed> = Vec::new();
        // What is wrong with a source is wrong each time that it is asked.
        let mut said = Vec::new();
        let mut tell = |text: &str| {
            if !said.iter().any(|known| known == text) {
                note(text);
                said.push(text.to_owned());
            }
        };
        let (mut known, mut others) = (of.is_none(), Vec::new());
        for age in [Age::Recent, Age::Now] {
            for (source, cached) in self.catalogs(age, fetcher, &mut tell)? {
                let meant = |of| source.name == of || cached.title.as_deref() == Some(of);
                if of.is_none_or(meant) {
                    known = true;
                    let (meant, rest): (Vec<_>, Vec<_>) =
                        cached.skills.into_iter().partition(named);
                    found.extend(meant);
                    others.extend(rest.into_iter().map(|one| one.name));
                }
            }
            if !found.is_empty() || self.offline {
                break;
            }
        }
        match (&found[..], of) {
            ([one], _) => one.reading(),
            ([], Some(of)) if !known => Err(unknown_source(of, &self.sources()?)),
            ([], _) => {
                let text = format!("no source has a skill `{}`", name.escape_debug());
                let near = did_you_mean(name, others.iter().map(String::as_str));
                let search = || "`agent-skills search WORDS` looks for one".to_owned();
                Err(Error::new(text).hint(near.unwrap_or_else(search)))
            }
            (several, _) => {
                let choices = several.iter().map(|one| format!("\n  {}", one.reference));
                let choices: String = choices.collect();
                let text = format!("`{}` could be any of{choices}", name.escape_debug());
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
        let rev = self.rev.as_deref();
        let mut reading = Reading::recorded(self.kind, &self.source, rev, &self.path)?;
        if self.plugin && self.path.is_empty() {
            reading.want = Want::Any;
        }
        Ok(reading)
    }
}
