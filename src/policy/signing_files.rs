//! The files that list signers and revoked keys: those that policies and the configuration name, and
//! the user's own.

use std::path::PathBuf;

use crate::error::Result;
use crate::policy::signing::{OWN_REVOKED, OWN_SIGNERS};
use crate::run_context::RunContext;

/// A file of signers, or of revoked keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningFile {
    /// Where it is.
    pub path: PathBuf,
    /// The policy or configuration that it counts for.
    pub stated_in: PathBuf,
    /// Whether that is a policy.
    pub is_policy: bool,
    /// Whether it lists keys that count no longer.
    pub revokes: bool,
}

impl RunContext {
    /// The files that count, those of policies first, which may be missing.
    ///
    /// # Errors
    /// When a policy cannot be read.
    pub fn signing_files(&self) -> Result<Vec<SigningFile>> {
        let mut files = Vec::new();
        for (stated_in, rules) in self.policies()?.signing() {
            let beside = stated_in.parent().unwrap_or(stated_in);
            let named = [(&rules.signers, false), (&rules.revoked, true)];
            for (path, revokes) in named {
                files.extend(path.as_ref().map(|path| SigningFile {
                    path: beside.join(path),
                    stated_in: stated_in.to_owned(),
                    is_policy: true,
                    revokes,
                }));
            }
        }
        for revokes in [false, true] {
            let path = self.own_signing_file(revokes);
            if path.exists() {
                files.push(SigningFile {
                    path,
                    stated_in: self.config_path(),
                    is_policy: false,
                    revokes,
                });
            }
        }
        Ok(files)
    }

    /// The user's file of signers, or of revoked keys, existing or not.
    pub fn own_signing_file(&self, revokes: bool) -> PathBuf {
        let name = if revokes { OWN_REVOKED } else { OWN_SIGNERS };
        self.dirs.plugin.join(name)
    }
}
