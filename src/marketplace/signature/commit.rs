//! Checks the signature of a commit or an annotated tag through git, which calls `ssh-keygen` or
//! `gpg`, both by their full paths.

use std::path::Path;

use crate::error::Result;
use crate::marketplace::signature::evidence::{GitEvidence, GitKind};
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::objects::{Objects, header};
use crate::marketplace::signature::openpgp::{self, Keyring};
use crate::marketplace::signature::programs::Programs;
use crate::signing::ssh_fingerprint;
use crate::signing::{Covers, Key, KeyKind, Namespace, Signature, Signer, SshSignature};
use crate::sys::EntryName;

/// The files in which git and ssh-keygen get the keys.
const SIGNERS: EntryName = EntryName::from_static("signers");
const REVOKED: EntryName = EntryName::from_static("revoked");

/// How a git object is signed.
enum Form {
    Ssh(SshSignature),
    Openpgp,
    Other,
}

/// The keys as files that programs can read.
pub struct KeyFiles<'k> {
    pub keys: &'k Keys,
    pub keyring: Keyring,
}

impl<'k> KeyFiles<'k> {
    /// Writes them into the scratch directory.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(programs: &Programs, keys: &'k Keys) -> Result<Self> {
        let scratch = programs.0.scratch;
        let write = |name: &EntryName, bytes: &[u8]| {
            let written = scratch.replace(name, bytes, 0o600, crate::sys::Durable::No);
            written.map_err(|error| scratch.error("write", name, &error))
        };
        write(&SIGNERS, keys.signers.for_ssh.as_bytes())?;
        write(&REVOKED, keys.krl.as_deref().unwrap_or_default())?;
        Ok(Self {
            keys,
            keyring: openpgp::import(programs, keys)?,
        })
    }

    /// The file of ssh signers.
    pub fn signers(programs: &Programs) -> std::path::PathBuf {
        programs.0.scratch.path_of(&SIGNERS)
    }

    /// The file of revoked ssh keys, if there is one.
    pub fn revoked(&self, programs: &Programs) -> Option<std::path::PathBuf> {
        self.keys.krl.as_ref()?;
        Some(programs.0.scratch.path_of(&REVOKED))
    }
}

/// Whether a commit or tag has a signature at all.
pub fn is_signed(kind: GitKind, bytes: &[u8]) -> bool {
    armored(kind, bytes).is_some()
}

/// The text from which the form of a signature is told: a commit's is in its header, a tag's at its
/// end.
pub fn armored(kind: GitKind, bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    if kind == GitKind::Tag {
        let at = text.find("\n-----BEGIN ")?;
        return Some(text[at + 1..].to_owned());
    }
    let (head, _) = text.split_once("\n\n")?;
    let mut lines = head.lines();
    let signed = |line: &str| {
        let rest = line
            .strip_prefix("gpgsig")
            .map(|rest| rest.strip_prefix("-sha256").unwrap_or(rest));
        rest.and_then(|rest| rest.strip_prefix(' '))
            .map(str::to_owned)
    };
    let first = lines.find_map(signed)?;
    let rest = lines.map_while(|line| line.strip_prefix(' '));
    let all: Vec<&str> = std::iter::once(first.as_str()).chain(rest).collect();
    Some(all.join("\n"))
}

fn form(armored: &str) -> Form {
    if let Some(ssh) = SshSignature::parse(armored) {
        return Form::Ssh(ssh);
    }
    if armored.starts_with("-----BEGIN PGP ") {
        return Form::Openpgp;
    }
    Form::Other
}

fn bad(why: impl Into<String>) -> Signature {
    Signature::Bad { why: why.into() }
}

/// Checks the tag, if it is signed, and else the commit. `called` is the tag's name in the
/// repository.
///
/// # Errors
/// When a program is missing or does not answer.
pub fn check(
    programs: &Programs,
    repo: &Path,
    files: &KeyFiles,
    evidence: &GitEvidence,
    objects: &Objects,
    called: Option<&str>,
) -> Result<Signature> {
    if let Some(id) = &evidence.tag
        && let Some(tag) = objects.get(id).filter(|object| object.kind == GitKind::Tag)
        && is_signed(GitKind::Tag, &tag.bytes)
    {
        let named = header(&tag.bytes, "tag").unwrap_or_default();
        if called.is_some_and(|called| called != named) {
            return Ok(bad(format!(
                "the tag was signed as `{}`",
                named.escape_debug()
            )));
        }
        let leads = header(&tag.bytes, "type") == Some("commit")
            && header(&tag.bytes, "object") == Some(&evidence.commit);
        if !leads {
            return Ok(bad("the signed tag leads to another commit"));
        }
        return one(programs, repo, files, (GitKind::Tag, id, &tag.bytes));
    }
    let commit = objects
        .get(&evidence.commit)
        .filter(|object| object.kind == GitKind::Commit);
    match commit {
        Some(commit) => {
            let signed = (
                GitKind::Commit,
                evidence.commit.as_str(),
                commit.bytes.as_slice(),
            );
            one(programs, repo, files, signed)
        }
        None => Ok(bad("the commit is not the one that was signed")),
    }
}

