//! Loads the catalog through its index: where the index is, and on what its answers depend besides
//! the skills. Whether a skill may be shown is decided again in each call, or everything that
//! decides it is part of the answer's key.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest, Sha256};

use super::eligibility::Rules;
use super::index_file::{Answer, Rendered};
use super::roots::roots;
use super::{Catalog, Index, Layer, Root};
use crate::facts::Facts;
use crate::host::ours;
use crate::policy::{Asks, Trust};
use crate::run_context::RunContext;
use crate::sys::hash;

/// The longest key of an answer, in bytes, that is stored as it is; a longer one is stored as its
/// digest.
const ANSWER_NAME: usize = 2048;

/// Key of the prompt block: the output of [`told`] for the hook that knows the context.
pub const PROMPT: &str = "prompt";

/// What a catalog is read from.
struct Source<'a> {
    facts: &'a Facts,
    rules: Rules<'a>,
    roots: Vec<Root>,
    index: Index,
}

impl Catalog {
    /// Every skill.
    pub fn of(facts: &Facts) -> Self {
        Source::new(facts, Asks::ToUse).read()
    }

    /// Every skill, for a call that only shows which there are: nothing of them is used before
    /// another call looks at all their files.
    pub fn disclosed(facts: &Facts) -> Self {
        Source::new(facts, Asks::ToDisclose).read()
    }

    /// The part of the catalog that decides what `written` means: a skill's name, its tool's or its
    /// directory's.
    pub fn about(facts: &Facts, written: &str) -> Self {
        let mut source = Source::new(facts, Asks::ToUse);
        // Only a host calls `--schema` first, which checks every file.
        let host = facts.run.protocol;
        host.and_then(|_| Self::part(written, &source.roots, &source.rules, &source.index))
            .unwrap_or_else(|| source.read())
    }

    /// As [`Catalog::about`], if `tool` may be a skill's tool; otherwise `None`, without disk access.
    pub fn about_tool(facts: &Facts, tool: &str) -> Option<Self> {
        let may_be = tool.starts_with("skill_") && !ours::FIXED.contains(&tool);
        may_be.then(|| Self::about(facts, tool))
    }
}

/// The output of `make` for the catalog, from the index if no input has changed. `what` identifies it.
pub fn told(facts: &Facts, what: &str, make: impl FnOnce(&Catalog) -> Rendered) -> Rendered {
    let mut source = Source::new(facts, Asks::ToDisclose);
    let name = source.answer_name(what);
    let cached = name
        .as_ref()
        .and_then(|name| source.index.answer(&source.roots, name));
    if let Some(answer) = cached {
        return answer.rendered;
    }
    let catalog = source.read();
    let rendered = make(&catalog);
    if let Some(name) = name.filter(|_| !rendered.passes) {
        source.index.store(Answer {
            name,
            rendered: rendered.clone(),
            offered: catalog.offered().len(),
        });
    }
    rendered
}

/// The number of skills offered to the model.
pub fn count_offered(facts: &Facts) -> usize {
    let mut source = Source::new(facts, Asks::ToDisclose);
    let known = source
        .answer_name(PROMPT)
        .and_then(|name| source.index.offered(&source.roots, &name));
    known.unwrap_or_else(|| source.read().offered().len())
}

impl<'a> Source<'a> {
    /// The source for this run. Every set of roots has its own index; another build's is invalid.
    fn new(facts: &'a Facts, asks: Asks) -> Self {
        let rules = Rules::new(facts, asks);
        let roots = roots(facts);
        let shown = format!("{roots:?}");
        // On a hash collision the indexes overwrite each other; the key contains the roots.
        let file = format!("{:016x}", hash(shown.as_bytes()));
        let exe = facts.run.env.exe.as_ref();
        let build = exe.and_then(|exe| exe.metadata().ok());
        let build = build.map(|exe| (exe.size(), exe.mtime(), exe.mtime_nsec()));
        let key = format!("{} {build:?} {shown}", env!("CARGO_PKG_VERSION"));
        let dir = facts.state().join("index");
        Self {
            facts,
            rules,
            roots,
            index: Index::open(dir.join(file), key),
        }
    }

    fn read(&mut self) -> Catalog {
        Catalog::read(&self.roots, &self.rules, &mut self.index)
    }

    /// The key of an answer: all that it depends on besides the skills. `None` if it also depends
    /// on each skill's files and origin.
    fn answer_name(&self, what: &str) -> Option<String> {
        let mut name = format!("{what} {} ", self.rules.grounds()?);
        if self.facts.run.protocol.is_some() {
            let _ = write!(name, "{:?} ", self.facts.context());
        }
        let trusts = &self.rules.trusts;
        let mut say = |trust| match trust {
            Trust::Given => name.push_str("given "),
            other => {
                let _ = write!(name, "{other:?} ");
            }
        };
        let each = self.roots.iter().enumerate();
        for (at, root) in each.filter(|(_, root)| root.layer == Layer::Project) {
            let holder = RunContext::holder_of(&root.dir);
            say(trusts.of_part(holder, &root.dir));
            for dir in self.index.directories(at, &self.roots) {
                say(trusts.of_skill(&dir));
            }
        }
        if name.len() > ANSWER_NAME {
            return Some(format!("{:x}", Sha256::digest(name)));
        }
        Some(name)
    }
}
