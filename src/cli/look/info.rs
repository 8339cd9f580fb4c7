//! `info`: everything about one installed skill; its files, where links are shown but never followed;
//! its version in use, the available ones, and what changed.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::author::no_effect;
use crate::catalog::{Catalog, Entry, Installed, signature};
use crate::cli::agents::names;
use crate::cli::describe::short;
use crate::cli::market::market;
use crate::cli::named::installed;
use crate::cli::report::{Report, Reporter, remark};
use crate::cli::signed::{lapsed, signed};
use crate::cli::table::shortened;
use crate::cli::{Answer, Call, Paint, Screen, look_at};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::{Checked, History, State, Tag};
use crate::script::program_of;
use crate::signing::Signature;
use crate::skill::{Known, Listing, Skill, brief, one_line, written};
use crate::sys::name_list::Names;
use crate::sys::text::{count, size};
use crate::sys::{Dir, EntryKind, EntryName, limits};

/// Show everything about installed skills
#[derive(Debug, clap::Args)]
pub struct Info {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Show its files instead
    #[arg(long, conflicts_with = "history")]
    pub files: bool,
    /// Show its versions instead: the one in use, the available ones, and what changed
    #[arg(long)]
    pub history: bool,
    /// Do not query its source
    #[arg(long, requires = "history")]
    pub offline: bool,
}

/// Longest part of a field's value that is shown.
const FIELD: usize = 300;

/// The report, and data collected only for a single skill.
#[derive(Debug, Serialize)]
struct Details {
    #[serde(flatten)]
    report: Report,
    license: Option<String>,
    compatibility: Option<String>,
    /// Its other fields that some client uses, as written.
    fields: Map<String, Value>,
    #[serde(skip)]
    told: Vec<(&'static str, String)>,
    /// `the model and people`, `the model`, `people` or `nobody`.
    called_by: Option<&'static str>,
    /// Other skills of its name, and why they are not offered instead.
    rivals: Vec<Rival>,
    files: usize,
    bytes: u64,
    scripts: Vec<Script>,
    /// Its signature, as it was checked just now; `null` if it may not be read.
    signature: Option<Checked>,
    #[serde(skip)]
    lapsed: Option<String>,
}

#[derive(Debug, Serialize)]
struct Rival {
    path: String,
    layer: &'static str,
    /// `null` for the one that is offered.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Script {
    path: String,
    /// `null` when it cannot be run here.
    interpreter: Option<String>,
    problem: Option<String>,
}

impl Info {
    /// Everything about the skills.
    pub fn run(&self, call: Call) -> Answer {
        let look = |name: &str| {
            let catalog = Catalog::naming(call.facts, name);
            let entry = installed(call.facts, &catalog, name)?;
            Ok(Details::new(call.facts, &catalog, entry))
        };
        let shown = |info: &Details| info.render(call.screen);
        look_at(call, &self.names, "skills", look, shown)
    }
}

impl Details {
    fn new(facts: &Facts, catalog: &Catalog, entry: &Entry) -> Self {
        let skill = entry.disclosed();
        let text = |key: &str| skill.and_then(|skill| skill.fields.text(key));
        let listing = skill.map(|skill| Listing::read(&skill.dir, limits::WALKED_FILES));
        let listing = listing.unwrap_or_default();
        let scripts = listing.resources.iter().filter_map(|resource| {
            let skill = skill?;
            let label = resource.path.display().to_string();
            let file = skill.dir.join(&resource.path);
            let (interpreter, problem) =
                match program_of(&file, &skill.dir, &label, &facts.run.env)? {
                    Ok(path) => (Some(path.display().to_string()), None),
                    Err(error) => (None, Some(error.to_string())),
                };
            Some(Script {
                path: label,
                interpreter,
                problem,
            })
        });
        let rivals = catalog.rivals(entry).map(|rival| Rival {
            path: rival.dir.display().to_string(),
            layer: rival.layer.as_str(),
            reason: rival.reason_not_offered(),
        });
        let mut reporter = Reporter::new(facts, catalog);
        let origins = &mut reporter.origins;
        let signature = skill.map(|_| signature_of(facts, entry, origins));
        let known = origins.known(facts, entry).zip(signature.as_ref());
        let lapsed = known.and_then(|(known, now)| lapsed(known.signer.as_ref(), now));
        Self {
            signature,
            lapsed,
            license: text("license"),
            compatibility: text("compatibility"),
            fields: others(skill)
                .map(|(known, _, value)| (known.key.to_owned(), value.clone()))
                .collect(),
            told: skill.map(told).unwrap_or_default(),
            called_by: skill.map(|_| callers(entry)),
            rivals: rivals.collect(),
            files: listing.total,
            bytes: listing.resources.iter().map(|resource| resource.size).sum(),
            scripts: scripts.collect(),
            report: reporter.report(entry),
        }
    }

    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        for (label, value) in self.fields() {
            let gap = " ".repeat(14_usize.saturating_sub(label.len()));
            let label = screen.paint(label, Paint::Bold) + &gap;
            text += &screen.hanging(&label, &one_line(&value), 14);
        }
        for found in &self.report.diagnostics {
            for line in screen.hanging("", &remark(found), 2).lines() {
                let _ = writeln!(text, "{}", screen.paint(line, found.level.into()));
            }
        }
        text
    }

