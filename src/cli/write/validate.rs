//! `validate`: checks for skill authors: all findings about a skill, those of the author room and of
//! the rooms that run, restrict, scan and install skills.

use std::os::unix::fs::PermissionsExt;

use crate::activation::{scope_of, unmet};
use crate::author::{self, LintFinding, ReportFormat, SkillSource};
use crate::catalog::OfferedSkill;
use crate::cli::prelude::*;
use crate::policy::OnDisk;
use crate::skill::{Runner, find_skill_file, unified_diff};
use skill_format::Descriptions;
use skill_permission::vocabulary;

/// Check skills and suggest remedies (exit 1 if there is an error)
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Skill directories, SKILL.md files, directories that contain skills, or names of installed skills
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Apply safe fixes and show the difference
    #[arg(long)]
    pub fix: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
}

impl ValidateArgs {
    /// The report; a failure if a skill has an error.
    pub fn run(&self, call: CliCall) -> Answer {
        let (mut skills, mut findings) = (0, Vec::new());
        let installed = Catalog::of(call.facts);
        let compared = InstalledDescriptions::new(&installed);
        let mut seen = BTreeSet::new();
        for path in &self.paths {
            // Show the path as it was given.
            let mut dirs = author::skills_at(path);
            if dirs.is_empty() {
                match by_name(call.facts, path)? {
                    Some(dir) => dirs.push(dir),
                    None => findings.push(no_skill(path)),
                }
            }
            let progress = Progress::new("checking skills", dirs.len(), watched(&call.facts.run));
            for (done, dir) in dirs.into_iter().enumerate() {
                progress.at(done);
                if !seen.insert(real(&dir)) {
                    continue;
                }
                if self.fix {
                    fix(&dir, call)?;
                }
                skills += 1;
                findings.extend(lint(call.facts, &dir, &compared));
            }
        }
        let format = if call.common.json && self.format == ReportFormat::Text {
            ReportFormat::Json
        } else {
            self.format
        };
        let is_good = findings.iter().all(|found| found.level != Level::Error);
        Failure::unless(is_good, author::render(skills, &findings, format))
    }
}

/// The directory of the installed skill of this name.
fn by_name(facts: &Facts, written: &Path) -> Result<Option<PathBuf>> {
    let Some(name) = written.to_str() else {
        return Ok(None);
    };
    let catalog = Catalog::naming(facts, name);
    Ok(match resolve_name(facts, &catalog, name)? {
        NamedSkill::Installed(entry) => {
            if entry.is_concealed() {
                let name = quoted(name);
                let text = format!("`{name}` comes with a project that is not trusted");
                return Err(Error::new(text).hint("give its directory to look at it all the same"));
            }
            tell_which(name, &entry.dir);
            Some(entry.dir.clone())
        }
        NamedSkill::Directory(_) | NamedSkill::Other => None,
    })
}

fn no_skill(path: &Path) -> LintFinding {
    let shown = path.display();
    let (code, message) = if path.is_dir() {
        let message = format!("neither `{shown}` nor a directory below it has a SKILL.md");
        ("no-skill-file", message)
    } else if path.exists() {
        let message = format!("`{shown}` is neither a directory nor a SKILL.md");
        ("no-path", message)
    } else {
        ("no-path", format!("`{shown}` does not exist"))
    };
    LintFinding::new(code, shown.to_string(), (1, 1), &message)
}

/// Applies the safe fixes to a skill's file and shows the difference.
fn fix(dir: &Path, call: CliCall) -> Result<()> {
    let Some(file) = find_skill_file(dir) else {
        return Ok(());
    };
    let metadata = file.symlink_metadata();
    let metadata = metadata.map_err(|error| Error::io("read", &file, &error))?;
    // The target of a link belongs to another skill or program.
    let Ok(bytes) = files::read_capped(&file, limits::SKILL_FILE) else {
        return Ok(());
    };
    let (Ok(text), true) = (String::from_utf8(bytes), metadata.is_file()) else {
        return Ok(());
    };
    if let Some(fixed) = author::fix(&real(dir), &text) {
        let mode = metadata.permissions().mode() & 0o777;
        if !call.common.dry_run {
            files::replace(&file, fixed.as_bytes(), mode, Durable::Yes).map_err(|error| {
                error.hint("nothing was changed; check the directory's permissions")
            })?;
        }
        let name = file.display().to_string();
        let diff = unified_diff((&name, &name), &text, &fixed);
        tell(format_args!("{}", printable(&diff)));
    }
    Ok(())
}