fn one(
    programs: &Programs,
    repo: &Path,
    files: &KeyFiles,
    (kind, id, bytes): (GitKind, &str, &[u8]),
) -> Result<Signature> {
    let Some(armored) = armored(kind, bytes) else {
        return Ok(Signature::Unsigned);
    };
    let form = form(&armored);
    if let Form::Ssh(ssh) = &form
        && files.keys.revokes(&ssh_fingerprint(&ssh.key))
    {
        return Ok(bad(format!(
            "the key {} was revoked",
            ssh_fingerprint(&ssh.key)
        )));
    }
    let setting = |name: &str, path: &Path| format!("{name}={}", path.display());
    let mut settings = Vec::new();
    match &form {
        Form::Ssh(_) => {
            settings.push(setting("gpg.ssh.program", &programs.find("ssh-keygen")?));
            settings.push(setting(
                "gpg.ssh.allowedSignersFile",
                &KeyFiles::signers(programs),
            ));
            let revoked = files.revoked(programs);
            settings.extend(revoked.map(|path| setting("gpg.ssh.revocationFile", &path)));
        }
        Form::Openpgp => settings.push(setting("gpg.program", &programs.find("gpg")?)),
        Form::Other => {
            let why = "in a form that is not checked here: ssh and OpenPGP are".to_owned();
            return Ok(Signature::Unchecked { why });
        }
    }
    let mut command = programs.git(repo)?;
    for setting in &settings {
        command.args(["-c", setting]);
    }
    let (verb, covers) = match kind {
        GitKind::Tag => ("verify-tag", Covers::Tag),
        _ => ("verify-commit", Covers::Commit),
    };
    command.args([verb, "--raw", id]);
    let ran = programs.run(command, "")?;
    let accepted = ran.status.success();
    Ok(match form {
        Form::Ssh(ssh) => of_ssh(
            files.keys,
            &ssh,
            (accepted, &ran.errors),
            Namespace::Git,
            covers,
        ),
        _ => files
            .keyring
            .result(files.keys, accepted, &ran.errors, covers),
    })
}

/// What ssh-keygen's answer means: whether it accepted a principal, and what it printed.
pub fn of_ssh(
    keys: &Keys,
    ssh: &SshSignature,
    (accepted, printed): (bool, &str),
    namespace: Namespace,
    covers: Covers,
) -> Signature {
    let good = format!("Good \"{}\" signature ", namespace.as_str());
    let line = printed.lines().find_map(|line| line.strip_prefix(&good));
    let told = line.and_then(|line| line.rsplit_once(" key "));
    let key = told.and_then(|(_, key)| Key::new(KeyKind::Ssh, key.trim()).ok());
    let (Some((who, _)), Some(key)) = (told, key) else {
        let why = if ssh.namespace == namespace.as_str() {
            "it is not of these files, or not of this key"
        } else {
            "it was made for another purpose"
        };
        return bad(why);
    };
    if keys.revokes(&key.fingerprint) {
        return bad(format!("the key {} was revoked", &*key.fingerprint));
    }
    let principal = who.strip_prefix("for ").filter(|_| accepted);
    let principal = principal
        .and_then(|who| who.rsplit_once(" with "))
        .map(|(who, _)| who);
    if let Some(principal) = principal {
        return Signature::Good(Signer {
            principal: Some(principal.to_owned()),
            key,
            signed: covers,
        });
    }
    if keys.lists_ssh(&ssh.key) || accepted {
        return bad(format!(
            "the key {} is listed, but not for this purpose and time",
            &*key.fingerprint
        ));
    }
    Signature::Good(Signer {
        principal: None,
        key,
        signed: covers,
    })
}