    /// What is known, each with its label; one without continues the one before.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let report = &self.report;
        let mut fields = Vec::new();
        let mut known = |label, value: Option<&str>| {
            fields.extend(value.map(|value| (label, value.to_owned())));
        };
        known("name", Some(&report.name));
        let tool = report.tool.as_deref();
        known("tool", tool.or(Some("none: it is not offered")));
        // Omit this for a skill that is unreadable or must not be shown.
        let is_told = report.tokens.is_some();
        let description = report.description.as_deref();
        known("description", description.or(is_told.then_some("none")));
        known("version", report.version.as_deref());
        known("path", Some(&report.path));
        known("layer", Some(report.layer));
        for rival in &self.rivals {
            let reason = rival.reason.as_deref();
            let reason = reason.unwrap_or("it is the one that is offered");
            let text = format!("{} ({}): {reason}", rival.path, rival.layer);
            known("also", Some(&text));
        }
        let agents = names(&report.agents);
        known("found by", Some(&*agents).filter(|names| !names.is_empty()));
        known("called by", self.called_by);
        known("license", self.license.as_deref());
        known("needs", self.compatibility.as_deref());
        for (key, value) in &self.told {
            known(key, Some(value));
        }
        known("source", self.source().as_deref());
        let checked = self.signature.as_ref().map(signed);
        known(
            "signer",
            self.lapsed.as_ref().or(checked.as_ref()).map(|it| &**it),
        );
        if let Some(cost) = report.tokens {
            let (instructions, description) = (cost.instructions, cost.description);
            let text = format!("about {instructions} for the instructions");
            let whole = format!("{text}, {description} in every prompt");
            known("tokens", Some(if report.offered { &whole } else { &text }));
            let files = match self.files {
                0 => "only SKILL.md".to_owned(),
                more => format!("{more} besides SKILL.md, {}", size(self.bytes)),
            };
            known("files", Some(&files));
        }
        for (at, script) in self.scripts.iter().enumerate() {
            let by = script.interpreter.as_ref().map(|by| format!("run by {by}"));
            let by = by.or_else(|| script.problem.clone()).unwrap_or_default();
            let label = if at == 0 { "scripts" } else { "" };
            known(label, Some(&format!("{}: {by}", script.path)));
        }
        let restriction = match &report.restriction {
            None if !is_told => "not known: the skill was not read",
            None if report.tool.is_none() => "none of its own, but it is not offered",
            None => "none: every tool may be used while it is active",
            Some(restriction) if restriction.allowed.is_some() => {
                "while it is active, only what is listed here and what is always allowed"
            }
            Some(_) => "denials only",
        };
        known("restriction", Some(restriction));
        if let Some(restriction) = &report.restriction {
            for rule in &restriction.rules {
                known("", Some(rule));
            }
            for denial in &restriction.denials {
                known("", Some(&format!("never {denial}")));
            }
        }
        fields
    }

    fn source(&self) -> Option<String> {
        let report = &self.report;
        if let Some(to) = &report.linked_to {
            return Some(format!("linked to {to}"));
        }
        let commit = report.commit.as_ref();
        let at = commit.map(|commit| format!(" at {commit}"));
        Some(report.says().to_owned() + report.source.as_deref()? + &at.unwrap_or_default())
    }
}

/// The signature of a skill. What cannot be checked counts as none.
fn signature_of(facts: &Facts, entry: &Entry, origins: &mut Installed) -> Checked {
    let checked = signature(facts, entry, origins);
    checked.unwrap_or_else(|error| Checked {
        signature: Signature::unchecked(format!("that cannot be checked: {error}")),
        unmet: None,
        since: None,
        is_first: false,
    })
}

