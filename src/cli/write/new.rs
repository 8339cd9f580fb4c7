//! `new`: a skill's first files. A person at a terminal is asked for missing values.

use std::io::{self, Write as _};

use crate::author::{NewFile, NewSkill, ScriptLanguage, scaffold};
use crate::cli::prelude::*;
use crate::marketplace::SKILLS;
use crate::sys::{Base, EntryPath};

/// Write a new skill
#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// The skill's name: lowercase letters, digits and single hyphens
    pub name: String,
    /// What it does and when to use it
    #[arg(long)]
    pub description: Option<String>,
    /// Include a script
    #[arg(long, value_enum)]
    pub script: Option<ScriptLanguage>,
    /// Allow only these tools; `Read Grep` if none are named
    #[arg(long, value_name = "TOOLS", num_args = 0..=1, require_equals = true, default_missing_value = "Read Grep")]
    pub restrict: Option<String>,
    /// The parent directory; the working directory if omitted
    #[arg(long, conflicts_with = "layer")]
    pub dir: Option<PathBuf>,
    /// Create it in a layer: enterprise, personal, project or plugin
    #[arg(long)]
    pub layer: Option<Layer>,
}

impl NewArgs {
    /// Creates the skill and returns the next steps.
    pub fn run(&self, call: CliCall) -> Answer {
        Outcomes::of_one(call, &self.name, self.make(call))
    }

    fn make(&self, call: CliCall) -> Result<String> {
        let name = name(&self.name)?;
        let (parent, base) = parent(call.facts, self);
        let dir = parent.join(name.as_str());
        let taken = || {
            let dir = dir.display();
            let text = format!("`{dir}` exists already, and nothing is overwritten");
            Error::new(text).hint("choose another name, or another place with --dir")
        };
        if dir.symlink_metadata().is_ok() {
            return Err(taken());
        }
        let installed = InstalledName::parse(name.as_str())?;
        let wish = wish(self, name, call.asks())?;
        let files = scaffold(&wish);
        if call.common.dry_run {
            let shown = near(&call.facts.run, &dir);
            let (shown, paths) = (shown.display(), paths(&files));
            return Ok(format!("would write {shown}: {paths}\n"));
        }
        let made = make(&parent, base, installed.entry(), &files);
        made.map_err(|error| {
            if dir.exists() {
                taken()
            } else {
                error.or_hint("check permissions and free space, or use --dir")
            }
        })?;
        Ok(next_steps(&call.facts.run, self, &dir, &files))
    }
}

/// The directory in which the skill is created, and the base whose `skills` it is, unless the user
/// named it.
fn parent(facts: &Facts, wanted: &NewArgs) -> (PathBuf, Option<Base>) {
    let cwd = &facts.run.env.cwd;
    if let Some(layer) = wanted.layer {
        let base = layer.base(facts);
        return (base.path().join(SKILLS.as_os_str()), Some(base));
    }
    let dir = wanted.dir.as_ref();
    (dir.map_or_else(|| cwd.clone(), |dir| cwd.join(dir)), None)
}

/// Creates a directory with these files in a temporary place and renames it, so that no partial one is
/// seen.
///
/// # Errors
/// When something of its name is there, or it cannot be written.
pub fn make(parent: &Path, base: Option<Base>, name: &EntryName, files: &[NewFile]) -> Result<()> {
    let failed = |error: io::Error| Error::io("create directory", parent, &error);
    let dir = match base {
        Some(base) => base.make()?.make_dir(&SKILLS),
        None => Dir::make_anchor(parent),
    };
    let dir = dir.map_err(failed)?;
    let aside = name.temporary();
    let made = dir.new_of_ours(&aside).map_err(failed).and_then(|aside| {
        write(&aside.new_dir(name).map_err(failed)?, files)?;
        aside.rename(name, &dir, name).map_err(failed)
    });
    let removed = dir.remove_ours(&aside).map_err(failed);
    made.and(removed)
}

