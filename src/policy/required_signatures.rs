//! `[signing]` in a policy and the user's configuration: how skills have to be signed, whose keys are
//! listed and which are revoked. Each file's requirements apply on their own, so that none
//! weakens another's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::policy::source_address::{SourceAddress, SourceGlob};
use crate::signing::{Requirement, SourceRequirement};

/// The user's own file of signers, beside the configuration.
pub const OWN_SIGNERS: &str = "signers";

/// The keys of `[signing]` in a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SigningRules {
    /// `none` (default), `known` or `listed`: how every skill has to be signed.
    pub require: Requirement,
    /// The file that lists signers, in the form of `ssh-keygen`'s `allowed_signers`.
    pub signers: Option<PathBuf>,
    /// The file that lists revoked keys.
    pub revoked: Option<PathBuf>,
    /// What differs for sources, by their addresses, which may have `*`.
    pub sources: BTreeMap<String, SourceSigning>,
}

/// What differs for one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceSigning {
    /// In place of that for every skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require: Option<Requirement>,
    /// The principals that may sign for it, as the file of signers names them; any if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub principals: Vec<String>,
}

impl SourceSigning {
    /// What naming principals requires: that one of them has signed.
    fn implied(&self) -> Requirement {
        if self.principals.is_empty() {
            Requirement::None
        } else {
            Requirement::Listed
        }
    }
}

impl SigningRules {
    /// Whether anything is required.
    pub fn require_anything(&self) -> bool {
        let mut sources = self.sources.values();
        self.require > Requirement::None
            || sources.any(|source| source.require.unwrap_or(source.implied()) > Requirement::None)
    }

    /// What the file `stated_in` demands of a skill from these addresses, all of one source; without
    /// any, from an unknown one. Paths are relative to the file's directory.
    fn requirements(
        &self,
        stated_in: &Path,
        addresses: &[SourceAddress],
    ) -> Vec<SourceRequirement> {
        let beside = stated_in.parent().unwrap_or(stated_in);
        let at = |path: &Option<PathBuf>| path.as_ref().map(|path| beside.join(path));
        let demand = |require: Requirement, principals: &[String]| SourceRequirement {
            require,
            signers: at(&self.signers),
            revoked: at(&self.revoked),
            principals: principals.to_vec(),
            stated_in: format!("`{}`", stated_in.display()),
        };
        let own = self.sources.iter();
        let own = own.map(|(written, own)| (SourceGlob::from(written.clone()), own));
        let own: Vec<(SourceGlob, &SourceSigning)> = own.collect();
        let required = |own: &SourceSigning| own.require.unwrap_or(own.implied().max(self.require));
        // Only an address that is certainly meant is exempted, and in doubt more is required.
        let is_meant = |glob: &SourceGlob| {
            !addresses.is_empty() && addresses.iter().all(|address| glob.allows(address))
        };
        let may_be_meant = |glob: &SourceGlob| addresses.iter().any(|address| glob.blocks(address));
        let meant: Vec<_> = own.iter().filter(|(glob, _)| is_meant(glob)).collect();
        let general = meant.is_empty().then(|| demand(self.require, &[]));
        let specific = own.iter();
        let specific = specific.filter(|(glob, _)| is_meant(glob) || may_be_meant(glob));
        let specific = specific.map(|(_, own)| demand(required(own), &own.principals));
        general.into_iter().chain(specific).collect()
    }
}

/// What the policies and the configuration say about signatures, each file with its rules, read once.
#[derive(Debug, Clone)]
pub struct SignatureRules {
    /// `None` if one cannot be read.
    pub rules: Option<Vec<(PathBuf, SigningRules)>>,
}

impl SignatureRules {
    /// Whether anything is required. What cannot be read may require something.
    pub fn require_anything(&self) -> bool {
        let requires = |(_, rules): &(_, SigningRules)| rules.require_anything();
        let rules = self.rules.as_ref();
        rules.is_none_or(|rules| rules.iter().any(requires))
    }