/// The fields that have no line of their own and are set: each with its key and value as written.
fn others(skill: Option<&Skill>) -> impl Iterator<Item = (&'static Known, &str, &Value)> {
    const OWN_LINE: Names = Names::new(
        "name description license compatibility version allowed-tools disallowed-tools tools \
         user-invocable disable-model-invocation",
    );
    let fields = skill.into_iter().map(|skill| &skill.fields);
    let pairs = fields.flat_map(|fields| fields.keys().zip(fields.values()));
    pairs.filter_map(|(key, value)| {
        let known = Known::of(key).filter(|known| !OWN_LINE.has(known.key))?;
        (!value.is_null()).then_some((known, key, value))
    })
}

/// The same for people, each with the reason why it has no effect, if it has none.
fn told(skill: &Skill) -> Vec<(&'static str, String)> {
    let told = others(Some(skill)).map(|(known, key, value)| {
        let shown = brief(&written(value), FIELD);
        let why = no_effect(&skill.fields, key).map(|why| format!(", which {why}"));
        (known.key, shown + &why.unwrap_or_default())
    });
    told.collect()
}

fn callers(entry: &Entry) -> &'static str {
    match (entry.tool.is_some(), entry.callable().is_some()) {
        (true, true) => "the model and people",
        (true, false) => "the model",
        (false, true) => "people",
        (false, false) => "nobody",
    }
}

/// A bundled file's path on one line, with unusual characters escaped.
pub fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

/// Maximum number of tags shown.
const SHOWN: usize = 20;

/// The history of the skills of these names, in whichever layer they are.
pub fn history(info: &Info, call: Call) -> Answer {
    let look = |name: &str| {
        let catalog = Catalog::naming(call.facts, name);
        let entry = installed(call.facts, &catalog, name)?;
        let name = entry.dir.file_name().unwrap_or_default().to_string_lossy();
        let base = entry.layer.base(call.facts);
        market(call.facts, &base, info.offline).history(&name)
    };
    look_at(call, &info.names, "skills", look, shown_history)
}

fn shown_history(history: &History) -> String {
    let source = history.source.as_deref();
    let source = one_line(source.unwrap_or("an unknown source"));
    let mut text = format!("{}, from {source}\n", one_line(&history.name));
    let in_use = version(history.version.as_deref(), history.commit.as_deref());
    let rev = history.rev.as_ref();
    let rev = rev.map(|rev| format!(", asked for as {}", one_line(short_name(rev))));
    let _ = writeln!(text, "in use: {in_use}{}", rev.unwrap_or_default());
    let since = history.since_install.as_ref();
    if let Some(now) = since.filter(|now| now.state == State::Changed) {
        let files = changed(&now.changed, &now.extra, &now.missing);
        let _ = writeln!(text, "  changed here after it was installed: {files}");
    }
    if let Some(earlier) = &history.previous {
        let was = version(earlier.version.as_deref(), earlier.commit.as_deref());
        let files = changed(&earlier.changed, &earlier.added, &earlier.removed);
        let _ = writeln!(text, "before: {was}; since then {files}");
    }
    if !history.tags.is_empty() {
        let tag = |tag: &Tag| {
            let mark = if tag.in_use { " (in use)" } else { "" };
            one_line(&tag.name) + mark
        };
        // In most repositories the last tags are the newest.
        let tags = history.tags.iter().rev().take(SHOWN).map(tag);
        let _ = writeln!(text, "there are: {}", tags.collect::<Vec<_>>().join(", "));
    }
    for commit in &history.log {
        let mark = if commit.newer { "newer" } else { "     " };
        let (id, date) = (short(&commit.commit), one_line(&commit.date));
        let subject = brief(&commit.subject, 100);
        let _ = writeln!(text, "{mark}  {id}  {date}  {subject}");
    }
    if let Some(why) = &history.unasked {
        let _ = writeln!(text, "its source was not asked: {}", one_line(why));
    }
    text
}

/// A branch's or tag's name without what git puts before it.
fn short_name(full: &str) -> &str {
    let name = full.strip_prefix("refs/heads/");
    name.or_else(|| full.strip_prefix("refs/tags/"))
        .unwrap_or(full)
}

fn version(version: Option<&str>, commit: Option<&str>) -> String {
    let version = version.map(|version| format!("version {}", brief(version, 40)));
    let commit = commit.map(|commit| format!("at {}", short(commit)));
    let parts = version.into_iter().chain(commit);
    joined(parts, " ").unwrap_or_else(|| "no version or commit is known".to_owned())
}

fn changed(changed: &[String], added: &[String], removed: &[String]) -> String {
    let all = [("changed", changed), ("new", added), ("gone", removed)];
    let parts = all.into_iter().filter(|(_, paths)| !paths.is_empty());
    let parts = parts.map(|(label, paths)| format!("{label} {}", brief(&paths.join(", "), 200)));
    joined(parts, "; ").unwrap_or_else(|| "nothing changed".to_owned())
}