/// Descriptions more similar than this are too hard to tell apart for a model. The two most similar
/// ones in the corpus for different tasks have 0.65.
const OVERLAP: f64 = 0.75;
/// Maximum number of findings of one kind about a skill's commands and about its description; more
/// would add nothing.
const MOST: usize = 3;

/// The installed skills with which others are compared.
pub struct InstalledDescriptions<'c> {
    catalog: &'c Catalog,
    offered: Vec<OfferedSkill<'c>>,
    descriptions: Descriptions,
}

impl<'c> InstalledDescriptions<'c> {
    /// Reads each description once.
    pub fn new(catalog: &'c Catalog) -> Self {
        let offered = catalog.offered();
        let descriptions = Descriptions::new(offered.iter().map(|skill| skill.description));
        Self {
            catalog,
            offered,
            descriptions,
        }
    }
}

/// The findings about the skill in `dir`, sorted by file and place.
pub fn lint(facts: &Facts, dir: &Path, installed: &InstalledDescriptions) -> Vec<LintFinding> {
    let (mut found, source) = author::lint(dir);
    if let Some(source) = &source {
        found.extend(tools_of(facts, source));
        found.extend(overlaps(source, installed));
        found.extend(requirements(facts, source, installed.catalog));
        found.extend(scripts(dir));
    }
    found.extend(scanned(dir));
    found.sort_by(|a, b| {
        (&a.file, a.line, a.column, &a.code).cmp(&(&b.file, b.line, b.column, &b.code))
    });
    found
}

/// Requirements that neither the installed skills nor those next to it meet.
fn requirements(facts: &Facts, source: &SkillSource, installed: &Catalog) -> Vec<LintFinding> {
    let dir = source.skill.dir.canonicalize().unwrap_or_default();
    let is_beside = |written: &str| {
        // The owner of neighbouring skills is not checked; it depends on their author.
        let (name, _owner) = written.rsplit_once('@').unwrap_or((written, ""));
        let name = SkillName::from_written(name);
        let beside = name.map(|name| dir.with_file_name(name.as_str()).join("SKILL.md"));
        beside.is_some_and(|file| file.exists())
    };
    let unmet = unmet(facts, installed, &source.skill, is_beside).into_iter();
    let place = source.key("requires");
    let finding = |unmet| LintFinding::of_diagnostic(&unmet, source.file(), place);
    unmet.map(finding).collect()
}

/// Entries of the tool lists that are not understood, and tools that the body needs beyond them.
fn tools_of(facts: &Facts, source: &SkillSource) -> Vec<LintFinding> {
    let (_, restriction) = restriction_of(&facts.run, &source.skill);
    let noted = restriction.notes.iter().map(|note| {
        let place = source.words("allowed-tools", &note.entry);
        LintFinding::new(note.code, source.file(), place, &note.message)
    });
    let mut found: Vec<LintFinding> = noted.collect();
    let body = source.body_text();
    for (name, offset) in vocabulary::mentioned(body) {
        let here = Capability::named(name).map(Capability::tools);
        // A rule names the newer host's tools; the older host's plugins follow from them.
        let here = here.into_iter().flatten();
        let mut here = here
            .filter(|tool| !vocabulary::is_plugin_of_older_host(tool))
            .peekable();
        if !author::is_negated(&body[..offset])
            && here.peek().is_some()
            && !here.any(|tool| is_allowed(&restriction, tool))
        {
            let place = source.place(source.body + offset);
            let message =
                format!("the body speaks of `{name}`, which the skill's own list of tools forbids");
            let (code, file) = ("tool-not-allowed", source.file());
            found.push(LintFinding::new(code, file, place, &message));
        }
    }
    found.extend(commands(facts, source, &restriction));
    found
}

fn is_allowed(restriction: &Restriction, tool: &str) -> bool {
    let speaks = |rule: &Rule| {
        let mut names = rule.host_names().into_iter();
        names.any(|name| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => name.split('(').next() == Some(tool),
        })
    };
    let whole = |rule: &Rule| rule.host_names().iter().any(|name| name == tool);
    let harmless =
        vocabulary::find_tool(tool).is_some_and(|tool| tool.effect == vocabulary::Effect::Harmless);
    let allowed = restriction.allowed();
    let granted = allowed.is_none_or(|rules| rules.iter().any(speaks));
    (granted || harmless) && !restriction.denied.iter().any(whole)
}