fn name(written: &str) -> Result<SkillName> {
    let nearest = SkillName::from_written(written);
    let hint = match nearest {
        Some(name) if name.as_str() == written => return Ok(name),
        Some(near) => format!("a similar name is `{near}`: agent-skills new {near}"),
        None => "for example: agent-skills new pdf-forms".to_owned(),
    };
    let (shown, max) = (written.escape_debug(), SkillName::MAX);
    let text = format!(
        "`{shown}` cannot be a skill's name: use lowercase letters, digits and single hyphens, at most {max} characters"
    );
    Err(Error::new(text).hint(hint))
}

fn wish(wanted: &NewArgs, name: SkillName, asks: bool) -> Result<NewSkill> {
    let description = match &wanted.description {
        Some(description) => description.clone(),
        None if asks => ask_for_text(
            "What does it do, and when should it be used?\n(for example: Fills PDF forms. Use when the user has a form to fill.) ",
        ),
        None => String::new(),
    };
    let description = one_line(&description);
    if description.is_empty() {
        let text = format!("`{name}` has no description, and the model chooses by it");
        return Err(Error::new(text).hint("add --description \"What it does. Use when …\""));
    }
    if description.chars().count() > 1024 {
        return Err(Error::new("the description has more than 1024 characters")
            .hint("shorten it; details belong in the body"));
    }
    let script = match wanted.script {
        None if asks => {
            ScriptLanguage::from_str(&ask_for_text("Begin with a script? [py/sh/js/N] "), true).ok()
        }
        script => script,
    };
    let tools = match &wanted.restrict {
        None if asks && ask_yes_or_no("Restrict it to reading (allowed-tools: Read Grep)?") => {
            Some("Read Grep".to_owned())
        }
        tools => tools.clone(),
    };
    if let Some(tools) = &tools {
        check_tools(tools)?;
    }
    Ok(NewSkill {
        name,
        description,
        script,
        tools,
    })
}

/// Refuses a tool list that would grant less than it says.
fn check_tools(tools: &str) -> Result<()> {
    let (dir, root) = (Path::new(""), Path::new(""));
    let list = Restriction::parse("new", Some(&[tools.to_owned()]), &[], dir, root);
    let is_wrong = |note: &&RuleNote| ["unbalanced", "no-valid-entry"].contains(&note.code);
    let wrong = list.notes.iter().find(is_wrong);
    wrong.map_or(Ok(()), |note| {
        let text = format!("--restrict: {}", one_line(&note.message));
        Err(Error::new(text).hint("use tool names such as Read, Grep, Bash(git:*)"))
    })
}

fn write(dir: &Dir, files: &[NewFile]) -> Result<()> {
    for file in files {
        let mode = if file.executable { 0o755 } else { 0o644 };
        let path = EntryPath::parse(&file.path);
        let path = path.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename));
        let opened = path.and_then(|path| dir.create_below(&path, mode));
        opened
            .and_then(|mut open| open.write_all(file.text.as_bytes()))
            .map_err(|error| Error::io("write", &dir.path().join(&file.path), &error))?;
    }
    Ok(())
}

/// A path as a person would type it.
fn near(run: &RunContext, dir: &Path) -> PathBuf {
    dir.strip_prefix(&run.env.cwd)
        .map_or_else(|_| dir.to_owned(), |below| PathBuf::from(".").join(below))
}

/// The paths of files, for a message.
pub fn paths(files: &[NewFile]) -> String {
    let list = files.iter().map(|file| file.path.display().to_string());
    list.collect::<Vec<_>>().join(", ")
}

/// What was written and the next steps, with the path as a person would type it.
fn next_steps(run: &RunContext, wanted: &NewArgs, dir: &Path, files: &[NewFile]) -> String {
    let near = near(run, dir);
    let shown = near.display();
    let mut text = format!(
        "Wrote {shown}: {}\n\nNext:\n  edit {shown}/SKILL.md\n  agent-skills validate {shown}\n  \
         agent-skills simulate {shown}/tests/first.yaml\n",
        paths(files)
    );
    if wanted.layer.is_none() {
        let _ = writeln!(
            text,
            "  agent-skills install {shown}    # to use it; `update` takes what you change"
        );
    }
    if wanted.layer == Some(Layer::Project) {
        text += "  agent-skills trust    # a project's skills count when you trust them\n";
    }
    text
}