/// The parts, unless there are none.
fn joined(parts: impl Iterator<Item = String>, between: &str) -> Option<String> {
    parts.reduce(|all, part| all + between + &part)
}

#[derive(Debug, Serialize)]
struct Node {
    /// Relative to the skill's directory.
    path: String,
    /// `directory`, `file`, `link` or `other`.
    kind: &'static str,
    /// The size of a file in bytes.
    bytes: Option<u64>,
    executable: bool,
    to: Option<String>,
}

#[derive(Debug, Serialize)]
struct Walked {
    name: String,
    path: String,
    files: usize,
    bytes: u64,
    /// Whether the list is incomplete.
    cut: bool,
    nodes: Vec<Node>,
}

/// Every file of the skills with its size.
pub fn files(info: &Info, call: Call) -> Answer {
    let look = |name: &str| Walked::of(call.facts, name);
    let shown = |tree: &Walked| tree.render(call.screen);
    look_at(call, &info.names, "skills", look, shown)
}

impl Walked {
    fn of(facts: &Facts, written: &str) -> Result<Self> {
        let catalog = Catalog::naming(facts, written);
        let entry = installed(facts, &catalog, written)?;
        // The directory itself may be a link to a working copy.
        let root = entry.dir.canonicalize();
        let root = root.map_err(|error| Error::io("look at", &entry.dir, &error))?;
        let mut nodes = Vec::new();
        let dir = Dir::anchor(&root).map_err(|error| Error::io("read", &root, &error))?;
        let cut = !walk(&dir, Path::new(""), 0, &mut nodes)
            .map_err(|error| Error::io("read", &root, &error))?;
        Ok(Self {
            name: entry.name(),
            path: entry.dir.display().to_string(),
            files: nodes.iter().filter(|node| node.kind == "file").count(),
            bytes: nodes.iter().filter_map(|node| node.bytes).sum(),
            cut,
            nodes,
        })
    }
}

/// Adds the entries below a directory; returns `false` if there are too many.
fn walk(root: &Dir, below: &Path, depth: usize, nodes: &mut Vec<Node>) -> std::io::Result<bool> {
    let dir = root.open_dir_below(below)?;
    let mut entries = dir.entries()?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, kind) in entries {
        if nodes.len() >= limits::WALKED_FILES {
            return Ok(false);
        }
        let path = below.join(name.as_os_str());
        let Ok(node) = Node::new(&dir, (&name, kind), &path) else {
            continue;
        };
        nodes.push(node);
        let is_dir = kind == EntryKind::Dir;
        if is_dir && depth >= limits::WALK_DEPTH {
            return Ok(false);
        }
        // A directory that cannot be read is shown and does not stop the walk.
        if is_dir && matches!(walk(root, &path, depth + 1, nodes), Ok(false)) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Node {
    fn new(dir: &Dir, (name, kind): (&EntryName, EntryKind), path: &Path) -> std::io::Result<Self> {
        let stat = dir.stat(name)?;
        let is_file = kind == EntryKind::File;
        let to = match kind {
            EntryKind::Link => Some(dir.read_link(name)?.display().to_string()),
            _ => None,
        };
        Ok(Self {
            path: path.display().to_string(),
            kind: match kind {
                EntryKind::Dir => "directory",
                EntryKind::Link => "link",
                EntryKind::File => "file",
                EntryKind::Other => "other",
            },
            bytes: u64::try_from(stat.st_size).ok().filter(|_| is_file),
            executable: is_file && stat.st_mode & 0o111 != 0,
            to,
        })
    }

    fn line(&self) -> String {
        let name = shown(Path::new(&self.path));
        match (self.kind, self.bytes, &self.to) {
            ("directory", ..) => format!("{name}/"),
            (_, _, Some(to)) => format!("{name} -> {}", shown(Path::new(to))),
            (_, Some(bytes), _) if self.executable => format!("{name}*  {}", size(bytes)),
            (_, Some(bytes), _) => format!("{name}  {}", size(bytes)),
            _ => format!("{name}  (no file)"),
        }
    }
}

impl Walked {
    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        let width = screen.width.unwrap_or(usize::MAX);
        let root = shortened(&shown(Path::new(&self.path)), width);
        let _ = writeln!(text, "{}", screen.paint(&root, Paint::Bold));
        for node in &self.nodes {
            let line = format!("  {}", node.line());
            let _ = writeln!(text, "{}", shortened(&line, width));
        }
        let more = if self.cut { ", and more" } else { "" };
        let files = count(self.files, "file");
        let _ = writeln!(text, "{files}, {}{more}", size(self.bytes));
        text
    }
}