/// Commands in the body's code blocks that would be refused, by the same decision as for the host.
fn commands(facts: &Facts, source: &SkillSource, restriction: &Restriction) -> Vec<LintFinding> {
    let finding = |place, message: &str| {
        LintFinding::new("command-not-allowed", source.file(), place, message)
    };
    // The skill's own scripts are run by a separate tool.
    let mut given = author::commands(source);
    given.retain(|(_, command)| !command.contains("scripts/"));
    if !is_allowed(restriction, "shell_exec") {
        let message =
            "the body gives shell commands, and the skill's own list of tools forbids a shell";
        let first = given.first();
        let found = first.map(|(place, _)| finding(*place, message));
        return found.into_iter().collect();
    }
    if !restriction.is_restricted() {
        return Vec::new();
    }
    let session = session_with(&source.skill);
    let (config, policies) = (Config::default(), Policies::default());
    let scope = scope_of(facts, &config, &policies, &session);
    let is_program = |part: &&Part| {
        let text = &part.text;
        text.starts_with(|c: char| c.is_alphanumeric() || "./~".contains(c))
    };
    let mut found: Vec<LintFinding> = Vec::new();
    for (place, command) in given {
        let arguments = json!({"command": command});
        let call = skill_permission::ToolCall::new("shell_exec", &arguments);
        let decision = decide(&scope, &call, &OnDisk);
        let mut refused = decision.parts.iter().filter(|part| part.outcome.is_err());
        let Some(part) = refused.find(|part| part.kind == "subcommand" && is_program(part)) else {
            continue;
        };
        let message = format!(
            "the command `{}` in the body is refused by the skill's own list of tools",
            brief(&part.text, 80)
        );
        let finding = finding(place, &message);
        if found.len() < MOST && found.iter().all(|other| other.message != finding.message) {
            found.push(finding);
        }
    }
    found
}

/// Installed skills that the model could confuse with this one.
fn overlaps(source: &SkillSource, installed: &InstalledDescriptions) -> Vec<LintFinding> {
    let skill = &source.skill;
    let Some(description) = &skill.description else {
        return Vec::new();
    };
    let own = skill.dir.canonicalize().unwrap_or_default();
    let mut similar = installed.descriptions.similar(description, OVERLAP);
    similar.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let others = similar.into_iter();
    let others = others.map(|(at, alike)| (&installed.offered[at].skill, alike));
    let others = others.filter(|(other, _)| {
        other.name != skill.name && !other.dir.canonicalize().is_ok_and(|dir| dir == own)
    });
    let place = source.key("description");
    let found = others.map(|(other, alike)| {
        let message = format!(
            "the description is nearly that of the installed skill `{}` (likeness {alike:.2}), so the model may take the wrong one",
            other.name
        );
        LintFinding::new("description-overlap", source.file(), place, &message)
    });
    found.take(MOST).collect()
}

/// Programs without a known interpreter.
fn scripts(dir: &Path) -> Vec<LintFinding> {
    let programs = author::programs(dir).into_iter();
    let unknown = programs.filter(|path| !Runner::is_meant_at(&dir.join(path)));
    let finding = |path: PathBuf| {
        let shown = path.display();
        let message =
            format!("nothing says how to run `{shown}`: neither its first line nor its extension");
        let file = dir.join(&path).display().to_string();
        LintFinding::new("script-no-interpreter", file, (1, 1), &message)
    };
    unknown.map(finding).collect()
}

/// The scan's findings that its author can fix: secrets and hidden characters, and whatever would
/// prevent an install.
fn scanned(dir: &Path) -> Vec<LintFinding> {
    let ours = ["secret", "zero-width", "mixed-scripts"];
    // A skill within this one is installed, and scanned, for itself.
    let is_skill =
        |below: &Path| below != Path::new("") && dir.join(below).join("SKILL.md").exists();
    let told = scan_directory(dir).into_iter().filter_map(|found| {
        if Path::new(&found.file).ancestors().skip(1).any(is_skill) {
            return None;
        }
        let stops = is_severe(&found);
        // A secret whose line says that it is an example is not real.
        let is_example = found.code == "secret" && found.excerpt.contains("EXAMPLE");
        if is_example || !(stops || ours.contains(&found.code)) {
            return None;
        }
        let level = match found.severity {
            Severity::Block => Level::Error,
            _ => Level::Warning,
        };
        let more = if stops {
            "; an install stops at it"
        } else {
            ""
        };
        let message = format!("{}{more}", found.message);
        let file = dir.join(&found.file).display().to_string();
        Some(LintFinding::new(found.code, file, (found.line.max(1), 1), &message).level(level))
    });
    told.collect()
}
