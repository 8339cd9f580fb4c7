//! What one decision compares paths against, and the paths located in it.

use std::path::Path;

use super::path::{CachingResolver, LocatedPath, PathResolver};
use super::places::RuleDirectories;
use super::protected::{Protection, Relation};
use super::steps::Steps;

/// What a decision compares paths against.
#[derive(Clone, Copy)]
pub struct PathContext<'a> {
    /// The directories that rules refer to.
    pub places: &'a RuleDirectories,
    /// Queries to the file system.
    pub resolve: &'a dyn PathResolver,
    /// The step budget left for this decision.
    pub steps: &'a Steps,
    /// The protected places.
    pub protection: &'a Protection<'a>,
}

impl PathContext<'_> {
    /// Runs one decision, resolving each path once and counting every step.
    pub fn with<T>(
        places: &RuleDirectories,
        resolve: &dyn PathResolver,
        decide: impl FnOnce(PathContext) -> T,
    ) -> T {
        let steps = Steps::default();
        let resolve = &CachingResolver::new(resolve, &steps);
        decide(PathContext {
            places,
            resolve,
            steps: &steps,
            protection: &Protection::new(&places.protected, resolve, &steps),
        })
    }

    /// Locates an absolute path.
    pub fn locate(&self, path: &Path) -> LocatedPath {
        LocatedPath::at(path, self.resolve)
    }

    /// Locates the path that a host tool uses for `written`.
    pub fn locate_for(&self, tool: &str, written: &str) -> LocatedPath {
        self.locate(&self.places.for_tool(tool, written))
    }

    /// How an absolute path relates to the protected places.
    pub fn relation(&self, path: &Path) -> Relation {
        self.protection.relation(&self.locate(path))
    }
}
