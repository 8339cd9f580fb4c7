//! What an install would add, on one screen, for a person to decide. What a skill may do is never
//! shortened.

use crate::cli::prelude::*;

use crate::marketplace::{PlannedSkill, SourceKind};
use crate::sys::text::size;

/// The length of a description that says what a skill is.
const DESCRIPTION: usize = 200;
/// How many lines the names of the scripts may take.
const SCRIPT_LINES: usize = 2;
/// How many remarks are shown, and how many findings, unless more are severe.
const REMARKS: usize = 3;
const FINDINGS: usize = 4;
/// The width for which lists are cut elsewhere than at a terminal.
const WIDTH: usize = 100;
/// The columns before a value: the indentation and its label.
const INDENT: usize = 13;

/// Describes a plan. Long lists are cut if there is a command `show` that shows a skill of the plan
/// as a whole, as [`shell_command`] writes it.
pub fn describe_plan(plan: &Plan, show: Option<&str>, screen: Screen, names: ToolNames) -> String {
    let mut text = format!(
        "From {}:\n",
        source_at(&plan.source, plan.commit.as_deref())
    );
    for from in distinct(plan_origins(plan)) {
        describe_origin(&mut text, plan, from, screen);
    }
    for skill in &plan.skills {
        let described = SkillDescription {
            skill,
            is_alone: plan.skills.len() == 1,
            show: show.map(|show| show_of(show, plan, skill)),
            screen,
            names,
        };
        described.write(&mut text);
    }
    text
}

/// Where the skills of a plan come from.
pub fn plan_origins(plan: &Plan) -> impl Iterator<Item = &Origin> {
    let skills = plan.skills.iter();
    skills.filter_map(|skill| skill.provenance.as_deref())
}

/// The scan's findings about the skills of a plan.
pub fn plan_findings(plan: &Plan) -> impl Iterator<Item = &ScanFinding> {
    plan.skills.iter().flat_map(|skill| &skill.findings)
}

/// The command that shows one of the plan's skills.
pub fn show_of(show: &str, plan: &Plan, skill: &PlannedSkill) -> String {
    let path = skill.path.as_str();
    if !plan.chosen {
        return show.to_owned();
    }
    // A path with a comma would be two names.
    if path.is_empty() || path.contains(',') {
        return format!("{show} --all");
    }
    format!("{show} {}", shell_command(&["--skill", path]))
}

/// A source with its commit, abbreviated.
pub fn source_at(source: &str, commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!(" at {}", short_commit(&one_line(commit))));
    one_line(source) + &commit.unwrap_or_default()
}

/// Adds what the first line does not say about a skill's origin.
fn describe_origin(text: &mut String, plan: &Plan, from: &Origin, screen: Screen) {
    let source = one_line(&from.source);
    let mut line = |line: &str| *text += &screen.hanging("  ", line, 2);
    if from.source != plan.source {
        line(&source_at(&from.source, from.commit.as_deref()));
    }
    if let Some(address) = &from.address {
        let address = one_line(address);
        line(&match from.kind {
            SourceKind::Git => {
                format!("ATTENTION: git fetched it from {address}, not from {source}")
            }
            _ => format!("ATTENTION: {source} redirected to {address}"),
        });
    }
    if let Some(doubt) = origin_doubt(from) {
        line(&format!("ATTENTION: {doubt}"));
    }
}

/// A label and a value.
type Row = (&'static str, String);

/// One skill of a plan.
struct SkillDescription<'p> {
    skill: &'p PlannedSkill,
    /// Whether the plan has no other.
    is_alone: bool,
    /// The command that shows it as a whole, instead of which this is cut.
    show: Option<String>,
    screen: Screen,
    names: ToolNames,
}

