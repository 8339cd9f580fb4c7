//! `package`: packs a skill into one file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::findings;
use super::try_skill::find;
use crate::author::{Findings, Format, package, render};
use crate::cli::market::watched;
use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller};
use crate::error::{Error, Result};
use crate::run_context::{RunContext, real};
use crate::skill::{Level, SkillName, one_line};
use crate::sys::text::count;
use crate::sys::{Durable, Progress, files, tell};

/// Pack skills into .zip files, byte-identical on every machine
#[derive(Debug, clap::Args)]
pub struct Package {
    /// Directories of skills, or names of installed skills
    #[arg(required = true, value_name = "SKILL")]
    pub skills: Vec<String>,
    /// The file to write, or with several skills the directory; NAME.zip if omitted
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

impl Package {
    /// Writes the packages and lists their content.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Answer {
        let progress = Progress::new("packing skills", self.skills.len(), watched(ctx));
        let mut done = 0;
        Outcomes::of_each(common, caller, &self.skills, |skill| {
            progress.at(done);
            done += 1;
            self.pack(ctx, common, skill)
        })
    }

    fn pack(&self, ctx: &RunContext, common: Common, written: &str) -> Result<String> {
        let mut skill = find(ctx, written)?;
        // An installed skill may have another name here than its author's.
        let own = skill.fields.text("name");
        if let Some(own) = own.as_deref().and_then(SkillName::from_written) {
            skill.name = own;
        }
        let name = &skill.name;
        let installed = ctx.catalog();
        let mut found = findings::lint(ctx, &skill.dir, &findings::Installed::new(&installed));
        found.retain(|finding| finding.level == Level::Error);
        if !found.is_empty() {
            let report = Findings {
                skills: 1,
                findings: found,
            };
            tell(format_args!("{}", render(&report, Format::Text)?));
            let text = format!("`{name}` was not packed, because it has errors");
            let dir = skill.dir.display();
            return Err(
                Error::new(text).hint(format!("`agent-skills validate {dir}` says what to do"))
            );
        }
        let packed = package(&skill.dir, name.as_str())
            .map_err(|error| error.context(format!("`{name}` was not packed")))?;
        let file = PathBuf::from(format!("{name}.zip"));
        let output = match &self.output {
            None => file,
            Some(dir) if self.skills.len() > 1 => dir.join(file),
            Some(output) => output.clone(),
        };
        let (target, shown) = (ctx.env.cwd.join(&output), output.display());
        if target.is_dir() {
            return Err(Error::new(format!("`{shown}` is a directory"))
                .hint("give the file to write: --output FILE.zip"));
        }
        if !may_be_written(&target, &skill.dir) {
            let text = format!("`{shown}` is a file of the skill, or not a regular file");
            return Err(Error::new(text).hint("write it elsewhere: --output ../FILE.zip"));
        }
        let (files, bytes) = (count(packed.files, "file"), packed.bytes.len());
        if common.dry_run {
            return Ok(format!("would write {shown}: {files}, {bytes} bytes\n"));
        }
        files::replace(&target, &packed.bytes, 0o644, Durable::Yes)
            .map_err(|error| error.hint("check the directory, or write elsewhere with --output"))?;
        let mut text = format!("Wrote {shown}: {files}, {bytes} bytes\n");
        if !packed.left_out.is_empty() {
            let _ = writeln!(text, "Left out: {}", one_line(&packed.left_out.join(", ")));
        }
        if !packed.doubtful.is_empty() {
            let names = one_line(&packed.doubtful.join(", "));
            let _ = writeln!(
                text,
                "Look again before you hand it on: {names} may hold secrets, and are in the package"
            );
        }
        // A bare name would mean a skill of a source.
        let bare = output.is_relative() && !output.starts_with(".") && !output.starts_with("..");
        let here = if bare { "./" } else { "" };
        let _ = writeln!(text, "Install it with: agent-skills install {here}{shown}");
        Ok(text)
    }
}

/// A package inside the skill would become part of the next one, and could overwrite a source file.
fn may_be_written(target: &Path, skill: &Path) -> bool {
    let is_plain = target
        .symlink_metadata()
        .map_or(true, |found| found.is_file());
    let parent = target.parent().and_then(|dir| dir.canonicalize().ok());
    is_plain && !parent.is_some_and(|dir| dir.starts_with(real(skill)))
}
