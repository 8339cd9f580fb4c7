//! Asks the user's `gh` or `cosign` about an archive, where a policy or the configuration requires
//! that for its source. They run as the user's own programs, with their login and the network.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::marketplace::fetch::Tool;
use crate::marketplace::reference::{OciDigest, OciRepo};
use crate::marketplace::signature::rules::Signing;
use crate::signing::Verification;
use crate::skill::one_line;
use crate::sys::{Durable, EntryName};

const ARCHIVE: EntryName = EntryName::from_static("archive");
const BUNDLE: EntryName = EntryName::from_static("bundle");
/// The most that such a program answers with, in bytes.
const ANSWER: u64 = 4 * 1024 * 1024;

/// An archive as it was fetched.
pub struct Fetched<'a> {
    /// Its address or path.
    pub source: &'a str,
    /// Where redirects led, if elsewhere.
    pub address: Option<&'a str>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Whether every required program accepts the archive. `beside` gets the file whose name is the
/// archive's with an ending; `None` if it is missing.
///
/// # Errors
/// When one does not accept it, is missing or cannot be asked.
pub fn verify(
    tool: &Tool,
    signing: &Signing,
    archive: &Fetched,
    beside: &dyn Fn(&str) -> Result<Option<Vec<u8>>>,
) -> Result<()> {
    let write = |name: &EntryName, bytes: &[u8]| {
        let written = tool.scratch.replace(name, bytes, 0o600, Durable::No);
        written.map_err(|error| tool.scratch.error("write", name, &error))
    };
    for (verification, stated_in) in signing.verifications(Some(archive.source), archive.address) {
        let asked = Asked {
            tool,
            verification: &verification,
            stated_in: &stated_in,
            source: archive.source,
        };
        let program = asked.program()?;
        let refused = |why: &str| asked.refused(why);
        if let Some(end) = verification.program.bundle() {
            let bundle = beside(end)?.ok_or_else(|| {
                refused(&format!("there is no `{end}` file beside it"))
                    .hint("ask its author for one, or for another release")
            })?;
            write(&BUNDLE, &bundle)?;
        }
        write(&ARCHIVE, archive.bytes)?;
        let arguments = arguments(&verification, tool, archive.source);
        let arguments = arguments.map_err(|error| asked.misconfigured(&error))?;
        asked.run(&program, arguments)?;
    }
    Ok(())
}

/// Whether every required program accepts an artifact in a registry, which it fetches itself.
///
/// # Errors
/// As [`verify`].
pub fn verify_image(
    tool: &Tool,
    signing: &Signing,
    repo: &OciRepo,
    digest: &OciDigest,
) -> Result<()> {
    for (verification, stated_in) in signing.verifications(Some(repo.as_str()), None) {
        let asked = Asked {
            tool,
            verification: &verification,
            stated_in: &stated_in,
            source: repo.as_str(),
        };
        let image = format!("{}/{}@{digest}", repo.host(), repo.name());
        let program = asked.program()?;
        let arguments = verification.of_image(&image);
        let arguments = arguments.map_err(|error| asked.misconfigured(&error))?;
        asked.run(&program, arguments)?;
    }
    Ok(())
}

/// A program that is asked about something.
struct Asked<'a> {
    tool: &'a Tool<'a>,
    verification: &'a Verification,
    stated_in: &'a str,
    source: &'a str,
}

impl Asked<'_> {
    fn refused(&self, why: &str) -> Error {
        let (program, source) = (self.verification.program.as_str(), self.source);
        let stated_in = self.stated_in;
        let text = format!("{stated_in} requires that {program} accepts `{source}`, and {why}");
        Error::new(text)
    }

    fn misconfigured(&self, error: &Error) -> Error {
        self.refused(&error.to_string())
            .hint("correct `[signing.sources]` there")
    }

    /// Where the program is.
    ///
    /// # Errors
    /// When it is missing.
    fn program(&self) -> Result<PathBuf> {
        let program = self.verification.program.as_str();
        let path = self.tool.env.os("PATH").unwrap_or_default();
        which::which_in(program, Some(path), self.tool.scratch.path()).map_err(|_| {
            let why = format!("{program} was not found");
            let hint = format!("install {program}; without it nothing from there is used");
            self.refused(&why).hint(hint)
        })
    }

    /// Runs the program.
    ///
    /// # Errors
    /// When it does not accept what it is asked about.
    fn run(&self, program: &Path, arguments: Vec<std::ffi::OsString>) -> Result<()> {
        let tool = self.tool;
        let mut command = tool.command(&program.to_string_lossy());
        command.args(arguments);
        let ran = tool.run(command, "", ANSWER)?;
        if !ran.status.success() {
            let said = ran
                .errors
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            let said = said.map_or_else(|| "it says no".to_owned(), one_line);
            return Err(self.refused(&said).hint("do not use it; tell its author"));
        }
        Ok(())
    }
}

fn arguments(
    verification: &Verification,
    tool: &Tool,
    source: &str,
) -> Result<Vec<std::ffi::OsString>> {
    let at = |name: &EntryName| tool.scratch.path_of(name);
    let (archive, bundle) = (at(&ARCHIVE), at(&BUNDLE));
    verification.arguments(Path::new(&archive), Path::new(&bundle), source)
}

/// Why what is no archive cannot be used, if a program has to accept what comes from its source.
pub fn unverified(signing: &Signing, source: &str, address: Option<&str>) -> Option<String> {
    let (verification, stated_in) = signing
        .verifications(Some(source), address)
        .into_iter()
        .next()?;
    let program = verification.program.as_str();
    Some(format!(
        "{stated_in} requires that {program} accepts it, and {program} checks archives and artifacts only"
    ))
}
