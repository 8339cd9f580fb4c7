//! Which rules let the shell's own programs show files, in hosts where these are the tools for
//! reading (docs/spec/restriction.md#reading-by-the-shell).

use std::path::{Path, PathBuf};

use super::active_restrictions::{ActiveList, Denials};
use super::arg_matcher::ArgMatcher;
use super::entry_grammar::Purpose;
use super::evidence::Grant;
use super::path::LocatedPath;
use super::path_context::PathContext;
use super::protected::may_match;
use super::rule::Rule;
use super::shell::{Depth, ReadKind};
use super::tool_matcher::CalledTool;

/// What a rule says of the host tools that show the same.
fn matchers(rule: &Rule, kind: ReadKind) -> impl Iterator<Item = &ArgMatcher> {
    let tools: &[&str] = match kind {
        ReadKind::Contents => &["file_head"],
        ReadKind::Matches => &["grep_files", "file_head"],
        ReadKind::Names => &["dir_list"],
    };
    tools
        .iter()
        .filter_map(|tool| rule.matcher_for(&CalledTool::host(tool)))
}

/// The first rule of a list that lets programs show something.
pub fn any_rule<'a>(list: &ActiveList<'a>, kind: ReadKind) -> Option<&'a Rule> {
    let gives = |test: &ArgMatcher| matches!(test, ArgMatcher::Any | ArgMatcher::Path(_));
    list.rules
        .iter()
        .find(|rule| matchers(rule, kind).any(gives))
}

/// Whether some rule of a list lets a program show something.
pub fn grants_any(list: &ActiveList) -> bool {
    let mut kinds = [ReadKind::Contents, ReadKind::Matches, ReadKind::Names].into_iter();
    kinds.any(|kind| any_rule(list, kind).is_some())
}

/// Whether a path may lead to what the kernel makes up: the memory and the variables of processes,
/// and devices.
pub fn is_kernel_file(path: &LocatedPath) -> bool {
    let is_kernel_path = |path: &Path| {
        let mut directories = ["/proc", "/dev", "/sys"].iter();
        directories.any(|dir| path.starts_with(dir)) && path != Path::new("/dev/null")
    };
    path.forms()
        .is_none_or(|mut forms| forms.any(is_kernel_path))
}

/// The rule that permits a program to show what is at `place`, a path and how far it leads from there;
/// the path is that of `at`.
///
/// # Errors
/// Why none does, for a person.
pub fn permitted(
    kind: ReadKind,
    (path, depth): (&str, &Depth),
    at: &LocatedPath,
    list: &ActiveList,
    denials: &Denials,
    context: &PathContext,
) -> Result<Grant, String> {
    let reads_below = match depth {
        Depth::File => false,
        Depth::Tree => context.resolve.is_directory(&at.lexical),
        Depth::MatchingNames(_) | Depth::AnyName => true,
    };
    let found = matched_links(at, depth, context);
    let is_root = |path: &Path| path == Path::new("/");
    let contains_kernel_files = reads_below && at.forms().is_none_or(|mut all| all.any(is_root));
    if contains_kernel_files || is_kernel_file(at) || found.iter().any(is_kernel_file) {
        return Err(format!("`{path}` is not a file on disk"));
    }
    let denies = |test: &ArgMatcher| match test {
        ArgMatcher::Any => true,
        ArgMatcher::Path(test) => {
            let mut places = std::iter::once(at).chain(&found);
            *depth == Depth::AnyName
                || places.any(|place| test.covers(place, Purpose::Deny, context))
                || reads_below && test.may_cover_below(at, context)
        }
        _ => false,
    };
    let mut denying = denials.iter();
    if let Some(rule) = denying.find(|rule| matchers(rule, kind).any(denies)) {
        return Err(rule.cited.denies());
    }
    let climbs = match depth {
        Depth::MatchingNames(glob) => may_match(glob, ".."),
        depth => *depth == Depth::AnyName,
    };
    let grants = |test: &ArgMatcher| match test {
        ArgMatcher::Any => true,
        ArgMatcher::Path(test) => {
            let covers = |place: &LocatedPath| test.covers(place, Purpose::Allow, context);
            !climbs && covers(at) && found.iter().all(covers)
        }
        _ => false,
    };
    let mut rules = list.rules.iter();
    match rules.find(|rule| matchers(rule, kind).any(grants)) {
        Some(rule) => Ok(Grant::Rule(rule.cited.clone())),
        None => Err(format!("no {kind} entry covers `{path}`")),
    }
}

/// The links in the directory that a glob may match.
fn matched_links(at: &LocatedPath, depth: &Depth, context: &PathContext) -> Vec<LocatedPath> {
    let glob = match depth {
        Depth::File | Depth::Tree => return Vec::new(),
        Depth::MatchingNames(glob) => Some(glob),
        Depth::AnyName => None,
    };
    let is_matched = |link: &PathBuf| {
        let name = link.file_name().unwrap_or_default().to_string_lossy();
        glob.is_none_or(|glob| may_match(glob, &name))
    };
    let links = context.resolve.links_in(&at.lexical).into_iter();
    let targets = links.filter(is_matched);
    targets.map(|link| context.locate(&link)).collect()
}

#[cfg(test)]
mod tests;
