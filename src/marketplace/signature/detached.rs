//! Manifests and their signatures: where they are, beside an archive or in a skill's directory, and
//! whether they hold. `ssh-keygen` and, where the user has it, minisign check them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::marketplace::fetch::Class;
use crate::marketplace::lock::Files;
use crate::marketplace::signature::commit::{KeyFiles, of_ssh};
use crate::marketplace::signature::evidence::ManifestEvidence;
use crate::marketplace::signature::programs::Programs;
use crate::signing::{
    Covers, Key, KeyKind, MANIFEST, MINISIGN, Manifest, Namespace, SSH_SIGNATURE,
};
use crate::signing::{Signature, Signer, SshSignature, shown_id, ssh_fingerprint};
use crate::sys::{Dir, Durable, EntryName, limits};

const SIGNATURE: EntryName = EntryName::from_static("manifest.sig");
const SIGNED: EntryName = EntryName::from_static("manifest");
/// What a minisign signature begins with.
const COMMENT: &str = "untrusted comment:";

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
    if let Some(why) = manifest.differs(name, present) {
        return Ok(bad(why));
    }
    match (&evidence.ssh, &evidence.minisign) {
        (Some(armored), _) => by_ssh(programs, files, &evidence.manifest, armored),
        (None, Some(signature)) => by_minisign(programs, files, &evidence.manifest, signature),
        (None, None) => Ok(Signature::Unsigned),
    }
}

fn write(programs: &Programs, name: &EntryName, text: &str) -> Result<()> {
    let scratch = programs.0.scratch;
    let written = scratch.replace(name, text.as_bytes(), 0o600, Durable::No);
    written.map_err(|error| scratch.error("write", name, &error))
}

fn by_ssh(
    programs: &Programs,
    files: &KeyFiles,
    manifest: &str,
    armored: &str,
) -> Result<Signature> {
    let Some(ssh) = SshSignature::parse(armored) else {
        return Ok(bad("its signature is not one of ssh-keygen's"));
    };
    if ssh.namespace != Namespace::Skill.as_str() {
        return Ok(bad("it was made for another purpose"));
    }
    let fingerprint = ssh_fingerprint(&ssh.key);
    if files.keys.revokes(&fingerprint) {
        return Ok(bad(format!("the key {fingerprint} was revoked")));
    }
    write(programs, &SIGNATURE, armored)?;
    let run = |action: &str, more: &[&str], input: &str| {
        let mut command = programs.command("ssh-keygen")?;
        command.args(["-Y", action, "-s"]);
        command.arg(programs.0.scratch.path_of(&SIGNATURE));
        command.args(more);
        if action == "verify" {
            command.args(["-n", Namespace::Skill.as_str()]);
            if let Some(revoked) = files.revoked(programs) {
                command.arg("-r").arg(revoked);
            }
        }
        programs.run(command, input)
    };
    let signers = KeyFiles::signers(programs);
    let signers = signers.to_string_lossy();
    let found = run("find-principals", &["-f", &signers], "")?;
    let mut principals = crate::sys::files::read_all_capped(found.output, limits::SIGNERS)
        .map_err(|error| programs.0.local(&error))?;
    if !found.status.success() {
        principals.clear();
    }
    for principal in String::from_utf8_lossy(&principals).lines() {
        let verified = run("verify", &["-f", &signers, "-I", principal], manifest)?;
        if verified.status.success() {
            let printed = output(programs, verified.output)?;
            let accepted = (true, printed.as_str());
            return Ok(of_ssh(
                files.keys,
                &ssh,
                accepted,
                Namespace::Skill,
                Covers::Manifest,
            ));
        }
    }
    let seen = run(
        "check-novalidate",
        &["-n", Namespace::Skill.as_str()],
        manifest,
    )?;
    let printed = if seen.status.success() {
        output(programs, seen.output)?
    } else {
        String::new()
    };
    let unlisted = (false, printed.as_str());
    Ok(of_ssh(
        files.keys,
        &ssh,
        unlisted,
        Namespace::Skill,
        Covers::Manifest,
    ))
}

fn output(programs: &Programs, output: std::fs::File) -> Result<String> {
    let bytes = crate::sys::files::read_all_capped(output, limits::SIGNERS);
    let bytes = bytes.map_err(|error| programs.0.local(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn by_minisign(
    programs: &Programs,
    files: &KeyFiles,
    manifest: &str,
    signature: &str,
) -> Result<Signature> {
    let unchecked = |why: String| Ok(Signature::Unchecked { why });
    let Some(id) = minisign_key(signature) else {
        return Ok(bad("its signature is not one of minisign's"));
    };
    if files.keys.revokes(&id) {
        return Ok(bad(format!("the key {id} was revoked")));
    }
    let mut listed = files.keys.signers.of_kind(KeyKind::Minisign);
    let Some(listed) = listed.find(|one| one.fingerprint.as_deref() == Some(&id)) else {
        return unchecked(format!("the minisign key {id} is not listed here"));
    };
    let mut command = match programs.command("minisign") {
        Err(failure) if failure.class == Class::Missing => {
            return unchecked("minisign, which checks it, is not installed".to_owned());
        }
        command => command?,
    };
    write(programs, &SIGNED, manifest)?;
    write(programs, &SIGNATURE, signature)?;
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
    let mut lines = signature.lines();
    lines.next().filter(|line| line.starts_with(COMMENT))?;
    let bytes = STANDARD.decode(lines.next()?.trim()).ok()?;
    let id = bytes
        .strip_prefix(b"Ed")
        .or_else(|| bytes.strip_prefix(b"ED"))?
        .get(..8)?;
    Some(shown_id(id))
}
