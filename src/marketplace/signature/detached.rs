//! Manifests and their signatures: where they are, beside an archive or in a skill's directory, and
//! whether they hold. `ssh-keygen` and, where the user has it, minisign check them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::lock::Files;
use crate::marketplace::signature::evidence::ManifestEvidence;
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::programs::Programs;
use crate::marketplace::signature::ssh;
use crate::signing::{
    Covers, Key, KeyKind, MANIFEST, MINISIGN, Manifest, Namespace, SSH_SIGNATURE,
};
use crate::signing::{Signature, Signer, digest, shown_id};
use crate::sys::{Dir, EntryName, limits};

const SIGNATURE: EntryName = EntryName::from_static("manifest.sig");
const SIGNED: EntryName = EntryName::from_static("manifest");
/// What a minisign signature begins with.
const COMMENT: &str = "untrusted comment:";
/// What its third line begins with.
const TRUSTED: &str = "trusted comment:";

impl ManifestEvidence {
    /// What `read` finds under the manifest's name and under those of its signatures; `None` without
    /// a manifest or without a signature of it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn find(mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>>) -> Result<Option<Self>> {
        let text = |bytes: Option<Vec<u8>>| {
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let Some(manifest) = text(read("")?) else {
            return Ok(None);
        };
        let ssh = text(read(SSH_SIGNATURE)?);
        let minisign = text(read(MINISIGN)?);
        if ssh.is_none() && minisign.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            manifest,
            ssh,
            minisign,
        }))
    }

    /// The digests of these files, none of which may be executable.
    fn digests(&self) -> Vec<String> {
        let texts = [
            Some(&self.manifest),
            self.ssh.as_ref(),
            self.minisign.as_ref(),
        ];
        let digest = |text: &String| digest(text.as_bytes(), false);
        texts.into_iter().flatten().map(digest).collect()
    }

    /// The manifest in a skill's directory, if it is signed.
    ///
    /// # Errors
    /// When a file there cannot be read.
    pub fn inside(skill: &Path) -> Result<Option<Self>> {
        let Ok(dir) = Dir::anchor(skill) else {
            return Ok(None);
        };
        Self::find(|end| {
            let Some(name) = EntryName::parse(format!("{MANIFEST}{end}")) else {
                return Ok(None);
            };
            let read = crate::sys::files::if_there(dir.read(&name, limits::MANIFEST));
            read.map_err(|error| dir.error("read", &name, &error))
        })
    }
}

fn bad(why: impl Into<String>) -> Signature {
    Signature::Bad { why: why.into() }
}

/// Checks a manifest and its signature against the files of the skill `name`.
///
/// # Errors
/// When a program does not answer.
pub fn check(
    programs: &Programs,
    files: &KeyFiles,
    evidence: &ManifestEvidence,
    (name, present): (&str, &Files),
) -> Result<Signature> {
    let manifest = match Manifest::parse(&evidence.manifest) {
        Ok(manifest) => manifest,
        Err(error) => return Ok(bad(error.to_string())),
    };
    let present = present
        .paths()
        .map(|path| (path, present.get(path).unwrap_or_default()));
    if let Some(why) = manifest.differs(name, present, &evidence.digests()) {
        return Ok(bad(why));
    }
    // It is in the skill even if the other one counts.
    if evidence
        .minisign
        .as_deref()
        .is_some_and(|one| minisign_key(one).is_none())
    {
        return Ok(bad("its signature is not one of minisign's"));
    }
    match (&evidence.ssh, &evidence.minisign) {
        (Some(armored), _) => {
            let signed = evidence.manifest.as_bytes();
            let purpose = (Namespace::Skill, Covers::Manifest);
            ssh::check(programs, files, armored, signed, purpose)
        }
        (None, Some(signature)) => by_minisign(programs, files, &evidence.manifest, signature),
        (None, None) => Ok(Signature::Unsigned),
    }
}

fn by_minisign(
    programs: &Programs,
    files: &KeyFiles,
    manifest: &str,
    signature: &str,
) -> Result<Signature> {
    let Some(id) = minisign_key(signature) else {
        return Ok(bad("its signature is not one of minisign's"));
    };
    if files.keys.revokes(&id) {
        return Ok(bad(format!("the key {id} was revoked")));
    }
    let mut listed = files.keys.signers.of_kind(KeyKind::Minisign);
    let Some(listed) = listed.find(|one| one.fingerprint.as_deref() == Some(&id)) else {
        let why = format!("the minisign key {id} is not listed here");
        return Ok(Signature::unchecked(why));
    };
    let mut command = match programs.command("minisign") {
        Err(failure) if failure.class == Class::Missing => {
            return Ok(Signature::without("minisign"));
        }
        command => command?,
    };
    programs.write(&SIGNED, manifest.as_bytes())?;
    programs.write(&SIGNATURE, signature.as_bytes())?;
    let scratch = programs.0.scratch;
    command.args(["-V", "-q", "-P", &listed.public, "-m"]);
    command.arg(scratch.path_of(&SIGNED));
    command.arg("-x").arg(scratch.path_of(&SIGNATURE));
    let ran = programs.run(command, "")?;
    Ok(match Key::new(KeyKind::Minisign, &id) {
        Ok(key) if ran.status.success() => Signature::Good(Signer {
            principal: Some(listed.principal().to_owned()),
            key,
            signed: Covers::Manifest,
        }),
        _ => bad("it is not of this manifest"),
    })
}

/// The id of the key of a minisign signature, as minisign shows it.
fn minisign_key(signature: &str) -> Option<String> {
    let lines: Vec<&str> = signature.lines().collect();
    let [comment, key, trusted, _] = lines.as_slice() else {
        return None;
    };
    if !comment.starts_with(COMMENT) || !trusted.starts_with(TRUSTED) {
        return None;
    }
    let bytes = STANDARD.decode(key.trim()).ok()?;
    let id = bytes
        .strip_prefix(b"Ed")
        .or_else(|| bytes.strip_prefix(b"ED"))?
        .get(..8)?;
    Some(shown_id(id))
}
