//! The manifest of a skill, which is what its author signs, and whether one in its directory is still
//! of the files there.

use super::finding::Finding;
use super::package::{Package, package};
use crate::error::{Error, Result};
use crate::signing::{MANIFEST, Manifest, SSH_SIGNATURE, is_signature_file};
use crate::skill::Skill;
use crate::sys::{files, limits};

/// The manifest of a packed skill.
///
/// # Errors
/// When it has files that some systems take for one, so that no install could check it.
pub fn manifest(skill: &Skill, packed: &Package) -> Result<Manifest> {
    let (name, version) = (skill.authors_name(), skill.fields.version());
    let manifest = Manifest::new(&name, version, packed.digests());
    match Manifest::parse(&manifest.render()) {
        Ok(_) => Ok(manifest),
        Err(error) => Err(Error::new(error.to_string()).hint("rename one of the files, then sign")),
    }
}

/// Findings about a manifest in the skill's directory: an install refuses one of other files.
pub fn lint(skill: &Skill) -> Option<Finding> {
    let file = skill.dir.join(MANIFEST);
    let read = files::if_there(files::read_unlinked(&file, limits::MANIFEST));
    let found = |code, why: &str| {
        let shown = file.display().to_string();
        Some(Finding::new(code, shown, (1, 1), why))
    };
    let text = match read {
        Ok(None) => return None,
        Ok(Some((_, bytes))) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return found("manifest-differs", &format!("it cannot be read: {error}")),
    };
    let signature = skill.dir.join(format!("{MANIFEST}{SSH_SIGNATURE}"));
    if !signature.exists() {
        return found("manifest-unsigned", "nothing beside the manifest signs it");
    }
    let signed = match Manifest::parse(&text) {
        Ok(signed) => signed,
        Err(error) => return found("manifest-differs", &error.to_string()),
    };
    // What cannot be packed is a finding of its own.
    let packed = package(&skill.dir, skill.name.as_str()).ok()?;
    // An executable one would be a program, and an install refuses it.
    let is_own = |path: &str, digest: &str| is_signature_file(path) && !digest.ends_with("+x");
    let own = packed
        .digests()
        .filter(|(path, digest)| is_own(path, digest));
    let own: Vec<String> = own.map(|(_, digest)| digest.to_owned()).collect();
    let why = signed.differs(&skill.authors_name(), packed.digests(), &own)?;
    let why = format!("the manifest is not of these files: {why}");
    found("manifest-differs", &why)
}
