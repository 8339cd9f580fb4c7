//! `package`: packs a skill into one file.

use super::try_skill::find_and_tell;
use super::validate::{InstalledDescriptions, lint};
use crate::author::{Package as Packed, ReportFormat, manifest, package, render};
use crate::cli::prelude::*;
use crate::marketplace::SignedManifest;
use crate::signing::{MANIFEST, Manifest, SSH_SIGNATURE};

/// Pack skills into .zip files, byte-identical on every machine
#[derive(Debug, clap::Args)]
pub struct PackageArgs {
    /// Directories of skills, or names of installed skills
    #[arg(required = true, value_name = "SKILL")]
    pub skills: Vec<String>,
    /// The file to write, or with several skills the directory; NAME.zip if omitted
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Sign with an ssh key: its file, or its .pub if an agent or a security key has it
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    /// Write manifest and signature into the skill's directory, and no archive
    #[arg(long, requires = "sign", conflicts_with = "output")]
    pub in_place: bool,
}

impl PackageArgs {
    /// Writes the packages and lists their content.
    pub fn run(&self, call: CliCall) -> Answer {
        let (all, show) = (self.skills.len(), watched(&call.facts.run));
        let progress = Progress::new("packing skills", all, show);
        let mut done = 0;
        Outcomes::of_each(call, &self.skills, |skill| {
            progress.at(done);
            done += 1;
            let skill = find_and_tell(call.facts, skill)?;
            if self.in_place {
                self.sign_in_place(call, &skill)
            } else {
                self.pack(call, &skill)
            }
        })
    }

    fn pack(&self, call: CliCall, skill: &Skill) -> Result<String> {
        let (name, packed) = packed_without_errors(call.facts, skill, "packed", |_| true)?;
        let file = PathBuf::from(format!("{name}.zip"));
        let output = match &self.output {
            None => file,
            Some(dir) if self.skills.len() > 1 => dir.join(file),
            Some(output) => output.clone(),
        };
        let (target, shown) = (call.facts.run.env.cwd.join(&output), output.display());
        if target.is_dir() {
            return Err(Error::new(format!("`{shown}` is a directory"))
                .hint("give the file to write: --output FILE.zip"));
        }
        let beside = |end: &str| {
            let mut path = target.clone().into_os_string();
            path.push(format!(".manifest{end}"));
            PathBuf::from(path)
        };
        let places = [target.clone(), beside(""), beside(SSH_SIGNATURE)];
        let written = if self.sign.is_some() { 3 } else { 1 };
        let places = &places[..written];
        if !places.iter().all(|file| may_be_written(file, &skill.dir)) {
            let text = format!("`{shown}` is a file of the skill, or not a regular file");
            return Err(Error::new(text).hint("write it elsewhere: --output ../FILE.zip"));
        }
        let (files, bytes) = (count(packed.digests.len(), "file"), packed.bytes.len());
        if call.common.dry_run {
            let mut text = format!("would write {shown}: {files}, {bytes} bytes");
            if self.sign.is_some() {
                let _ = write!(text, ", and {shown}.manifest with its signature");
            }
            return Ok(text + "\n");
        }
        let sign = |key| sign(call.facts, &manifest(skill, &packed)?, key);
        let signed = self.sign.as_deref().map(sign).transpose()?;
        // The archive comes last: the old one is not taken for what the new manifest signs.
        let mut contents = vec![(&places[0], packed.bytes.as_slice())];
        if let Some(signed) = &signed {
            contents.insert(0, (&places[1], signed.manifest.as_bytes()));
            contents.insert(0, (&places[2], signed.signature.as_bytes()));
        }
        write_all(&contents)
            .map_err(|error| error.hint("check the directory, or write elsewhere with --output"))?;
        let mut text = format!("Wrote {shown}: {files}, {bytes} bytes\n");
        if let Some(signed) = &signed {
            let _ = writeln!(
                text,
                "Signed with {}: hand on {shown}.manifest and {shown}.manifest{SSH_SIGNATURE} beside it",
                signed.key
            );
        } else if beside("").exists() && !is_manifest_of(&beside(""), skill, &packed) {
            let _ = writeln!(
                text,
                "{shown}.manifest is of other files: an install refuses them together; `--sign` \
                 writes it anew"
            );
        }
        text += &remarks(&packed);
        // A bare name would mean a skill of a source.
        let bare = output.is_relative() && !output.starts_with(".") && !output.starts_with("..");
        let here = if bare { "./" } else { "" };
        let _ = writeln!(text, "Install it with: agent-skills install {here}{shown}");
        Ok(text)
    }

