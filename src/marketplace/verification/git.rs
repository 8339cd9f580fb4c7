//! Signed commits and annotated tags, checked by git in the repository from which they were fetched.
//! Whatever decides there is given with the command: no configuration has a say.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::marketplace::fetch::{CommandOutput, GitObject};
use crate::marketplace::prelude::*;
use crate::marketplace::verification::key_set::KeySet;
use crate::marketplace::verification::ssh::said;
use crate::signing::{KeyKind, PublicKey, Signature, SignedObject, Signer, openpgp_fingerprint};

/// What git takes for the beginning of a signature.
const MARKERS: [&str; 4] = [
    "PGP SIGNATURE",
    "PGP MESSAGE",
    "SIGNED MESSAGE",
    "SSH SIGNATURE",
];

/// A signed commit or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitProof {
    object: GitObject,
    covers: SignedObject,
    /// Its signature, as it is written in it.
    armored: String,
}

impl GitProof {
    /// A commit or tag, if it has a signature.
    pub fn new(object: GitObject, covers: SignedObject) -> Option<Self> {
        let armored = match covers {
            SignedObject::Tag => of_tag(&object.text),
            SignedObject::Commit | SignedObject::Manifest => {
                of_commit(&object.text, object.id.len() == 64)
            }
        }?;
        Some(Self {
            object,
            covers,
            armored,
        })
    }

    /// Why a signed tag is not what its source shows: that which is `called` so and leads to this
    /// commit.
    pub fn difference_from(&self, commit: &str, called: Option<&str>) -> Option<String> {
        let mut lines = self.object.text.lines();
        let leads = format!("object {commit}");
        let is_commits = lines.next() == Some(&leads) && lines.next() == Some("type commit");
        let named = lines.next().and_then(|line| line.strip_prefix("tag "));
        match (named, called) {
            (Some(named), Some(called)) if named != called => {
                Some(format!("the tag was signed as `{}`", named.escape_debug()))
            }
            (Some(_), _) if is_commits => None,
            _ => Some("the signed tag points to another commit".to_owned()),
        }
    }
}

/// The signature at the end of a tag: from the last line that begins as one of git's.
fn of_tag(text: &str) -> Option<String> {
    let of = |marker: &&str| text.rfind(&format!("\n-----BEGIN {marker}-----"));
    let at = MARKERS.iter().filter_map(of).max()? + 1;
    Some(text[at..].to_owned())
}

/// The signature in the header of a commit, of which the lines but the first begin with a space.
fn of_commit(text: &str, has_long_ids: bool) -> Option<String> {
    let name = if has_long_ids {
        "gpgsig-sha256 "
    } else {
        "gpgsig "
    };
    let (head, _) = text.split_once("\n\n")?;
    let mut lines = head.lines();
    let first = lines.find_map(|line| line.strip_prefix(name))?;
    let rest = lines.map_while(|line| line.strip_prefix(' '));
    let lines = [first].into_iter().chain(rest);
    Some(lines.flat_map(|line| [line, "\n"]).collect())
}

impl KeySet<'_> {
    /// Checks a signed commit or tag.
    ///
    /// # Errors
    /// When a program does not answer, or the disk is full.
    pub fn check_git(&self, proof: &GitProof) -> Result<Signature> {
        let mut known = self.of_git.borrow_mut();
        if let Some(known) = known.get(&proof.object.id) {
            return Ok(known.clone());
        }
        let signature = self.check_git_anew(proof)?;
        known.insert(proof.object.id.clone(), signature.clone());
        Ok(signature)
    }

    fn check_git_anew(&self, proof: &GitProof) -> Result<Signature> {
        let (covers, armored) = (proof.covers, &proof.armored);
        if armored.starts_with("-----BEGIN PGP ") {
            let Ok(gpg) = self.tool.find("gpg") else {
                return Ok(Signature::without("gpg"));
            };
            let ran = self.git(proof, gpg.as_os_str(), Path::new("/dev/null"))?;
            return Ok(match openpgp(ran.status.success(), &ran.errors, covers) {
                Ok(signer) => self.trust(&signer),
                Err(other) => other,
            });
        }
        if !armored.starts_with("-----BEGIN SSH ") {
            let why = "in a form that is not checked here: ssh and OpenPGP are";
            return Ok(Signature::unchecked(why.to_owned()));
        }
        self.check_ssh(armored, covers, |signers| {
            let program = self.tool.find("ssh-keygen")?;
            let ran = self.git(proof, program.as_os_str(), signers)?;
            // What one says that knows no such signatures: it finds none, or breaks off.
            let mut old = ["no signature found", ": bad signature '"].into_iter();
            if old.any(|text| ran.errors.contains(text)) {
                let why = "git 2.34 or later is needed for ssh signatures in repositories";
                return Ok(Err(Signature::unchecked(why.to_owned())));
            }
            Ok(said("git", ran.status.success(), &ran.errors))
        })
    }

    /// Git's answer about a signature, and on standard error that of the `program` that it asks.
    /// `signers` is the file of ssh keys that may have signed.
    fn git(&self, proof: &GitProof, program: &OsStr, signers: &Path) -> Result<CommandOutput> {
        let mut command = self.tool.checking("git")?;
        command.envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ]);
        for (name, value) in [
            ("gpg.minTrustLevel", OsStr::new("undefined")),
            ("gpg.program", program),
            ("gpg.openpgp.program", program),
            ("gpg.ssh.program", program),
            ("gpg.ssh.allowedSignersFile", signers.as_os_str()),
            ("gpg.ssh.revocationFile", OsStr::new("/dev/null")),
        ] {
            let mut setting = OsString::from(name);
            setting.push("=");
            setting.push(value);
            command.arg("-c").arg(setting);
        }
        let verify = match proof.covers {
            SignedObject::Tag => "verify-tag",
            SignedObject::Commit | SignedObject::Manifest => "verify-commit",
        };
        command.arg("--git-dir").arg(&proof.object.repo);
        command.args([verify, "--raw", &proof.object.id]);
        Ok(self.tool.run(command, "", limits::SIGNERS)?)
    }
}