    /// What is demanded of the signature of a skill from a source, and the address that git uses for
    /// it, if that is another. Where they are `claimed` by who brings the skill, they exempt it from
    /// nothing.
    pub fn requirements(
        &self,
        source: Option<&str>,
        address: Option<&str>,
        claimed: bool,
    ) -> Vec<SourceRequirement> {
        let Some(rules) = &self.rules else {
            return vec![SourceRequirement {
                require: Requirement::Listed,
                stated_in: "the policy or configuration, which cannot be read,".to_owned(),
                ..SourceRequirement::default()
            }];
        };
        let addresses = source.into_iter().chain(address);
        let addresses: Vec<_> = addresses.flat_map(SourceAddress::all).collect();
        let of = |addresses: &[SourceAddress]| -> Vec<SourceRequirement> {
            let each = rules.iter();
            each.flat_map(|(file, rules)| rules.requirements(file, addresses))
                .collect()
        };
        let mut requirements = of(&addresses);
        if claimed && !addresses.is_empty() {
            requirements.extend(of(&[]));
        }
        requirements
    }
}

/// A file of signers, or of revoked keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningFile {
    /// Where it is.
    pub path: PathBuf,
    /// The policy or configuration that it counts for.
    pub stated_in: PathBuf,
    /// Whether that is a policy.
    pub is_policy: bool,
    /// Whether it lists revoked keys.
    pub revokes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requires(rules: &str, addresses: &[&str]) -> Vec<Requirement> {
        let rules: SigningRules = toml::from_str(rules).unwrap();
        let addresses: Vec<_> = addresses
            .iter()
            .map(|one| SourceAddress::new(one))
            .collect();
        let requirements = rules.requirements(Path::new("/etc/p/policy.toml"), &addresses);
        requirements.iter().map(|demand| demand.require).collect()
    }

    #[test]
    fn a_source_is_exempted_only_if_it_is_certainly_meant() {
        use Requirement::{Known, Listed, None};
        let rules = "require = \"listed\"\n[sources.\"github.com/acme/*\"]\nrequire = \"none\"\n\
                     [sources.\"github.com/acme/open\"]\nrequire = \"known\"";
        for (addresses, expected) in [
            (&["https://github.com/acme/x"][..], &[None][..]),
            (&["https://github.com/acme/open"], &[None, Known]),
            (&["https://github.com/other/x"], &[Listed]),
            (
                &["https://github.com/acme/x", "https://evil.example/x"],
                &[Listed, None],
            ),
            (&[], &[Listed]),
        ] {
            assert_eq!(requires(rules, addresses), expected, "{addresses:?}");
        }
    }

    #[test]
    fn what_a_skill_claims_of_its_source_exempts_it_from_nothing() {
        let rules = "require = \"listed\"\n[sources.\"github.com/acme/*\"]\nrequire = \"none\"";
        let rules: SigningRules = toml::from_str(rules).unwrap();
        let rules = SignatureRules {
            rules: Some(vec![(PathBuf::from("/etc/p/policy.toml"), rules)]),
        };
        for (claimed, requires) in [(false, false), (true, true)] {
            let requirements = rules.requirements(Some("https://github.com/acme/x"), None, claimed);
            let mut each = requirements.iter();
            let found = each.any(|demand| demand.require > Requirement::None);
            assert_eq!(found, requires, "{requirements:?}");
        }
        let unreadable = SignatureRules { rules: None };
        assert!(unreadable.require_anything());
        assert_eq!(
            unreadable.requirements(None, None, false)[0].require,
            Requirement::Listed
        );
    }

    #[test]
    fn files_are_beside_the_one_that_names_them() {
        let rules: SigningRules = toml::from_str("signers = \"keys\"\nrevoked = \"/r\"").unwrap();
        let requirements = rules.requirements(Path::new("/etc/p/policy.toml"), &[]);
        let [demand] = requirements.as_slice() else {
            panic!("{requirements:?}");
        };
        assert_eq!(demand.signers.as_deref(), Some(Path::new("/etc/p/keys")));
        assert_eq!(demand.revoked.as_deref(), Some(Path::new("/r")));
    }
}
