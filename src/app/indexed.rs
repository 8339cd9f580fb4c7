//! The catalog by way of its index: where that is, and what the answers in it depend on besides the
//! skills themselves. Who may see which skill is decided anew by every call, or its grounds are in
//! the answer's name.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest, Sha256};

use super::admission::Rules;
use super::{App, Trusts};
use crate::catalog::{Answer, Catalog, Index, Layer, Root, skill_directories};
use crate::host::ours;
use crate::sys::{hash, limits};

/// What [`App::told`] is asked for by the hook that knows the host's context, as its tools do.
pub const PROMPT: &str = "prompt";

/// What a catalog gives occasion to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// To the host.
    pub text: String,
    /// To the user, a line each.
    pub remarks: Vec<String>,
    /// Whether it depends on more than the skills, the configuration, the policies and the trust in
    /// projects: then it is made anew each time.
    pub passes: bool,
}

impl App {
    /// Every skill.
    pub fn catalog(&self) -> Catalog {
        let rules = Rules::of(self);
        let roots = self.roots(rules.config());
        Self::read(&rules, &roots, &mut self.index(&roots))
    }

    /// What `make` says of the catalog, from the index if nothing that it depends on has changed.
    /// `what` says what is made.
    pub fn told(&self, what: &str, make: impl FnOnce(&Catalog) -> Told) -> Told {
        let rules = Rules::of(self);
        let roots = self.roots(rules.config());
        let mut index = self.index(&roots);
        let name = rules
            .grounds()
            .map(|grounds| self.answer_name(what, &grounds, &roots, rules.trusts()));
        let kept = name.as_ref().and_then(|name| index.answer(&roots, name));
        if let Some(told) = kept.and_then(Told::from_answer) {
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

    /// As much of the catalog as decides what `written` means: a skill's name, its tool's or its
    /// directory's.
    pub fn catalog_about(&self, written: &str) -> Catalog {
        let rules = Rules::of(self);
        let config = rules.config();
        let roots = self.roots(config);
        let mut index = self.index(&roots);
        // For a person no `--schema` came first.
        self.protocol
            .and_then(|_| Catalog::about(written, &roots, config.order(), &rules, &index))
            .unwrap_or_else(|| Self::read(&rules, &roots, &mut index))
    }

    /// As [`App::catalog_about`] for what may be a skill's tool; `None`, without a look at the
    /// disk, for other names.
    pub fn catalog_for(&self, tool: &str) -> Option<Catalog> {
        let may_be = tool.starts_with("skill_") && !ours::FIXED.contains(&tool);
        may_be.then(|| self.catalog_about(tool))
    }

    /// Of how many skills the model may be told.
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
        Catalog::of_layers(roots, rules.config().order(), rules, index)
    }

    /// One index for each set of roots, of no use to another build of this program.
    fn index(&self, roots: &[Root]) -> Index {
        let roots = format!("{roots:?}");
        // Two that get one name take turns: the key has the roots in full.
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
        if name.len() > limits::ANSWER_NAME {
            return Sha256::digest(name).to_vec();
        }
        name.into_bytes()
    }
}

impl Told {
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
