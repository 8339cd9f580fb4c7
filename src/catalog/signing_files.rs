//! What the policies and the configuration of this run require of signatures, and the files of keys
//! that count.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

use crate::error::Result;
use crate::facts::Facts;
use crate::marketplace::{KnownSigners, Market, Permit, SignatureChecker};
use crate::policy::{OWN_SIGNERS, SignatureRules, SigningFile, SigningRules};
use crate::run_context::RunContext;
use crate::sys::Base;

/// What each file says about signatures, those of policies first.
fn rules(facts: &Facts) -> Result<Vec<(PathBuf, SigningRules)>> {
    let (policies, config) = (facts.policies()?, facts.config()?);
    let by_policy = policies.signing();
    let mut rules: Vec<_> = by_policy
        .map(|(file, rules)| (file.to_owned(), rules.clone()))
        .collect();
    // A link to nothing shows that a file was meant.
    let own = |revokes| {
        let path = own_signing_file(&facts.run, revokes);
        Some(path).filter(|path| path.is_symlink() || path.exists())
    };
    let own = SigningRules {
        require: config.signing.require,
        signers: own(false),
        revoked: own(true),
        sources: config.signing.sources.clone(),
    };
    rules.push((facts.run.config_path(), own));
    Ok(rules)
}

/// The rules about signatures.
pub fn signing_in_force(facts: &Facts) -> SignatureRules {
    let rules = rules(facts).ok();
    SignatureRules { rules }
}

/// The files that count, those of policies first, which may be missing.
///
/// # Errors
/// When a policy or the configuration cannot be read.
pub fn signing_files(facts: &Facts) -> Result<Vec<SigningFile>> {
    let mut files = Vec::new();
    for (stated_in, rules) in rules(facts)? {
        for (path, revokes) in [(&rules.signers, false), (&rules.revoked, true)] {
            files.extend(path.as_ref().map(|path| SigningFile {
                path: stated_in.with_file_name("").join(path),
                is_policy: stated_in != facts.run.config_path(),
                stated_in: stated_in.clone(),
                revokes,
            }));
        }
    }
    Ok(files)
}

/// The user's file of signers, or of revoked keys, beside the configuration, existing or not.
pub fn own_signing_file(run: &RunContext, revokes: bool) -> PathBuf {
    let name = if revokes { "revoked" } else { OWN_SIGNERS };
    run.dirs.plugin.join(name)
}

/// The marketplace for what is installed below `base`.
pub fn market_at<'a>(facts: &'a Facts, base: &'a Base) -> Market<'a> {
    Market {
        plugin_dir: base,
        home: &facts.run.dirs.plugin,
        env: &facts.run.env,
        deadline: None,
        offline: true,
        mirror: None,
        progress: None,
        permit: Rc::new(Permit::any()),
        signing: Rc::new(signing(facts, base.is_shared())),
        dry_run: false,
    }
}

/// What is required of signatures, and who is known: nobody, if that cannot be
/// read. The sources are what a lockfile says, or only claims.
pub(super) fn signing(facts: &Facts, claimed: bool) -> SignatureChecker<'_> {
    let known = KnownSigners::read(&Base::own(facts.run.dirs.plugin.clone()));
    let rules = OnceCell::new();
    let demands = move |source: Option<&str>, address: Option<&str>| {
        let rules = rules.get_or_init(|| signing_in_force(facts));
        rules.requirements(source, address, claimed)
    };
    SignatureChecker {
        demands: Box::new(demands),
        known: known.unwrap_or_default(),
    }
}
