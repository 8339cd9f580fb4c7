//! `package`: packs a skill into one file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::findings;
use super::try_skill::find;
use crate::author::{Findings, Format, package, render};
use crate::cli::Failure;
use crate::error::Error;
use crate::run_context::RunContext;
use crate::skill::{Level, SkillName, one_line};
use crate::sys::{Durable, eprint, files};

/// Pack a skill into a .zip, byte-identical on every machine
#[derive(Debug, clap::Args)]
pub struct Package {
    /// A skill's directory, or the name of an installed skill
    pub skill: String,
    /// The file to write; NAME.zip if omitted
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

impl Package {
    /// Writes the package and lists its content.
    pub fn run(&self, ctx: &RunContext) -> Result<String, Failure> {
        let mut skill = find(ctx, &self.skill)?;
        // An installed skill may have another name here than its author's.
        if let Some(own) = skill
            .fields
            .text("name")
            .as_deref()
            .and_then(SkillName::from_written)
        {
            skill.name = own;
        }
        let mut found = findings::of_skill(ctx, &skill.dir, &ctx.catalog());
        found.retain(|finding| finding.level == Level::Error);
        if !found.is_empty() {
            let report = Findings {
                skills: 1,
                findings: found,
            };
            eprint(format_args!("{}", render(&report, Format::Text)?));
            let text = format!("`{}` was not packed, because it has errors", skill.name);
            return Err(Error::new(text)
                .hint(format!(
                    "`agent-skills validate {}` says what to do",
                    skill.dir.display()
                ))
                .into());
        }
        let packed = package(&skill.dir, skill.name.as_str())
            .map_err(|error| error.context(format!("`{}` was not packed", skill.name)))?;
        let name = format!("{}.zip", skill.name);
        let output = self.output.as_deref().unwrap_or(Path::new(&name));
        let target = ctx.env.cwd.join(output);
        if target.is_dir() {
            let text = format!("`{}` is a directory", output.display());
            return Err(Error::new(text)
                .hint("give the file to write: --output FILE.zip")
                .into());
        }
        if !may_be_written(&target, &skill.dir) {
            let text = format!(
                "`{}` is a file of the skill, or no plain file",
                output.display()
            );
            return Err(Error::new(text)
                .hint("write it elsewhere: --output ../FILE.zip")
                .into());
        }
        files::replace(&target, &packed.bytes, 0o644, Durable::Yes)
            .map_err(|error| error.hint("check the directory, or write elsewhere with --output"))?;
        let mut text = format!(
            "Wrote {}: {} files, {} bytes\n",
            output.display(),
            packed.files,
            packed.bytes.len()
        );
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
        let _ = writeln!(
            text,
            "Install it with: agent-skills install {here}{}",
            output.display()
        );
        Ok(text)
    }
}

/// A package inside the skill would become part of the next one, and could overwrite a source file.
fn may_be_written(target: &Path, skill: &Path) -> bool {
    let is_plain = target
        .symlink_metadata()
        .map_or(true, |found| found.is_file());
    let parent = target.parent().and_then(|dir| dir.canonicalize().ok());
    let skill = skill.canonicalize().unwrap_or_else(|_| skill.to_owned());
    is_plain && !parent.is_some_and(|dir| dir.starts_with(&skill))
}
