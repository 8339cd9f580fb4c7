//! Which rules let the shell's own programs show files, in hosts where these are the tools for
//! reading (docs/spec/restriction.md#reading-by-the-shell).

use std::path::{Path, PathBuf};

use super::arg_matcher::ArgMatcher;
use super::evidence::Grant;
use super::list::Purpose;
use super::path::Located;
use super::path_context::PathContext;
use super::protected::wildcards_match;
use super::rule::Rule;
use super::shell::{Extent, Shows};
use super::stacking::{Denials, Limit};
use super::tool_matcher::Tool;

/// Something that a program would show.
pub struct Shown<'a> {
    /// What of it.
    pub what: Shows,
    /// The path as written.
    pub path: &'a str,
    /// Where it is.
    pub at: Located,
    /// How far it leads from there.
    pub extent: &'a Extent,
}

/// What a rule says of the host tools that show the same.
fn tests(rule: &Rule, what: Shows) -> impl Iterator<Item = &ArgMatcher> {
    let tools: &[&str] = match what {
        Shows::Contents => &["file_head"],
        Shows::Matches => &["grep_files", "file_head"],
        Shows::Names => &["dir_list"],
    };
    tools
        .iter()
        .filter_map(|tool| rule.test_of(&Tool::host(tool)))
}

/// The first rule of a limit that lets programs show something.
pub fn any_rule<'a>(limit: &Limit<'a>, what: Shows) -> Option<&'a Rule> {
    let gives = |test: &ArgMatcher| matches!(test, ArgMatcher::Any | ArgMatcher::Path(_));
    limit.rules.iter().find(|rule| tests(rule, what).any(gives))
}

/// Whether some rule of a limit lets a program show something.
pub fn is_any(limit: &Limit) -> bool {
    let mut kinds = [Shows::Contents, Shows::Matches, Shows::Names].into_iter();
    kinds.any(|what| any_rule(limit, what).is_some())
}

/// Whether a path may lead to what the kernel makes up: the memory and the variables of processes,
/// and devices.
pub fn is_of_kernel(path: &Located) -> bool {
    let is_one = |path: &Path| {
        let mut directories = ["/proc", "/dev", "/sys"].iter();
        directories.any(|dir| path.starts_with(dir)) && path != Path::new("/dev/null")
    };
    path.forms().is_none_or(|mut forms| forms.any(is_one))
}

impl Shown<'_> {
    /// The rule that permits it.
    ///
    /// # Errors
    /// Why none does, for a person.
    pub fn permitted(
        &self,
        limit: &Limit,
        denials: &Denials,
        context: &PathContext,
    ) -> Result<Grant, String> {
        let Self { what, path, .. } = self;
        let leads_on = match self.extent {
            Extent::File => false,
            Extent::Search => context.resolve.is_directory(&self.at.lexical),
            Extent::Names(_) | Extent::Anywhere => true,
        };
        let found = self.links(context);
        let is_root = |path: &Path| path == Path::new("/");
        let holds_kernels = leads_on && self.at.forms().is_none_or(|mut all| all.any(is_root));
        if holds_kernels || is_of_kernel(&self.at) || found.iter().any(is_of_kernel) {
            return Err(format!("`{path}` leads to what is no file of a disk"));
        }
        let denies = |test: &ArgMatcher| match test {
            ArgMatcher::Any => true,
            ArgMatcher::Path(test) => {
                let mut places = std::iter::once(&self.at).chain(&found);
                *self.extent == Extent::Anywhere
                    || places.any(|place| test.covers(place, Purpose::Deny, context))
                    || leads_on && test.may_cover_below(&self.at, context)
            }
            _ => false,
        };
        let mut denying = denials.iter();
        if let Some(rule) = denying.find(|rule| tests(rule, *what).any(denies)) {
            return Err(rule.cited.denies());
        }
        let grants = |test: &ArgMatcher| match test {
            ArgMatcher::Any => true,
            ArgMatcher::Path(test) => {
                let covers = |place: &Located| test.covers(place, Purpose::Allow, context);
                let climbs = match self.extent {
                    Extent::Names(glob) => wildcards_match(glob, ".."),
                    extent => *extent == Extent::Anywhere,
                };
                !climbs && covers(&self.at) && found.iter().all(covers)
            }
            _ => false,
        };
        let rule = limit
            .rules
            .iter()
            .find(|rule| tests(rule, *what).any(grants));
        let uncovered = || format!("no {what} entry covers `{path}`");
        rule.map(|rule| Grant::Rule(rule.cited.clone()))
            .ok_or_else(uncovered)
    }

    /// The links in the directory that the glob may match.
    fn links(&self, context: &PathContext) -> Vec<Located> {
        let matches = |link: &PathBuf| match self.extent {
            Extent::File | Extent::Search => false,
            Extent::Anywhere => true,
            Extent::Names(glob) => {
                let name = link.file_name().unwrap_or_default().to_string_lossy();
                wildcards_match(glob, &name)
            }
        };
        if matches!(self.extent, Extent::File | Extent::Search) {
            return Vec::new();
        }
        let links = context.resolve.links_in(&self.at.lexical).into_iter();
        let targets = links.filter(matches);
        targets.map(|link| context.locate(&link)).collect()
    }
}

#[cfg(test)]
mod tests;