impl SkillDescription<'_> {
    fn write(&self, text: &mut String) {
        let description = self.skill.description.as_deref();
        let description = description.unwrap_or("no description");
        let description = match self.show {
            Some(_) => brief(description, DESCRIPTION),
            None => one_line(description),
        };
        let mut about = format!("{}: {description}", listed_name(&self.skill.name));
        // Of several, each is known by the start.
        let width = self.screen.width;
        if let Some(width) = width.filter(|_| self.is_cut() && !self.is_alone) {
            about = shortened(&about, width.saturating_sub(2));
        }
        *text += &self.screen.hanging("  ", &about, 2);
        for (label, value) in self.rows() {
            let first = format!("    {label:8} ");
            *text += &self.screen.hanging(&first, &value, INDENT);
        }
    }

    /// What is said about it, each with its label; one without continues the one before.
    fn rows(&self) -> Vec<Row> {
        let (scripts, findings) = (&self.skill.scripts, &self.skill.findings);
        let powers = &self.skill.powers;
        let mut files = format!("{} ({})", self.skill.files, size(self.skill.bytes));
        if self.is_alone || !self.is_cut() {
            files += ": ";
            let others = self.skill.paths.iter();
            let others = others.filter(|path| !scripts.contains(path));
            files += &self.names(others, 1, (&files, "more file"));
        }
        let mut rows = vec![("files", files)];
        let signature = self.skill.signature.as_ref();
        rows.extend(signature.map(|checked| ("signer", describe_signature(checked))));
        if !scripts.is_empty() {
            let scripts = self.names(scripts.iter(), SCRIPT_LINES, ("", "more script"));
            rows.push(("scripts", scripts));
        }
        rows.extend(tool_rows(&self.skill.name, powers, self.names));
        let says = powers.remarks().into_iter();
        rows.extend(says.map(|says| ("says", one_line(&says))));
        let remarks = self.skill.warnings.iter().chain(&self.skill.dropped);
        let remarks = remarks.map(|remark| ("note", one_line(remark)));
        self.add_first(&mut rows, remarks.collect(), REMARKS, "more note");
        // The worst come first.
        let severe = findings.iter().filter(|it| is_severe(it)).count();
        let findings = findings.iter();
        let findings = findings.map(|it| (it.severity.as_str(), self.finding(it)));
        let most = FINDINGS.max(severe);
        self.add_first(&mut rows, findings.collect(), most, "more finding");
        rows
    }

    /// Adds the first of these rows, and how many more there are.
    fn add_first(&self, rows: &mut Vec<Row>, all: Vec<Row>, most: usize, what: &str) {
        let shown = self.shown(most, all.len());
        let more = self.more(all.len() - shown, what);
        rows.extend(all.into_iter().take(shown).chain(more));
    }

    /// Whether lists are cut.
    fn is_cut(&self) -> bool {
        self.show.is_some()
    }

    /// A finding; one that is not severe on one line.
    fn finding(&self, finding: &ScanFinding) -> String {
        let is_cut = self.is_cut() && !is_severe(finding);
        match self.screen.width.filter(|_| is_cut) {
            Some(width) => shortened(&finding.remark(), width.saturating_sub(INDENT)),
            None => finding.remark(),
        }
    }

    /// How many of so many are shown.
    fn shown(&self, most: usize, all: usize) -> usize {
        self.show.as_ref().map_or(all, |_| all.min(most))
    }

    /// How many more of something there are, and which command shows them.
    fn more(&self, left: usize, what: &str) -> Option<Row> {
        let show = self.show.as_ref().filter(|_| left > 0)?;
        let more = count(left, what);
        Some(("", format!("and {more}: `agent-skills {show}`")))
    }

    /// The names that fit into so many lines behind a text, and how many more there are.
    fn names<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
        lines: usize,
        (behind, what): (&str, &str),
    ) -> String {
        let names: Vec<String> = names.map(|name| shown_name(name)).collect();
        let width = self.screen.width.unwrap_or(WIDTH);
        let room = (width.saturating_sub(INDENT) * lines).saturating_sub(behind.width());
        let mut columns = 0;
        let fitting = names.iter().take_while(|name| {
            columns += name.width() + 2;
            columns <= room
        });
        let shown = self.shown(fitting.count().max(1), names.len());
        let more = self.more(names.len() - shown, what);
        names[..shown].join(", ") + &more.map_or(String::new(), |(_, more)| format!(" {more}"))
    }
}

#[cfg(test)]
mod tests;
