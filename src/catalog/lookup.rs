//! Finds the skill that a name means, and suggests similar names if there is none.

use std::path::Path;
use std::rc::Rc;

use super::installed::{Installed, Origin};
use super::{Catalog, Entry};
use crate::error::{Error, Result};
use crate::host::ours;
use crate::marketplace::LockEntry;
use crate::run_context::RunContext;
use crate::session::Session;
use crate::skill::Skill;
use crate::sys::text::{backticked, quoted};

impl RunContext {
    /// The catalog for looking up `written`. It has the skills' owners only if the name is
    /// qualified, since they have to be read from the lockfiles.
    pub fn catalog_naming(&self, written: &str) -> Catalog {
        if !is_qualified(written) {
            return self.catalog_about(written);
        }
        self.catalog_with_owners()
    }

    /// As [`RunContext::catalog_naming`], for several names.
    pub fn catalog_naming_each(&self, written: &[String]) -> Catalog {
        if written.iter().any(|name| is_qualified(name)) {
            return self.catalog_with_owners();
        }
        self.catalog()
    }

    /// The catalog with every skill's owner, built once.
    pub fn known_owners(&self) -> Rc<Catalog> {
        self.once(|| self.catalog_with_owners())
    }

    fn catalog_with_owners(&self) -> Catalog {
        let mut catalog = self.catalog();
        let mut installed = Installed::default();
        for entry in &mut catalog.entries {
            let origin = installed.origin(self, entry).and_then(Origin::known);
            entry.owner = origin.and_then(LockEntry::owner);
        }
        catalog
    }

    /// The skill that a name means, if [`usable`] accepts it or it is active already: a person may
    /// have activated a skill that the model may not.
    ///
    /// # Errors
    /// As [`usable`].
    pub fn usable_or_active<'a>(
        &self,
        catalog: &'a Catalog,
        written: &str,
        session: &Session,
    ) -> Result<&'a Skill> {
        usable(catalog, written).or_else(|refused| {
            let is_active = |entry: &&Entry| {
                let mut active = session.active();
                active.any(|active| Path::new(&active.dir) == entry.dir)
            };
            let entry = catalog.by_name(written).filter(is_active);
            entry.and_then(Entry::usable).ok_or(refused)
        })
    }
}

/// The usable skill that a name means: an offered one, or a shadowed one by its qualified name.
///
/// # Errors
/// If there is none; the hint has the nearest names, or the reason why it is not offered.
pub fn usable<'a>(catalog: &'a Catalog, written: &str) -> Result<&'a Skill> {
    let shown = quoted(written);
    if let Some(skill) = catalog.by_qualified_name(written).and_then(Entry::shadowed) {
        return Ok(skill);
    }
    let Some(entry) = catalog.by_name(written) else {
        return Err(
            Error::new(format!("there is no skill `{shown}`")).hint(suggestion(catalog, written))
        );
    };
    let offered = entry.offered().map(|offered| offered.skill);
    offered.ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        Error::new(format!("the skill `{shown}` cannot be used: {reason}"))
            .hint("the user can see more with `agent-skills list-installed`")
    })
}

/// Whether a name is qualified by owner or layer: `acme/deploy`, `deploy@acme`, `project/deploy`.
pub fn is_qualified(written: &str) -> bool {
    written.contains(['/', '@'])
}

/// Advice for a name that matches no skill.
pub fn suggestion(catalog: &Catalog, written: &str) -> String {
    let nearest = catalog.nearest(written);
    if nearest.is_empty() {
        return format!(
            "`{}` with action list_installed shows what there is",
            ours::MARKETPLACE
        );
    }
    format!("did you mean {}?", backticked(nearest, " or "))
}
