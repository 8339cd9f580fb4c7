//! What a policy or a configuration requires of the signature of a skill.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Signature;

/// How a skill has to be signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// Not at all.
    #[default]
    None,
    /// By a key that the user has accepted for this source, or that is listed.
    Known,
    /// By a key that the file of signers lists.
    Listed,
}

/// A requirement as one file states it for one source. All that apply have to be met, so that none
/// can be weakened by another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// How it has to be signed.
    pub require: Requirement,
    /// The file of signers that counts for it.
    pub signers: Option<PathBuf>,
    /// Keys that count no longer.
    pub revoked: Option<PathBuf>,
    /// The principals that may sign; any if empty.
    pub principals: Vec<String>,
    /// The file that states it, for messages.
    pub stated_in: String,
}

impl Demand {
    /// Why a signature that was checked against this demand's signers does not meet it; `None` if it
    /// does. `names` are those of its signer, and `is_known` says whether the user has accepted the key for this source.
    pub fn unmet(&self, signature: &Signature, names: &[&str], is_known: bool) -> Option<String> {
        let needs = match self.require {
            Requirement::None => return None,
            Requirement::Known => "a signer that you know",
            Requirement::Listed => "a listed signer",
        };
        let why = match signature {
            Signature::Good(signer) => match &signer.principal {
                Some(_) if self.permits(names) => return None,
                Some(principal) => format!("{principal} may not sign for this source"),
                None if self.require == Requirement::Known
                    && is_known
                    && self.principals.is_empty() =>
                {
                    return None;
                }
                None => format!("{} is not one", signer.key),
            },
            other => format!("it is {other}"),
        };
        Some(format!("{} requires {needs}, and {why}", self.stated_in))
    }

    fn permits(&self, names: &[&str]) -> bool {
        // `*@example.com` means all that end so.
        let means = |wanted: &String, name: &str| match wanted.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => wanted == name,
        };
        let may = |name: &&str| self.principals.iter().any(|wanted| means(wanted, name));
        self.principals.is_empty() || names.iter().any(may)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signing::{Covers, Key, KeyKind, Signer};

    fn good(principal: Option<&str>) -> Signature {
        Signature::Good(Signer {
            principal: principal.map(str::to_owned),
            key: Key::new(KeyKind::Ssh, "SHA256:abc").unwrap(),
            signed: Covers::Commit,
            public: None,
        })
    }

    #[test]
    fn each_requirement_takes_what_it_says() {
        let bad = Signature::Bad {
            why: "x".to_owned(),
        };
        let (any, listed) = (good(None), good(Some("a")));
        for (require, principals, signature, is_known, met) in [
            (Requirement::None, &[][..], &bad, false, true),
            (Requirement::Known, &[], &any, true, true),
            (Requirement::Known, &[], &any, false, false),
            (Requirement::Known, &["a"], &any, true, false),
            (Requirement::Known, &[], &listed, false, true),
            (Requirement::Known, &[], &Signature::Unsigned, true, false),
            (Requirement::Listed, &[], &any, true, false),
            (Requirement::Listed, &[], &listed, false, true),
            (Requirement::Listed, &["b"], &listed, false, false),
            (Requirement::Listed, &["b", "a"], &listed, false, true),
            (Requirement::Listed, &[], &bad, true, false),
        ] {
            let demand = Demand {
                require,
                principals: principals.iter().map(|name| (*name).to_owned()).collect(),
                ..Demand::default()
            };
            let signer = signature.signer();
            let names = signer.and_then(|signer| signer.principal.as_deref());
            let names: Vec<&str> = names.into_iter().collect();
            let unmet = demand.unmet(signature, &names, is_known);
            assert_eq!(unmet.is_none(), met, "{demand:?} {signature:?} {unmet:?}");
        }
    }
}
