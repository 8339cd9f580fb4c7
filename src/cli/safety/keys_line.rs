//! The line of a key in a file of signers, from what a person gives.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::skill::visible;
use crate::sys::Moment;

/// A key to be listed, as a person asks for it.
#[derive(Debug, clap::Args)]
pub struct Added {
    /// Whose key it is, such as an e-mail address
    pub principal: String,
    /// A public key's file: of ssh or OpenPGP
    #[arg(required_unless_present = "from")]
    pub key: Option<PathBuf>,
    /// Take the ssh key that signed an installed skill
    #[arg(long, value_name = "SKILL", conflicts_with = "key")]
    pub from: Option<String>,
    /// The first day on which an ssh key counts no longer, as 2027-12-31
    #[arg(long, value_name = "DATE")]
    pub valid_before: Option<String>,
    /// What an ssh key may sign: git (commits, tags), agent-skill (manifests)
    #[arg(long, value_name = "NAMES", default_value = "git,agent-skill")]
    pub namespaces: String,
    /// The file of signers, if not the user's own
    #[arg(long)]
    pub file: Option<PathBuf>,
}

/// Which key, or whose, is to be taken out.
#[derive(Debug, clap::Args)]
pub struct Removed {
    /// A principal, or the fingerprint of a key
    #[arg(value_name = "PRINCIPAL|FINGERPRINT")]
    pub which: String,
    /// The file of signers, if not the user's own
    #[arg(long)]
    pub file: Option<PathBuf>,
}

/// Which key counts no longer.
#[derive(Debug, clap::Args)]
pub struct Revoked {
    /// Its fingerprint, or the public key's file
    #[arg(value_name = "FINGERPRINT|FILE")]
    pub which: String,
    /// The file of revoked keys, if not the user's own
    #[arg(long)]
    pub file: Option<PathBuf>,
}

/// The name, if it can be one of a single signer in a file of signers.
pub fn principal(written: &str) -> Result<&str> {
    let is_odd = |c: char| c.is_whitespace() || "\"',*?!#".contains(c);
    if written.is_empty() || written.contains(is_odd) || visible(written) != written {
        let text = format!("`{}` cannot be the name of a signer", visible(written));
        return Err(Error::new(text).hint("give an e-mail address, or a name in one word"));
    }
    Ok(written)
}

/// The line for a file of signers.
pub fn line(who: &str, key: &str, added: &Added) -> Result<String> {
    let is_ssh = !key.starts_with("openpgp ");
    if !is_ssh {
        if added.valid_before.is_some() {
            let text = "only the line of an ssh key has a last day";
            return Err(Error::new(text).hint("an OpenPGP key says itself when it expires"));
        }
        return Ok(format!("{who} {key}"));
    }
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !"-_.@,".contains(c);
    let names = &added.namespaces;
    if names.is_empty() || names.contains(is_odd) {
        let text = format!("`{}` are no names of purposes", visible(names));
        return Err(
            Error::new(text).hint("`git` for commits and tags, `agent-skill` for manifests")
        );
    }
    let mut options = format!("namespaces=\"{names}\"");
    if let Some(day) = &added.valid_before {
        let digits = day.replace('-', "");
        let at = Moment::parse(day, Moment(0));
        if at.is_none() || digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let text = format!("`{}` is not a day", visible(day));
            return Err(Error::new(text).hint("write it as 2027-12-31"));
        }
        let _ = write!(options, ",valid-before=\"{digits}\"");
    }
    Ok(format!("{who} {options} {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(valid_before: Option<&str>, namespaces: &str) -> Added {
        Added {
            principal: "a".to_owned(),
            key: None,
            from: None,
            valid_before: valid_before.map(str::to_owned),
            namespaces: namespaces.to_owned(),
            file: None,
        }
    }

    #[test]
    fn a_line_has_the_options_that_its_kind_takes() {
        let ssh = "ssh-ed25519 AAAA";
        let both = line("a", ssh, &asked(Some("2027-12-31"), "git,agent-skill")).unwrap();
        let options = "namespaces=\"git,agent-skill\",valid-before=\"20271231\"";
        assert_eq!(both, format!("a {options} {ssh}"));
        assert_eq!(
            line("a", "openpgp A", &asked(None, "git")).unwrap(),
            "a openpgp A"
        );
        assert!(line("a", "openpgp A", &asked(Some("2027-12-31"), "git")).is_err());
        for day in ["2027-13-01", "tomorrow", "7d", "2027", "2027-12-31 10:00"] {
            assert!(line("a", ssh, &asked(Some(day), "git")).is_err(), "{day}");
        }
        for names in ["", "a b", "git\",cert-authority"] {
            assert!(line("a", ssh, &asked(None, names)).is_err(), "{names}");
        }
    }

    #[test]
    fn a_principal_is_one_name() {
        for odd in [
            "",
            "a b",
            "*",
            "a,b",
            "!a",
            "#a",
            "a\"",
            "a\u{202e}b",
            "a\n",
        ] {
            assert!(principal(odd).is_err(), "{odd:?}");
        }
        principal("alice@example.com").unwrap();
    }
}