    /// Writes the manifest and its signature into the skill's directory, which may be anywhere: a
    /// site or a repository whose commits are not signed serves them with the skill.
    fn sign_in_place(&self, call: CliCall, skill: &Skill) -> Result<String> {
        // A manifest of earlier files is what this replaces.
        let is_other = |code: &str| code != "manifest-differs";
        let (name, packed) = packed_without_errors(call.facts, skill, "signed", is_other)?;
        let (manifest, shown) = (manifest(skill, &packed)?, skill.dir.display());
        let files = count(manifest.files.len(), "file");
        let names = format!("{MANIFEST} and {MANIFEST}{SSH_SIGNATURE}");
        let Some(key) = self.sign.as_ref().filter(|_| !call.common.dry_run) else {
            return Ok(format!(
                "would write {names} in {shown}: {files} of `{name}`\n"
            ));
        };
        let signed = sign(call.facts, &manifest, key)?;
        let at = |end: &str| skill.dir.join(format!("{MANIFEST}{end}"));
        let (manifest, signature) = (at(""), at(SSH_SIGNATURE));
        write_all(&[
            (&signature, signed.signature.as_bytes()),
            (&manifest, signed.manifest.as_bytes()),
        ])?;
        Ok(format!(
            "Signed {files} of `{name}` with {}: {names} are in {shown}\nSign again after every change\n",
            signed.key
        ))
    }
}

/// The author's name for a skill without errors, and its files, which are to be `done`. Findings of
/// a code that does not count are passed over.
///
/// # Errors
/// When it has errors, or cannot be packed.
pub fn packed_without_errors(
    facts: &Facts,
    skill: &Skill,
    done: &str,
    counts: impl Fn(&str) -> bool,
) -> Result<(SkillName, Packed)> {
    // An installed skill may have another name here than its author's.
    let own = skill.fields.text("name");
    let own = own.as_deref().and_then(SkillName::from_written);
    let name = own.unwrap_or_else(|| skill.name.clone());
    let installed = Catalog::of(facts);
    let mut found = lint(facts, &skill.dir, &InstalledDescriptions::new(&installed));
    found.retain(|finding| finding.level == Level::Error && counts(&finding.code));
    if !found.is_empty() {
        tell(format_args!("{}", render(1, &found, ReportFormat::Text)));
        let text = format!("`{name}` was not {done}, because it has errors");
        let dir = skill.dir.display();
        return Err(Error::new(text).hint(format!("`agent-skills validate {dir}` says what to do")));
    }
    let packed = package(&skill.dir, name.as_str())
        .map_err(|error| error.context(format!("`{name}` was not {done}")))?;
    Ok((name, packed))
}

/// What to know of a package before it is handed on.
pub fn remarks(packed: &Packed) -> String {
    let mut text = String::new();
    if !packed.left_out.is_empty() {
        let _ = writeln!(text, "Left out: {}", one_line(&packed.left_out.join(", ")));
    }
    if !packed.doubtful.is_empty() {
        let names = one_line(&packed.doubtful.join(", "));
        let _ = writeln!(
            text,
            "Check before you share it: {names} may contain secrets and are in the package"
        );
    }
    text
}

/// Whether the manifest in `file` is that of these files.
fn is_manifest_of(file: &Path, skill: &Skill, packed: &Packed) -> bool {
    let written = files::read_capped(file, limits::MANIFEST);
    let manifest = manifest(skill, packed);
    written
        .is_ok_and(|written| manifest.is_ok_and(|manifest| manifest.render().as_bytes() == written))
}

/// Signs a manifest with the key in a file.
///
/// # Errors
/// When `ssh-keygen` does not sign.
pub fn sign(facts: &Facts, manifest: &Manifest, key: &Path) -> Result<SignedManifest> {
    let base = Layer::Plugin.base(facts);
    market_at(facts, &base).sign(manifest, &facts.run.env.cwd.join(key))
}

/// Replaces files of one directory, all or none.
fn write_all(contents: &[(&PathBuf, &[u8])]) -> Result<()> {
    let dir = contents.first().and_then(|(path, _)| path.parent());
    let dir = dir.unwrap_or(Path::new("."));
    let name = |path: &Path| path.file_name().and_then(EntryName::parse);
    let named = contents.iter();
    let named = named.filter_map(|(path, bytes)| Some((name(path)?, *bytes)));
    let named: Vec<_> = named.collect();
    let written = Dir::anchor(dir).and_then(|dir| dir.replace_all(&named, 0o644));
    written.map_err(|error| Error::io("write", dir, &error))
}

/// A package inside the skill would become part of the next one, and could overwrite a source file.
fn may_be_written(target: &Path, skill: &Path) -> bool {
    let is_plain = target.symlink_metadata();
    let is_plain = is_plain.map_or(true, |found| found.is_file());
    let parent = target.parent().and_then(|dir| dir.canonicalize().ok());
    is_plain && !parent.is_some_and(|dir| dir.starts_with(real(skill)))
}
