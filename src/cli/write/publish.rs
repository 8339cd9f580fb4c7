//! `publish`: pushes skills to a registry.

use super::package::{packed_without_errors, remarks, sign};
use super::try_skill::find_and_tell;
use crate::author::{manifest, skills_at};
use crate::cli::prelude::*;
use crate::marketplace::{Artifact, Destination};

/// Publish skills to an OCI registry
#[derive(Debug, clap::Args)]
pub struct PublishArgs {
    /// Directories of skills, or of several, or names of installed skills
    #[arg(required = true, value_name = "SKILL")]
    pub skills: Vec<String>,
    #[arg(required = true, help = "Where: oci://HOST/NAME[:TAG]", value_name = "REFERENCE", value_parser = Destination::parse)]
    pub to: Destination,
    /// Publish them as a collection of this name
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Sign with an ssh key: its file, or its .pub if an agent or a security key has it
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    #[command(flatten)]
    pub findings: FindingsOption,
}

impl PublishArgs {
    /// Checks, packs and sends the skills.
    pub fn run(&self, call: CliCall) -> Answer {
        let name = self.to.to_string();
        Outcomes::of_one(call, &name, self.publish(call))
    }

    fn publish(&self, call: CliCall) -> Result<String> {
        let (mut skills, mut packed) = (Vec::new(), Vec::new());
        for written in &self.skills {
            skills.extend(skills_at_or_below(call.facts, written)?);
        }
        let mut said = String::new();
        for skill in &skills {
            let (name, files) = packed_without_errors(call.facts, skill, "published", |_| true)?;
            if !files.doubtful.is_empty() && !self.findings.accept_findings {
                let secrets = one_line(&files.doubtful.join(", "));
                let text =
                    format!("nothing was published: {secrets} of `{name}` may contain secrets");
                return Err(Error::new(text)
                    .hint("take them out of the skill; `--accept-findings` publishes them"));
            }
            let _ = writeln!(said, "  {name}: {}", count(files.digests.len(), "file"));
            said += &remarks(&files);
            packed.push((skill, name, files));
        }
        let to = &self.to;
        if !call.common.dry_run {
            let shown = format!("To {to}:\n{said}");
            call.to_agree(&shown, "Publish?", "nothing was published")?;
        }
        let (mut artifacts, mut key_used) = (Vec::new(), None);
        for (skill, name, files) in packed {
            let signed = match &self.sign {
                Some(key) if !call.common.dry_run => {
                    Some(sign(call.facts, &manifest(skill, &files)?, key)?)
                }
                _ => None,
            };
            key_used = signed.as_ref().map(|signed| signed.key.to_string());
            artifacts.push(Artifact::new(skill, name.as_str(), files.layer()?, signed));
        }
        let market = Market {
            permit: source_permit(call.facts, Layer::Plugin, "published")?,
            ..market(call, Layer::Plugin, false)
        };
        let done = market.publish(to, &artifacts, self.collection.as_deref())?;
        let what = match (&self.collection, &*artifacts) {
            (None, [one]) => format!("`{}`", one.name),
            (name, all) => {
                let name = one_line(name.as_deref().unwrap_or_default());
                format!("{} as the collection `{name}`", count(all.len(), "skill"))
            }
        };
        let published = call.would("published", "publish");
        let mut text = match &done.before {
            Some(before) if *before == done.digest => format!("{to} is {what} already\n"),
            _ => format!("{published} {what} to {to}\n{said}"),
        };
        if let Some(before) = done.before.filter(|before| *before != done.digest) {
            let moved = call.would("moved", "move");
            let _ = writeln!(text, "  the tag {moved} from {before}");
        }
        if let Some(key) = key_used {
            let _ = writeln!(text, "  signed with {key}");
        }
        let _ = writeln!(text, "  {}", done.digest);
        let all = self.collection.as_ref().map_or("", |_| " --all");
        let exactly = to.at(&done.digest);
        let _ = writeln!(
            text,
            "Install it with: agent-skills install {to}{all}, or exactly this: {exactly}"
        );
        Ok(text)
    }
}

/// The skill that a word means, or all below a directory that is none.
fn skills_at_or_below(facts: &Facts, written: &str) -> Result<Vec<Skill>> {
    let path = facts.run.env.cwd.join(written);
    if !path.is_dir() {
        return Ok(vec![find_and_tell(facts, written)?]);
    }
    let dirs = skills_at(&path);
    if dirs.is_empty() {
        let text = format!("`{}` has no skill", one_line(written));
        return Err(Error::new(text).hint("give a directory with a SKILL.md, or of several skills"));
    }
    let load = |dir: PathBuf| find_and_tell(facts, &dir.to_string_lossy());
    dirs.into_iter().map(load).collect()
}