/// Who signed by what gpg says, whose keyring is the user's; or what the signature is without.
fn openpgp(
    accepted: bool,
    printed: &str,
    covers: SignedObject,
) -> std::result::Result<Signer, Signature> {
    let find = |name: &str| {
        let mut lines = printed
            .lines()
            .filter_map(|line| line.strip_prefix("[GNUPG:] "));
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    };
    let any = |names: [&str; 2]| names.iter().any(|name| find(name).is_some());
    if find("BADSIG").is_some() {
        return Err(Signature::bad("it is not of these files"));
    }
    if any(["REVKEYSIG", "KEYREVOKED"]) {
        return Err(Signature::bad("the key was revoked by its owner"));
    }
    if any(["EXPKEYSIG", "EXPSIG"]) {
        return Err(Signature::bad("the key or the signature has expired"));
    }
    let fingerprint = |written: Option<&str>| {
        let key = openpgp_fingerprint(written.unwrap_or_default())?;
        PublicKey::new(KeyKind::Openpgp, &key).ok()
    };
    // First the fingerprint of the key that signed, at the end that of its primary key.
    if let Some(valid) = find("VALIDSIG").filter(|_| accepted && find("GOODSIG").is_some())
        && let Some(own) = fingerprint(valid.split(' ').next())
        && let Some(key) = fingerprint(valid.split(' ').next_back())
    {
        return Ok(Signer {
            principal: None,
            key,
            signed: covers,
            public: Some(own.fingerprint),
        });
    }
    // Newer versions tell the whole fingerprint of a missing key, at the end.
    let whole = || fingerprint(find("ERRSIG")?.split(' ').next_back());
    let missing = find("NO_PUBKEY").map(|id| whole().map_or(id.to_owned(), |key| key.fingerprint));
    Err(Signature::unchecked(match missing {
        Some(key) => format!(
            "the OpenPGP key {key} is not in your keyring: get it with `gpg --recv-keys {key}` or \
             `gpg --import FILE`"
        ),
        None => "gpg could not check it".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_found_where_git_finds_it() {
        let head = "tree a\ngpgsig x\n y\n \n z\nmergetag object b\n type commit\n gpgsig no\n";
        let message = "\nm\ngpgsig no\n";
        let found = of_commit(&format!("{head}{message}"), false);
        assert_eq!(found.as_deref(), Some("x\ny\n\nz\n"));
        let merge = "tree a\nmergetag object b\n gpgsig no\n";
        for none in [&format!("{merge}{message}"), message, ""] {
            assert_eq!(of_commit(none, false), None, "{none}");
        }
        let begin = "-----BEGIN SSH SIGNATURE-----";
        let tag = format!("object x\n\nquoted\n{begin}\nx\n{begin}\ny\n");
        assert_eq!(of_tag(&tag), Some(format!("{begin}\ny\n")));
        for message in ["m", "-----BEGIN CERTIFICATE-----\nx", "-----BEGIN "] {
            assert_eq!(of_tag(&format!("object x\n\n{message}\n")), None);
        }
    }

    #[test]
    fn only_a_valid_signature_of_openpgp_has_a_signer() {
        const STATUS: &str = "[GNUPG:] ";
        let (own, full) = ("B".repeat(40), "A".repeat(40));
        let good = format!(
            "{STATUS}GOODSIG AAAA a\n{STATUS}VALIDSIG {own} 2026-01-01 1 0 4 0 1 10 00 {full}\n"
        );
        let signer = openpgp(true, &good, SignedObject::Commit).unwrap();
        assert_eq!(
            (signer.key.fingerprint, signer.public),
            (full.clone(), Some(own))
        );
        let unknown = format!("{STATUS}NO_PUBKEY 0123\n{STATUS}ERRSIG 0123 1 10 00 0 9 ");
        for (accepted, printed, why) in [
            (false, good.clone(), "gpg could not"),
            (true, good.replace("GOODSIG", "EXPKEYSIG"), "expired"),
            (true, good.replace("GOODSIG", "REVKEYSIG"), "its owner"),
            (true, format!("{good}{STATUS}BADSIG x\n"), "these files"),
            (true, good.replace(&full, "AAAA"), "gpg could not"),
            (
                false,
                format!("{unknown}{full}\n"),
                &*format!("--recv-keys {full}`"),
            ),
            (false, format!("{unknown}-\n"), "--recv-keys 0123`"),
            (true, String::new(), "gpg could not"),
        ] {
            let other = openpgp(accepted, &printed, SignedObject::Commit).unwrap_err();
            assert!(other.to_string().contains(why), "{printed}: {other}");
        }
    }
}
