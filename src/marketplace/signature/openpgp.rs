//! OpenPGP keys: imported into a home of GnuPG that exists for one check, so that only the listed
//! ones count, and told by their full fingerprints.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::programs::{KEYRING, Programs};
use crate::signing::{Covers, Key, KeyKind, Signature, Signer};
use crate::sys::EntryName;

/// The beginning of GnuPG's status lines.
const STATUS: &str = "[GNUPG:] ";
/// The file in which a key is passed to gpg.
const PASSED: EntryName = EntryName::from_static("key");
const SIGNATURE: EntryName = EntryName::from_static("signature");

/// The imported keys: the principal of each full fingerprint.
#[derive(Debug, Default)]
pub struct Keyring {
    principals: Vec<(String, String)>,
}

/// Imports the listed OpenPGP keys.
///
/// # Errors
/// When gpg does not answer. Without gpg, or with a key that it does not take, that key does not
/// count.
pub fn import(programs: &Programs, keys: &Keys) -> Result<Keyring> {
    let mut keyring = Keyring::default();
    // Nothing of an earlier check's keys counts.
    let scratch = programs.0.scratch;
    let made = scratch
        .remove_ours(&KEYRING)
        .and_then(|()| scratch.make_private_dir(&KEYRING));
    made.map_err(|error| scratch.error("make directory", &KEYRING, &error))?;
    for listed in keys.signers.of_kind(KeyKind::Openpgp) {
        let Some(mut command) = gpg(programs)? else {
            break;
        };
        let key = STANDARD.decode(&listed.public).unwrap_or_default();
        programs.write(&PASSED, &key)?;
        command.args(["--status-fd", "2", "--import"]);
        command.arg(scratch.path_of(&PASSED));
        let ran = programs.run(command, "")?;
        let imported = status(&ran.errors).filter_map(|line| line.strip_prefix("IMPORT_OK "));
        let fingerprints = imported.filter_map(|line| line.split(' ').nth(1));
        let of = |fingerprint: &str| (fingerprint.to_owned(), listed.principal().to_owned());
        keyring.principals.extend(fingerprints.map(of));
    }
    Ok(keyring)
}

/// A command that asks nobody else; `None` if gpg is missing.
fn gpg(programs: &Programs) -> Result<Option<Command>> {
    let mut command = match programs.command("gpg") {
        Err(failure) if failure.class == Class::Missing => return Ok(None),
        command => command?,
    };
    command.args(["--batch", "--no-autostart", "--no-options", "--quiet"]);
    command.args(["--disable-dirmngr", "--no-auto-key-retrieve"]);
    Ok(Some(command))
}

fn status(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter_map(|line| line.strip_prefix(STATUS))
}

impl Keyring {
    /// Checks the armored signature of `signed`.
    ///
    /// # Errors
    /// When gpg does not answer, or the disk is full.
    pub fn check(
        &self,
        programs: &Programs,
        keys: &Keys,
        (armored, signed): (&str, &[u8]),
        covers: Covers,
    ) -> Result<Signature> {
        let Some(mut command) = gpg(programs)? else {
            return Ok(Signature::without("gpg"));
        };
        programs.write(&SIGNATURE, armored.as_bytes())?;
        command.args(["--status-fd", "2", "--verify"]);
        command.arg(programs.0.scratch.path_of(&SIGNATURE)).arg("-");
        let ran = programs.run(command, signed)?;
        Ok(self.result(keys, ran.status.success(), &ran.errors, covers))
    }

    /// The full fingerprints that were imported, each with its principal.
    pub fn fingerprints(&self) -> impl Iterator<Item = (&str, &str)> {
        self.principals
            .iter()
            .map(|(fingerprint, who)| (fingerprint.as_str(), who.as_str()))
    }

    /// What gpg's answer means.
    pub fn result(&self, keys: &Keys, accepted: bool, printed: &str, covers: Covers) -> Signature {
        let bad = |why: &str| Signature::Bad {
            why: why.to_owned(),
        };
        let find = |name: &str| {
            status(printed).find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        };
        if find("BADSIG").is_some() {
            return bad("it is not of these files");
        }
        if find("REVKEYSIG").is_some() || find("KEYREVOKED").is_some() {
            return bad("the key was revoked by its owner");
        }
        if find("EXPKEYSIG").is_some() || find("EXPSIG").is_some() {
            return bad("the key or the signature has expired");
        }
        let unlisted =
            |key: &str| Signature::unchecked(format!("the OpenPGP key {key} is not listed here"));
        // First the fingerprint of the key that signed, at the end that of its primary key.
        let valid = find("VALIDSIG").filter(|_| accepted && find("GOODSIG").is_some());
        let Some(valid) = valid else {
            let key = find("ERRSIG").and_then(|line| {
                let id = line.split(' ').next()?;
                let full = line.split(' ').nth(6).filter(|last| last.len() >= 40);
                Some(full.unwrap_or(id))
            });
            let is_plain = |key: &&str| key.bytes().all(|byte| byte.is_ascii_hexdigit());
            return match key.filter(is_plain) {
                Some(key) => unlisted(key),
                None => Signature::unchecked("gpg could not check it".to_owned()),
            };
        };
        let own = valid.split(' ').next().unwrap_or_default();
        let primary = valid.split(' ').next_back().unwrap_or_default();
        if let Some(key) = [own, primary].into_iter().find(|key| keys.revokes(key)) {
            return bad(&format!("the key {key} was revoked"));
        }
        let mut known = self.fingerprints();
        let principal = known.find(|(known, _)| *known == primary);
        match (principal, Key::new(KeyKind::Openpgp, primary)) {
            (Some((_, principal)), Ok(key)) => Signature::Good(Signer {
                principal: Some(principal.to_owned()),
                key,
                signed: covers,
            }),
            _ => unlisted(primary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_signature_of_an_imported_key_counts() {
        let full = "A".repeat(40);
        let keyring = Keyring {
            principals: vec![(full.clone(), "alice".to_owned())],
        };
        let good = format!(
            "{STATUS}GOODSIG AAAA a\n{STATUS}VALIDSIG {} 2026-01-01 1 0 4 0 1 10 00 {full}\n",
            "B".repeat(40)
        );
        let keys = Keys::default();
        let result =
            |accepted, printed: &str| keyring.result(&keys, accepted, printed, Covers::Commit);
        let signer = result(true, &good);
        assert_eq!(signer.signer().unwrap().principal.as_deref(), Some("alice"));
        for (accepted, printed) in [
            (false, good.clone()),
            (true, good.replace("GOODSIG", "EXPKEYSIG")),
            (true, good.replace("GOODSIG", "REVKEYSIG")),
            (true, format!("{good}{STATUS}BADSIG x\n")),
            (true, good.replace(&full, &"C".repeat(40))),
            (
                true,
                format!("{STATUS}ERRSIG 0123456789ABCDEF 1 10 00 0 9 {full}\n"),
            ),
            (true, String::new()),
        ] {
            assert!(result(accepted, &printed).signer().is_none(), "{printed}");
        }
    }
}
