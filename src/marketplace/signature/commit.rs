//! Commits and annotated tags taken apart: what was signed, and the signature. What git would find
//! in them is found here, so that neither its configuration nor its guesses have a say.

use crate::error::Result;
use crate::marketplace::signature::evidence::{GitEvidence, GitKind};
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::objects::{Objects, header};
use crate::marketplace::signature::programs::Programs;
use crate::marketplace::signature::ssh;
use crate::signing::{Covers, Namespace, Signature};

/// How the signature of a commit or tag begins: an ssh key's, an OpenPGP key's (two forms), x509's.
const FORMS: [&str; 4] = [
    "-----BEGIN SSH SIGNATURE-----",
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP MESSAGE-----",
    "-----BEGIN SIGNED MESSAGE-----",
];

/// A signed commit or tag.
#[derive(Debug, Default, PartialEq, Eq)]
struct Signed {
    /// What the signature is of.
    payload: Vec<u8>,
    /// The signature; more than one, each behind the other, is none.
    armored: String,
    signatures: usize,
}

/// Whether a commit or tag has a signature at all.
pub fn is_signed(kind: GitKind, bytes: &[u8]) -> bool {
    apart(kind, bytes).is_some()
}

/// The signature of a commit or tag.
pub fn armored(kind: GitKind, bytes: &[u8]) -> Option<String> {
    apart(kind, bytes).map(|signed| signed.armored)
}

fn apart(kind: GitKind, bytes: &[u8]) -> Option<Signed> {
    match kind {
        GitKind::Tag => tag_apart(bytes),
        GitKind::Commit => commit_apart(bytes),
        GitKind::Blob | GitKind::Tree => None,
    }
}

/// The signature of a tag is at its end, behind its message, where git finds it too.
fn tag_apart(bytes: &[u8]) -> Option<Signed> {
    let mut at = 0;
    let mut begins = None;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if FORMS.iter().any(|form| line.starts_with(form.as_bytes())) {
            begins = Some(at);
        }
        at += line.len();
    }
    let (payload, armored) = bytes.split_at(begins?);
    Some(Signed {
        payload: payload.to_vec(),
        armored: String::from_utf8_lossy(armored).into_owned(),
        signatures: 1,
    })
}

/// The signature of a commit is a header of it; what was signed is the commit without those.
fn commit_apart(bytes: &[u8]) -> Option<Signed> {
    let has_long_ids = header(bytes, "tree").is_some_and(|id| id.len() == 64);
    let own: &[u8] = if has_long_ids {
        b"gpgsig-sha256 "
    } else {
        b"gpgsig "
    };
    let mut signed = Signed::default();
    let (mut in_own, mut in_other, mut in_message) = (false, false, false);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let rest = line.strip_prefix(b" ");
        if !in_message && rest.is_none() {
            in_message = line == b"\n";
            in_own = line.starts_with(own);
            in_other = !in_own && line.starts_with(b"gpgsig");
            signed.signatures += usize::from(in_own);
        }
        if in_message || !in_own && !in_other {
            signed.payload.extend_from_slice(line);
        } else if in_own {
            let text = rest.or_else(|| line.strip_prefix(own)).unwrap_or(line);
            signed.armored.push_str(&String::from_utf8_lossy(text));
        }
    }
    (signed.signatures > 0).then_some(signed)
}

fn bad(why: impl Into<String>) -> Signature {
    Signature::Bad { why: why.into() }
}

/// Checks the tag, if it is signed, and else the commit. `called` is the tag's name in the
/// repository.
///
/// # Errors
/// When a program does not answer.
pub fn check(
    programs: &Programs,
    files: &KeyFiles,
    evidence: &GitEvidence,
    objects: &Objects,
    called: Option<&str>,
) -> Result<Signature> {
    let find = |id: &str, kind: GitKind| {
        let found = objects.get(id).filter(|object| object.kind == kind);
        found.map(|object| &*object.bytes)
    };
    if let Some(tag) = evidence
        .tag
        .as_deref()
        .and_then(|id| find(id, GitKind::Tag))
        && let Some(signed) = tag_apart(tag)
    {
        let named = header(tag, "tag").unwrap_or_default();
        if called.is_some_and(|called| called != named) {
            return Ok(bad(format!(
                "the tag was signed as `{}`",
                named.escape_debug()
            )));
        }
        // A tag begins with these lines, and nothing else that is signed does.
        let begins = format!("object {}\ntype commit\ntag {named}\n", evidence.commit);
        if !tag.starts_with(begins.as_bytes()) {
            return Ok(bad("the signed tag leads to another commit"));
        }
        return one(programs, files, &signed, Covers::Tag);
    }
    let Some(commit) = find(&evidence.commit, GitKind::Commit) else {
        return Ok(bad("the commit is not the one that was signed"));
    };
    match commit_apart(commit) {
        None => Ok(Signature::Unsigned),
        Some(signed) if signed.signatures > 1 => Ok(bad("the commit has several signatures")),
        Some(signed) => one(programs, files, &signed, Covers::Commit),
    }
}

fn one(
    programs: &Programs,
    files: &KeyFiles,
    signed: &Signed,
    covers: Covers,
) -> Result<Signature> {
    let Signed {
        payload, armored, ..
    } = signed;
    let form = FORMS.iter().position(|form| armored.starts_with(form));
    match form {
        Some(0) => {
            let purpose = (Namespace::Git, covers);
            ssh::check(programs, files, armored, payload, purpose)
        }
        Some(1 | 2) => {
            let KeyFiles { keys, keyring } = files;
            keyring.check(programs, keys, (armored, payload), covers)
        }
        _ => {
            let why = "in a form that is not checked here: ssh and OpenPGP are".to_owned();
            Ok(Signature::unchecked(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "tree aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";

    fn signed(text: &str) -> Option<(String, String, usize)> {
        let Signed {
            payload,
            armored,
            signatures,
        } = commit_apart(text.as_bytes())?;
        Some((String::from_utf8(payload).unwrap(), armored, signatures))
    }

    #[test]
    fn the_signature_of_a_commit_is_its_own_header() {
        let merge = "mergetag object b\n type commit\n gpgsig x\n";
        let message = "\nm\ngpgsig no\n";
        let text = format!("{TREE}gpgsig a\n b\n \n c\ngpgsig-sha256 o\n p\n{merge}{message}");
        let (payload, armored, signatures) = signed(&text).unwrap();
        assert_eq!(payload, format!("{TREE}{merge}{message}"));
        assert_eq!((armored.as_str(), signatures), ("a\nb\n\nc\n", 1));
        let twice = format!("{TREE}gpgsig a\ngpgsig b\n{message}");
        assert_eq!(signed(&twice).unwrap().2, 2);
        for unsigned in [
            format!("{TREE}{merge}{message}"),
            format!("{TREE}gpgsig-sha256 o\n p\n{message}"),
            format!("{TREE}{message}"),
            String::new(),
        ] {
            assert_eq!(signed(&unsigned), None, "{unsigned}");
        }
    }

    #[test]
    fn the_signature_of_a_tag_is_at_its_end() {
        let begins = FORMS[0];
        let text = format!("object x\n\nquoted\n{begins}\nx\n{begins}\ny\n");
        let signed = tag_apart(text.as_bytes()).unwrap();
        assert_eq!(signed.armored, format!("{begins}\ny\n"));
        assert!(signed.payload.ends_with(b"x\n"));
        assert!(!is_signed(GitKind::Tag, b"object x\n\nm\n"));
    }
}
