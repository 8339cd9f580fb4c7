//! Programs of the user's that have to accept an archive before it is used, as a policy or a
//! configuration names them for a source, and how they are asked.

use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A program that checks attestations of archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verifier {
    /// GitHub's: `gh attestation verify`.
    Gh,
    /// Sigstore's: `cosign verify-blob`, with the bundle that is beside the archive.
    Cosign,
}

/// What is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The program.
    pub program: Verifier,
    /// Who has to have signed: for GitHub the address of a workflow.
    pub identity: Option<String>,
    /// Who vouches for that identity.
    pub issuer: Option<String>,
}

impl Verifier {
    /// As it is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Cosign => "cosign",
        }
    }

    /// What follows an archive's name in that of the file which this program needs beside it.
    pub fn bundle(self) -> Option<&'static str> {
        match self {
            Self::Gh => None,
            Self::Cosign => Some(".sigstore.json"),
        }
    }
}

impl Verification {
    /// The arguments for an archive from this source, and for what is beside it.
    ///
    /// # Errors
    /// When the program cannot check such an archive, or not without being told who signs.
    pub fn arguments(&self, archive: &Path, bundle: &Path, source: &str) -> Result<Vec<OsString>> {
        let mut arguments: Vec<OsString> = Vec::new();
        let (identity, issuer) = match self.program {
            Verifier::Gh => {
                let repo = github_repository(source).ok_or_else(|| {
                    Error::new("gh checks archives of GitHub's repositories only")
                })?;
                arguments.extend(["attestation", "verify"].map(OsString::from));
                arguments.push(archive.into());
                arguments.push(format!("--repo={repo}").into());
                ("--cert-identity", "--cert-oidc-issuer")
            }
            Verifier::Cosign => {
                self.names_signer()?;
                arguments.push("verify-blob".into());
                arguments.push(archive.into());
                arguments.extend(["--bundle".into(), bundle.into()]);
                ("--certificate-identity", "--certificate-oidc-issuer")
            }
        };
        self.add_signer(&mut arguments, (identity, issuer));
        Ok(arguments)
    }

    /// The arguments for an artifact in a registry, `HOST/NAME@DIGEST`, which the program fetches.
    ///
    /// # Errors
    /// As [`Verification::arguments`].
    pub fn of_image(&self, image: &str) -> Result<Vec<OsString>> {
        if self.program == Verifier::Gh {
            return Err(Error::new("gh is not asked about registries"));
        }
        self.names_signer()?;
        let mut arguments = vec!["verify".into(), image.into()];
        let options = ("--certificate-identity", "--certificate-oidc-issuer");
        self.add_signer(&mut arguments, options);
        Ok(arguments)
    }

    /// Cosign accepts any signature unless it is told whose.
    fn names_signer(&self) -> Result<()> {
        if self.identity.is_some() && self.issuer.is_some() {
            return Ok(());
        }
        let text = "cosign has to be told who signs: `identity` and `issuer` are missing";
        Err(Error::new(text))
    }

    fn add_signer(&self, arguments: &mut Vec<OsString>, (identity, issuer): (&str, &str)) {
        for (option, value) in [(identity, &self.identity), (issuer, &self.issuer)] {
            let argument = value.as_ref().map(|value| format!("{option}={value}"));
            arguments.extend(argument.map(OsString::from));
        }
    }
}

/// `OWNER/NAME` of an address below a repository of GitHub's.
fn github_repository(source: &str) -> Option<String> {
    let mut parts = source.strip_prefix("https://github.com/")?.split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let is_plain = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !part.is_empty() && !part.starts_with(['-', '.']) && part.bytes().all(plain)
    };
    (is_plain(owner) && is_plain(name)).then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(program: Verifier, identity: Option<&str>, source: &str) -> Result<String> {
        let verification = Verification {
            program,
            identity: identity.map(str::to_owned),
            issuer: identity.map(|_| "https://i".to_owned()),
        };
        let arguments = verification.arguments(Path::new("/a"), Path::new("/b"), source)?;
        let words = arguments
            .iter()
            .map(|word| word.to_str().unwrap().to_owned());
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn each_program_is_asked_about_the_archive_and_its_signer() {
        let release = "https://github.com/acme/skills/releases/download/1/x.zip";
        assert_eq!(
            asked(Verifier::Gh, None, release).unwrap(),
            "attestation verify /a --repo=acme/skills"
        );
        assert_eq!(
            asked(Verifier::Gh, Some("-w"), release).unwrap(),
            "attestation verify /a --repo=acme/skills --cert-identity=-w --cert-oidc-issuer=https://i"
        );
        assert_eq!(
            asked(Verifier::Cosign, Some("w"), "https://h/x.zip").unwrap(),
            "verify-blob /a --bundle /b --certificate-identity=w --certificate-oidc-issuer=https://i"
        );
        for (program, source) in [
            (Verifier::Cosign, release),
            (Verifier::Gh, "https://github.com.evil.org/a/b/x.zip"),
            (Verifier::Gh, "https://github.com/acme"),
            (Verifier::Gh, "https://github.com/--owner/x/y.zip"),
            (Verifier::Gh, "/home/x.zip"),
        ] {
            assert!(asked(program, None, source).is_err(), "{source}");
        }
    }
}
