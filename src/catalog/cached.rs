//! Loads the catalog through its index: where the index is, and on what its answers depend besides
//! the skills. Whether a skill may be shown is decided again in each call, or everything that
//! decides it is part of the answer's key.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest, Sha256};

use crate::catalog::eligibility::Rules;
use crate::catalog::{Answer, Catalog, Index, Layer, Order, Root};
use crate::host::ours;
use crate::policy::Trusts;
use crate::run_context::RunContext;
use crate::skill::directories::skill_directories;
use crate::sys::hash;

/// The longest key of an answer, in bytes, that is stored as it is; a longer one is stored as its
/// digest.
const ANSWER_NAME: usize = 2048;

/// Key of the prompt block: the output of [`RunContext::told`] for the hook that knows the context.
pub const PROMPT: &str = "prompt";

/// Output derived from the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// For the host.
    pub text: String,
    /// For the user, one line each.
    pub remarks: Vec<String>,
    /// Whether it depends on more than skills, configuration, policies and trust in projects. Such
    /// output is never stored.
    pub passes: bool,
}

impl RunContext {
    /// Every skill.
    pub fn catalog(&self) -> Catalog {
        let rules = Rules::of(self);
        let roots = self.roots(rules.config());
        Self::read(&rules, &roots, &mut self.index(&roots))
    }

    /// The output of `make` for the catalog, from the index if no input has changed. `what`
    /// identifies it.
    pub fn told(&self, what: &str, make: impl FnOnce(&Catalog) -> Rendered) -> Rendered {
        let rules = Rules::of(self);
        let roots = self.roots(rules.config());
        let mut index = self.index(&roots);
        let name = rules
            .grounds()
            .map(|grounds| self.answer_name(what, &grounds, &roots, rules.trusts()));
        let kept = name.as_ref().and_then(|name| index.answer(&roots, name));
        if let Some(told) = kept.and_then(Rendered::from_answer) {
            return told;
        }
        let catalog = Self::read(&rules, &roots, &mut index);
        let told = make(&catalog);
        if let Some(name) = name.filter(|_| !told.passes) {
            let offered = catalog.offered().len();
            index.keep(told.clone().into_answer(name, offered));
        }
        told
    }

    /// The part of the catalog that decides what `written` means: a skill's name, its tool's or its
    /// directory's.
    pub fn catalog_about(&self, written: &str) -> Catalog {
        let rules = Rules::of(self);
        let config = rules.config();
        let roots = self.roots(config);
        let mut index = self.index(&roots);
        // Only a host calls `--schema` first, which checks every file.
        self.protocol
            .and_then(|_| Catalog::about(written, &roots, Order::from(config), &rules, &index))
            .unwrap_or_else(|| Self::read(&rules, &roots, &mut index))
    }

    /// As [`RunContext::catalog_about`], if `tool` may be a skill's tool; otherwise `None`, without
    /// disk access.
    pub fn catalog_for(&self, tool: &str) -> Option<Catalog> {
        let may_be = tool.starts_with("skill_") && !ours::FIXED.contains(&tool);
        may_be.then(|| self.catalog_about(tool))
    }

    /// The number of skills offered to the model.
    pub fn offered(&self) -> usize {
        let rules = Rules::of(self);
        let roots = self.roots(rules.config());
        let mut index = self.index(&roots);
        let known = rules.grounds().and_then(|grounds| {
            index.offered(
                &roots,
                &self.answer_name(PROMPT, &grounds, &roots, rules.trusts()),
            )
        });
        known.unwrap_or_else(|| Self::read(&rules, &roots, &mut index).offered().len())
    }

    fn read(rules: &Rules, roots: &[Root], index: &mut Index) -> Catalog {
        Catalog::of_layers(roots, Order::from(rules.config()), rules, index)
    }

    /// The index of these roots. Every set of roots has its own; another build's is invalid.
    fn index(&self, roots: &[Root]) -> Index {
        let roots = format!("{roots:?}");
        // On a hash collision the indexes overwrite each other; the key contains the roots.
        let file = format!("{:016x}", hash(roots.as_bytes()));
        let build = self.env.exe.as_ref().and_then(|exe| exe.metadata().ok());
        let build = build.map(|exe| (exe.size(), exe.mtime(), exe.mtime_nsec()));
        let key = format!("{} {build:?} {roots}", env!("CARGO_PKG_VERSION"));
        let dir = self.store().dir().join("index");
        Index::open(dir.join(file), key.into_bytes())
    }

    fn answer_name(&self, what: &str, grounds: &str, roots: &[Root], trusts: &Trusts) -> Vec<u8> {
        let mut name = format!("{what} {grounds} ");
        if self.protocol.is_some() {
            let _ = write!(name, "{:?} ", self.context());
        }
        let projects = roots.iter().filter(|root| root.layer == Layer::Project);
        for root in projects {
            let holder = Self::holder_of(&root.dir);
            let _ = write!(name, "{:?} ", trusts.of_part(self, holder, &root.dir));
            for dir in skill_directories(&root.dir) {
                let _ = write!(name, "{:?} ", trusts.of_skill(self, &dir));
            }
        }
        if name.len() > ANSWER_NAME {
            return Sha256::digest(name).to_vec();
        }
        name.into_bytes()
    }
}

impl Rendered {
    fn from_answer(answer: Answer) -> Option<Self> {
        let remarks = String::from_utf8(answer.remarks).ok()?;
        Some(Self {
            text: String::from_utf8(answer.text).ok()?,
            remarks: remarks.lines().map(str::to_owned).collect(),
            passes: false,
        })
    }

    fn into_answer(self, name: Vec<u8>, offered: usize) -> Answer {
        Answer {
            name,
            text: self.text.into_bytes(),
            remarks: self.remarks.join("\n").into_bytes(),
            offered,
        }
    }
}
