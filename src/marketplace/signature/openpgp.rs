//! OpenPGP keys: imported into a home of GnuPG that exists for one check, so that only the listed
//! ones count, and told by their full fingerprints.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::signature::key_set::KeySet;
use crate::signing::{Covers, Key, KeyKind, Listed, Signature, Signer};
use crate::sys::{EntryName, files, limits};

/// The beginning of GnuPG's status lines.
const STATUS: &str = "[GNUPG:] ";
/// The file in which a key is passed to gpg.
const PASSED: EntryName = EntryName::from_static("key");

const REVOKED: &str = "the key was revoked by its owner";
const EXPIRED: &str = "the key or the signature has expired";

fn status<'p>(printed: &'p str, name: &str) -> Option<&'p str> {
    let mut lines = printed.lines().filter_map(|line| line.strip_prefix(STATUS));
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

fn unlisted(key: &str) -> Signature {
    Signature::unchecked(format!("the OpenPGP key {key} is not listed here"))
}

impl KeySet<'_> {
    /// The full fingerprints of the listed OpenPGP keys, each with the number of its line. A key that gpg does
    /// not take does not count, and none without gpg.
    ///
    /// # Errors
    /// When gpg does not answer.
    pub fn openpgp(&self) -> Result<&[(String, usize)]> {
        if let Some(keyring) = self.keyring.get() {
            return Ok(keyring);
        }
        let mut keyring = Vec::new();
        for listed in self.signers.of_kind(KeyKind::Openpgp) {
            let Some(mut command) = self.gpg()? else {
                break;
            };
            let key = STANDARD.decode(&listed.public).unwrap_or_default();
            let file = self.write(&PASSED, &key)?;
            command.args(["--status-fd", "2", "--import"]).arg(file);
            let ran = self.programs.run(command, "")?;
            let imported = ran.errors.lines();
            let imported = imported.filter_map(|line| status(line, "IMPORT_OK"));
            let fingerprints = imported.filter_map(|line| line.split(' ').nth(1));
            let of = |key: &str| (key.to_owned(), listed.line);
            keyring.extend(fingerprints.map(of));
        }
        Ok(self.keyring.get_or_init(|| keyring))
    }

    /// A command that asks nobody else; `None` if gpg is missing.
    pub fn gpg(&self) -> Result<Option<Command>> {
        match self.programs.find("gpg") {
            Err(failure) if failure.class == Class::Missing => Ok(None),
            _ => self.command("gpg").map(Some),
        }
    }

    /// What gpg's answer about a signature means.
    pub fn openpgp_result(&self, accepted: bool, printed: &str, covers: Covers) -> Signature {
        let find = |name: &str| status(printed, name);
        if find("BADSIG").is_some() {
            return Signature::bad("it is not of these files");
        }
        if find("REVKEYSIG").is_some() || find("KEYREVOKED").is_some() {
            return Signature::bad(REVOKED);
        }
        if find("EXPKEYSIG").is_some() || find("EXPSIG").is_some() {
            return Signature::bad(EXPIRED);
        }
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
        self.openpgp_signer(own, primary, covers)
    }

    /// The signer with a key, of which the part `own` signed.
    fn openpgp_signer(&self, own: &str, primary: &str, covers: Covers) -> Signature {
        if let Some(key) = [own, primary].into_iter().find(|key| self.revokes(key)) {
            return Signature::bad(format!("the key {key} was revoked"));
        }
        let mut known = self.keyring.get().into_iter().flatten();
        let line = known.find(|(known, _)| known == primary);
        let listed = line.and_then(|(_, line)| self.signers.at(*line));
        let principal = listed.and_then(Listed::principal);
        match (principal, Key::new(KeyKind::Openpgp, primary)) {
            (Some(principal), Ok(key)) => Signature::Good(Signer {
                principal: Some(principal.to_owned()),
                key,
                signed: covers,
                public: Some(own.to_owned()),
            }),
            _ => unlisted(primary),
        }
    }

    /// The signature of the signer that the user's lockfile pins: whether the key counts now.
    ///
    /// # Errors
    /// When gpg does not answer.
    pub fn trust_openpgp(&self, signer: &Signer) -> Result<Signature> {
        let Some(mut command) = self.gpg()? else {
            return Ok(Signature::without("gpg"));
        };
        self.openpgp()?;
        let primary = &*signer.key.fingerprint;
        let own = signer.public.as_deref().unwrap_or(primary);
        // Given twice, it shows those of the parts, too.
        command.args([
            "--with-colons",
            "--fingerprint",
            "--fingerprint",
            "--list-keys",
        ]);
        command.arg(primary);
        let ran = self.programs.run(command, "")?;
        let bytes = files::read_all_capped(ran.output, limits::SIGNERS);
        let bytes = bytes.map_err(|error| self.programs.0.local(&error))?;
        let (mut state, mut is_there) = ("", false);
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines() {
            let field = |at| line.split(':').nth(at).unwrap_or_default();
            match (field(0), field(9)) {
                ("pub" | "sub", _) => state = field(1),
                ("fpr", key) if key == own || key == primary => {
                    is_there |= key == own;
                    match state {
                        "r" => return Ok(Signature::bad(REVOKED)),
                        "e" => return Ok(Signature::bad(EXPIRED)),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if !is_there {
            return Ok(unlisted(own));
        }
        Ok(self.openpgp_signer(own, primary, signer.signed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::fetch::Tool;
    use crate::marketplace::signature::Programs;
    use crate::signing::Signers;
    use crate::sys::{Dir, Env};

    #[test]
    fn only_a_valid_signature_of_an_imported_key_counts() {
        let dir = tempfile::tempdir().unwrap();
        let tool = Tool {
            env: &Env::new([("PATH", "/nowhere")], dir.path()),
            deadline: None,
            scratch: &Dir::anchor(dir.path()).unwrap(),
            progress: None,
        };
        let full = "A".repeat(40);
        let signers = Signers::parse("alice openpgp mQINBF8=").unwrap();
        let keys = KeySet::listing(Programs(tool), signers);
        let keyring = vec![(full.clone(), 1)];
        keys.keyring.set(keyring).unwrap();
        let good = format!(
            "{STATUS}GOODSIG AAAA a\n{STATUS}VALIDSIG {} 2026-01-01 1 0 4 0 1 10 00 {full}\n",
            "B".repeat(40)
        );
        let result =
            |accepted, printed: &str| keys.openpgp_result(accepted, printed, Covers::Commit);
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
